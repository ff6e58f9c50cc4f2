//! Prague's detection of a classic AQM (`cc/classic_aqm.h`): its score against the paper's equation, computed
//! here in floating point from the same RTTs, and what the score does to the response to a mark.

use std::collections::BTreeMap;

use crate::common::load;
use dumbbell_cc::{Flow, RateSample};

const MSS_BYTES: u32 = 1448;
const ACCECN: u8 = 16;
const BASE_RTT_US: u32 = 20_000;
/// One ACK per packet, so many in a round trip.
const WINDOW_PKTS: u32 = 60;
/// 16 V on both sides of the transition.
const STICKY: f64 = 8.0;

/// Smoothed RTT and mean deviation, as the paper has them, and its score.
struct Expected {
    gain: i32,
    srtt_us: f64,
    mdev_us: f64,
    score: f64,
}

impl Expected {
    fn on_rtt(&mut self, rtt_us: f64) {
        if self.srtt_us == 0.0 {
            self.srtt_us = rtt_us;
            return;
        }
        let error_us = rtt_us - self.srtt_us;
        self.srtt_us += error_us / 2_f64.powi(self.gain);
        self.mdev_us += (error_us.abs() - self.mdev_us) / 2_f64.powi(self.gain + 1);
    }

    /// score += lg(v/750 µs)/2 + lg(max(d/2 ms, 1))/2.
    fn on_round(&mut self) {
        let depth_us = self.srtt_us - f64::from(BASE_RTT_US);
        let by = (self.mdev_us.max(1.0) / 750.0).log2() / 2.0
            + (depth_us / 2000.0).max(1.0).log2() / 2.0;
        self.score = (self.score + by).clamp(-STICKY, 1.0 + STICKY);
    }

    /// The gain is 1/(2·ssthresh^1.5), in powers of 2.
    fn on_reduction(&mut self, ssthresh: u32) {
        let lg = ssthresh.ilog2() as i32;
        self.gain = (lg + lg / 2 + 1).min(18);
    }
}

struct Path {
    flow: Flow,
    expected: Expected,
    rounds: u32,
}

impl Path {
    /// A flow out of slow start, which nothing has marked yet.
    fn new(params: &[(&str, i64)]) -> Self {
        let mut flow = load("prague", params).new_flow();
        let sock = &mut flow.sock;
        sock.mss_cache = MSS_BYTES;
        sock.snd_cwnd = WINDOW_PKTS;
        sock.snd_ssthresh = WINDOW_PKTS;
        sock.srtt_us = BASE_RTT_US << 3;
        sock.rtt_min.samples[0] = (0, BASE_RTT_US);
        sock.ecn_flags = ACCECN;
        sock.tcp_mstamp = 1_000_000;
        flow.init();
        let expected = Expected {
            gain: 18,
            srtt_us: 0.0,
            mdev_us: 0.0,
            score: -STICKY,
        };
        Self {
            flow,
            expected,
            rounds: 0,
        }
    }

    /// A round trip of one ACK per packet with these RTTs; the first packet of it is marked, if any is. Not limited
    /// by the window, which therefore never grows.
    fn round(&mut self, is_marked: bool, rtt_us: impl Fn(u32) -> u32) {
        self.rounds += 1;
        for packet in 0..WINDOW_PKTS {
            let sock = &mut self.flow.sock;
            let marked = u32::from(is_marked && packet == 0);
            sock.tcp_mstamp += u64::from(2 * BASE_RTT_US / WINDOW_PKTS);
            sock.snd_una = sock.snd_una.wrapping_add(MSS_BYTES);
            sock.snd_nxt = sock.snd_una.wrapping_add((WINDOW_PKTS - 1) * MSS_BYTES);
            sock.delivered += 1;
            sock.delivered_ce += marked;
            let (ssthresh, score) = (sock.snd_ssthresh, self.score());
            let rtt_us = rtt_us(packet);
            let rs = RateSample {
                delivered: 1,
                acked_sacked: 1,
                interval_us: i64::from(rtt_us),
                rtt_us: i64::from(rtt_us),
                ..RateSample::default()
            };
            self.flow.cong_control(0, 0, &rs);
            self.expected.on_rtt(f64::from(rtt_us));
            if marked > 0 && self.flow.sock.snd_ssthresh <= ssthresh {
                self.expected.on_reduction(self.flow.sock.snd_ssthresh);
            }
            if self.score() != score {
                self.expected.on_round();
            }
        }
    }

