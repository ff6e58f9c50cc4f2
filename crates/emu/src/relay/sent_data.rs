//! What the forward direction reports to the reverse: which data entered the path, and when.

use std::sync::{Mutex, PoisonError};

/// A data packet that entered the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentData {
    /// Number of the connection.
    pub(crate) flow: u32,
    pub(crate) sequence: u32,
    pub(crate) end_sequence: u32,
    pub(crate) entered_ns: u64,
    pub(crate) is_retransmission: bool,
}

/// From one thread to another, in order. Both sides hold the lock for some nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct SentQueue {
    sent: Mutex<Vec<SentData>>,
}

impl SentQueue {
    #[inline]
    pub(crate) fn push(&self, sent: SentData) {
        self.sent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(sent);
    }

    /// Everything that is in it comes to `to`, which is empty; its room is used again.
    #[inline]
    pub(crate) fn take(&self, to: &mut Vec<SentData>) {
        debug_assert!(to.is_empty());
        std::mem::swap(
            &mut *self.sent.lock().unwrap_or_else(PoisonError::into_inner),
            to,
        );
    }
}
