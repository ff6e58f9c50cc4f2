//! Processes an ACK: updates the scoreboard, takes RTT and rate samples, and calls the congestion control algorithm.

mod acked;
mod progress;

use dumbbell_cc::{CaState, RateSample};

pub(crate) use self::progress::Progress;
use crate::accecn::AccEcnFeedback;
use crate::delivery_rate::RateSampler;
use crate::packet::{AckHeader, AckKind};
use crate::sack_store::SackBlocks;
use crate::segments::{EVER_RETRANS, LOST, SACKED};
use crate::sender::{Half, Phase, Sender};

/// Value of Linux's `CA_ACK_SLOWPATH`.
const CA_ACK_SLOWPATH: u32 = 1;
/// Value of Linux's `CA_ACK_ECE`.
const CA_ACK_ECE: u32 = 4;
/// Flags of a segment that was not simply sent and acknowledged.
const REPAIRED: u8 = EVER_RETRANS | SACKED | LOST;

impl Sender {
    /// An ACK arrives, with the blocks of its slot; returns its RTT sample, µs, if it gives one. A sample by timestamps counts
    /// for the connection, as in Linux, but is not reported, because it is in whole milliseconds.
    pub fn on_ack(&mut self, now_ns: u64, ack: &AckHeader, sack: &SackBlocks) -> Option<u32> {
        self.set_now(now_ns);
        let is_newer = ack.ts_val_ms > self.ts_recent_ms;
        self.ts_recent_ms = self.ts_recent_ms.max(ack.ts_val_ms);
        let sock = &mut self.cc.sock;
        sock.rcv_tsval = ack.ts_val_ms.wrapping_add(self.config.peer_clock_ms);
        sock.rcv_tsecr = ack.ts_ecr_ms;
        sock.rcv_tstamp = self.now_ms;
        if ack.kind() == AckKind::SynAck {
            return self.on_syn_ack(ack, sack.accecn());
        }
        let rtt_us = if self.is_plain(ack, sack) {
            self.process_ack::<true>(ack, sack, is_newer)
        } else {
            self.process_any_ack(ack, sack, is_newer)
        };
        if ack.kind() == AckKind::FinAck {
            self.on_fin();
        }
        rtt_us
    }

    /// Whether nearly all ACKs are like it: it acknowledges what was sent once, while nothing is lost, SACKed, marked or
    /// probed for.
    #[inline]
    fn is_plain(&self, ack: &AckHeader, sack: &SackBlocks) -> bool {
        sack.says_nothing()
            && ack.ack > self.una
            && !ack.ece()
            && self.cc.sock.ca_state() == CaState::Open
            && self.scoreboard.has_sack
            && self.recovery.tlp_high_seq.is_none()
            && !self.segments.records_transmit_states()
            && !self.has_flags(self.una..ack.ack, REPAIRED)
    }

    #[inline(never)]
    fn process_any_ack(
        &mut self,
        ack: &AckHeader,
        sack: &SackBlocks,
        is_newer: bool,
    ) -> Option<u32> {
        self.process_ack::<false>(ack, sack, is_newer)
    }

