//! The loop of either direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::inlet::{Entering, Inlet};
use super::waiting::Waiter;
use crate::error::Error;
use crate::machine::clock::monotonic_ns;

/// Reads of one device in a row, so that a host that sends much does not hold up the others.
const READS_IN_A_ROW: usize = 64;

/// One direction of the path.
pub(crate) trait Direction {
    /// Lets everything happen that is due at `now_ns`, at its due time.
    fn advance(&mut self, now_ns: u64) -> Result<(), Error>;

    /// A packet enters, at the time of the last [`Direction::advance`].
    fn enter(&mut self, packet: Entering);

    /// When the next packet has to be written, ns.
    fn next_write_ns(&self) -> u64;
}

/// Relays what comes in by `inlet` until `stop`.
pub(crate) fn relay<D: Direction>(
    direction: &mut D,
    inlet: &mut Inlet,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let hosts = Arc::clone(&inlet.hosts);
    let mut waiter = Waiter::new(inlet.side.descriptors(&hosts));
    let mut pending = vec![false; inlet.side.descriptors(&hosts).count()];
    while !stop.load(Ordering::Relaxed) {
        for (host, pending) in pending.iter_mut().enumerate() {
            if *pending || waiter.is_readable(host) {
                *pending = read_some(direction, inlet, host)?;
            }
        }
        direction.advance(monotonic_ns())?;
        let due_ns = if pending.contains(&true) {
            0
        } else {
            direction.next_write_ns()
        };
        waiter.wait(due_ns).map_err(|source| Error::System {
            what: "cannot wait for packets".to_owned(),
            source,
        })?;
        direction.advance(monotonic_ns())?;
    }
    Ok(())
}

/// Reads until nothing is left or it is another's turn; whether something may be left.
fn read_some<D: Direction>(
    direction: &mut D,
    inlet: &mut Inlet,
    host: usize,
) -> Result<bool, Error> {
    for _ in 0..READS_IN_A_ROW {
        let Some(bytes) = inlet.read(host)? else {
            return Ok(false);
        };
        // What was read arrives now, after everything that was due before.
        direction.advance(monotonic_ns())?;
        inlet.split(host, bytes, |packet| direction.enter(packet));
    }
    Ok(true)
}
