//! The sender's timers: one for retransmission (RTO, tail loss probe, RACK's reordering window or
//! the persist timer, as Linux shares it) and one for pacing.

use dumbbell_cc::{CaEvent, CaState};

use crate::counters::SenderCounters;
use crate::recovery::Retransmit;
use crate::rtt::{RTO_INITIAL_US, RTO_MAX_US, RTO_MIN_US};
use crate::segments::APP_LIMITED;
use crate::sender::{Phase, Sender};
use crate::timer_wheel::expiry_ns;

/// `TCP_TIMEOUT_MIN_US`: two jiffies at 1000 Hz, added so that a timer never fires early, µs.
pub(crate) const TIMEOUT_MIN_US: u64 = 2_000;

/// The purpose of the retransmission timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XmitTimer {
    /// Retransmission timeout (RFC 6298).
    Rto,
    /// Tail loss probe (RFC 8985 §7).
    LossProbe,
    /// RACK's reordering window (RFC 8985 §6.3).
    Reo,
    /// Something waits while nothing is on its way (RFC 9293 §3.8.6.1).
    Persist,
}

/// Deadlines, ns; `u64::MAX` when not armed.
#[derive(Debug)]
pub(crate) struct Timers {
    xmit: Option<XmitTimer>,
    xmit_due_ns: u64,
    pub(crate) pacing_due_ns: u64,
    last_progress_ns: u64,
    stalled: bool,
}

impl Timers {
    pub(crate) fn new() -> Self {
        Self {
            xmit: None,
            xmit_due_ns: u64::MAX,
            pacing_due_ns: u64::MAX,
            last_progress_ns: 0,
            stalled: false,
        }
    }

    #[inline]
    pub(crate) fn next_ns(&self) -> u64 {
        self.xmit_due_ns.min(self.pacing_due_ns)
    }

    #[inline]
    pub(crate) fn pending(&self) -> Option<XmitTimer> {
        self.xmit
    }

    /// The handshake is done or the cumulative ACK advanced: a stall, if there was one, is over.
    #[inline]
    pub(crate) fn note_progress(&mut self, now_ns: u64, counters: &mut SenderCounters) {
        self.close_stall(now_ns, counters);
        self.last_progress_ns = now_ns;
    }

    /// Charges the stall that a timeout began, if one did, up to `now_ns`.
    #[inline]
    pub(crate) fn close_stall(&mut self, now_ns: u64, counters: &mut SenderCounters) {
        if self.stalled {
            self.charge_stall(now_ns, counters);
        }
    }

    #[cold]
    fn charge_stall(&mut self, now_ns: u64, counters: &mut SenderCounters) {
        self.stalled = false;
        let stall_ns = now_ns - self.last_progress_ns;
        counters.rto_stall_ns += stall_ns;
        counters.rto_stall_max_ns = counters.rto_stall_max_ns.max(stall_ns);
    }
}

impl Sender {
    /// A timer is due.
    pub fn on_timer(&mut self, now_ns: u64) {
        self.set_now(now_ns);
        if now_ns >= self.timers.pacing_due_ns {
            self.timers.pacing_due_ns = u64::MAX;
            let sock = &self.cc.sock;
            if sock.lost_out > sock.retrans_out && sock.snd_cwnd > sock.packets_in_flight() {
                self.recovery.retransmit = Retransmit::Lost;
            }
        }
        if now_ns < self.timers.xmit_due_ns {
            return;
        }
        let timer = self.timers.xmit;
        self.cancel_xmit_timer();
        match (timer, self.phase) {
            (Some(XmitTimer::Rto), Phase::SynSent) => self.on_syn_timeout(),
            (Some(XmitTimer::Rto), _) => self.on_rto(),
            (Some(XmitTimer::LossProbe), _) => self.send_loss_probe(),
            (Some(XmitTimer::Reo), _) => self.on_reo_timeout(),
            (Some(XmitTimer::Persist), _) => self.on_persist_timeout(),
            (None, _) => {}
        }
    }

    /// RFC 6298 §5.4–5.6: retransmit the head, back off, start again.
    fn on_rto(&mut self) {
        if self.una == self.nxt {
            return;
        }
        self.counters.rto_count += 1;
        self.timers.stalled = true;
        self.enter_loss();
        self.retransmit_head();
        let sock = &mut self.cc.sock;
        sock.icsk_retransmits = sock.icsk_retransmits.saturating_add(1);
        sock.icsk_backoff = sock.icsk_backoff.saturating_add(1);
        self.arm_xmit_timer(XmitTimer::Rto, self.rto_us() * 1000);
    }

    /// RFC 8985 §6.3: the reordering window passed; what is still missing is lost.
    fn on_reo_timeout(&mut self) {
        let prior_inflight = self.cc.sock.packets_in_flight();
        let wait_us = self.rack_detect_loss();
        if prior_inflight != self.cc.sock.packets_in_flight() {
            if self.cc.sock.ca_state() != CaState::Recovery {
                self.enter_recovery(false);
                if !self.cc.has_cong_control() {
                    // As if an ACK had delivered one packet: allow the fast retransmit.
                    self.reduce_cwnd(1, false);
                }
            }
            self.recovery.retransmit = Retransmit::Lost;
        }
        if wait_us > 0 {
            self.arm_xmit_timer(XmitTimer::Reo, (wait_us + TIMEOUT_MIN_US) * 1000);
        } else {
            self.rearm_rto(true);
        }
    }

    /// RTO in force: with backoff, under the ceiling, µs.
    pub(crate) fn rto_us(&self) -> u64 {
        let backoff = u32::from(self.cc.sock.icsk_backoff.min(20));
        (u64::from(self.rtt.rto_us) << backoff).min(u64::from(RTO_MAX_US))
    }

