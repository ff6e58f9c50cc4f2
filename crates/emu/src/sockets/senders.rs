//! The sending applications: one thread connects, writes and ends all flows.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;
use crate::hosts::host::RECEIVER_PORT;
use crate::machine::clock::monotonic_ns;
use crate::machine::readiness::{Readiness, Ready};
use crate::sockets::connection::{Connection, Established};
use crate::sockets::socket;

/// Bytes per write: large, because TCP marks the end of each with PSH, for which the receiver may
/// send an extra ACK; and small enough to stay in the cache.
pub(crate) const WRITE_BYTES: usize = 256 * 1024;

/// Number of writes to one socket before the others are served.
const WRITES_PER_TURN: usize = 4;

const LEVEL_EVENTS: u32 = (libc::EPOLLOUT | libc::EPOLLRDHUP) as u32;
const EDGE_EVENTS: u32 = LEVEL_EVENTS | libc::EPOLLET as u32;

/// Failures of a flow, with the remedy.
const NOT_CONNECTED: &str = "could not connect; if the path is very lossy, give it a larger buffer";
const CUT_OFF: &str = "was cut off before its end; run it again without other changes to its hosts";

/// Runs all senders from the epoch on.
pub(crate) struct Senders {
    readiness: Readiness,
    connections: Arc<Vec<Connection>>,
    /// Address of each group's receivers.
    addresses: Vec<Ipv4Addr>,
    phases: Vec<Phase>,
    epoch_ns: u64,
    /// Flows by time of start and of stop, last first.
    starts: Vec<usize>,
    stops: Vec<usize>,
    payload: Vec<u8>,
}

/// State of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Waiting,
    Connecting,
    Sending,
    /// The FIN is sent and not acknowledged.
    Ending,
    Finished,
}

impl Senders {
    pub(crate) fn new(
        readiness: Readiness,
        connections: &Arc<Vec<Connection>>,
        addresses: Vec<Ipv4Addr>,
        epoch_ns: u64,
    ) -> Self {
        let last_first = |time_of: fn(&Connection) -> u64| {
            let mut flows: Vec<usize> = (0..connections.len())
                .filter(|&flow| time_of(&connections[flow]) < u64::MAX)
                .collect();
            flows.sort_by_key(|&flow| std::cmp::Reverse((time_of(&connections[flow]), flow)));
            flows
        };
        Self {
            readiness,
            addresses,
            phases: vec![Phase::Waiting; connections.len()],
            epoch_ns,
            starts: last_first(|connection| connection.start_ns),
            stops: last_first(|connection| connection.stop_ns),
            payload: vec![0; WRITE_BYTES],
            connections: Arc::clone(connections),
        }
    }

    /// Sends until `stopped` is set and the waker called.
    pub(crate) fn run(mut self, stopped: &AtomicBool) -> Result<(), Error> {
        let mut ready = Vec::new();
        // Flows that could write more when their turn ended.
        let mut unfinished_turns = Vec::new();
        while !stopped.load(Ordering::Acquire) {
            self.run_due_timers()?;
            self.readiness
                .wait(unfinished_turns.is_empty(), &mut ready)
                .map_err(Error::waiting)?;
            for flow in std::mem::take(&mut unfinished_turns) {
                if self.phases[flow] == Phase::Sending && self.write(flow)? {
                    unfinished_turns.push(flow);
                }
            }
            for event in ready.drain(..) {
                let flow = event.token as usize;
                if self.on_event(flow, event)? && !unfinished_turns.contains(&flow) {
                    unfinished_turns.push(flow);
                }
            }
        }
        Ok(())
    }

    /// Starts and stops the flows that are due, and sets the timer for the next.
    fn run_due_timers(&mut self) -> Result<(), Error> {
        let run_ns = monotonic_ns().saturating_sub(self.epoch_ns);
        let has_begun = monotonic_ns() >= self.epoch_ns;
        while let Some(&flow) = self.starts.last() {
            if !has_begun || self.connections[flow].start_ns > run_ns {
                break;
            }
            self.starts.pop();
            self.start(flow)?;
        }
        while let Some(&flow) = self.stops.last() {
            if !has_begun || self.connections[flow].stop_ns > run_ns {
                break;
            }
            self.stops.pop();
            if self.phases[flow] == Phase::Sending {
                self.end(flow)?;
            }
        }
        let next_start_ns = self
            .starts
            .last()
            .map(|&flow| self.connections[flow].start_ns);
        let next_stop_ns = self
            .stops
            .last()
            .map(|&flow| self.connections[flow].stop_ns);
        let next_ns = [next_start_ns, next_stop_ns].into_iter().flatten().min();
        let due_ns = next_ns.map_or(u64::MAX, |next_ns| self.epoch_ns.saturating_add(next_ns));
        self.readiness.wake_at(due_ns).map_err(Error::waiting)
    }

