//! Hosts and their flows.

use super::*;

/// Host 1 has one flow, host 2 nine: the shares of the rate that flows 0 and 1 to 9 get.
fn shares(isolation: Isolation, hosts: impl Fn(u32) -> (u32, u32)) -> Vec<f64> {
    let config = Config {
        isolation,
        ..shaped(20_000_000)
    };
    let mut bed = Bed::new(&config);
    let flows: Vec<(u32, u64, Head)> = (0..10)
        .map(|flow| {
            let header = Head {
                hosts: hosts(flow),
                ..Head::default()
            };
            (flow, 20_000_000, header)
        })
        .collect();
    bed.offer(8 * S, &flows);
    let total = bed.bytes_since(2 * S, |_| true) as f64;
    let share = |flow| bed.bytes_since(2 * S, |packet| packet.flow == flow) as f64 / total;
    (0..10).map(share).collect()
}

fn assert_shares(found: &[f64], first: f64) {
    let others = (1.0 - first) / 9.0;
    assert!((found[0] / first - 1.0).abs() < 0.02, "{found:?}");
    assert!(
        found[1..]
            .iter()
            .all(|share| (share / others - 1.0).abs() < 0.03),
        "{found:?}"
    );
}

#[test]
fn a_host_with_one_flow_has_as_much_as_one_with_nine() {
    use Isolation::{dual_dsthost, dual_srchost, flows, triple_isolate};
    let senders = |flow: u32| (1 + u32::from(flow > 0), 9);
    let receivers = |flow: u32| (9, 1 + u32::from(flow > 0));
    assert_shares(&shares(dual_srchost, senders), 0.5);
    assert_shares(&shares(dual_dsthost, receivers), 0.5);
    // Of a mode that does not look at that side, and of one that looks at flows alone.
    assert_shares(&shares(dual_srchost, receivers), 0.1);
    assert_shares(&shares(dual_dsthost, senders), 0.1);
    assert_shares(&shares(flows, senders), 0.1);
    // Pairs of hosts.
    let pairs = |flow: u32| if flow > 0 { (3, 4) } else { (1, 2) };
    assert_shares(&shares(triple_isolate, pairs), 0.5);
}

/// Where hosts have a queue each, flows of one share it.
#[test]
fn one_queue_of_each_host() {
    let senders = |flow: u32| (1 + u32::from(flow > 0), 9);
    let found = shares(Isolation::srchost, senders);
    assert!((found[0] - 0.5).abs() < 0.01, "{found:?}");
}

/// One queue of all flows and hosts: packets leave in the order in which they came.
#[test]
fn one_queue_of_all() {
    let config = Config {
        isolation: Isolation::flowblind,
        ..shaped(20_000_000)
    };
    let mut bed = Bed::new(&config);
    let flows: Vec<_> = (0..10)
        .map(|flow| (flow, 5_000_000, Head::default()))
        .collect();
    bed.offer(2 * S, &flows);
    let numbers = bed.sent.iter().map(|sent| sent.packet.header.number);
    assert!(numbers.is_sorted() && bed.sent.len() > 3000);
}

/// A flow that sends less than its share waits for one packet of each flow at most, and not in their queues.
#[test]
fn a_sparse_flow_goes_first() {
    let mut bed = Bed::new(&shaped(10_000_000));
    let mut flows: Vec<_> = (0..8)
        .map(|flow| (flow, 10_000_000, Head::default()))
        .collect();
    flows.push((8, 400_000, Head::default()));
    bed.offer(8 * S, &flows);
    let packet_ns = u64::from(FULL) * 8 * 100;
    let sparse = bed
        .sent
        .iter()
        .filter(|sent| sent.packet.flow == 8 && sent.at_ns > S);
    let waits: Vec<u64> = sparse
        .map(|sent| sent.at_ns - sent.packet.arrived_ns)
        .collect();
    assert!(waits.len() > 200);
    assert!(
        waits.iter().all(|&wait_ns| wait_ns <= 2 * packet_ns),
        "{:?}",
        waits.iter().max()
    );
    assert!(bed.dropped.iter().all(|(packet, _)| packet.flow < 8));
}
