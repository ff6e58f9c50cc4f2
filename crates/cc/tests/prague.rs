//! Prague by draft-briscoe-iccrg-prague-congestion-control: its estimate of marks, what a mark and a loss take,
//! what an unmarked packet adds at any RTT, and its pacing.

use std::collections::BTreeMap;

use crate::common::load;
use dumbbell_cc::{CaEvent, CaState, Flow, RateSample};

const MSS_BYTES: u32 = 1448;
const INFINITE: u32 = 0x7fff_ffff;
/// Of `ecn_flags`: the receiver counts marks (RFC 9768).
const ACCECN: u8 = 16;
const CLASSIC: u8 = 1;
/// The virtual RTT, µs.
const VIRTUAL_US: u32 = 25_000;

/// A flow whose window is in use, on a path of `rtt_us`.
struct Path {
    flow: Flow,
    rtt_us: u32,
}

impl Path {
    /// In slow start, with a window of 100 packets.
    fn start(rtt_us: u32, params: &[(&str, i64)]) -> Self {
        let mut flow = load("prague", params).new_flow();
        let sock = &mut flow.sock;
        sock.mss_cache = MSS_BYTES;
        sock.snd_cwnd = 100;
        sock.max_packets_out = 100;
        sock.set_cwnd_limited(true);
        sock.srtt_us = rtt_us << 3;
        sock.ecn_flags = ACCECN;
        sock.tcp_mstamp = 1_000_000;
        sock.delivered = 1;
        sock.snd_nxt = 100 * MSS_BYTES;
        flow.init();
        Self { flow, rtt_us }
    }

    /// In congestion avoidance, with RTT independence in force, after the first mark: 100 packets again.
    fn settled(rtt_us: u32, params: &[(&str, i64)]) -> Self {
        let mut path = Self::start(rtt_us, params);
        path.round(100, 1);
        for _ in 0..10 {
            path.flow.sock.max_packets_out = 0; // not limited by the window: it stays
            path.flow.sock.set_cwnd_limited(false);
            path.round(100, 0);
        }
        path.flow.sock.set_cwnd_limited(true);
        path
    }

    /// One ACK of `acked` packets, `marked` of them, `after_us` after the last.
    fn ack(&mut self, acked: u32, marked: u32, after_us: u32) {
        let sock = &mut self.flow.sock;
        sock.tcp_mstamp += u64::from(after_us);
        sock.delivered = sock.delivered.wrapping_add(acked);
        sock.delivered_ce = sock.delivered_ce.wrapping_add(marked);
        let rs = RateSample {
            delivered: acked as i32,
            acked_sacked: acked,
            interval_us: i64::from(self.rtt_us),
            rtt_us: i64::from(self.rtt_us),
            ..RateSample::default()
        };
        self.flow.cong_control(0, 0, &rs);
    }

    /// A round trip in one ACK: all that was out when it began is acknowledged, and as much is out again.
    fn round(&mut self, acked: u32, marked: u32) {
        let sock = &mut self.flow.sock;
        sock.snd_una = sock.snd_nxt;
        sock.snd_nxt = sock.snd_nxt.wrapping_add(acked * MSS_BYTES);
        self.ack(acked, marked, self.rtt_us);
    }

    fn series(&self, name: &str) -> f64 {
        let mut values = BTreeMap::new();
        self.flow.read_series(|index, raw| {
            let series = &self.flow.instance().series()[index];
            values.insert(series.name.clone(), raw as f64 / series.div as f64);
        });
        values[name]
    }

    fn cwnd(&self) -> f64 {
        self.series("cwnd_fractional_pkts")
    }

    fn alpha(&self) -> f64 {
        self.series("alpha")
    }
}

fn assert_near(what: &str, is: f64, expected: f64, tolerance: f64) {
    let error = (is - expected).abs();
    assert!(
        error <= tolerance * expected.abs(),
        "{what}: {is}, not {expected}"
    );
}

#[test]
fn it_asks_for_ecn() {
    assert!(load("prague", &[]).needs_ecn());
}

/// §2.5.2: two packets in a burst would be marked by any step shorter than a packet, at any window.
#[test]
fn a_burst_may_be_one_packet() {
    assert_eq!(load("prague", &[]).new_flow().min_tso_segs(), Some(1));
}

