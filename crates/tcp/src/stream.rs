//! The stream of bytes that the application writes, and its segments.
//!
//! Every segment is full but the one that takes the last bytes written; that one leaves when Nagle's
//! algorithm lets it, and what is written before then still joins it.

use crate::sender::Sender;

impl Sender {
    /// The application writes `bytes` more; `u64::MAX`: without end. [`Sender::poll_transmit`] must
    /// follow. What is written after [`Sender::close`] is ignored.
    pub fn write(&mut self, bytes: u64) {
        if self.closes || bytes == 0 {
            return;
        }
        self.is_written = true;
        self.wrote = true;
        let unsent_bytes = self.written_bytes - self.sent_bytes;
        self.wrote_when_starved |= unsent_bytes < u64::from(self.config.mss_bytes);
        self.set_written(self.written_bytes.saturating_add(bytes));
    }

    /// Like [`Sender::write`], at the very time of [`Sender::stop`]: the application was never without data.
    pub fn write_on(&mut self, bytes: u64) {
        let wrote_when_starved = self.wrote_when_starved;
        self.write(bytes);
        self.wrote_when_starved = wrote_when_starved;
    }

    /// Bytes that the application has written so far; `u64::MAX`: without end.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// Bytes acknowledged so far, from the first on.
    #[inline]
    pub fn acknowledged_bytes(&self) -> u64 {
        self.cc.sock.bytes_acked
    }

    /// Whether everything the application wrote is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.is_established() && self.una >= self.end
    }

    /// Sets the end of what there is to send.
    pub(crate) fn set_written(&mut self, bytes: u64) {
        let mss_bytes = u64::from(self.config.mss_bytes);
        let unsent_bytes = bytes - self.sent_bytes;
        let segments = u32::try_from(unsent_bytes.div_ceil(mss_bytes)).unwrap_or(u32::MAX);
        self.written_bytes = bytes;
        self.end = self.nxt.saturating_add(segments);
        let tail_bytes = (unsent_bytes % mss_bytes) as u32;
        let is_full = tail_bytes == 0 || self.end == u32::MAX;
        self.tail_bytes = if is_full {
            self.config.mss_bytes
        } else {
            tail_bytes
        };
        self.cc.sock.write_seq = bytes as u32;
    }

    /// Payload of a segment, sent or not, bytes. A FIN alone has none.
    #[inline]
    pub(crate) fn payload_bytes(&self, seq: u32) -> u32 {
        if seq < self.nxt {
            self.boundaries.payload_bytes(seq)
        } else if seq >= self.end {
            0
        } else if seq + 1 == self.end {
            self.tail_bytes
        } else {
            self.config.mss_bytes
        }
    }

    /// Byte sequence number of a segment, as the socket's fields count; a FIN takes one.
    #[inline]
    pub(crate) fn byte_seq(&self, segment: u32) -> u32 {
        let is_after_fin = self.is_closing && segment >= self.segments_end();
        (self.boundaries.bytes_before(segment) as u32).wrapping_add(u32::from(is_after_fin))
    }

    /// Byte numbers from here on are not asked for any more.
    #[cold]
    pub(crate) fn forget_boundaries(&mut self) {
        let undone = self.undo_marker.unwrap_or(u32::MAX);
        self.boundaries.forget_before(self.una.min(undone));
    }

    /// How many of at most `most` further segments the receiver's window admits.
    #[inline]
    pub(crate) fn window_admits(&self, most: u32) -> u32 {
        let left_bytes = self.wnd_end_bytes.saturating_sub(self.sent_bytes);
        let mss_bytes = u64::from(self.config.mss_bytes);
        if left_bytes >= u64::from(most) * mss_bytes {
            return most;
        }
        let full = (left_bytes / mss_bytes) as u32;
        let admits_tail = self.end.saturating_sub(self.nxt) == full + 1
            && left_bytes % mss_bytes >= u64::from(self.tail_bytes);
        full + u32::from(admits_tail)
    }
}
