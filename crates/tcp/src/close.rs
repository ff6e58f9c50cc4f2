//! Closing the connection (RFC 9293 §3.6): the FIN is sent when the application has nothing more to
//! send, and is kept and repaired like a segment of data; the receiver's own is acknowledged.

use crate::packet::SegmentKind;
use crate::sender::{Phase, Sender};

impl Sender {
    /// The application closes: the FIN follows what it has written. [`Sender::poll_transmit`] must
    /// follow.
    pub fn close(&mut self) {
        self.stream.closes = true;
    }

    /// The application stops: nothing new is sent, what was sent is still delivered. If it was to
    /// close, it does.
    pub fn stop(&mut self) {
        if self.nxt < self.stream.end {
            self.set_written(self.stream.sent_bytes);
            self.stream.is_closing = self.stream.closes;
            self.stream.fin_rides = false;
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
        let was_held = self.nxt + 1 == self.stream.end && self.holds_tail();
        if self.stream.closes && !self.stream.is_closing {
            self.stream.is_closing = true;
            self.stream.fin_rides = self.nxt < self.stream.end;
        }
        let is_due = if self.stream.fin_rides {
            was_held
        } else {
            self.nxt == self.stream.end && self.nxt < self.stream.segments_end()
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

    /// Whether the FIN was sent.
    #[inline]
    pub(crate) fn has_sent_fin(&self) -> bool {
        self.stream.is_closing
            && self.nxt >= self.stream.end
            && self.nxt == self.stream.segments_end()
    }

    /// Whether the FIN was sent and is acknowledged.
    #[inline]
    pub(crate) fn is_fin_acked(&self) -> bool {
        self.stream.is_closing
            && self.una >= self.stream.end
            && self.una == self.stream.segments_end()
    }

    /// The receiver's FIN, which acknowledges ours; acknowledged whenever it arrives (RFC 9293
    /// §3.10.7.4, "eighth").
    pub(crate) fn on_fin(&mut self) {
        self.phase = Phase::TimeWait;
        self.send_control(SegmentKind::LastAck);
    }
}
