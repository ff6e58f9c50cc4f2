//! The loop of either direction.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use super::waiting::Waiter;
use crate::clock::monotonic_ns;
use crate::error::Error;
use crate::host::Hosts;

/// Reads of one device in a row, so that a host that sends much does not hold up the others.
const READS_IN_A_ROW: usize = 64;

/// One direction of the path.
pub(crate) trait Direction {
    /// How many devices are read.
    fn hosts(&self) -> usize;

    /// The devices that are read.
    fn descriptors<'a>(hosts: &'a Hosts) -> impl Iterator<Item = BorrowedFd<'a>>;

    /// Lets everything happen that is due at `now_ns`, at its due time.
    fn advance(&mut self, now_ns: u64) -> Result<(), Error>;

    /// Reads once from the device of `host`; what it sent arrives then, after everything that was
    /// due before. Whether there was anything.
    fn read(&mut self, host: usize) -> Result<bool, Error>;

    /// When the next packet has to be written, ns.
    fn next_write_ns(&self) -> u64;
}

/// Relays in one direction until `stop`.
pub(crate) fn relay<D: Direction>(
    direction: &mut D,
    hosts: &Hosts,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let mut waiter = Waiter::new(D::descriptors(hosts));
    let mut pending = vec![false; direction.hosts()];
    while !stop.load(Ordering::Relaxed) {
        for (host, pending) in pending.iter_mut().enumerate() {
            if *pending || waiter.is_readable(host) {
                *pending = read_some(direction, host)?;
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
fn read_some<D: Direction>(direction: &mut D, host: usize) -> Result<bool, Error> {
    for _ in 0..READS_IN_A_ROW {
        if !direction.read(host)? {
            return Ok(false);
        }
    }
    Ok(true)
}
