//! A capture of the run: every packet of every flow, at each place it passes.
//!
//! The relay's threads have a [`Tap`] each, which copies packets into a ring. A thread of ordinary
//! priority empties the rings, puts the packets into the order of their times and writes them.
//!
//! The capture covers what the run measures: from its epoch, before which no flow sends anything,
//! to its end. It includes the handshakes, and the end of flows that finish before the run does.
//!
//! A tap is a ring of bytes that was written once before the run, so that recording a packet is two copies, without
//! allocation, lock or system call. A record has the time at which the packet passed. For a departure that time is in
//! the future, because the link already knows when the last bit will have left. What goes one way past one point is
//! therefore a stream ordered by time. The writing thread merges the streams; a tap publishes the time up to which its
//! records are complete. Writes are small, because a non-preemptible kernel keeps the core while it copies one.

#[cfg(test)]
mod captured;
mod frame;
mod merge;
#[cfg(test)]
mod program_tests;
mod record;
mod tap;
#[cfg(test)]
mod tests;
mod writing;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use dumbbell_capture::{CaptureConfig, CaptureWriter};
use dumbbell_net::ETHERNET_HEADER_BYTES;
use dumbbell_scenario::Scenario;

use crate::error::Error;
use crate::hosts::host::mtu_bytes;
use crate::machine::clock::wall_clock_offset_ns;
pub(crate) use record::Place;
pub(crate) use tap::Tap;
use tap::TapConfig;
use writing::Writing;

/// A ring has room for what the link carries in this time, in case the writing thread, whose
/// priority is below all others of the run, is not scheduled.
const RING_TIME_NS: u128 = 2_000_000_000;

/// Smallest size of a ring, for a burst that exceeds a link's queue; and largest.
const MIN_RING_BYTES: u128 = 8 << 20;
const MAX_RING_BYTES: u128 = 256 << 20;

/// Bytes that are written to the file at once. A kernel that is not preemptible keeps a core busy
/// while it copies them, even if another thread needs it.
const WRITE_BYTES: usize = 64 << 10;

/// IPv4's header and the largest of TCP, bytes.
const MAX_HEADER_BYTES: usize = 20 + 60;

/// A capture in progress. When dropped, it ends, and what was captured is in the file.
#[derive(Debug)]
pub(crate) struct Capture {
    config: CaptureConfig,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<CaptureReport>>>,
}

/// What was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaptureReport {
    /// Packets in the file; one that passes several places counts at each.
    pub(crate) captured_pkts: u64,
    /// Packets that are missing because writing did not keep up.
    pub(crate) lost_pkts: u64,
}

impl Capture {
    /// Creates the file and starts to write what the taps record, one for each of the network's `parts`.
    pub(crate) fn start(
        config: &CaptureConfig,
        scenario: &Scenario,
        parts: usize,
    ) -> Result<(Self, Vec<Tap>), Error> {
        Self::with_rings(config, scenario, parts, ring_bytes(config, scenario))
    }

    /// With rings of this size.
    fn with_rings(
        config: &CaptureConfig,
        scenario: &Scenario,
        parts: usize,
        ring_bytes: usize,
    ) -> Result<(Self, Vec<Tap>), Error> {
        let offset_ns = wall_clock_offset_ns();
        let (writing, taps) =
            prepare(config, scenario, (parts, ring_bytes), ("kernel", offset_ns))?;
        let stop = Arc::new(AtomicBool::new(false));
        let capture = Self {
            config: config.clone(),
            thread: Some(spawn(writing, Arc::clone(&stop))?),
            stop,
        };
        Ok((capture, taps))
    }

    /// Whether it is still being written; if not, [`Capture::finish`] returns the error.
    pub(crate) fn is_running(&self) -> bool {
        (self.thread.as_ref()).is_some_and(|thread| !thread.is_finished())
    }

    /// Writes what is left, after the taps are closed.
    pub(crate) fn finish(mut self) -> Result<CaptureReport, Error> {
        let written = self.join().expect("it runs until it is finished");
        Ok(written.map_err(|source| self.config.unwritable(source))?)
    }

