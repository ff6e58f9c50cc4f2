//! Vegas by Brakmo and Peterson (1995), with Linux's constants: what it infers about the queue from
//! the RTT, and how it sets the window.

use crate::common::load;
use dumbbell_cc::{AckSample, CaEvent, CaState, Flow};

const MSS_BYTES: u32 = 1448;
const BASE_RTT_US: i32 = 40_000;

/// A flow in congestion avoidance that knows its base RTT.
fn avoiding(params: &[(&str, i64)], cwnd_pkts: u32) -> Flow {
    let mut flow = started(params, cwnd_pkts);
    flow.sock.snd_ssthresh = cwnd_pkts;
    round(&mut flow, [BASE_RTT_US; 3]);
    flow.sock.snd_cwnd = cwnd_pkts;
    flow
}

/// A flow in slow start.
fn started(params: &[(&str, i64)], cwnd_pkts: u32) -> Flow {
    let mut flow = load("vegas", params).new_flow();
    flow.sock.snd_nxt = MSS_BYTES;
    flow.init();
    flow.sock.snd_cwnd = cwnd_pkts;
    flow.sock.max_packets_out = cwnd_pkts;
    flow.sock.set_cwnd_limited(true);
    flow
}

fn sample(flow: &mut Flow, rtt_us: i32) {
    flow.pkts_acked(&AckSample {
        pkts_acked: 1,
        rtt_us: rtt_us - 1, // Vegas adds one, so that no RTT is 0
        in_flight: 0,
    });
}

/// A round trip of three ACKs with these RTTs; the last one passes what was sent when it began.
fn round(flow: &mut Flow, rtts_us: [i32; 3]) {
    let sock = &mut flow.sock;
    sock.snd_una = sock.snd_nxt;
    sock.snd_nxt += 10 * MSS_BYTES;
    for rtt_us in rtts_us {
        sample(flow, rtt_us);
    }
    let ack = flow.sock.snd_una.wrapping_add(1);
    flow.cong_avoid(ack, 1);
}

/// RTT at which `queued` packets of a window wait: base_rtt (1 + queued / cwnd).
fn rtt_us(queued: i32, cwnd_pkts: i32) -> i32 {
    BASE_RTT_US + (BASE_RTT_US * queued + cwnd_pkts - 1) / cwnd_pkts
}

fn diff(flow: &Flow) -> u64 {
    let mut diff = None;
    flow.read_series(|index, raw| {
        if flow.instance().series()[index].name == "diff_pkts" {
            diff = Some(raw);
        }
    });
    diff.expect("the series is declared")
}

/// §3.2: below alpha (2) one packet more, above beta (4) one less, between them nothing.
#[test]
fn the_window_moves_by_one_packet_outside_alpha_to_beta() {
    for (queued, change) in [(0, 1), (1, 1), (2, 0), (3, 0), (4, 0), (5, -1), (40, -1)] {
        let mut flow = avoiding(&[], 100);
        round(&mut flow, [rtt_us(queued, 100); 3]);
        assert_eq!(diff(&flow), queued as u64);
        assert_eq!(
            flow.sock.snd_cwnd as i32,
            100 + change,
            "{queued} packets wait"
        );
    }
}

#[test]
fn alpha_and_beta_are_parameters() {
    let params = [("alpha_pkts", 10), ("beta_pkts", 20)];
    for (queued, cwnd_pkts) in [(9, 101), (10, 100), (20, 100), (21, 99)] {
        let mut flow = avoiding(&params, 100);
        round(&mut flow, [rtt_us(queued, 100); 3]);
        assert_eq!(flow.sock.snd_cwnd, cwnd_pkts, "{queued} packets wait");
    }
}

/// Linux: the smallest RTT of a round counts, so that delayed ACKs are not mistaken for a queue.
#[test]
fn the_smallest_rtt_of_the_round_counts() {
    let mut flow = avoiding(&[], 100);
    round(&mut flow, [80_000, BASE_RTT_US, 80_000]);
    assert_eq!((diff(&flow), flow.sock.snd_cwnd), (0, 101));
}