    /// Compiled twice: for ACKs that are plain most of it goes away, and `Progress` needs no memory.
    #[inline(always)]
    fn process_ack<const IS_PLAIN: bool>(
        &mut self,
        ack: &AckHeader,
        sack: &SackBlocks,
        is_newer: bool,
    ) -> Option<u32> {
        let sock = &self.cc.sock;
        let (prior_delivered, prior_lost) = (sock.delivered, sock.lost);
        let (prior_una, prior_fack, prior_packets) = (
            self.una,
            self.scoreboard.fack.max(self.una),
            sock.packets_out,
        );
        let mut progress = Progress {
            una_advanced: IS_PLAIN || ack.ack > self.una,
            window_updated: false,
            data_acked: false,
            data_sacked: false,
            orig_sack_acked: false,
            retrans_data_acked: false,
            ece: !IS_PLAIN && self.is_echo(ack.ece()),
            dsack: false,
            dsack_tlp: false,
            lost_retrans: false,
            set_xmit_timer: false,
            reord: u32::MAX,
            sacked_sent_us: None,
            rtt_is_coarse: false,
            rate: RateSampler::new(sock.packets_in_flight()),
        };
        self.advance_una(ack, &mut progress);
        if !IS_PLAIN && !sack.is_empty() && self.scoreboard.has_sack {
            self.process_sack(sack, prior_una, &mut progress);
        }
        let mut ca_ack_flags = CA_ACK_SLOWPATH;
        if progress.ece {
            self.count_ce(prior_delivered);
            ca_ack_flags |= CA_ACK_ECE;
        }
        if !IS_PLAIN && prior_packets == 0 {
            ca_ack_flags |= self.process_accecn(sack, prior_delivered, is_newer, &mut progress);
            self.cc.in_ack_event(ca_ack_flags);
            self.finish_idle_ack(ack, prior_una, &mut progress);
            return None;
        }
        let rtt_us = self.clean_acked::<IS_PLAIN>(ack, prior_una, prior_fack, &mut progress);
        self.rack_update_reo_wnd(&progress);
        if !IS_PLAIN {
            ca_ack_flags |= self.process_accecn(sack, prior_delivered, is_newer, &mut progress);
        }
        // As in Linux since 6.12: called after what this ACK acknowledges has been counted.
        self.cc.in_ack_event(ca_ack_flags);
        let acks_tlp_retrans = !IS_PLAIN && self.process_tlp_ack(ack.ack, &progress);
        if !IS_PLAIN && self.is_dubious(&progress) {
            self.fast_retransmit_alert(ack, prior_una, &mut progress);
        }
        if progress.set_xmit_timer {
            self.set_xmit_timer();
        }
        let delivered = self.cc.sock.delivered - prior_delivered;
        let losses = self.cc.sock.lost - prior_lost;
        let measured = progress.rate.measure(&mut self.cc.sock, delivered);
        if !IS_PLAIN && self.segments.records_transmit_states() {
            self.cc.sock.highest_sack = self.stream.byte_seq(self.scoreboard.fack);
        }
        if self.cc.has_cong_control() {
            let boundaries = &self.stream.boundaries;
            let counts = (delivered, losses);
            let rate = &progress.rate;
            let rs = rate.sample(&self.cc.sock, boundaries, measured, rtt_us, counts);
            self.call_cong_control::<IS_PLAIN>(rs, &progress, acks_tlp_retrans);
        } else {
            self.avoid_congestion(delivered, losses, &progress);
        }
        if self.stream.boundaries.has_short() {
            self.forget_boundaries();
        }
        let sock = &mut self.cc.sock;
        sock.snd_cwnd = sock.snd_cwnd.clamp(1, sock.snd_cwnd_clamp);
        if sock.take_enter_cwr() {
            self.enter_cwr();
        }
        rtt_us.filter(|_| !progress.rtt_is_coarse)
    }

    /// Accurate ECN: marks that the ACK newly reports have the effect of an echo. Returns the flag for
    /// the congestion control algorithm.
    #[inline(always)]
    fn process_accecn(
        &mut self,
        sack: &SackBlocks,
        prior_delivered: u32,
        is_newer: bool,
        progress: &mut Progress,
    ) -> u32 {
        match sack.accecn() {
            Some(feedback) if self.is_accurate() => {
                self.take_feedback(feedback, prior_delivered, is_newer, progress)
            }
            _ => 0,
        }
    }

    #[cold]
    fn take_feedback(
        &mut self,
        feedback: &AccEcnFeedback,
        prior_delivered: u32,
        is_newer: bool,
        progress: &mut Progress,
    ) -> u32 {
        let delivered = self.cc.sock.delivered - prior_delivered;
        progress.ece = self.count_reported_ce(feedback, delivered, is_newer);
        if progress.ece { CA_ACK_ECE } else { 0 }
    }

