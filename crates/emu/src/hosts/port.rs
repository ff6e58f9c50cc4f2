//! A device of a guest: what it sends and receives is memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Frames that have left the network and were not fetched yet, of all hosts, in order.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    frames: VecDeque<(u32, Vec<u8>)>,
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

    /// The next frame and the number of its host; `used` is the buffer of the last one.
    pub(crate) fn take(&mut self, used: Vec<u8>) -> Option<(u32, Vec<u8>)> {
        if used.capacity() > 0 {
            self.spare.push(used);
        }
        self.frames.pop_front()
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