    fn join(&mut self) -> Option<io::Result<CaptureReport>> {
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        Some(
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // When it is dropped there is another error to report.
        let _ = self.join();
    }
}

/// Creates the file, and a tap with a ring of this size for each of the network's parts. An engine has a name, and an
/// offset from its clock to the time of day.
fn prepare(
    config: &CaptureConfig,
    scenario: &Scenario,
    (parts, ring_bytes): (usize, usize),
    (engine, wall_clock_offset_ns): (&str, u64),
) -> Result<(Writing<BufWriter<File>>, Vec<Tap>), Error> {
    let writer = File::create(&config.path)
        .map(|file| BufWriter::with_capacity(WRITE_BYTES, file))
        .and_then(|output| {
            CaptureWriter::new(
                output,
                scenario.groups.len() as u32,
                &scenario.link_names(),
                &scenario.in_a_line(engine),
                config,
            )
        })
        .map_err(|source| config.unwritable(source))?;
    let tap_config = TapConfig {
        points: config.points(),
        snap_bytes: snap_bytes(config),
        packet_bytes: largest_packet_bytes(scenario),
        ring_bytes,
    };
    let (taps, tapped) = (0..parts).map(|_| Tap::new(tap_config)).unzip();
    let links = scenario.link_names();
    let writing = Writing::new(writer, config, wall_clock_offset_ns, tapped, links);
    Ok((writing, taps))
}

/// A capture without a thread; its user says when it is written.
pub(crate) struct DrivenCapture {
    config: CaptureConfig,
    writing: Writing<BufWriter<File>>,
}

impl DrivenCapture {
    /// Creates the file, and the tap of a network that is in one part. The engine is called `engine`.
    pub(crate) fn start(
        config: &CaptureConfig,
        scenario: &Scenario,
        (engine, wall_clock_offset_ns): (&str, u64),
    ) -> Result<(Self, Tap), Error> {
        let rings = (1, ring_bytes(config, scenario));
        let (writing, mut taps) = prepare(config, scenario, rings, (engine, wall_clock_offset_ns))?;
        let capture = Self {
            config: config.clone(),
            writing,
        };
        Ok((capture, taps.pop().expect("one part has a tap")))
    }

    /// Writes what has been tapped.
    pub(crate) fn write(&mut self) -> Result<(), Error> {
        let written = self.writing.write_some();
        Ok(written.map_err(|source| self.config.unwritable(source))?)
    }

    /// Writes what is left, after the tap is closed.
    pub(crate) fn finish(self) -> Result<CaptureReport, Error> {
        let written = self.writing.finish();
        Ok(written.map_err(|source| self.config.unwritable(source))?)
    }
}

fn spawn<W: Write + Send + 'static>(
    writing: Writing<W>,
    stop: Arc<AtomicBool>,
) -> Result<JoinHandle<io::Result<CaptureReport>>, Error> {
    const NAME: &str = "capture";
    thread::Builder::new()
        .name(NAME.to_owned())
        .spawn(move || writing.run(&stop))
        .map_err(|source| Error::System {
            what: format!("cannot start thread {NAME}"),
            source,
        })
}

fn largest_packet_bytes(scenario: &Scenario) -> usize {
    scenario.groups.iter().map(mtu_bytes).max().unwrap_or(0) as usize
}

/// Bytes to keep of a packet; 0: its headers.
fn snap_bytes(config: &CaptureConfig) -> usize {
    (config.snap_bytes.unwrap_or(0) as usize).saturating_sub(ETHERNET_HEADER_BYTES as usize)
}

/// The rate of the fastest link, bit/s.
fn highest_rate_bps(scenario: &Scenario) -> u64 {
    let rates = scenario.links.iter().map(|link| link.link_rate_bps);
    rates.max().unwrap_or(0)
}

/// Size of the ring of a part.
fn ring_bytes(config: &CaptureConfig, scenario: &Scenario) -> usize {
    let packet_bytes = largest_packet_bytes(scenario).max(1);
    let kept_bytes = snap_bytes(config).max(MAX_HEADER_BYTES).min(packet_bytes);
    let carried_bytes = u128::from(highest_rate_bps(scenario)) * RING_TIME_NS / (8 * 1_000_000_000);
    let records = carried_bytes / packet_bytes as u128 * Place::count(scenario.links.len()) as u128;
    let room_bytes = records * (record::HEADER_BYTES + kept_bytes) as u128;
    room_bytes.clamp(MIN_RING_BYTES, MAX_RING_BYTES) as usize
}
