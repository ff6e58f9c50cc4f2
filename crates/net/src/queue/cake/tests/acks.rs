//! The ACKs that the filter drops, and those that it must not.

use super::*;

const NORMAL: AckFilter = AckFilter::normal;
const AGGRESSIVE: AckFilter = AckFilter::aggressive;

fn ack(number: u32) -> Head {
    Head {
        ack: Some(PureAck {
            number,
            ts_val: number,
            ts_ecr: number,
            ..PureAck::default()
        }),
        ..Head::default()
    }
}

fn with(number: u32, change: impl Fn(&mut PureAck)) -> Head {
    let mut header = ack(number);
    header.ack.iter_mut().for_each(change);
    header
}

fn sacking(number: u32, sack: &[u32]) -> Head {
    let mut header = with(number, |ack| ack.has_sack = true);
    header.sack = sack.to_vec();
    header
}

/// Numbers of the ACKs that wait after these have come, of one flow unless another is named.
fn left(ack_filter: AckFilter, arrivals: &[(u32, Head)]) -> Vec<u32> {
    let config = Config {
        ack_filter,
        isolation: Isolation::flowblind, // as if all had collided
        ..Config::default()
    };
    let mut bed = Bed::new(&config);
    for (flow, header) in arrivals {
        bed.enqueue(packet(*flow, 66, header.clone()));
    }
    assert_eq!(
        bed.statistic("tin0_ack_drop_pkts"),
        bed.dropped.len() as u64
    );
    assert!(
        bed.dropped
            .iter()
            .all(|(_, reason)| *reason == DropReason::Aqm)
    );
    while bed.take().is_some() {}
    let number = |sent: &Sent| sent.packet.header.ack.map_or(0, |ack| ack.number);
    bed.sent.iter().map(number).collect()
}

fn of_one_flow(headers: impl IntoIterator<Item = Head>) -> Vec<(u32, Head)> {
    headers.into_iter().map(|header| (1, header)).collect()
}

#[test]
fn two_acks_are_left_in_normal_mode_and_one_in_aggressive_mode() {
    let acks = of_one_flow((1..=9).map(ack));
    assert_eq!(left(AckFilter::off, &acks), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(left(NORMAL, &acks), [8, 9]);
    assert_eq!(left(AGGRESSIVE, &acks), [9]);
}

#[test]
fn acks_of_other_flows_and_data_stay() {
    let arrivals = [
        (1, ack(1)),
        (2, ack(2)),
        (1, Head::default()),
        (3, ack(3)),
        (1, ack(4)),
    ];
    assert_eq!(left(NORMAL, &arrivals), [1, 2, 0, 3, 4]);
    // Aggressive only where nothing is between.
    assert_eq!(left(AGGRESSIVE, &arrivals), [1, 2, 0, 3, 4]);
    let next = [(2, ack(2)), (1, ack(1)), (1, ack(4))];
    assert_eq!(left(AGGRESSIVE, &next), [2, 4]);
}

/// Duplicates show fast retransmission how many segments have arrived.
#[test]
fn duplicates_and_acks_that_say_more_stay() {
    for filter in [NORMAL, AGGRESSIVE] {
        assert_eq!(
            left(filter, &of_one_flow([5, 5, 5, 5].map(ack))),
            [5, 5, 5, 5]
        );
        assert_eq!(
            left(filter, &of_one_flow([9, 8, 7].map(ack))),
            [9, 8, 7],
            "overtaken"
        );
        let unknown = [1, 2, 3].map(|number| with(number, |ack| ack.says_more = true));
        assert_eq!(left(filter, &of_one_flow(unknown)), [1, 2, 3]);
        let accurate = [1, 2, 3].map(|number| with(number, |ack| ack.ecn_flags = 0b100));
        assert_eq!(
            left(filter, &of_one_flow(accurate)),
            [1, 2, 3],
            "AccECN's counter"
        );
        let late_clock = [1, 2, 3].map(|number| with(number, |ack| ack.ts_val = 10 - number));
        assert_eq!(left(filter, &of_one_flow(late_clock)), [1, 2, 3]);
        let late_echo = [1, 2, 3].map(|number| with(number, |ack| ack.ts_ecr = 10 - number));
        assert_eq!(left(filter, &of_one_flow(late_echo)), [1, 2, 3]);
    }
}

#[test]
fn sack_blocks_are_not_lost() {
    let growing = of_one_flow([
        sacking(5, &[7]),
        sacking(5, &[7, 8]),
        sacking(5, &[7, 8, 9]),
    ]);
    assert_eq!(
        left(NORMAL, &growing).len(),
        2,
        "each covers the one before"
    );
    assert_eq!(left(AGGRESSIVE, &growing).len(), 1);
    let apart = of_one_flow([sacking(5, &[7]), sacking(5, &[8]), sacking(5, &[9])]);
    assert_eq!(left(AGGRESSIVE, &apart).len(), 3);
    let same = of_one_flow([sacking(5, &[7]), sacking(5, &[7]), sacking(5, &[7])]);
    assert_eq!(
        left(AGGRESSIVE, &same).len(),
        3,
        "a repetition is a duplicate ACK"
    );
    let acknowledged = of_one_flow([sacking(5, &[7]), sacking(6, &[7]), ack(8)]);
    assert_eq!(
        left(AGGRESSIVE, &acknowledged),
        [6, 8],
        "the last has no blocks"
    );
}

/// A change of ECE or CWR is a signal: the ACKs on either side of it stay.
#[test]
fn changes_of_ece_and_cwr_stay() {
    let ece = |number, ece: u8| with(number, |ack| ack.ecn_flags = ece);
    let change = [
        ece(1, 0),
        ece(2, 0),
        ece(3, 1),
        ece(4, 1),
        ece(5, 0),
        ece(6, 0),
    ];
    // 1 is dropped for 2 when 3 comes. Then each change is kept.
    assert_eq!(left(NORMAL, &of_one_flow(change.clone())), [2, 4, 5, 6]);
    assert_eq!(left(AGGRESSIVE, &of_one_flow(change)), [2, 4, 6]);
}

/// ACKs that fill the link of the way back are thinned to those that inform the sender as well.
#[test]
fn a_slow_way_back_carries_fewer_acks() {
    let config = Config {
        ack_filter: NORMAL,
        ..shaped(100_000)
    };
    let mut bed = Bed::new(&config);
    for number in 0..4000_u32 {
        bed.run_until(u64::from(number) * MS); // 528 kbit/s of ACKs
        bed.enqueue(packet(1, 66, ack(number)));
    }
    bed.run_until(5 * S);
    let waits = bed
        .sent
        .iter()
        .map(|sent| sent.at_ns - sent.packet.arrived_ns);
    let longest_ns = waits.max().expect("some are sent");
    assert!(longest_ns < 20 * MS, "two wait at most: {longest_ns}");
    assert!(
        bed.sent.len() < 2000 && bed.sent.len() > 700,
        "{}",
        bed.sent.len()
    );
    assert_eq!(bed.sent.len() + bed.dropped.len(), 4000);
    let last = bed.sent.last().and_then(|sent| sent.packet.header.ack);
    assert_eq!(last.map(|ack| ack.number), Some(3999));
}
