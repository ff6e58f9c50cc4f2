//! The congestion states: how losses and marks reduce the window, and when that is over.

use dumbbell_cc::{CaEvent, CaState};

use super::Datapath;

/// The smallest window of QUIC, packets (RFC 9002 §7.2).
const MIN_CWND: u32 = 2;

impl Datapath {
    pub(super) fn on_congestion(&mut self, sent_ns: u64, is_persistent: bool, is_ecn: bool) {
        if !self.is_established {
            return;
        }
        if is_persistent {
            self.lose_all();
        } else if self.recovery_ns.is_none_or(|began_ns| sent_ns > began_ns) {
            self.reduce(if is_ecn {
                CaState::Cwr
            } else {
                CaState::Recovery
            });
        }
    }

    /// A reduction begins (RFC 9002 §7.3.2, Linux's `tcp_init_cwnd_reduction`).
    pub(super) fn reduce(&mut self, state: CaState) {
        let sock = &mut self.flow.sock;
        sock.prior_ssthresh = match state {
            CaState::Recovery => sock
                .snd_ssthresh
                .max((sock.snd_cwnd >> 1) + (sock.snd_cwnd >> 2)),
            _ => 0, // congestion is proven: nothing to undo
        };
        sock.high_seq = sock.snd_nxt;
        sock.snd_cwnd_cnt = 0;
        sock.prior_cwnd = sock.snd_cwnd;
        sock.undo_marker = sock.snd_una;
        self.recovery_ns = Some(sock.tcp_clock_cache);
        self.in_recovery = true;
        let ssthresh = self.flow.ssthresh();
        self.flow.sock.snd_ssthresh = ssthresh;
        self.flow.set_state(state);
        if !self.flow.has_cong_control() {
            self.flow.sock.snd_cwnd = ssthresh.max(MIN_CWND);
        }
    }

    /// Persistent congestion (RFC 9002 §7.6), as a retransmission timeout is in Linux (`tcp_enter_loss`).
    fn lose_all(&mut self) {
        let sock = &mut self.flow.sock;
        if sock.ca_state() != CaState::Loss {
            sock.prior_ssthresh = 0;
            sock.prior_cwnd = sock.snd_cwnd;
            sock.high_seq = sock.snd_nxt;
            let ssthresh = self.flow.ssthresh();
            self.flow.sock.snd_ssthresh = ssthresh;
            self.flow.cwnd_event(CaEvent::Loss);
        }
        let sock = &mut self.flow.sock;
        sock.snd_cwnd = (sock.packets_in_flight() + 1)
            .min(sock.snd_cwnd)
            .max(MIN_CWND);
        sock.snd_cwnd_cnt = 0;
        self.recovery_ns = Some(sock.tcp_clock_cache);
        self.in_recovery = true;
        self.flow.set_state(CaState::Loss);
    }

    pub(super) fn end_recovery(&mut self) {
        self.in_recovery = false;
        if !self.is_established {
            return;
        }
        let is_reduction = self.flow.sock.ca_state() != CaState::Loss;
        if is_reduction && !self.flow.has_cong_control() {
            self.flow.cwnd_event(CaEvent::CompleteCwr);
        }
        self.flow.sock.undo_marker = 0;
        self.flow.set_state(CaState::Open);
    }

    /// The losses were none (`tcp_undo_cwnd_reduction`).
    pub(super) fn undo(&mut self) {
        if !self.is_established || self.flow.sock.prior_ssthresh == 0 {
            return;
        }
        let cwnd_pkts = self.flow.undo_cwnd();
        let now_ms = self.now_ms();
        let sock = &mut self.flow.sock;
        sock.snd_cwnd = cwnd_pkts;
        sock.snd_ssthresh = sock.snd_ssthresh.max(sock.prior_ssthresh);
        sock.snd_cwnd_stamp = now_ms;
        sock.prior_ssthresh = 0;
        sock.undo_marker = 0;
        self.recovery_ns = None;
        self.in_recovery = false;
        self.flow.set_state(CaState::Open);
    }
}
