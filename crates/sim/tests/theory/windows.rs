//! What follows from windows and propagation alone, without congestion control.

use dumbbell_sim::{Group, Host, Scenario};

use crate::common::{
    MSS_BYTES, NS_PER_S, PACKET_BYTES, assert_near, bdp_bytes, bulk, dumbbell, simulate,
};

const LINK_RATE_BPS: u64 = 50_000_000;
const BASE_RTT_MS: u64 = 40;

fn scenario(group: Group) -> Scenario {
    let limit_bytes = bdp_bytes(LINK_RATE_BPS, BASE_RTT_MS);
    dumbbell(LINK_RATE_BPS, limit_bytes, 60, vec![group])
}

/// A packet's way: propagation there and back and its serialisation, to the µs.
#[test]
fn one_packet_at_a_time_sees_the_base_rtt_and_its_own_serialisation() {
    let output = simulate(&scenario(Group {
        host: Host {
            rwnd_bytes: u64::from(MSS_BYTES),
            delayed_ack: false,
            ..Host::default()
        },
        ..bulk("cubic", 1, BASE_RTT_MS)
    }));
    let flow = &output.summary.flows[0];
    // 1514 B at 50 Mbit/s take 242.24 µs; the smallest sample is the SYN's, 74 B and 11.84 µs, and the
    // largest that of the first packet, which follows the handshake's ACK, 66 B and 10.56 µs.
    // A sample is the difference of two times in whole µs.
    assert!((40_011..=40_012).contains(&flow.rtt_min_us));
    assert!((40_252..=40_253).contains(&flow.rtt_max_us));
    assert!(
        (40_241.5..=40_243.0).contains(&flow.rtt_mean_us),
        "the others"
    );
    let rtt_s =
        (BASE_RTT_MS * NS_PER_S / 1000) as f64 / 1e9 + PACKET_BYTES * 8.0 / LINK_RATE_BPS as f64;
    let expected_bps = f64::from(MSS_BYTES) * 8.0 / rtt_s;
    assert_near("goodput", flow.goodput_bps, expected_bps, 0.002);
}

/// Goodput = window / RTT. Without bursts and delayed ACKs 1 %: slow start, and packets that
/// meet at the link. With them 5 %: a window of which up to a burst waits for the next ACK.
#[test]
fn a_window_limited_flow_gets_a_window_per_round_trip() {
    for window_pkts in [50, 100, 160] {
        let window_bytes = window_pkts * u64::from(MSS_BYTES);
        let rtt_s = BASE_RTT_MS as f64 / 1e3 + PACKET_BYTES * 8.0 / LINK_RATE_BPS as f64;
        let expected_bps = window_bytes as f64 * 8.0 / rtt_s;
        for (offload, tolerance) in [(false, 0.01), (true, 0.05)] {
            let flow = Group {
                host: Host {
                    tso: offload,
                    delayed_ack: offload,
                    ..Host::default()
                },
                ..bulk("cubic", 1, BASE_RTT_MS)
            };
            let by_receiver = simulate(&scenario(Group {
                host: Host {
                    rwnd_bytes: window_bytes,
                    ..flow.host.clone()
                },
                ..flow.clone()
            }));
            let by_sender = simulate(&scenario(Group {
                host: Host {
                    sndbuf_bytes: window_bytes,
                    ..flow.host
                },
                ..flow
            }));
            let (receiver, sender) = (&by_receiver.summary.flows[0], &by_sender.summary.flows[0]);
            assert_near("by rwnd", receiver.goodput_bps, expected_bps, tolerance);
            assert_near("by sndbuf", sender.goodput_bps, expected_bps, tolerance);
            assert!(receiver.rwnd_limited_us > 59_000_000 && receiver.sndbuf_limited_us == 0);
            assert!(sender.sndbuf_limited_us > 59_000_000 && sender.rwnd_limited_us == 0);
        }
    }
}
