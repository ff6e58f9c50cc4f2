//! A congestion control algorithm alone on a path: the minimum of a TCP that produces its ACK clock.
//!
//! One bulk flow sends full-sized packets, paced if it asks for that, through one link with an
//! unlimited queue; each packet is acknowledged separately, one propagation round trip after it
//! left the link. Nothing is lost: a test that needs loss reports it to the congestion control algorithm.
use std::collections::VecDeque;

use dumbbell_cc::{AckSample, CaEvent, Flow, RateSample, SK_PACING_NEEDED};

/// Payload of a packet, bytes.
pub(crate) const MSS_BYTES: u32 = 1448;

/// A packet in flight, with what its ACK's delivery-rate sample needs
/// (draft-ietf-ccwg-bbr, "Delivery Rate Samples").
struct Sent {
    sent_us: u64,
    acked_ns: u64,
    delivered: u32,
    delivered_us: u64,
    first_sent_us: u64,
    is_app_limited: bool,
}

/// A flow, its path, and the packets between.
pub(crate) struct AckClock {
    pub(crate) flow: Flow,
    /// Time the link takes for a packet, ns.
    pub(crate) packet_ns: u64,
    /// Round trip without queueing and serialization, ns; may change while running.
    pub(crate) rtt_ns: u64,
    pub(crate) now_ns: u64,
    /// RTT of the last packet acknowledged, µs.
    pub(crate) rtt_us: u32,
    link_free_ns: u64,
    next_send_ns: u64,
    inflight: VecDeque<Sent>,
}

impl AckClock {
    /// Starts `flow` at 1 s with an initial window of 10 packets, after a handshake that saw
    /// the round trip.
    pub(crate) fn start(mut flow: Flow, packet_us: u64, rtt_us: u32) -> Self {
        let sock = &mut flow.sock;
        sock.mss_cache = MSS_BYTES;
        sock.snd_cwnd = 10;
        sock.srtt_us = rtt_us << 3;
        sock.rtt_min.samples = [(0, rtt_us); 3];
        sock.set_cwnd_limited(true);
        let mut clock = Self {
            flow,
            packet_ns: packet_us * 1000,
            rtt_ns: u64::from(rtt_us) * 1000,
            now_ns: 0,
            rtt_us,
            link_free_ns: 0,
            next_send_ns: 0,
            inflight: VecDeque::new(),
        };
        clock.set_time(1_000_000_000);
        clock.flow.init();
        clock
    }

    /// Packets that fill the path without a queue.
    pub(crate) fn bdp_pkts(&self) -> f64 {
        (self.rtt_ns + self.packet_ns) as f64 / self.packet_ns as f64
    }

    /// The link's rate in payload, bit/s.
    pub(crate) fn link_rate_bps(&self) -> f64 {
        f64::from(MSS_BYTES) * 8e9 / self.packet_ns as f64
    }

    /// Runs for `seconds`, or until `stop` returns true after an ACK; returns whether it did.
    pub(crate) fn run(&mut self, seconds: f64, mut stop: impl FnMut(&Self) -> bool) -> bool {
        let end_ns = self.now_ns + (seconds * 1e9) as u64;
        while self.now_ns < end_ns {
            let has_window = self.flow.sock.packets_out < self.flow.sock.snd_cwnd;
            let send_ns = self.next_send_ns.max(self.now_ns);
            match self.inflight.front() {
                Some(next) if !has_window || next.acked_ns <= send_ns => {
                    self.set_time(next.acked_ns);
                    self.acknowledge();
                    if stop(self) {
                        return true;
                    }
                }
                _ => {
                    self.set_time(send_ns);
                    self.send();
                }
            }
        }
        false
    }

    /// A series as it is reported: raw value × mul ÷ div, × MSS if declared per MSS.
    pub(crate) fn series(&self, name: &str) -> u64 {
        series(&self.flow, name)
    }

    fn set_time(&mut self, now_ns: u64) {
        self.now_ns = now_ns;
        self.flow.sock.tcp_clock_cache = now_ns;
        self.flow.sock.tcp_mstamp = now_ns / 1000;
    }

