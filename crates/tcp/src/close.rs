//! Closing the connection (RFC 9293 §3.6): the FIN is sent when the application has nothing more to
//! send, and is kept and repaired like a segment of data; the receiver's own is acknowledged.

use crate::packet::SegmentKind;
use crate::sender::{Phase, Sender};

impl Sender {
    /// The application closes: the FIN follows what it has written. [`Sender::poll_transmit`] must
    /// follow.
    pub fn close(&mut self) {
        self.closes = true;
    }

    /// The application stops: nothing new is sent, what was sent is still delivered. If it was to
    /// close, it does.
    pub fn stop(&mut self) {
        if self.nxt < self.end {
            self.set_written(self.sent_bytes);
            self.is_closing = self.closes;
            self.fin_rides = false;
        }
    }

    /// Whether both directions are closed; of one of two halves, whether its FIN is acknowledged.
    pub fn is_closed(&self) -> bool {
        self.phase == Phase::TimeWait
    }

    /// The application has written everything, and closes. Data that Linux still has in its send
    /// buffer then carries the FIN (`tcp_send_fin`); if the last write has left, it is sent alone,
    /// when windows and pacing allow it like any other segment. Returns the segments sent.
    #[cold]
    pub(crate) fn close_after_data(&mut self) -> u32 {
        let was_held = self.nxt + 1 == self.end && self.holds_tail();
        if self.closes && !self.is_closing {
            self.is_closing = true;
            self.fin_rides = self.nxt < self.end;
        }
        let is_due = if self.fin_rides {
            was_held
        } else {
            self.nxt == self.end && self.nxt < self.segments_end()
        };
        if !is_due {
            return 0;
        }
        let sock = &self.cc.sock;
        if !self.may_send_new() || sock.packets_in_flight() >= sock.snd_cwnd || self.is_paced_out()
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

    /// Whether the FIN was sent.
    #[inline]
    pub(crate) fn has_sent_fin(&self) -> bool {
        self.is_closing && self.nxt >= self.end && self.nxt == self.segments_end()
    }

    /// Whether the FIN was sent and is acknowledged.
    #[inline]
    pub(crate) fn is_fin_acked(&self) -> bool {
        self.is_closing && self.una >= self.end && self.una == self.segments_end()
    }

    /// The receiver's FIN, which acknowledges ours; acknowledged whenever it arrives (RFC 9293
    /// §3.10.7.4, "eighth").
    pub(crate) fn on_fin(&mut self) {
        self.phase = Phase::TimeWait;
        self.send_control(SegmentKind::LastAck);
    }
}
