//! When a short segment waits for more data: Nagle's algorithm (RFC 1122 §4.2.3.4) in Minshall's form,
//! cork, and a write that announces another.

use crate::sender::Sender;

/// What makes the short segment at the end of the written data wait.
#[derive(Debug)]
pub(crate) struct Nagle {
    /// While another short segment is unacknowledged (without `TCP_NODELAY`).
    is_on: bool,
    /// Until it is full (`TCP_CORK`).
    is_corked: bool,
    /// The last write announced another (`MSG_MORE`): for this transmission it waits.
    more_follows: bool,
    /// The option that was just set lets it leave in any case.
    pushes: bool,
}

impl Nagle {
    pub(crate) fn new(is_on: bool) -> Self {
        Self {
            is_on,
            is_corked: false,
            more_follows: false,
            pushes: false,
        }
    }

    /// A transmission is over: what was meant for it alone is too.
    #[inline]
    pub(crate) fn end_transmission(&mut self) {
        self.more_follows = false;
        self.pushes = false;
    }
}

impl Sender {
    /// The application writes `bytes` more and will soon write again (`MSG_MORE`): a short segment
    /// does not leave because of this write. [`Sender::poll_transmit`] must follow.
    pub fn write_more(&mut self, bytes: u64) {
        self.write(bytes);
        self.output.nagle.more_follows = true;
    }

    /// Turns Nagle's algorithm on or off; off (`TCP_NODELAY`) lets leave what waits, even if it is
    /// corked. [`Sender::poll_transmit`] must follow.
    pub fn set_nagle(&mut self, is_on: bool) {
        self.output.nagle.is_on = is_on;
        self.output.nagle.pushes = !is_on;
    }

    /// Short segments wait, or wait no longer, until they are full (`TCP_CORK`); the persist timer
    /// sends what waits too long. [`Sender::poll_transmit`] must follow.
    pub fn set_cork(&mut self, is_corked: bool) {
        let nagle = &mut self.output.nagle;
        nagle.pushes = nagle.is_corked && !is_corked && !nagle.is_on;
        nagle.is_corked = is_corked;
    }

    /// Whether the segment that takes the last bytes written is short and must wait. The FIN does not.
    #[inline]
    pub(crate) fn holds_tail(&self) -> bool {
        if self.stream.tail_bytes == self.config.mss_bytes
            || self.stream.fin_rides
            || self.output.nagle.pushes
        {
            return false;
        }
        let nagle = &self.output.nagle;
        // Linux's `tcp_minshall_check`.
        let waits_for_ack = nagle.is_on && self.output.short_end > self.una;
        nagle.is_corked || nagle.more_follows || waits_for_ack
    }
}