/// §2.3.2: alpha += (marked share − alpha)/16 once per round; what the shift cuts off is kept.
#[test]
fn alpha_follows_the_marked_share_by_a_sixteenth_per_round() {
    let mut path = Path::settled(40_000, &[]);
    let mut expected = path.alpha();
    for (acked, marked) in [(100, 50), (100, 0), (80, 80), (3, 1), (1000, 1)] {
        path.round(acked, marked);
        expected += (f64::from(marked) / f64::from(acked) - expected) / 16.0;
        assert_near("alpha", path.alpha(), expected, 1e-5);
    }
}

/// A share of 1/4096 is found, where DCTCP's ten bits in Linux stop at 1/64.
#[test]
fn alpha_settles_at_a_very_small_share() {
    let mut path = Path::settled(40_000, &[("first_ce_mode", 1)]);
    for _ in 0..400 {
        path.round(4096, 1);
    }
    assert_near("alpha", path.alpha(), 1.0 / 4096.0, 0.01);
}

/// §2.4.2: the first mark of all halves the window, as nothing is known of the path; alpha starts at 0.
#[test]
fn the_first_mark_halves_the_window_and_ends_slow_start() {
    let mut path = Path::start(20_000, &[]);
    assert_eq!(path.flow.sock.snd_ssthresh, INFINITE);
    path.ack(2, 2, 20_000);
    assert_eq!((path.cwnd(), path.flow.sock.snd_ssthresh), (50.0, 50));
    for _ in 0..60 {
        path.ack(1, 1, 100); // packets leave as cwnd falls towards it, one per ACK
    }
    assert_eq!((path.cwnd(), path.flow.sock.snd_cwnd), (50.0, 50));
}

/// The alternative: alpha starts at 1, which halves as well, and then dies out slowly.
#[test]
fn alpha_can_start_at_one() {
    let mut path = Path::start(40_000, &[("first_ce_mode", 1)]);
    path.ack(1, 1, 10);
    assert_eq!(path.cwnd(), 50.0);
    path.round(99, 0);
    assert_near("alpha", path.alpha(), 1.0 + (0.01 - 1.0) / 16.0, 1e-5);
}

/// §2.4.2: later ones take alpha/2, once per round; marks in between only count.
#[test]
fn a_mark_takes_half_of_alpha_once_per_round() {
    let mut path = Path::settled(40_000, &[]);
    for _ in 0..100 {
        path.round(100, 50);
    }
    let (cwnd, alpha) = (path.cwnd(), path.alpha());
    assert_near("alpha", alpha, 0.5, 0.01);
    let sock = &mut path.flow.sock;
    sock.snd_una = sock.snd_nxt;
    sock.snd_nxt += 100 * MSS_BYTES;
    path.ack(1, 1, 40_000);
    let expected = cwnd * (1.0 - alpha / 2.0);
    assert_near("cwnd", path.cwnd(), expected, 1e-4); // 8 fractional bits
    for _ in 0..20 {
        path.ack(1, 1, 1000);
    }
    assert_near("cwnd", path.cwnd(), expected, 1e-4); // 8 fractional bits
}

/// §2.4.3: every unmarked packet adds 1/cwnd, also while marks arrive; a marked one adds nothing.
#[test]
fn only_unmarked_packets_add_to_the_window() {
    for (acked, marked) in [(1, 0), (2, 1), (10, 9), (10, 10)] {
        let mut path = Path::settled(40_000, &[]);
        path.flow.sock.snd_una = path.flow.sock.snd_nxt.wrapping_sub(MSS_BYTES); // no new round
        path.ack(1, 1, 40_000); // its reduction is over
        let before = path.cwnd();
        path.ack(acked, marked, 10);
        let expected = f64::from(acked - marked) / before;
        assert!((path.cwnd() - before - expected).abs() < 1e-6);
    }
}