    fn start(&mut self, flow: usize) -> Result<(), Error> {
        let connection = &self.connections[flow];
        socket::connect(
            &connection.sender,
            self.addresses[connection.group],
            RECEIVER_PORT,
        )
        .map_err(|error| connection.failed(NOT_CONNECTED, error))?;
        // Edge-triggered, to avoid checking sockets that are still full.
        let events = if connection.is_sndbuf_limited() {
            LEVEL_EVENTS
        } else {
            EDGE_EVENTS
        };
        self.readiness
            .add(&connection.sender, events, flow as u64)
            .map_err(Error::waiting)?;
        self.phases[flow] = Phase::Connecting;
        Ok(())
    }

    /// Handles an event of a socket; returns whether the flow can write more at once.
    fn on_event(&mut self, flow: usize, event: Ready) -> Result<bool, Error> {
        let connection = &self.connections[flow];
        let cut_off = match self.phases[flow] {
            // When everything is sent the other side finishes, too.
            Phase::Ending | Phase::Finished => libc::EPOLLERR,
            _ => libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLRDHUP,
        };
        if event.events & cut_off as u32 != 0 {
            let what = match self.phases[flow] {
                Phase::Waiting | Phase::Connecting => NOT_CONNECTED,
                _ => CUT_OFF,
            };
            let error = socket::take_error(&connection.sender)
                .err()
                .unwrap_or_else(|| io::ErrorKind::ConnectionAborted.into());
            return Err(connection.failed(what, error));
        }
        match self.phases[flow] {
            Phase::Connecting => {
                let established = Established {
                    time_ns: monotonic_ns(),
                    info: socket::tcp_info(&connection.sender)
                        .map_err(|error| connection.failed("could not be inspected", error))?,
                };
                // Only this thread sets it.
                let _ = connection.established.set(established);
                self.phases[flow] = Phase::Sending;
                if monotonic_ns() >= self.epoch_ns.saturating_add(connection.stop_ns) {
                    return self.end(flow).map(|()| false);
                }
                self.write(flow)
            }
            Phase::Sending => self.write(flow),
            Phase::Ending => self.look_for_end(flow).map(|()| false),
            Phase::Waiting | Phase::Finished => Ok(false),
        }
    }

    /// Writes until the send buffer is full, the flow has written everything, or its turn is over;
    /// returns true in the last case.
    fn write(&mut self, flow: usize) -> Result<bool, Error> {
        let connection = &self.connections[flow];
        // With segmentation offload Linux checks the limit of the send buffer only when it starts a
        // new segment, so while cwnd is open one long write exceeds it by far. Short ones, each
        // when the socket reports a third of the buffer free, respect it.
        let (writes, write_bytes) = match connection.sndbuf_bytes {
            Some(bytes) => (1, (bytes / 3).clamp(1, WRITE_BYTES as u64)),
            None => (WRITES_PER_TURN, WRITE_BYTES as u64),
        };
        for _ in 0..writes {
            let written_bytes = connection.written_bytes.load(Ordering::Relaxed);
            let left_bytes = connection.size_bytes - written_bytes;
            if left_bytes == 0 {
                return self.end(flow).map(|()| false);
            }
            let chunk_bytes = left_bytes.min(write_bytes) as usize;
            // Counted before it can arrive.
            let count = |bytes: usize| {
                connection
                    .written_bytes
                    .store(written_bytes + bytes as u64, Ordering::Release);
            };
            count(chunk_bytes);
            let sent = socket::send(&connection.sender, &self.payload[..chunk_bytes])
                .map_err(|error| connection.failed(CUT_OFF, error));
            let sent_bytes = sent?.unwrap_or(0);
            count(sent_bytes);
            if sent_bytes < chunk_bytes {
                // Full: the kernel reports when there is room again.
                return Ok(false);
            }
        }
        // The kernel reports it while there is room in a limited buffer.
        Ok(!connection.is_sndbuf_limited())
    }

    /// Ends the stream.
    fn end(&mut self, flow: usize) -> Result<(), Error> {
        let connection = &self.connections[flow];
        socket::shutdown_write(&connection.sender)
            .map_err(|error| connection.failed("could not be closed", error))?;
        // Nothing more will be written, so the socket would always be ready.
        self.readiness
            .modify(&connection.sender, EDGE_EVENTS, flow as u64)
            .map_err(Error::waiting)?;
        self.phases[flow] = Phase::Ending;
        self.look_for_end(flow)
    }

    /// The kernel wakes the writer when the FIN is acknowledged.
    fn look_for_end(&mut self, flow: usize) -> Result<(), Error> {
        let connection = &self.connections[flow];
        let info = socket::tcp_info(&connection.sender)
            .map_err(|error| connection.failed("could not be inspected", error))?;
        if info.is_fin_acknowledged() {
            // Only this thread sets it.
            let _ = connection.finished_ns.set(monotonic_ns());
            self.phases[flow] = Phase::Finished;
        }
        Ok(())
    }
}
