//! DCTCP by RFC 8257: how alpha is updated, and how marks and losses change the window.

use std::collections::BTreeMap;

use crate::common::{cwnd_limited, load};
use dumbbell_cc::{CaEvent, CaState, Flow};

/// The value 1 in alpha's fixed-point scale.
const ONE: f64 = (1 << 20) as f64;

/// Series by name.
fn series(flow: &Flow) -> BTreeMap<String, f64> {
    let mut values = BTreeMap::new();
    flow.read_series(|index, raw| {
        let name = flow.instance().series()[index].name.clone();
        values.insert(name, raw as f64 / ONE);
    });
    values
}

fn alpha(flow: &Flow) -> f64 {
    series(flow)["alpha"]
}

/// A started flow in congestion avoidance with parameters set.
fn with_params(params: &[(&str, i64)]) -> Flow {
    let mut flow = load("dctcp", params).new_flow();
    flow.init();
    flow.sock.snd_cwnd = 100;
    flow
}

/// A window passes: `delivered` packets, of them `marked`, up to what had been sent when it began.
fn pass_window(flow: &mut Flow, delivered: u32, marked: u32) {
    let sock = &mut flow.sock;
    sock.delivered += delivered;
    sock.delivered_ce += marked;
    sock.snd_una = sock.snd_nxt;
    sock.snd_nxt += delivered * 1448;
    flow.in_ack_event(0);
}

#[test]
fn it_asks_for_ecn() {
    assert!(load("dctcp", &[]).needs_ecn());
    assert!(!load("reno", &[]).needs_ecn());
}

/// RFC 8257 §3.3: alpha = alpha (1 − g) + g M, with g = 1/16 (§4.2), from 1.
#[test]
fn alpha_follows_the_marked_share_by_a_sixteenth_per_window() {
    let mut flow = with_params(&[]);
    assert_eq!(alpha(&flow), 1.0);
    let mut expected = 1.0;
    for (delivered, marked) in [(100, 0), (100, 50), (80, 80), (3, 1)] {
        pass_window(&mut flow, delivered, marked);
        let share = f64::from(marked) / f64::from(delivered);
        expected += (share - expected) / 16.0;
        assert!((alpha(&flow) - expected).abs() < 1e-5, "{}", alpha(&flow));
        assert!((series(&flow)["marked_share"] - share).abs() < 1e-5);
    }
}

/// With 20 fractional bits it approaches 0 without a step.
#[test]
fn without_marks_alpha_dies_out() {
    let mut flow = with_params(&[]);
    let mut last = alpha(&flow);
    for _ in 0..150 {
        pass_window(&mut flow, 100, 0);
        assert!(last - alpha(&flow) <= last / 16.0 + 1e-9);
        last = alpha(&flow);
    }
    assert!(last < 1e-4, "{last}");
}

/// RFC 8257 §3.3: once per window of data, not with every ACK.
#[test]
fn alpha_stays_within_a_window() {
    let mut flow = with_params(&[]);
    pass_window(&mut flow, 100, 100);
    let before = alpha(&flow);
    for _ in 0..50 {
        flow.sock.delivered += 1;
        flow.sock.snd_una += 1448; // below what was sent when the window began
        flow.in_ack_event(0);
    }
    assert_eq!(alpha(&flow), before);
}

#[test]
fn g_and_the_first_alpha_are_parameters() {
    let mut flow = with_params(&[("g_shift", 1), ("initial_alpha_pct", 50)]);
    assert_eq!(alpha(&flow), 0.5);
    pass_window(&mut flow, 10, 10);
    assert_eq!(alpha(&flow), 0.75);
}

/// RFC 8257 §3.3: cwnd (1 − alpha / 2), and two packets at least.
#[test]
fn a_mark_reduces_the_window_by_half_of_alpha() {
    for (alpha_pct, ssthresh) in [(100, 50), (50, 75), (25, 88), (0, 100)] {
        let mut flow = with_params(&[("initial_alpha_pct", alpha_pct)]);
        assert_eq!(flow.ssthresh(), ssthresh, "alpha {alpha_pct} %");
    }
    let mut flow = with_params(&[]);
    flow.sock.snd_cwnd = 3;
    assert_eq!(flow.ssthresh(), 2);
}