/// §2.4.4: a flow with a short RTT grows per packet by (RTT/25 ms)²/cwnd, so that its rate grows as that of a flow
/// of 25 ms does: a packet per 25 ms in every 25 ms. From 25 ms on it grows as Reno.
#[test]
fn short_rtts_grow_like_the_virtual_rtt() {
    for rtt_us in [500, 5_000, 10_000, 20_000, 25_000, 40_000, 150_000] {
        let mut path = Path::settled(rtt_us, &[]);
        let before = path.cwnd();
        path.ack(1, 0, 10);
        let scale = (f64::from(rtt_us) / f64::from(VIRTUAL_US)).min(1.0).powi(2);
        assert_near("growth", path.cwnd() - before, scale / before, 2e-3);
    }
    let mut path = Path::settled(5_000, &[("rtt_virt_us", 10_000)]);
    let before = path.cwnd();
    path.ack(1, 0, 10);
    assert_near("growth", path.cwnd() - before, 0.25 / before, 1e-3);
    let mut path = Path::settled(5_000, &[("rtt_indep", 0)]);
    let before = path.cwnd();
    path.ack(1, 0, 10);
    assert_near("growth", path.cwnd() - before, 1.0 / before, 1e-3);
}

/// §2.4.4: neither alpha nor the window moves more than once in 25 ms, however short the RTT.
#[test]
fn a_round_takes_the_virtual_rtt_at_least() {
    let count = |params: &[(&str, i64)]| {
        let mut path = Path::settled(5_000, params);
        let (mut updates, mut reductions) = (0, 0);
        for _ in 0..20 {
            let before = (path.alpha(), path.cwnd());
            path.round(20, 20);
            updates += u32::from(path.alpha() > before.0);
            reductions += u32::from(path.cwnd() < before.1);
        }
        (updates, reductions)
    };
    assert_eq!(count(&[]), (4, 4)); // in 100 ms
    assert_eq!(count(&[("rtt_indep", 0)]), (20, 20));
}

/// §2.4.4: the first four rounds after slow start go by the RTT: short flows need not wait for others.
#[test]
fn rtt_independence_begins_some_rounds_after_slow_start() {
    let mut path = Path::start(5_000, &[]);
    path.round(100, 1);
    let mut grew = Vec::new();
    for _ in 0..8 {
        let before = path.cwnd();
        path.round(1, 0);
        grew.push(((path.cwnd() - before) * before * 100.0).round() / 100.0);
    }
    assert_eq!(grew[..2], [1.0, 1.0]);
    assert!(grew[6..].iter().all(|&grew| grew == 0.04), "{grew:?}");
}

/// §2.4.1: a loss halves whatever alpha says, once per recovery, and nothing grows until that is over.
#[test]
fn a_loss_and_a_timeout_halve_the_window() {
    let mut path = Path::settled(40_000, &[]);
    let before = path.cwnd();
    path.flow.set_state(CaState::Recovery);
    path.flow.sock.set_ca_state(CaState::Recovery);
    assert_near("cwnd", path.cwnd(), before / 2.0, 1e-6);
    path.flow.set_state(CaState::Recovery);
    for _ in 0..5 {
        path.round(20, 0);
    }
    assert_near("cwnd", path.cwnd(), before / 2.0, 1e-6);
    assert_eq!(path.flow.sock.snd_cwnd, path.flow.sock.snd_ssthresh);
    path.flow.set_state(CaState::Open);
    path.flow.sock.set_ca_state(CaState::Open);
    path.round(20, 0);
    assert!(path.cwnd() > before / 2.0);

    let mut path = Path::settled(40_000, &[]);
    path.flow.cwnd_event(CaEvent::Loss);
    assert_near("cwnd", path.cwnd(), before / 2.0, 1e-6);
    path.flow.sock.snd_cwnd = 1; // as TCP does
    path.round(1, 0);
    assert_eq!(
        path.flow.sock.snd_cwnd, 2,
        "slow start to where it was halved"
    );
}

#[test]
fn undo_restores_the_window_before_the_loss() {
    let mut path = Path::settled(40_000, &[]);
    let before = path.cwnd();
    path.flow.set_state(CaState::Recovery);
    for _ in 0..10 {
        path.round(10, 0);
    }
    assert_eq!(path.flow.undo_cwnd(), before.ceil() as u32);
    assert_eq!(path.cwnd(), before);
}

/// RFC 9331 §4.3: a receiver that does not count marks gets Reno: a mark halves, and growth is one packet per RTT
/// at any RTT.
#[test]
fn without_accurate_feedback_it_is_reno() {
    for ecn_flags in [CLASSIC, 0] {
        let mut path = Path::settled(5_000, &[]);
        path.flow.sock.ecn_flags = ecn_flags;
        path.flow.sock.snd_una = path.flow.sock.snd_nxt.wrapping_sub(MSS_BYTES);
        path.ack(1, 0, 10);
        assert_eq!(path.series("mode"), 1.0);
        let before = path.cwnd();
        path.ack(1, 0, 10);
        assert_near("growth", path.cwnd() - before, 1.0 / before, 1e-3);
        let before = path.cwnd();
        path.flow.sock.snd_una = path.flow.sock.snd_nxt;
        path.ack(1, 1, 30_000);
        assert_near("cwnd", path.cwnd(), before / 2.0, 1e-6);
    }
}