    fn series(&self, name: &str) -> f64 {
        let mut values = BTreeMap::new();
        self.flow.read_series(|index, raw| {
            let series = &self.flow.instance().series()[index];
            let value = raw as i64 as f64; // the score is signed
            values.insert(series.name.clone(), value / series.div as f64);
        });
        values[name]
    }

    fn score(&self) -> f64 {
        self.series("classic_score")
    }

    /// What a mark leaves of cwnd.
    fn left_by_a_mark(&mut self, rtt_us: impl Fn(u32) -> u32) -> f64 {
        let before = self.series("cwnd_fractional_pkts");
        self.round(true, rtt_us);
        self.series("cwnd_fractional_pkts") / before
    }
}

/// A sawtooth of `depth_us` on the base RTT, over a round.
fn sawtooth(depth_us: u32) -> impl Fn(u32) -> u32 + Copy {
    move |packet| BASE_RTT_US + depth_us * packet / WINDOW_PKTS
}

const ON: &[(&str, i64)] = &[("classic_fallback", 1)];

/// Queues that move the score up and down, one after the other.
#[test]
fn the_score_is_the_papers() {
    let mut path = Path::new(ON);
    path.round(true, sawtooth(0));
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for (rounds, depth_us) in [(150, 30_000), (400, 500), (150, 9_000), (400, 100)] {
        for _ in 0..rounds {
            path.round(false, sawtooth(depth_us));
            let error = (path.score() - path.expected.score).abs();
            assert!(
                error < 0.02,
                "{depth_us} µs, round {}: {}, not {}",
                path.rounds,
                path.score(),
                path.expected.score
            );
            (least, most) = (least.min(path.score()), most.max(path.score()));
        }
    }
    assert_eq!((least, most), (-STICKY, 1.0 + STICKY));
}

/// Without a mark there is no AQM, whatever the RTT does.
#[test]
fn nothing_is_detected_before_the_first_mark() {
    let mut path = Path::new(ON);
    for _ in 0..300 {
        path.round(false, sawtooth(30_000));
    }
    assert_eq!(path.score(), -STICKY);
}

/// A mark takes alpha/2, or 5/16 of cwnd where that is more, in a deep queue; in a shallow one it takes alpha/2.
#[test]
fn in_a_classic_queue_a_mark_takes_five_sixteenths() {
    let left = |params: &[(&str, i64)], depth_us: u32| {
        let mut path = Path::new(params);
        path.round(true, sawtooth(0));
        for _ in 0..200 {
            path.round(false, sawtooth(depth_us));
        }
        (path.left_by_a_mark(sawtooth(depth_us)), path.score())
    };
    let (left_deep, score) = left(ON, 30_000);
    assert_eq!(score, 1.0 + STICKY);
    assert!((left_deep - 11.0 / 16.0).abs() < 1e-4, "{left_deep}");
    let (left_shallow, score) = left(ON, 500);
    assert_eq!(score, -STICKY);
    assert!(left_shallow > 0.995, "{left_shallow}");
    // Detection alone, and neither: the response is that of L4S.
    let (left_detected, score) = left(&[("classic_fallback", 2)], 30_000);
    assert_eq!((left_detected > 0.995, score), (true, 1.0 + STICKY));
    let (left_off, score) = left(&[], 30_000);
    assert_eq!((left_off > 0.995, score), (true, -STICKY));
}

/// Between 0 and 1 the response is in proportion to the score.
#[test]
fn the_response_changes_gradually() {
    let mut path = Path::new(ON);
    path.round(true, sawtooth(0));
    let mut seen = 0;
    for _ in 0..400 {
        path.round(false, sawtooth(5_000));
        let score = path.score();
        if (0.1..0.9).contains(&score) {
            seen += 1;
            let left = path.left_by_a_mark(sawtooth(5_000));
            let expected = 1.0 - score * 5.0 / 16.0;
            assert!(
                (left - expected).abs() < 0.02,
                "{score}: {left}, not {expected}"
            );
        }
    }
    assert!(seen > 0, "the score never was between 0 and 1");
}
