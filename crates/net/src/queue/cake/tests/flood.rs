//! Flows that do not respond, and queues that overflow.

use super::*;

/// The longest queue of all tins loses its head, and begins to signal.
#[test]
fn the_longest_queue_of_all_tins_pays_for_an_overflow() {
    let config = Config {
        limit_bytes: Some(20 * u64::from(FULL + 576)),
        ..shaped(1_000_000)
    };
    let mut bed = Bed::new(&config);
    let voice = |number| Head {
        dscp: 46,
        number,
        ..Head::default()
    };
    for number in 0..12 {
        bed.enqueue(packet(1, FULL, voice(number)));
    }
    for _ in 0..8 {
        bed.enqueue(packet(2, FULL, Head::default()));
    }
    assert!(bed.dropped.is_empty());
    bed.now_ns = 3 * MS;
    bed.enqueue(packet(3, FULL, Head::default()));
    let (dropped, reason) = &bed.dropped[0];
    assert_eq!(
        (dropped.flow, dropped.header.number, *reason),
        (1, 0, DropReason::Overflow)
    );
    assert_eq!(
        (bed.dropped.len(), bed.statistic("tin2_drops_pkts")),
        (1, 1)
    );
    assert_eq!(bed.statistic("tin2_un_flows"), 1, "BLUE has begun");
    let queue = bed.cake.tins[2]
        .flows
        .iter()
        .find(|flow| !flow.packets.is_empty());
    let cobalt = queue.expect("voice waits").cobalt;
    assert!(cobalt.is_dropping && cobalt.drop_next == 3 * MS as i64 && cobalt.count == 1);
    assert_eq!(cobalt.p_drop, 1 << 24);
}

/// BLUE rises to what a flood needs within 256 steps of a target time each, and the others' queues keep
/// their delay.
#[test]
fn blue_holds_a_flood_and_the_other_flows_do_not_notice() {
    let config = Config {
        limit_bytes: Some(300_000),
        ..shaped(10_000_000)
    };
    let mut bed = Bed::new(&config);
    let flows = [
        (1, 40_000_000, Head::default()),
        (2, 1_000_000, Head::default()),
    ];
    bed.offer(6 * S, &flows);
    let flood = bed.cake.tins[0]
        .flows
        .iter()
        .max_by_key(|flow| flow.cobalt.p_drop);
    let p_drop = f64::from(flood.expect("flows").cobalt.p_drop) / 4_294_967_296.0;
    // Of 40 Mbit/s 9 are left for it: BLUE and CoDel together drop 77 % of them.
    assert!(p_drop > 0.5 && p_drop < 0.9, "{p_drop}");
    let target_ns = bed.statistic("tin0_target_ns");
    // The buffer is full after 0.05 s. BLUE rises in every target time with an overflow, so that after 256 of
    // them it drops nearly all that has to be dropped.
    let risen_ns = 50 * MS + 256 * target_ns;
    let late = bed
        .dropped
        .iter()
        .filter(|(packet, _)| packet.arrived_ns > risen_ns);
    let reasons: Vec<DropReason> = late.map(|(_, reason)| *reason).collect();
    let overflows = reasons
        .iter()
        .filter(|&&reason| reason == DropReason::Overflow);
    let overflows = overflows.count();
    assert!(
        100 * overflows < reasons.len(),
        "{overflows} of {}",
        reasons.len()
    );
    assert_eq!(bed.statistic("tin0_un_flows"), 1);
    let packet_ns = u64::from(FULL) * 8 * 100;
    let others = bed.sent.iter().filter(|sent| sent.packet.flow == 2);
    let longest_ns = others.map(|sent| sent.at_ns - sent.packet.arrived_ns).max();
    assert!(
        longest_ns.is_some_and(|wait_ns| wait_ns <= 2 * packet_ns),
        "{longest_ns:?}"
    );
    assert!(bed.dropped.iter().all(|(packet, _)| packet.flow == 1));
}

/// ECN-capable packets are marked by CoDel and dropped by BLUE; the last of a queue is never dropped.
#[test]
fn marks_are_codels_and_floods_are_dropped_whatever_they_say() {
    let mut bed = Bed::new(&shaped(10_000_000));
    for number in 0..2000_u64 {
        bed.run_until(number * MS);
        let header = Head {
            number,
            ..Head::default()
        };
        bed.enqueue(Packet {
            ecn: Ecn::Ect0,
            ..packet(1, FULL, header)
        });
    }
    bed.run_until(4 * S);
    let marks = bed
        .sent
        .iter()
        .filter(|sent| sent.packet.ecn == Ecn::Ce)
        .count() as u64;
    assert!(bed.dropped.is_empty() && marks > 20, "{marks}");
    assert_eq!(bed.statistic("tin0_marks_pkts"), marks);
    // One packet at a time, however late: nothing to drop.
    let mut slow = Bed::new(&Config::default());
    for second in 0..50 {
        slow.now_ns = second * S;
        slow.enqueue(packet(1, FULL, Head::default()));
        slow.now_ns += 900 * MS;
        assert!(slow.take().is_some());
    }
    assert!(slow.dropped.is_empty());
}

/// Memory by default: four RTTs at the rate, between 4 MiB and the device's 10,240 packets.
#[test]
fn memory_follows_rate_and_rtt() {
    let limit = |config: &Config| Bed::new(config).statistic("memory_limit_bytes");
    assert_eq!(limit(&shaped(10_000_000)), 4 << 20);
    assert_eq!(limit(&shaped(100_000_000)), 5_000_000);
    assert_eq!(limit(&shaped(10_000_000_000)), 10_240 * 1514);
    assert_eq!(limit(&Config::default()), 10_240 * 1514);
}
