//! Closing the connection (RFC 9293 §3.6): the FIN is sent when the application has nothing more to
//! send, and is kept and repaired like a segment of data; the receiver's own is acknowledged.

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

    /// The application has written everything, and closes. Data that Linux still has in its send
    /// buffer then carries the FIN (`tcp_send_fin`); if the last write has left, it is sent alone,
    /// when windows and pacing allow it like any other segment. Returns the segments sent.
    #[cold]
    pub(crate) fn close_after_data(&mut self) -> u32 {
        if self.config.closes && !self.is_closing {
            self.is_closing = true;
            self.fin_rides = self.nxt < self.end;
        }
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

    /// One past the last segment there will be, a FIN of its own included.
    #[inline]
    pub(crate) fn segments_end(&self) -> u32 {
        self.end + u32::from(self.is_closing && !self.fin_rides)
    }

    /// The content of the segment: its kind and its payload, bytes. The last segment of a sized
    /// transfer is short, the FIN empty.
    #[inline]
    pub(crate) fn content_of(&self, seq: u32) -> (SegmentKind, u32) {
        let mss_bytes = self.config.mss_bytes;
        if seq.saturating_add(1) < self.end {
            return (SegmentKind::Data, mss_bytes);
        }
        if seq >= self.end {
            return (SegmentKind::Fin, 0);
        }
        let kind = if self.fin_rides {
            SegmentKind::LastData
        } else {
            SegmentKind::Data
        };
        let left_bytes = self.config.size_bytes.map_or(u64::MAX, |size_bytes| {
            size_bytes - u64::from(seq) * u64::from(mss_bytes)
        });
        (kind, left_bytes.min(u64::from(mss_bytes)) as u32)
    }

    /// The receiver's FIN, which acknowledges ours; acknowledged whenever it arrives (RFC 9293
    /// §3.10.7.4, "eighth").
    pub(crate) fn on_fin(&mut self) {
        self.phase = Phase::TimeWait;
        self.send_control(SegmentKind::LastAck);
    }
}
