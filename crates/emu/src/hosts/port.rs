//! A device of a guest: what it sends and receives is memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long after a frame its host receives the next: a tick of the clock by which TCP orders what it sent
/// (`tcp_clock_us`). Computing takes no time in a guest; on any machine a packet takes about this long, so that ACKs that
/// arrive together never have one time.
const RECEIVING_NS: u64 = 1000;

/// Frames that have left the network and were not fetched yet, of all hosts, in order.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    frames: VecDeque<(u32, Vec<u8>)>,
    /// From when on each host receives again.
    free_ns: Vec<u64>,
    /// Buffers that have been used.
    spare: Vec<Vec<u8>>,
}

impl Outgoing {
    fn push(&mut self, host: u32, parts: [&[u8]; 3]) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.clear();
        for part in parts {
            bytes.extend_from_slice(part);
        }
        self.frames.push_back((host, bytes));
    }

    /// The next frame that is received now and the number of its host; `used` is the buffer of the last one.
    pub(crate) fn take(&mut self, now_ns: u64, used: Vec<u8>) -> Option<(u32, Vec<u8>)> {
        if used.capacity() > 0 {
            self.spare.push(used);
        }
        if self.due_ns() > now_ns {
            return None;
        }
        let (host, frame) = self.frames.pop_front()?;
        let host_index = host as usize;
        if self.free_ns.len() <= host_index {
            self.free_ns.resize(host_index + 1, 0);
        }
        self.free_ns[host_index] = now_ns + RECEIVING_NS;
        Some((host, frame))
    }

    /// When the next frame is received; `u64::MAX`: there is none.
    pub(crate) fn due_ns(&self) -> u64 {
        let free_ns = |host: u32| self.free_ns.get(host as usize).copied().unwrap_or(0);
        (self.frames.front()).map_or(u64::MAX, |&(host, _)| free_ns(host))
    }
}

/// The device of a guest's host.
#[derive(Debug)]
pub(crate) struct Port {
    host: u32,
    /// What the host has sent, if it has not been read.
    sent: Mutex<Vec<u8>>,
    outgoing: Arc<Mutex<Outgoing>>,
}

impl Port {
    /// That of a host, by its number.
    pub(crate) fn new(host: u32, outgoing: &Arc<Mutex<Outgoing>>) -> Self {
        Self {
            host,
            sent: Mutex::default(),
            outgoing: Arc::clone(outgoing),
        }
    }

    /// The host sends a frame, which is read next.
    pub(crate) fn send(&self, frame: &[u8]) {
        let mut sent = locked(&self.sent);
        sent.clear();
        sent.extend_from_slice(frame);
    }

    /// What the host has sent, preceded by a virtio-net header; `None` if there is nothing.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        let mut sent = locked(&self.sent);
        let bytes = sent.len();
        buffer.get_mut(..bytes)?.copy_from_slice(&sent);
        sent.clear();
        (bytes > 0).then_some(bytes)
    }

    /// Sends the host a packet, in parts, preceded by a virtio-net header.
    pub(crate) fn write(&self, parts: [&[u8]; 3]) {
        locked(&self.outgoing).push(self.host, parts);
    }
}

/// Only one thread is in a guest.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames at one instant: `(host, when it is received in ns)`.
    fn received(hosts: &[u32]) -> Vec<(u32, u64)> {
        let outgoing = Arc::new(Mutex::new(Outgoing::default()));
        for &host in hosts {
            Port::new(host, &outgoing).write([b"a frame", &[], &[]]);
        }
        let mut outgoing = locked(&outgoing);
        let mut found = Vec::new();
        while outgoing.due_ns() != u64::MAX {
            let now_ns = outgoing.due_ns().max(5_000);
            while let Some((host, _)) = outgoing.take(now_ns, Vec::new()) {
                found.push((host, now_ns));
            }
        }
        found
    }

    #[test]
    fn a_host_receives_what_arrives_at_once_a_microsecond_apart() {
        assert_eq!(received(&[3, 3, 3]), [(3, 5_000), (3, 6_000), (3, 7_000)]);
        assert_eq!(
            received(&[0, 1, 0, 1]),
            [(0, 5_000), (1, 5_000), (0, 6_000), (1, 6_000)]
        );
    }
}