/// Once per round trip, not with each ACK.
#[test]
fn within_a_round_trip_the_window_stays() {
    let mut flow = avoiding(&[], 100);
    round(&mut flow, [BASE_RTT_US; 3]);
    for _ in 0..20 {
        sample(&mut flow, BASE_RTT_US);
        let ack = flow.sock.snd_una;
        flow.cong_avoid(ack, 1);
    }
    assert_eq!(flow.sock.snd_cwnd, 101);
}

/// §3.3: slow start continues while at most gamma (1) packets wait, and ends at the window that the
/// path carries without a queue.
#[test]
fn slow_start_ends_when_more_than_gamma_waits() {
    let mut flow = started(&[], 63);
    round(&mut flow, [BASE_RTT_US; 3]);
    assert_eq!(flow.sock.snd_cwnd, 64);
    round(&mut flow, [rtt_us(1, 64); 3]);
    assert_eq!(flow.sock.snd_cwnd, 65, "one packet was acknowledged");
    flow.sock.snd_cwnd = 64;
    round(&mut flow, [rtt_us(16, 64); 3]);
    // 64 · base / (base + 16/64 base) = 51.2, rounded down, and one more.
    assert_eq!(flow.sock.snd_cwnd, 52);
    assert!(!flow.sock.in_slow_start());
}

/// Between the rounds' ends slow start grows with each ACK.
#[test]
fn slow_start_grows_by_what_is_acknowledged() {
    let mut flow = started(&[], 10);
    let ack = flow.sock.snd_una;
    flow.cong_avoid(ack, 2);
    flow.cong_avoid(ack, 2);
    assert_eq!(flow.sock.snd_cwnd, 14);
}

/// Linux: with two samples or fewer, all may be of delayed ACKs: the round is Reno's.
#[test]
fn a_round_of_two_samples_decides_nothing() {
    let mut flow = avoiding(&[], 100);
    round(&mut flow, [rtt_us(50, 100); 3]);
    assert_eq!(flow.sock.snd_cwnd, 99);
    let sock = &mut flow.sock;
    sock.snd_una = sock.snd_nxt;
    sock.snd_nxt += 10 * MSS_BYTES;
    for _ in 0..2 {
        sample(&mut flow, rtt_us(50, 100));
    }
    let ack = flow.sock.snd_una.wrapping_add(1);
    flow.cong_avoid(ack, 1);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (99, 1));
}

/// Linux: during loss recovery the window grows as Reno's, and the RTTs do not count.
#[test]
fn recovery_is_renos() {
    let mut flow = avoiding(&[], 100);
    assert_eq!(flow.ssthresh(), 50);
    flow.set_state(CaState::Recovery);
    round(&mut flow, [BASE_RTT_US; 3]);
    assert_eq!((flow.sock.snd_cwnd, flow.sock.snd_cwnd_cnt), (100, 1));
    flow.set_state(CaState::Open);
    round(&mut flow, [BASE_RTT_US; 3]);
    assert_eq!(flow.sock.snd_cwnd, 101);
}

/// Linux: after an idle period the base RTT is measured again.
#[test]
fn silence_forgets_the_base_rtt() {
    let mut flow = avoiding(&[], 100);
    flow.cwnd_event(CaEvent::TxStart);
    sample(&mut flow, 60_000);
    round(&mut flow, [60_000; 3]);
    assert_eq!((diff(&flow), flow.sock.snd_cwnd), (0, 101));
}

/// No sample, the smallest window, a clamp: nothing breaks.
#[test]
fn the_window_stays_between_two_packets_and_the_clamp() {
    let mut flow = avoiding(&[], 2);
    round(&mut flow, [1_000_000; 3]);
    assert_eq!(flow.sock.snd_cwnd, 2);
    let mut flow = avoiding(&[], 100);
    flow.sock.snd_cwnd_clamp = 100;
    round(&mut flow, [BASE_RTT_US; 3]);
    assert_eq!(flow.sock.snd_cwnd, 100);
    flow.pkts_acked(&AckSample {
        pkts_acked: 1,
        rtt_us: -1,
        in_flight: 0,
    });
    assert_eq!(flow.sock.snd_cwnd, 100);
}