    fn send(&mut self) {
        if self.inflight.is_empty() {
            self.flow.cwnd_event(CaEvent::TxStart);
        }
        let now_ns = self.now_ns;
        let sock = &mut self.flow.sock;
        if self.inflight.is_empty() {
            sock.first_tx_mstamp = sock.tcp_mstamp;
            sock.delivered_mstamp = sock.tcp_mstamp;
        }
        self.link_free_ns = self.link_free_ns.max(now_ns) + self.packet_ns;
        // A path that became shorter does not reorder.
        let earliest_ns = self.inflight.back().map_or(0, |last| last.acked_ns);
        self.inflight.push_back(Sent {
            sent_us: sock.tcp_mstamp,
            acked_ns: (self.link_free_ns + self.rtt_ns).max(earliest_ns),
            delivered: sock.delivered,
            delivered_us: sock.delivered_mstamp,
            first_sent_us: sock.first_tx_mstamp,
            is_app_limited: sock.app_limited != 0,
        });
        sock.snd_nxt += MSS_BYTES;
        sock.packets_out += 1;
        sock.data_segs_out += 1;
        sock.max_packets_out = sock.packets_out;
        if sock.sk_pacing_status == SK_PACING_NEEDED {
            self.next_send_ns = now_ns + u64::from(MSS_BYTES) * 1_000_000_000 / sock.sk_pacing_rate;
            sock.tcp_wstamp_ns = self.next_send_ns;
        }
    }

    fn acknowledge(&mut self) {
        let Some(packet) = self.inflight.pop_front() else {
            return;
        };
        let sock = &mut self.flow.sock;
        let now_us = sock.tcp_mstamp;
        let prior_in_flight = sock.packets_out;
        sock.snd_una += MSS_BYTES;
        sock.packets_out -= 1;
        sock.delivered += 1;
        sock.delivered_mstamp = now_us;
        sock.first_tx_mstamp = packet.sent_us;
        if sock.delivered > sock.app_limited {
            sock.app_limited = 0;
        }
        let rtt_us = (now_us - packet.sent_us) as u32;
        self.rtt_us = rtt_us;
        sock.srtt_us = sock.srtt_us - (sock.srtt_us >> 3) + rtt_us;
        let min_rtt_us = sock.min_rtt_us().min(rtt_us);
        sock.rtt_min.samples = [(0, min_rtt_us); 3];

        let send_us = packet.sent_us - packet.first_sent_us;
        let ack_us = now_us - packet.delivered_us;
        let interval_us = send_us.max(ack_us) as i64;
        let is_valid = interval_us >= i64::from(min_rtt_us);
        let rs = RateSample {
            prior_mstamp: packet.delivered_us,
            prior_delivered: packet.delivered,
            delivered: (sock.delivered - packet.delivered) as i32,
            interval_us: if is_valid { interval_us } else { -1 },
            rtt_us: i64::from(rtt_us),
            acked_sacked: 1,
            prior_in_flight,
            is_app_limited: packet.is_app_limited,
            ..no_sample()
        };
        let ack = sock.snd_una;
        self.flow.pkts_acked(&AckSample {
            pkts_acked: 1,
            rtt_us: rtt_us as i32,
            in_flight: prior_in_flight,
        });
        if self.flow.has_cong_control() {
            self.flow.cong_control(ack, 0, &rs);
        } else {
            self.flow.cong_avoid(ack, 1);
        }
    }
}

/// An ACK without information.
pub(crate) fn no_sample() -> RateSample {
    RateSample {
        prior_mstamp: 0,
        prior_delivered: 0,
        prior_delivered_ce: 0,
        delivered: -1,
        delivered_ce: 0,
        interval_us: -1,
        snd_interval_us: 0,
        rcv_interval_us: 0,
        rtt_us: -1,
        losses: 0,
        acked_sacked: 0,
        prior_in_flight: 0,
        last_end_seq: 0,
        is_app_limited: false,
        is_retrans: false,
        is_ack_delayed: false,
        ..RateSample::default()
    }
}

/// A series of `flow` as it is reported: raw value × mul ÷ div, × MSS if declared per MSS.
pub(crate) fn series(flow: &Flow, name: &str) -> u64 {
    let mut values = Vec::new();
    flow.read_series(|_, value| values.push(value));
    let columns = flow.instance().series();
    let index = columns
        .iter()
        .position(|series| series.name == name)
        .unwrap_or_else(|| panic!("no series `{name}`"));
    let column = &columns[index];
    let mss = if column.per_mss { MSS_BYTES } else { 1 };
    (u128::from(values[index]) * u128::from(column.mul) * u128::from(mss) / u128::from(column.div))
        as u64
}

/// Asserts that `actual` is within `tolerance` (a fraction) of `expected`.
#[track_caller]
pub(crate) fn assert_near(actual: f64, expected: f64, tolerance: f64) {
    let error = (actual - expected).abs() / expected.abs();
    assert!(
        error <= tolerance,
        "{actual} is {:.2} % off {expected}; {:.2} % allowed",
        100.0 * error,
        100.0 * tolerance
    );
}
