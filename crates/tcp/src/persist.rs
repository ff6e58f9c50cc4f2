//! The persist timer (RFC 9293 §3.8.6.1): what waits to be sent while nothing is on its way, so that no
//! ACK will come. It probes a window that is too small, and sends a short segment that waits for more
//! data for too long.

use crate::counters::Limit;
use crate::packet::SegmentKind;
use crate::sender::Sender;
use crate::timers::XmitTimer;

/// `tcp_retries2`: the timeout doubles at most this often.
const RETRIES: u8 = 15;

impl Sender {
    /// Sets the timer if something waits that no ACK will release (Linux's `tcp_check_probe_timer`).
    #[inline]
    pub(crate) fn check_persist_timer(&mut self) {
        if self.cc.sock.packets_out == 0 && self.nxt < self.stream.end {
            self.arm_persist_timer();
        }
    }

    #[cold]
    fn arm_persist_timer(&mut self) {
        let waits = self.output.limit == Limit::Rwnd
            || (self.nxt + 1 == self.stream.end && self.holds_tail());
        if waits && self.timers.pending().is_none() {
            self.arm_xmit_timer(XmitTimer::Persist, self.rto_us() * 1000);
        }
    }

    /// Linux's `tcp_send_probe0`: a segment if there is room for it, otherwise one without payload that
    /// the receiver must answer.
    pub(crate) fn on_persist_timeout(&mut self) {
        if self.cc.sock.packets_out > 0 || self.nxt >= self.stream.end {
            return;
        }
        if self.window_admits(1) > 0 {
            self.send_new(1);
            return self.rearm_rto(false);
        }
        self.send_control(SegmentKind::WindowProbe);
        let sock = &mut self.cc.sock;
        sock.icsk_backoff = (sock.icsk_backoff + 1).min(RETRIES);
        self.arm_xmit_timer(XmitTimer::Persist, self.rto_us() * 1000);
    }

    /// An ACK while nothing was on its way: the window is open again, or the wait starts again (Linux's
    /// `tcp_ack_probe`).
    pub(crate) fn answer_probe(&mut self) {
        if self.timers.pending() != Some(XmitTimer::Persist) {
            return;
        }
        self.cancel_xmit_timer();
        if self.window_admits(1) > 0 {
            self.cc.sock.icsk_backoff = 0;
        } else {
            self.arm_xmit_timer(XmitTimer::Persist, self.rto_us() * 1000);
        }
    }
}
