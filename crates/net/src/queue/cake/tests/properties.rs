//! What holds for any settings and any arrivals.

use proptest::prelude::*;

use super::*;

fn configs() -> impl Strategy<Value = Config> {
    let tins = prop::sample::select(vec![
        Tins::besteffort,
        Tins::diffserv3,
        Tins::diffserv4,
        Tins::diffserv8,
        Tins::precedence,
    ]);
    let isolation = prop::sample::select(vec![
        Isolation::flowblind,
        Isolation::srchost,
        Isolation::hosts,
        Isolation::flows,
        Isolation::dual_dsthost,
        Isolation::triple_isolate,
    ]);
    let filter = prop::sample::select(vec![
        AckFilter::off,
        AckFilter::normal,
        AckFilter::aggressive,
    ]);
    let rate_bps = prop::option::of(10_000_u64..100_000_000);
    let limit_bytes = prop::option::of(1_u64..200_000);
    (
        tins,
        isolation,
        filter,
        rate_bps,
        limit_bytes,
        any::<bool>(),
    )
        .prop_map(
            |(tins, isolation, ack_filter, rate_bps, limit_bytes, ingress)| Config {
                tins,
                isolation,
                ack_filter,
                rate_bps,
                limit_bytes,
                ingress,
                ..Config::default()
            },
        )
}

/// A flow's number, its packet's size, its DSCP, whether it is an ACK, and how long until the next, µs.
type Arrival = (u32, u32, u8, bool, u64);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let arrival = (0_u32..7, 60_u32..1515, 0_u8..64, any::<bool>(), 0_u64..3000);
    prop::collection::vec(arrival, 0..400)
}

fn play(config: &Config, arrivals: &[Arrival]) -> Bed {
    let mut bed = Bed::new(config);
    for (number, &(flow, wire_bytes, dscp, is_ack, gap_us)) in (0_u32..).zip(arrivals) {
        let header = Head {
            hosts: (flow % 3, flow % 2),
            dscp: if flow == 0 { dscp } else { flow as u8 * 8 },
            ack: is_ack.then_some(PureAck {
                number,
                ..PureAck::default()
            }),
            number: u64::from(number),
            ..Head::default()
        };
        bed.enqueue(packet(flow, wire_bytes, header));
        let until_ns = bed.now_ns + gap_us * 1000;
        if config.rate_bps.is_some() {
            bed.run_until(until_ns);
        } else {
            bed.now_ns = until_ns;
            if gap_us % 3 > 0 {
                bed.take();
            }
        }
    }
    bed
}

proptest! {
    #[test]
    fn packets_are_conserved_and_flows_keep_their_order(
        config in configs(),
        arrivals in arrivals(),
    ) {
        let mut bed = play(&config, &arrivals);
        let left = bed.cake.backlog_pkts() as usize;
        prop_assert_eq!(arrivals.len(), bed.sent.len() + bed.dropped.len() + left);
        let mut waiting_bytes = 0;
        bed.cake.for_each(&mut |packet| waiting_bytes += u64::from(packet.wire_bytes));
        prop_assert_eq!(bed.cake.backlog_bytes(), waiting_bytes);
        prop_assert!(bed.cake.memory_bytes <= config.memory_bytes());
        prop_assert_eq!(bed.cake.memory_bytes, waiting_bytes + left as u64 * SKB_BYTES);
        let end_ns = bed.now_ns + 3600 * S;
        bed.run_until(end_ns);
        while bed.take().is_some() {}
        prop_assert_eq!((bed.cake.backlog_pkts(), bed.cake.backlog_bytes()), (0, 0));
        prop_assert_eq!(arrivals.len(), bed.sent.len() + bed.dropped.len());
        // Packets of one flow with one DSCP never overtake one another.
        for flow in 1..7 {
            let own = bed.sent.iter().filter(|sent| sent.packet.flow == flow);
            let numbers: Vec<u64> = own.map(|sent| sent.packet.header.number).collect();
            prop_assert!(numbers.is_sorted(), "{:?}", numbers);
        }
        for tin in &bed.cake.tins {
            let standing = |of: tin::Standing| tin.flows.iter().filter(|f| f.standing == of).count() as u64;
            prop_assert_eq!(tin.counts.bulk, standing(tin::Standing::Bulk));
            prop_assert_eq!(tin.counts.decaying, standing(tin::Standing::Decaying));
            let sparse = standing(tin::Standing::Sparse) + standing(tin::Standing::SparseWaits);
            prop_assert_eq!(tin.counts.sparse, sparse);
        }
    }

    #[test]
    fn the_same_arrivals_leave_in_the_same_way(config in configs(), arrivals in arrivals()) {
        let (first, second) = (play(&config, &arrivals), play(&config, &arrivals));
        let fates = |bed: &Bed| -> Vec<(u64, u64)> {
            bed.sent.iter().map(|sent| (sent.at_ns, sent.packet.header.number)).collect()
        };
        prop_assert_eq!(fates(&first), fates(&second));
        prop_assert_eq!(first.dropped, second.dropped);
    }

    /// Without a rate something leaves whenever something waits; with one, whenever the shaper says so.
    #[test]
    fn nothing_is_held_back_that_may_leave(config in configs(), arrivals in arrivals()) {
        let mut bed = play(&config, &arrivals);
        while bed.cake.backlog_pkts() > 0 {
            let due_ns = Queue::<Head>::next_event(&bed.cake);
            bed.now_ns = bed.now_ns.max(due_ns.unwrap_or(0));
            let (before, dropped) = (bed.cake.backlog_pkts(), bed.dropped.len());
            // At an ingress drops move the shaper, so that nothing may leave although something was due.
            let is_taken = bed.take().is_some();
            prop_assert!(is_taken || bed.dropped.len() > dropped, "{} wait", before);
        }
    }
}
