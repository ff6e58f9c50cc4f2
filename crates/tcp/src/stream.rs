//! The stream of bytes that the application writes, and its segments.
//!
//! Every segment is full but the one that takes the last bytes written; that one leaves when Nagle's
//! algorithm lets it, and what is written before then still joins it.

use crate::boundaries::Boundaries;
use crate::packet::SegmentKind;
use crate::sender::{Sender, SenderConfig};

/// What the application has written and how it ends.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Bytes that the application has written; `u64::MAX`: without end.
    pub(crate) written_bytes: u64,
    /// Bytes that were sent, each counted once.
    pub(crate) sent_bytes: u64,
    /// One past the last segment that the application has written; without end `u32::MAX`.
    pub(crate) end: u32,
    /// Payload of the segment before `end` while it is unsent, bytes.
    pub(crate) tail_bytes: u32,
    /// Where sent segments begin.
    pub(crate) boundaries: Boundaries,
    /// An application writes as it goes along; otherwise all was there from the start.
    pub(crate) is_written: bool,
    /// It has written since the last transmission.
    pub(crate) wrote: bool,
    /// And then less than a segment was left to send.
    pub(crate) wrote_when_starved: bool,
    /// The application closes when it has written everything.
    pub(crate) closes: bool,
    /// Whether the application has closed the stream.
    pub(crate) is_closing: bool,
    /// The FIN is sent with the last segment, not after it.
    pub(crate) fin_rides: bool,
}

impl Stream {
    /// Nothing is written.
    pub(crate) fn new(config: &SenderConfig) -> Self {
        Self {
            written_bytes: 0,
            sent_bytes: 0,
            end: 0,
            tail_bytes: config.mss_bytes,
            boundaries: Boundaries::new(config.mss_bytes),
            is_written: false,
            wrote: false,
            wrote_when_starved: false,
            closes: config.closes,
            is_closing: false,
            fin_rides: false,
        }
    }

    /// One past the last segment there will be, a FIN of its own included.
    #[inline]
    pub(crate) fn segments_end(&self) -> u32 {
        self.end + u32::from(self.is_closing && !self.fin_rides)
    }

    /// Byte sequence number of a segment, as the socket's fields count; a FIN takes one.
    #[inline]
    pub(crate) fn byte_seq(&self, segment: u32) -> u32 {
        let is_after_fin = self.is_closing && segment >= self.segments_end();
        (self.boundaries.bytes_before(segment) as u32).wrapping_add(u32::from(is_after_fin))
    }

    /// The kind of a segment.
    #[inline]
    pub(crate) fn kind_of(&self, seq: u32) -> SegmentKind {
        if seq.saturating_add(1) < self.end {
            SegmentKind::Data
        } else if seq >= self.end {
            SegmentKind::Fin
        } else if self.fin_rides {
            SegmentKind::LastData
        } else {
            SegmentKind::Data
        }
    }
}

impl Sender {
    /// The application writes `bytes` more; `u64::MAX`: without end. [`Sender::poll_transmit`] must
    /// follow. What is written after [`Sender::close`] is ignored.
    pub fn write(&mut self, bytes: u64) {
        if self.stream.closes || bytes == 0 {
            return;
        }
        self.stream.is_written = true;
        self.stream.wrote = true;
        let unsent_bytes = self.stream.written_bytes - self.stream.sent_bytes;
        self.stream.wrote_when_starved |= unsent_bytes < u64::from(self.config.mss_bytes);
        self.set_written(self.stream.written_bytes.saturating_add(bytes));
    }

    /// Like [`Sender::write`], at the very time of [`Sender::stop`]: the application was never without data.
    pub fn write_on(&mut self, bytes: u64) {
        let wrote_when_starved = self.stream.wrote_when_starved;
        self.write(bytes);
        self.stream.wrote_when_starved = wrote_when_starved;
    }

    /// Bytes that the application has written so far; `u64::MAX`: without end.
    pub fn written_bytes(&self) -> u64 {
        self.stream.written_bytes
    }

    /// Bytes acknowledged so far, from the first on.
    #[inline]
    pub fn acknowledged_bytes(&self) -> u64 {
        self.cc.sock.bytes_acked
    }

    /// Whether everything the application wrote is acknowledged.
    #[inline]
    pub fn is_finished(&self) -> bool {
        self.is_established() && self.una >= self.stream.end
    }

    /// Sets the end of what there is to send.
    pub(crate) fn set_written(&mut self, bytes: u64) {
        let mss_bytes = u64::from(self.config.mss_bytes);
        let unsent_bytes = bytes - self.stream.sent_bytes;
        let segments = u32::try_from(unsent_bytes.div_ceil(mss_bytes)).unwrap_or(u32::MAX);
        self.stream.written_bytes = bytes;
        self.stream.end = self.nxt.saturating_add(segments);
        let tail_bytes = (unsent_bytes % mss_bytes) as u32;
        let is_full = tail_bytes == 0 || self.stream.end == u32::MAX;
        self.stream.tail_bytes = if is_full {
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
            self.stream.boundaries.payload_bytes(seq)
        } else if seq >= self.stream.end {
            0
        } else if seq + 1 == self.stream.end {
            self.stream.tail_bytes
        } else {
            self.config.mss_bytes
        }
    }

    /// Byte numbers from here on are not asked for any more.
    #[cold]
    pub(crate) fn forget_boundaries(&mut self) {
        let undone = self.recovery.undo_marker.unwrap_or(u32::MAX);
        self.stream.boundaries.forget_before(self.una.min(undone));
    }

    /// How many of at most `most` further segments the receiver's window admits.
    #[inline]
    pub(crate) fn window_admits(&self, most: u32) -> u32 {
        let left_bytes = self
            .output
            .wnd_end_bytes
            .saturating_sub(self.stream.sent_bytes);
        let mss_bytes = u64::from(self.config.mss_bytes);
        if left_bytes >= u64::from(most) * mss_bytes {
            return most;
        }
        let full = (left_bytes / mss_bytes) as u32;
        let admits_tail = self.stream.end.saturating_sub(self.nxt) == full + 1
            && left_bytes % mss_bytes >= u64::from(self.stream.tail_bytes);
        full + u32::from(admits_tail)
    }
}
