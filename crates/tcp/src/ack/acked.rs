//! What an ACK acknowledges cumulatively leaves the scoreboard, and gives samples of RTT and delivery rate.

use std::ops::Range;

use dumbbell_cc::AckSample;

use super::{Progress, REPAIRED};
use crate::packet::AckHeader;
use crate::rtt::update_min_rtt;
use crate::segments::{EVER_RETRANS, LOST, RETRANS, SACKED};
use crate::sender::Sender;

impl Sender {
    /// Removes cumulatively acknowledged segments from the scoreboard and samples the RTT.
    #[inline(always)]
    pub(super) fn clean_acked<const IS_PLAIN: bool>(
        &mut self,
        ack: &AckHeader,
        prior_una: u32,
        prior_fack: u32,
        progress: &mut Progress,
    ) -> Option<u32> {
        let prior_delivered = self.cc.sock.delivered;
        let acked = prior_una..self.una;
        let acked_sent_us = if IS_PLAIN {
            Some(self.take_originals(acked, progress))
        } else {
            self.take_any(acked, ack, progress)
        };
        if !IS_PLAIN && !self.scoreboard.has_sack {
            self.forget_duplicate_acks(self.una - prior_una, progress);
        }
        if progress.ece {
            self.count_ce(prior_delivered);
        }
        self.scoreboard.fack = self.scoreboard.fack.max(self.una);
        let rtt_us = self.sample_rtt(ack, acked_sent_us, progress);
        if IS_PLAIN || self.una > prior_una {
            progress.data_acked = true;
            progress.set_xmit_timer = true;
            if progress.reord < prior_fack {
                // A hole filled by its original: that was reordering, not loss.
                self.check_reordering(progress.reord, prior_fack);
            }
        } else if rtt_us.is_some() && self.una < self.nxt {
            // SACKed data sent after the head: waiting longer for the head only delays the RTO,
            // unless the head is younger than that data.
            let head_age_us = self.cc.sock.tcp_mstamp - self.segments.get(self.una).sent_us;
            let sack_rtt_us = progress
                .sacked_sent_us
                .map(|(first, _)| self.cc.sock.tcp_mstamp - first);
            progress.set_xmit_timer = sack_rtt_us.is_some_and(|rtt_us| rtt_us > head_age_us);
        }
        if self.cc.has_pkts_acked() {
            let sock = &self.cc.sock;
            // What was delivered since the acknowledged packet left was then in flight.
            let in_flight_pkts = sock
                .delivered
                .wrapping_sub(progress.rate.delivered_at_sending());
            let sample = AckSample {
                pkts_acked: self.una - prior_una,
                rtt_us: rtt_us.map_or(-1, |rtt_us| rtt_us as i32),
                in_flight: in_flight_pkts.wrapping_mul(sock.mss_cache),
            };
            self.cc.pkts_acked(&sample);
        }
        rtt_us
    }

    /// Segments of any kind. Returns as [`Sender::take_originals`] does, if any arrived as an original.
    #[inline]
    fn take_any(
        &mut self,
        acked: Range<u32>,
        ack: &AckHeader,
        progress: &mut Progress,
    ) -> Option<(u64, u64)> {
        if acked.is_empty() {
            None
        } else if self.has_flags(acked.clone(), REPAIRED) {
            self.take_repaired(acked, ack, progress)
        } else {
            Some(self.take_originals(acked, progress))
        }
    }

    /// Whether any of `segments` has any of `flags`.
    #[inline]
    pub(super) fn has_flags(&self, mut segments: Range<u32>, flags: u8) -> bool {
        segments.any(|seq| self.segments.get(seq).flags & flags != 0)
    }

