//! When the next burst leaves and how large it is: pacing, segmentation offload (TSO), and bursts that
//! wait to be filled.

use dumbbell_cc::{CaState, SK_PACING_NEEDED};

use crate::behaviour::Pacing;
use crate::sender::Sender;

/// `tcp_pacing_ss_ratio`: pacing above cwnd/srtt while slow start needs room, per cent.
const PACING_SLOW_START_PCT: u64 = 200;
/// `tcp_pacing_ca_ratio`, per cent.
const PACING_AVOIDANCE_PCT: u64 = 120;
/// `tcp_min_tso_segs`, unless the congestion control algorithm has its own.
const MIN_TSO_SEGS: u32 = 2;
/// `tcp_tso_rtt_log`: bursts shrink with the RTT, halving every 512 µs of it.
const TSO_RTT_LOG: u32 = 9;
/// How near an ACK must be for a burst to wait for it, µs; half a round trip, if that is less. As
/// in Linux from 6.18 on ("tcp: tcp_tso_should_defer() vs large RTT"), and in stable releases with
/// that change; before, half a round trip of any length.
const DEFER_US: u64 = 1000;
/// `tcp_tso_win_divisor`: a third of the window need not wait for more.
const TSO_WIN_DIVISOR: u32 = 3;
/// Packets that leave before pacing begins: the initial window.
const UNPACED_PKTS: u32 = 10;
/// The TCP header with timestamps, bytes.
const TCP_HEADER_BYTES: u64 = 20 + dumbbell_net::TIMESTAMPS_BYTES as u64;
const NS_PER_S: u64 = 1_000_000_000;

impl Sender {
    /// Whether the next departure lies ahead; then the pacing timer is set for it.
    pub(crate) fn is_paced_out(&mut self) -> bool {
        let sock = &self.cc.sock;
        if sock.sk_pacing_status != SK_PACING_NEEDED || sock.tcp_wstamp_ns <= sock.tcp_clock_cache {
            return false;
        }
        self.timers.pacing_due_ns = match self.config.behaviour.pacing {
            Pacing::Timer => sock.tcp_wstamp_ns, // which is late already
            _ => sock.tcp_wstamp_ns + self.config.timer_lateness_ns,
        };
        true
    }

    /// Moves the next departure on by the time that this one takes at the pacing rate. Time lost to
    /// a late wake-up is made up for by at most half a packet's time.
    #[inline]
    pub(crate) fn end_transmission(&mut self, bytes: u64) {
        let pacing = self.config.behaviour.pacing;
        let sock = &mut self.cc.sock;
        let prior_ns = sock.tcp_wstamp_ns;
        sock.tcp_wstamp_ns = sock.tcp_wstamp_ns.max(sock.tcp_clock_cache);
        let rate = sock.sk_pacing_rate;
        if sock.sk_pacing_status != SK_PACING_NEEDED || rate == 0 || rate == u64::MAX {
            return;
        }
        if pacing != Pacing::DepartureTime {
            return self.start_pacing_timer(bytes);
        }
        if sock.data_segs_out >= UNPACED_PKTS {
            let take_ns = bytes * NS_PER_S / rate;
            let credit_ns = sock.tcp_wstamp_ns - prior_ns;
            sock.tcp_wstamp_ns += take_ns - (take_ns / 2).min(credit_ns);
        }
    }

    /// Linux 4.13 to 4.18: the timer starts now, also for the first packets, charges what the driver gets, and nothing
    /// leaves before it fires, however late.
    #[cold]
    fn start_pacing_timer(&mut self, bytes: u64) {
        if self.config.behaviour.pacing == Pacing::Timer {
            let sock = &mut self.cc.sock;
            let take_ns = (bytes + TCP_HEADER_BYTES) * NS_PER_S / sock.sk_pacing_rate;
            sock.tcp_wstamp_ns = sock.tcp_clock_cache + take_ns + self.config.timer_lateness_ns;
        }
    }

    /// Linux's default pacing rate, which sizes bursts unless the congestion control algorithm sets one.
    pub(crate) fn update_pacing_rate(&mut self) {
        let sock = &mut self.cc.sock;
        let is_early_slow_start = sock.snd_cwnd < sock.snd_ssthresh / 2;
        let pct = if is_early_slow_start {
            PACING_SLOW_START_PCT
        } else {
            PACING_AVOIDANCE_PCT
        };
        let window = u64::from(sock.snd_cwnd.max(sock.packets_out));
        // bytes/s = mss · window / srtt, with srtt in µs << 3.
        let scaled = u64::from(sock.mss_cache) * window * pct * (1_000_000 / 100) * 8;
        sock.sk_pacing_rate =
            (scaled / u64::from(sock.srtt_us.max(1))).min(sock.sk_max_pacing_rate);
    }

    // Bursts.

    /// The most segments of one burst: what the pacing rate moves in a millisecond, more on very
    /// short paths.
    pub(crate) fn max_burst_pkts(&mut self) -> u32 {
        if !self.config.tso {
            return 1;
        }
        if let Some(segs) = self.cc.tso_segs() {
            return segs.clamp(1, u32::from(self.cc.sock.sk_gso_max_segs));
        }
        let min_segs = self.cc.min_tso_segs().unwrap_or(MIN_TSO_SEGS);
        let sock = &self.cc.sock;
        let gso_max_bytes = u64::from(sock.sk_gso_max_size);
        let mut bytes = sock.sk_pacing_rate >> sock.sk_pacing_shift;
        let halvings = sock.min_rtt_us() >> TSO_RTT_LOG;
        if halvings < 32 {
            bytes += gso_max_bytes >> halvings;
        }
        let segs = bytes.min(gso_max_bytes) / u64::from(sock.mss_cache);
        (segs as u32).max(min_segs)
    }

    /// Whether to wait for the next ACK to fill a whole burst.
    pub(crate) fn defers_burst(&self, cwnd_left: u32, wnd_left: u32, max_segs: u32) -> bool {
        let sock = &self.cc.sock;
        if sock.ca_state() >= CaState::Recovery {
            return false;
        }
        // Only right after a write: do not wait for an ACK that may not arrive soon.
        if sock.tcp_clock_cache > sock.tcp_wstamp_ns + 1_000_000 {
            return false;
        }
        let limit = cwnd_left.min(wnd_left);
        if limit >= max_segs {
            return false;
        }
        let chunk = sock.snd_cwnd.min(sock.snd_wnd / sock.mss_cache) / TSO_WIN_DIVISOR;
        if limit >= chunk || self.una == self.nxt {
            return false;
        }
        // Only for an ACK that is near: in 1 ms, or half a round trip if that is less, the oldest
        // segment has been on its way for a round trip.
        let srtt_us = u64::from(sock.srtt_us >> 3);
        let head_age_us = sock
            .tcp_mstamp
            .saturating_sub(self.segments.get(self.una).sent_us);
        let near_us = if self.config.behaviour.defers_half_rtt {
            srtt_us / 2
        } else {
            DEFER_US.min(srtt_us / 2)
        };
        head_age_us + near_us >= srtt_us
    }
}