/// §2.5.1: cwnd/RTT, 4/128 more in the first half of the round and less in the second; twice in slow start.
#[test]
fn it_paces_around_the_window_per_round_trip() {
    let rate = |path: &Path| path.flow.sock.sk_pacing_rate as f64;
    let mut path = Path::start(20_000, &[]);
    path.ack(1, 0, 10);
    let of_cwnd =
        |path: &Path| path.cwnd() * f64::from(MSS_BYTES) / (f64::from(path.rtt_us) * 1e-6);
    assert_near("slow start", rate(&path), 2.0 * of_cwnd(&path), 1e-4);
    assert_eq!(path.flow.sock.sk_pacing_status, 1);

    for (rtt_us, halves_us) in [(40_000, [1_000, 21_000]), (5_000, [1_000, 13_000])] {
        let mut path = Path::settled(rtt_us, &[]);
        while path.alpha() == 0.0 || path.flow.sock.snd_una != path.flow.sock.snd_nxt {
            path.flow.sock.snd_una = path.flow.sock.snd_nxt;
            path.ack(1, 0, 30_000); // a round ends here
            if path.series("marked_share") == 0.0 {
                break;
            }
        }
        path.flow.sock.snd_nxt = path.flow.sock.snd_nxt.wrapping_add(MSS_BYTES);
        path.ack(1, 0, halves_us[0]);
        assert_near(
            "first half",
            rate(&path),
            of_cwnd(&path) * 132.0 / 128.0,
            1e-3,
        );
        path.ack(1, 0, halves_us[1] - halves_us[0]);
        assert_near(
            "second half",
            rate(&path),
            of_cwnd(&path) * 124.0 / 128.0,
            1e-3,
        );
    }
}

/// Below two packets the window stays at two, and pacing goes on down to 100 kbit/s; the way back is as smooth.
#[test]
fn pacing_goes_below_two_packets() {
    let mut path = Path::settled(10_000, &[]);
    for _ in 0..400 {
        path.round(2, 2);
    }
    assert_eq!(path.flow.sock.snd_cwnd, 2);
    assert_eq!(path.flow.sock.sk_pacing_rate, 12_500);
    assert_near(
        "cwnd",
        path.cwnd(),
        12_500.0 * 0.01 / f64::from(MSS_BYTES),
        0.01,
    );
    path.flow.sock.max_packets_out = 1;
    path.flow.sock.set_cwnd_limited(false);
    let before = path.cwnd();
    path.round(1, 0);
    assert!(
        path.cwnd() > before,
        "a paced flow with one packet out is limited, not idle"
    );
}

/// An application that sends less than the window allows does not enlarge it.
#[test]
fn an_unused_window_does_not_grow() {
    let mut path = Path::settled(40_000, &[]);
    path.flow.sock.set_cwnd_limited(false);
    path.flow.sock.max_packets_out = 10;
    let before = path.cwnd();
    path.round(10, 0);
    assert_eq!(path.cwnd(), before);
}

/// Counters that wrap, more marks than packets, no RTT yet, an enormous window: nothing leaves its range.
#[test]
fn odd_counts_stay_in_range() {
    let mut path = Path::settled(40_000, &[]);
    path.flow.sock.delivered = u32::MAX - 3;
    path.flow.sock.delivered_ce = u32::MAX - 1;
    path.round(10, 40);
    assert!((0.0..=1.0).contains(&path.alpha()));
    let mut path = Path::start(1_000_000, &[]);
    path.flow.sock.snd_cwnd = 1 << 23;
    path.flow.sock.max_packets_out = 1 << 23;
    path.flow.sock.srtt_us = 0;
    for _ in 0..4 {
        path.round(1 << 20, 0);
    }
    assert!(path.flow.sock.sk_pacing_rate >= 12_500);
    assert!(path.cwnd() <= f64::from(1 << 24));
}