    /// The simple case: each sent once, in order, and acknowledged. The last one determines the
    /// sample. Returns when the first and the last were sent, µs.
    #[inline(always)]
    fn take_originals(&mut self, acked: Range<u32>, progress: &mut Progress) -> (u64, u64) {
        let (first, last) = (acked.start, acked.end - 1);
        let first_sent_us = self.segments.get(first).sent_us;
        let segment = self.segments.get(last);
        let last_sent_us = segment.sent_us;
        let sock = &mut self.cc.sock;
        sock.packets_out -= acked.end - first;
        sock.delivered += acked.end - first;
        progress.rate.on_delivered(sock, last, segment);
        progress.reord = progress.reord.min(first);
        progress.orig_sack_acked |= first < self.recovery.high_seq;
        self.rack_advance(last, 0, last_sent_us);
        (first_sent_us, last_sent_us)
    }

    /// Segments of which some were SACKed, lost or sent again. Returns when the first and the last that
    /// arrived as originals were sent, µs, if any did.
    fn take_repaired(
        &mut self,
        acked: Range<u32>,
        ack: &AckHeader,
        progress: &mut Progress,
    ) -> Option<(u64, u64)> {
        let mut acked_sent_us = None;
        for seq in acked {
            let segment = self.segments.get(seq);
            let (flags, sent_us) = (segment.flags, segment.sent_us);
            let sock = &mut self.cc.sock;
            sock.packets_out -= 1;
            progress.rate.on_delivered(sock, seq, segment);
            sock.retrans_out -= u32::from(flags & RETRANS != 0);
            sock.lost_out -= u32::from(flags & LOST != 0);
            if flags & EVER_RETRANS != 0 {
                progress.retrans_data_acked = true;
            } else if flags & SACKED == 0 {
                acked_sent_us.get_or_insert((sent_us, sent_us)).1 = sent_us;
                progress.reord = progress.reord.min(seq);
                progress.orig_sack_acked |= seq < self.recovery.high_seq;
            }
            if flags & SACKED != 0 {
                sock.sacked_out -= 1;
                self.scoreboard.count.note_acked();
            } else {
                sock.delivered += 1;
                let is_spurious =
                    flags & EVER_RETRANS != 0 && ack.echoes_before((sent_us / 1000) as u32);
                if !is_spurious {
                    self.rack_advance(seq, flags, sent_us);
                }
            }
        }
        acked_sent_us
    }

    /// What was delivered since `delivered` was `prior_delivered` counts as marked.
    #[cold]
    pub(super) fn count_ce(&mut self, prior_delivered: u32) {
        let sock = &mut self.cc.sock;
        sock.delivered_ce += sock.delivered - prior_delivered;
    }

    /// RFC 6298 §3 (Karn): samples come from data sent once; failing that, from timestamps.
    #[inline(always)]
    fn sample_rtt(
        &mut self,
        ack: &AckHeader,
        acked_sent_us: Option<(u64, u64)>,
        progress: &mut Progress,
    ) -> Option<u32> {
        let now_us = self.cc.sock.tcp_mstamp;
        let unambiguous = acked_sent_us.filter(|_| !progress.retrans_data_acked);
        let smooth_us;
        let mut latest_us = None;
        if let Some((first_us, last_us)) = unambiguous {
            smooth_us = Some(now_us - first_us);
            latest_us = Some(now_us - last_us);
        } else {
            smooth_us = progress
                .sacked_sent_us
                .map(|(first_us, _)| now_us - first_us);
        }
        if let Some((_, last_us)) = progress.sacked_sent_us {
            latest_us = Some(now_us - last_us);
        }
        let (smooth_us, latest_us) = match (smooth_us, latest_us) {
            (Some(smooth_us), Some(latest_us)) => (smooth_us as u32, latest_us as u32),
            _ if progress.una_advanced && ack.ts_ecr_ms != 0 => {
                let rtt_us = self.now_ms.saturating_sub(ack.ts_ecr_ms).max(1) * 1000;
                progress.rtt_is_coarse = true;
                (rtt_us, rtt_us)
            }
            _ => return None,
        };
        self.latest_rtt_us = latest_us;
        update_min_rtt(&mut self.cc.sock, self.now_ms, latest_us);
        self.rtt
            .sample(&mut self.cc.sock, smooth_us, self.una, self.nxt);
        self.cc.sock.icsk_backoff = 0;
        Some(latest_us)
    }
}
