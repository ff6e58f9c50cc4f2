//! PROBE_RTT: entered, left and skipped.

use crate::bbr3::bed::App;
use crate::bbr3::{RTT_MS, assert_near, assert_within, deep, interval_ns};

const RTT_S: f64 = RTT_MS as f64 / 1e3;

/// "Entering and Exiting PROBE_RTT"
#[test]
fn probe_rtt_comes_after_five_seconds_for_200_ms_and_a_round() {
    let mut bed = deep();
    bed.run_to("cruise", 5.0);
    let mut ended_s = 0.0;
    for probe in 0..4 {
        bed.run_to("probe_rtt", 6.0);
        let entered_s = bed.now_s();
        if probe > 0 {
            // ProbeRTTInterval after the last one ended: then the clock was set.
            assert_within("interval, s", entered_s - ended_s, 5.0..=5.005);
        }
        assert_eq!(bed.series("cwnd_gain_pct"), 50);
        assert_eq!(bed.series("pacing_gain_pct"), 100);
        let half_bdp_pkts = (bed.estimated_bdp_pkts() / 2.0).ceil();
        let mut low_s = None;
        assert!(bed.run(1.0, |bed| {
            if bed.state() == "probe_rtt" {
                assert!(f64::from(bed.sock().snd_cwnd) <= half_bdp_pkts);
                if f64::from(bed.sock().packets_in_flight()) <= half_bdp_pkts {
                    low_s.get_or_insert(bed.now_s());
                }
            }
            bed.state() != "probe_rtt"
        }));
        assert_eq!(bed.state(), "cruise");
        ended_s = bed.now_s();
        // It drains in less than a round; 200 ms and the round that then goes on follow.
        let low_s = low_s.expect("inflight came down");
        assert_within("draining, s", low_s - entered_s, 0.0..=RTT_S);
        assert_within("PROBE_RTT, s", ended_s - low_s, 0.2..=0.2 + 1.2 * RTT_S);
        // The path's RTT, and the link's time for a packet or two.
        assert_within(
            "min_rtt, µs",
            bed.series("min_rtt_us") as f64,
            40_000.0..=40_500.0,
        );
        // It resumes: cwnd is back, and a round later so is the rate.
        let cwnd_bdp = f64::from(bed.sock().snd_cwnd) / bed.bdp_pkts();
        assert!(cwnd_bdp > 1.9, "{cwnd_bdp}");
        let delivered = bed.sock().delivered;
        bed.run(1.0, |_| false);
        let pkts = f64::from(bed.sock().delivered - delivered);
        let link_pkts = bed.link_payload_bps() / 8.0 / f64::from(crate::bbr3::bed::MSS_BYTES);
        assert_within("a second's use of the link", pkts / link_pkts, 0.93..=1.0);
    }
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending"
#[test]
fn an_idle_flow_skips_probe_rtt() {
    let mut bed = deep();
    bed.run_to("cruise", 5.0);
    bed.set_app(App::Silent);
    bed.run(6.0, |_| false);
    assert_eq!(bed.sock().packets_in_flight(), 0);
    bed.set_app(App::Bulk);
    assert_eq!(bed.series("idle_restart"), 1);
    // It paces at bw itself from the first packet.
    assert_eq!(bed.state(), "cruise");
    let pacing_bps = bed.sock().sk_pacing_rate as f64 * 8.0;
    assert_near("pacing", pacing_bps, 0.99 * bed.link_payload_bps(), 0.02);
    assert!(bed.run(1.0, |bed| bed.series("idle_restart") == 0));
    // The idleness stood for it: the next one is due five seconds after it.
    assert!(!bed.run(4.9, |bed| bed.state() == "probe_rtt"));
    bed.run_to("probe_rtt", 0.5);
}

/// "Entering and Exiting PROBE_RTT During STARTUP"
#[test]
fn probe_rtt_in_startup_returns_to_startup() {
    let mut bed = deep();
    bed.run(0.01, |_| false);
    bed.set_app(App::Trickle(interval_ns(1e6)));
    assert!(bed.run(6.0, |bed| bed.state() != "startup"));
    assert_eq!(
        (bed.state(), bed.series("full_bw_reached")),
        ("probe_rtt", 0)
    );
    assert_within("its time, s", bed.now_s(), 5.0..=5.2);
    assert!(bed.run(1.0, |bed| bed.state() != "probe_rtt"));
    assert_eq!((bed.state(), bed.series("full_bw_reached")), ("startup", 0));
    // And there it finds the bandwidth when there is something to send.
    bed.set_app(App::Bulk);
    bed.run_to("drain", 3.0);
    let max_bw_bps = bed.series("max_bw_bps") as f64;
    assert_near("max_bw", max_bw_bps, bed.link_payload_bps(), 0.02);
}