    /// A rate sample with what only kernel modules are shown.
    #[cold]
    fn with_transmit_state(
        &mut self,
        mut rs: RateSample,
        progress: &Progress,
        acks_tlp_retrans: bool,
    ) -> RateSample {
        let (rate, sock) = (&progress.rate, &self.cc.sock);
        rate.add_transmit_state(&self.segments, sock, &mut rs);
        rs.is_ece = progress.ece;
        rs.is_acking_tlp_retrans_seq = acks_tlp_retrans;
        rs
    }

    /// Nothing was outstanding, but a D-SACK may show that the last reduction was spurious.
    #[cold]
    fn finish_idle_ack(&mut self, ack: &AckHeader, prior_una: u32, progress: &mut Progress) {
        if progress.dsack {
            self.fast_retransmit_alert(ack, prior_una, progress);
        }
        self.process_tlp_ack(ack.ack, progress);
        self.answer_probe();
    }

    #[inline(always)]
    fn advance_una(&mut self, ack: &AckHeader, progress: &mut Progress) {
        if ack.ack < self.una {
            return; // it was overtaken: what it says is old
        }
        let ack_bytes = self.stream.boundaries.bytes_before(ack.ack);
        if progress.una_advanced {
            self.una = ack.ack;
            let is_fin_acked = self.is_fin_acked();
            let sock = &mut self.cc.sock;
            sock.icsk_retransmits = 0;
            sock.bytes_acked = ack_bytes;
            sock.snd_una = (ack_bytes as u32).wrapping_add(u32::from(is_fin_acked));
            self.timers
                .note_progress(self.cc.sock.tcp_clock_cache, &mut self.counters);
            if is_fin_acked && self.config.half != Half::Only {
                self.phase = Phase::TimeWait;
            }
        }
        // Linux's `tcp_may_update_window`: also one that shrinks, with new data.
        let sock = &mut self.cc.sock;
        progress.window_updated =
            progress.una_advanced || ack.rwnd_bytes > sock.snd_wnd || ack.rwnd_bytes == 0;
        if progress.window_updated {
            sock.snd_wnd = ack.rwnd_bytes;
            self.output.wnd_end_bytes = ack_bytes + u64::from(ack.rwnd_bytes);
        }
    }

    /// Whether loss recovery must process this ACK.
    fn is_dubious(&self, progress: &Progress) -> bool {
        !progress.data_acked
            || progress.data_sacked
            || progress.dsack
            || progress.ece
            || self.cc.sock.ca_state() != CaState::Open
    }

    /// Passes the ACK to a congestion control algorithm that sets cwnd by itself.
    #[inline(always)]
    fn call_cong_control<const IS_PLAIN: bool>(
        &mut self,
        mut rs: RateSample,
        progress: &Progress,
        acks_tlp_retrans: bool,
    ) {
        if !IS_PLAIN && self.segments.records_transmit_states() {
            rs = self.with_transmit_state(rs, progress, acks_tlp_retrans);
        }
        let ack = self.cc.sock.snd_una;
        self.cc.cong_control(ack, progress.cc_flag(), &rs);
    }

    /// Lets the congestion control algorithm raise cwnd, or reduces cwnd if recovery requires it.
    #[inline(always)]
    fn avoid_congestion(&mut self, delivered: u32, losses: u32, progress: &Progress) {
        if self.in_cwnd_reduction() {
            let is_safe = if self.config.behaviour.conserves_packets {
                progress.retrans_data_acked && !progress.lost_retrans
            } else {
                progress.una_advanced && losses == 0
            };
            self.reduce_cwnd(delivered, is_safe);
        } else if self.may_raise_cwnd(progress) {
            let ack = self.cc.sock.snd_una;
            self.cc.cong_avoid(ack, delivered);
            self.cc.sock.snd_cwnd_stamp = self.now_ms;
        }
        self.update_pacing_rate();
    }

    /// With reordering seen any progress counts, else only cumulative progress.
    fn may_raise_cwnd(&self, progress: &Progress) -> bool {
        if self.cc.sock.reordering > crate::establish::INITIAL_REORDERING {
            progress.is_forward()
        } else {
            progress.data_acked
        }
    }

    /// Whether the handshake is done.
    pub fn is_established(&self) -> bool {
        matches!(self.phase, Phase::Established | Phase::TimeWait)
    }
}