/// RFC 8257 §3.5: a loss is not a mark: the window is halved regardless of alpha.
#[test]
fn a_loss_and_a_timeout_halve_the_window() {
    let mut flow = with_params(&[("initial_alpha_pct", 0)]);
    flow.sock.snd_ssthresh = flow.ssthresh();
    assert_eq!(flow.sock.snd_ssthresh, 100);
    flow.set_state(CaState::Recovery);
    assert_eq!(flow.sock.snd_ssthresh, 50);

    let mut flow = with_params(&[("initial_alpha_pct", 0)]);
    flow.sock.snd_ssthresh = flow.ssthresh();
    flow.cwnd_event(CaEvent::Loss);
    assert_eq!(flow.sock.snd_ssthresh, 50);
}

/// A recovery that continues is one loss.
#[test]
fn recovery_halves_once() {
    let mut flow = with_params(&[]);
    flow.set_state(CaState::Recovery);
    flow.sock.snd_cwnd = 60;
    flow.set_state(CaState::Recovery);
    assert_eq!(flow.sock.snd_ssthresh, 50);
}

#[test]
fn undo_restores_the_window_before_the_reduction() {
    let mut flow = with_params(&[]);
    flow.sock.snd_ssthresh = flow.ssthresh();
    flow.sock.snd_cwnd = 50;
    assert_eq!(flow.undo_cwnd(), 100);
}

/// RFC 8257 §3.4: growth is the conventional TCP's.
#[test]
fn it_grows_as_reno_does() {
    let mut flows = ["dctcp", "reno"].map(|name| cwnd_limited(name, 10));
    for acked in [4, 6, 3, 20, 1, 1] {
        for flow in &mut flows {
            if flow.sock.snd_cwnd >= 20 {
                flow.sock.snd_ssthresh = 20;
            }
            flow.cong_avoid(0, acked);
        }
        assert_eq!(flows[0].sock.snd_cwnd, flows[1].sock.snd_cwnd);
    }
}

/// Nothing delivered, more marked than delivered, counters that wrap: no division by zero, and alpha
/// stays a share.
#[test]
fn odd_counts_leave_alpha_a_share() {
    let mut flow = with_params(&[]);
    flow.sock.delivered = u32::MAX - 5;
    flow.sock.delivered_ce = u32::MAX - 2;
    pass_window(&mut flow, 0, 0);
    flow.sock.delivered = 10;
    flow.sock.delivered_ce = 40;
    flow.sock.snd_una = flow.sock.snd_nxt;
    flow.in_ack_event(0);
    assert!((0.0..=1.0).contains(&alpha(&flow)), "{}", alpha(&flow));
}

/// RFC 8257 §3.2, at a receiving socket of Linux: ECE is the last packet's mark, and a change of it is
/// acknowledged at once.
#[test]
fn a_receiving_socket_echoes_each_mark() {
    const DEMAND_CWR: u8 = 4;
    const ACK_NOW: u8 = 16;
    let mut flow = with_params(&[]);
    let before = series(&flow);
    let mut echo = |event| {
        flow.sock.icsk_ack_pending = 0;
        flow.cwnd_event(event);
        (flow.sock.ecn_flags & DEMAND_CWR, flow.sock.icsk_ack_pending)
    };
    assert_eq!(echo(CaEvent::EcnNoCe), (0, 0));
    assert_eq!(echo(CaEvent::EcnIsCe), (DEMAND_CWR, ACK_NOW));
    assert_eq!(echo(CaEvent::EcnIsCe), (DEMAND_CWR, 0));
    assert_eq!(echo(CaEvent::EcnNoCe), (0, ACK_NOW));
    assert_eq!(echo(CaEvent::EcnNoCe), (0, 0));
    assert_eq!(series(&flow), before, "nothing of the sender's");
}