    pub(crate) fn arm_xmit_timer(&mut self, timer: XmitTimer, delay_ns: u64) {
        self.timers.xmit = Some(timer);
        self.timers.xmit_due_ns = expiry_ns(self.now_ns(), delay_ns, self.config.tick_ns);
    }

    /// A timer for a packet that may still wait for its departure: pacing is added.
    pub(crate) fn arm_paced_timer(&mut self, timer: XmitTimer, delay_us: u64) {
        let sock = &self.cc.sock;
        let pacing_ns = sock.tcp_wstamp_ns.saturating_sub(sock.tcp_clock_cache);
        self.arm_xmit_timer(timer, delay_us * 1000 + pacing_ns);
    }

    pub(crate) fn cancel_xmit_timer(&mut self) {
        self.timers.xmit = None;
        self.timers.xmit_due_ns = u64::MAX;
    }

    /// After an ACK that acknowledged data: a loss probe where one is allowed, else the RTO.
    #[inline]
    pub(crate) fn set_xmit_timer(&mut self) {
        if !self.schedule_loss_probe(true) {
            self.rearm_rto(false);
        }
    }

    /// RFC 6298 §5.1, §5.3. `from_head` counts from when the head was sent, as needed after a probe
    /// or reordering timer.
    pub(crate) fn rearm_rto(&mut self, from_head: bool) {
        if self.una == self.nxt {
            return self.cancel_xmit_timer();
        }
        let in_place_of_rto = from_head
            || matches!(
                self.timers.xmit,
                Some(XmitTimer::LossProbe | XmitTimer::Reo)
            );
        let delay_us = if in_place_of_rto {
            self.rto_left_us().max(1_000)
        } else {
            self.rto_us()
        };
        self.arm_paced_timer(XmitTimer::Rto, delay_us);
    }

    /// Time until the RTO of the head, µs; 0 when overdue.
    fn rto_left_us(&self) -> u64 {
        let due_us = self.segments.get(self.una).sent_us + self.rto_us();
        due_us.saturating_sub(self.cc.sock.tcp_mstamp)
    }

    /// RFC 8985 §7.2: a loss probe finds losses where nothing else did.
    #[inline]
    pub(crate) fn allows_loss_probe(&self) -> bool {
        self.recovery.sends_loss_probes
            && match self.cc.sock.ca_state() {
                CaState::Open => true,
                CaState::Cwr => !self.config.behaviour.probes_in_open_only,
                _ => false,
            }
    }

    /// RFC 8985 §7.2: a probe after two round trips, when there is nothing to recover yet.
    pub(crate) fn schedule_loss_probe(&mut self, advancing_rto: bool) -> bool {
        if self.una == self.nxt || !self.allows_loss_probe() {
            return false;
        }
        let sock = &self.cc.sock;
        let mut delay_us = match sock.srtt_us {
            0 => u64::from(RTO_INITIAL_US),
            // A single packet's ACK may be delayed: wait that much longer.
            srtt if sock.packets_out == 1 => u64::from(srtt >> 2) + u64::from(RTO_MIN_US),
            srtt => u64::from(srtt >> 2) + TIMEOUT_MIN_US,
        };
        let rto_us = if advancing_rto {
            self.rto_us()
        } else {
            self.rto_left_us()
        };
        if rto_us > 0 {
            delay_us = delay_us.min(rto_us);
        }
        self.arm_paced_timer(XmitTimer::LossProbe, delay_us);
        true
    }

    /// RFC 8985 §7.3: new data if there is any, else the last segment again; one at a time.
    fn send_loss_probe(&mut self) {
        if self.recovery.tlp_high_seq.is_some() || self.una == self.nxt {
            return self.rearm_rto(true); // no second probe, and the RTO is not postponed
        }
        self.counters.tlp_count += 1;
        self.recovery.tlp_retrans = !self.may_send_new();
        if self.recovery.tlp_retrans {
            let is_app_limited = self.segments.get(self.nxt - 1).has(APP_LIMITED);
            let sock = &mut self.cc.sock;
            sock.set_tlp_orig_data_app_limited(is_app_limited);
            self.send_again(self.nxt - 1, 1);
        } else {
            self.send_probe_segment();
        }
        self.recovery.tlp_high_seq = Some(self.nxt);
        self.cancel_xmit_timer(); // the RTO starts from the probe
        self.rearm_rto(false);
    }

    /// RFC 8985 §7.4.2: finds out whether the probe repaired a loss, which then counts as congestion.
    /// Returns whether the ACK acknowledges the probe's segment and leaves open which of the two
    /// arrived.
    pub(crate) fn process_tlp_ack(&mut self, ack: u32, progress: &crate::ack::Progress) -> bool {
        let Some(tlp_high_seq) = self.recovery.tlp_high_seq else {
            return false;
        };
        if ack < tlp_high_seq {
            return false;
        }
        if !self.recovery.tlp_retrans || progress.dsack_tlp {
            self.recovery.tlp_high_seq = None; // new data, or the original arrived as well
        } else if ack > tlp_high_seq {
            if self.cc.is_of_patched_kernel() {
                self.cc.cwnd_event(CaEvent::TlpRecovery);
            }
            self.init_cwnd_reduction();
            self.cc.set_state(CaState::Cwr);
            self.end_cwnd_reduction();
            self.try_keep_open();
        } else if progress.is_dup_ack() && !progress.data_sacked {
            self.recovery.tlp_high_seq = None; // both arrived
        } else {
            return true;
        }
        false
    }
}
