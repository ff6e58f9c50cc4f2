//! Slow start: how it grows and by how much it overshoots.

use dumbbell_sim::{Group, Host, Output, Scenario};

use crate::common::{
    NS_PER_MS, PACKET_BYTES, US_PER_S, assert_near, bdp_bytes, bulk, column, dumbbell, labels,
    simulate, stretches, with_params,
};

const LINK_RATE_BPS: u64 = 50_000_000;
const BASE_RTT_MS: u64 = 40;
const BUFFERS_BDP: [f64; 3] = [0.5, 1.0, 4.0];

fn start(group: Group, buffer_bdp: f64) -> Output {
    let limit_bytes = buffer_bdp * bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    simulate(&Scenario {
        sample_interval_ns: NS_PER_MS,
        ..dumbbell(LINK_RATE_BPS, limit_bytes, 4, vec![group])
    })
}

/// Packets dropped until the first recovery ends, over what link and buffer hold.
fn overshoot(group: Group, buffer_bdp: f64) -> f64 {
    let output = start(group, buffer_bdp);
    let flow_us = column(&output, "flows", "time_us");
    let (_, _, end_s) = stretches(&flow_us, &labels(&output, "flows", "ca_state"))
        .into_iter()
        .find(|(state, ..)| state == "recovery")
        .expect("slow start ends in a loss");
    let queue_us = column(&output, "queue", "time_us");
    let ended = queue_us
        .iter()
        .position(|&time_us| time_us >= end_s * US_PER_S);
    let dropped_pkts = column(&output, "queue", "dropped_pkts")[ended.expect("it was sampled")];
    let pipe_bytes = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS) * (1.0 + buffer_bdp);
    dropped_pkts * PACKET_BYTES / pipe_bytes
}

/// cwnd doubles per round trip: RFC 5681 §3.1 with RFC 3465's L = ∞, as Linux counts.
#[test]
fn cwnd_doubles_per_round_trip() {
    let an_ack_per_packet = Group {
        host: Host {
            tso: false,
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk("reno", 1, BASE_RTT_MS)
    };
    let cwnd_pkts = column(&start(an_ack_per_packet, 4.0), "flows", "cwnd_pkts");
    // Rows are 1 ms apart, from the first packets on; rounds, 40.2 ms. The ACKs of four
    // rounds end before the next begin; then the queue stretches the round trip.
    for round in 1..=4 {
        let at_end = cwnd_pkts[40 * (round + 1) - 1];
        assert_eq!(at_end, 10.0 * f64::from(1 << round), "after round {round}");
    }
}

/// A loss is seen a round trip after it happened; by then the window is twice what link and
/// buffer hold, so half of it is lost. Reno goes on with half of the doubled window, which
/// just fits; CUBIC with 0.7 of it, which loses another 0.4. 5 %: bursts.
#[test]
fn slow_start_loses_as_much_as_link_and_buffer_hold() {
    for buffer_bdp in BUFFERS_BDP {
        let reno = overshoot(bulk("reno", 1, BASE_RTT_MS), buffer_bdp);
        assert_near("Reno's overshoot", reno, 1.0, 0.05);
        let no_hystart = with_params(bulk("cubic", 1, BASE_RTT_MS), &[("hystart", 0)]);
        let cubic = overshoot(no_hystart, buffer_bdp);
        assert_near("CUBIC's overshoot", cubic, 1.4, 0.05);
    }
}

/// Ha & Rhee, "Taming the elephants" (2011): HyStart leaves slow start before it overshoots.
/// Under a tenth of the loss without it is called that here; it is 0.05.
#[test]
fn hystart_leaves_before_the_overshoot() {
    for buffer_bdp in BUFFERS_BDP {
        let share = overshoot(bulk("cubic", 1, BASE_RTT_MS), buffer_bdp);
        assert!(
            share < 0.1,
            "at {buffer_bdp} BDP it loses {share:.3} of the pipe"
        );
    }
}
