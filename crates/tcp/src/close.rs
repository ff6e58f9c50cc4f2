//! Closing the connection (RFC 9293 §3.6): the FIN goes when the application has nothing more to
//! send, is kept and repaired like a segment of data, and the receiver's own is acknowledged.

use crate::packet::SegmentKind;
use crate::sender::{Phase, Sender};

impl Sender {
    /// The application stops: nothing new is sent, what was sent is still delivered.
    pub fn stop(&mut self) {
        if self.nxt < self.end {
            self.end = self.nxt;
            self.is_closing = self.config.closes;
            self.fin_rides = false;
        }
    }

    /// Whether both directions are closed.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::TimeWait
    }

    /// Byte at which a segment begins, counted from the first of the payload; a FIN is one byte.
    pub fn byte_offset(&self, segment: u32) -> u64 {
        let payload_bytes = u64::from(segment.min(self.end)) * u64::from(self.config.mss_bytes);
        let payload_bytes = self
            .config
            .size_bytes
            .map_or(payload_bytes, |size_bytes| payload_bytes.min(size_bytes));
        let is_after_fin = self.is_closing && segment >= self.segments_end();
        payload_bytes + u64::from(is_after_fin)
    }

    /// The application closes when it has written all. What Linux still has in its send buffer
    /// then takes the FIN along (`tcp_send_fin`); after a last write that left at once it goes alone.
    #[inline]
    pub(crate) fn note_all_written(&mut self, sndbuf_end: u32) {
        if self.config.closes && !self.is_closing && self.end != u32::MAX && sndbuf_end >= self.end
        {
            self.is_closing = true;
            self.fin_rides = self.nxt < self.end;
        }
    }

    /// One past the last segment there will be, a FIN of its own included.
    #[inline]
    pub(crate) fn segments_end(&self) -> u32 {
        self.end + u32::from(self.is_closing && !self.fin_rides)
    }

    /// The FIN, if it is its turn and windows and pacing let it out like any other segment.
    #[inline]
    pub(crate) fn transmit_fin(&mut self) -> u32 {
        if self.nxt != self.end || self.nxt == self.segments_end() {
            return 0;
        }
        let sock = &self.cc.sock;
        if self.nxt >= self.wnd_end
            || sock.packets_in_flight() >= sock.snd_cwnd
            || self.is_paced_out()
        {
            return 0;
        }
        self.send_new(1);
        1
    }

    /// What the segment carries.
    #[inline]
    pub(crate) fn kind_of(&self, seq: u32) -> SegmentKind {
        if seq >= self.end {
            SegmentKind::Fin
        } else if self.fin_rides && seq + 1 == self.end {
            SegmentKind::LastData
        } else {
            SegmentKind::Data
        }
    }

    /// The receiver's FIN, which acknowledges ours; acknowledged whenever it comes (RFC 9293
    /// §3.10.7.4, "eighth").
    pub(crate) fn on_fin(&mut self) {
        self.phase = Phase::TimeWait;
        self.send_control(SegmentKind::LastAck);
    }
}
