//! Mininet's TCLink in numbers: what a limit of packets leaves for waiting where the same queue holds the delay.

use std::collections::VecDeque;

use dumbbell_net::medium::{tclink_htb, tclink_tbf};
use dumbbell_net::{
    DelayLine, Ecn, Event, Header, Hop, Limit, Link, MediumConfig, MediumSite, Meter, Network,
    Outlook, Packet, QueueConfig, Site, Transmitter,
};

const MS: u64 = 1_000_000;
const LINK_RATE_BPS: u64 = 50_000_000;
const DELAY_NS: u64 = 20 * MS;
/// A full packet of Ethernet on the wire.
const PACKET_BYTES: u32 = 1514;
/// After that every packet in the queue came while it was full.
const SETTLED_NS: u64 = 500 * MS;

/// How many segments a packet has.
#[derive(Clone, Copy, Debug)]
struct Segments(u32);

impl Header for Segments {
    fn is_data(&self) -> bool {
        true
    }

    fn is_forward(&self) -> bool {
        true
    }

    fn segments(&self) -> u32 {
        self.0
    }

    fn segment(&self, _index: u32, wire_bytes: u32) -> (Self, u32) {
        (Self(1), wire_bytes / self.0)
    }
}

fn network(medium: &MediumConfig, limit_pkts: u64) -> Network<Segments> {
    let queue = QueueConfig::drop_tail(Limit::Packets(limit_pkts));
    let mut link = Link::new(
        Vec::new(),
        queue.build(&Site::default()),
        Transmitter::new(LINK_RATE_BPS, VecDeque::new()),
    );
    link.set_medium(medium.build(&MediumSite {
        seed: 1,
        start_ns: 0,
        link_rate_bps: LINK_RATE_BPS,
        delay_ns: DELAY_NS,
    }));
    if let Some(uncut_bytes) = medium.uncut_bytes() {
        link.cut_above(uncut_bytes);
    }
    let behind_ns = if medium.holds_delay() { 0 } else { DELAY_NS };
    let links = vec![(link, DelayLine::new(behind_ns))];
    Network::new(links, Vec::new(), &[vec![Hop::Link(0)]])
}

/// What a second of twice the link's rate, in packets of this many segments, does to the link, once it is settled.
fn overload(medium: &MediumConfig, limit_pkts: u64, segments: u32) -> Meter {
    let mut network = network(medium, limit_pkts);
    let mut meter = network.meter(1, 0, |_| true);
    let wire_bytes = segments * PACKET_BYTES;
    let gap_ns = u64::from(wire_bytes) * 8 * 1_000_000_000 / (2 * LINK_RATE_BPS);
    let mut is_settled = false;
    for number in 0..3_000 * MS / gap_ns {
        let at_ns = number * gap_ns;
        while network.advance(at_ns, &mut meter).is_some() {}
        if at_ns >= SETTLED_NS && !is_settled {
            is_settled = true;
            meter = network.meter(1, at_ns, |_| true);
        }
        let packet = Packet {
            flow: 0,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Segments(segments),
        };
        network.enter(at_ns, 0, packet, &mut meter);
    }
    meter
}

/// Mean wait of what left, in packets of the link's rate.
fn waiting_pkts(meter: &Meter) -> f64 {
    let link = &meter.links[0];
    let mean_ns = link.sojourn_sum_ns as f64 / link.sojourn_us.count() as f64;
    mean_ns * LINK_RATE_BPS as f64 / 8e9 / f64::from(PACKET_BYTES)
}

fn htb(delay_in_queue: bool) -> MediumConfig {
    let config = tclink_htb::Config {
        delay_in_queue,
        ..tclink_htb::Config::default()
    };
    config.into()
}

/// 20 ms at 50 Mbit/s are 82.6 packets on their way. Nominal buffers of 0.5, 1, 2 and 32 BDP of 1500 bytes leave
/// none, 84, 250 and 5250 for waiting; the whole where the delay is apart.
#[test]
fn a_limit_that_counts_delayed_packets_leaves_so_much_less_for_waiting() {
    for (limit_pkts, room_pkts) in [(83, 0.0), (167, 84.0), (333, 250.0)] {
        let waiting = waiting_pkts(&overload(&htb(true), limit_pkts, 1));
        assert!((waiting - room_pkts).abs() < 2.0, "{limit_pkts}: {waiting}");
        let apart = waiting_pkts(&overload(&htb(false), limit_pkts, 1));
        assert!(
            (apart - limit_pkts as f64).abs() < 2.0,
            "{limit_pkts}: {apart}"
        );
    }
}

/// 83 super-packets of 5 segments are 415, of which 83 are delayed: about 330 wait, 2 BDP. 167 leave about 750, 333
/// about 1580.
#[test]
fn a_limit_of_super_packets_leaves_more() {
    for (limit_pkts, room_pkts) in [(83, 330.0), (167, 750.0), (333, 1580.0)] {
        let waiting = waiting_pkts(&overload(&htb(true), limit_pkts, 5));
        assert!(
            (waiting / room_pkts - 1.0).abs() < 0.03,
            "{limit_pkts}: {waiting}"
        );
    }
}

/// A bucket of 15,000 bytes passes nine segments whole; twelve are cut, and each counts.
#[test]
fn tbf_cuts_what_is_larger_than_its_bucket() {
    let tbf = MediumConfig::from(tclink_tbf::Config::default());
    let whole = waiting_pkts(&overload(&tbf, 83, 5));
    assert!((whole / 330.0 - 1.0).abs() < 0.03, "{whole}");
    let cut = waiting_pkts(&overload(&tbf, 167, 12));
    // Of twelve that come together those are taken for which there is room.
    assert!((cut - 84.0).abs() < 12.0, "{cut}");
}

/// Segments are counted, whole packets are dropped.
#[test]
fn drops_are_of_whole_super_packets() {
    let meter = overload(&htb(true), 83, 5);
    let link = &meter.links[0];
    assert!(link.dropped_pkts > 1_000);
    assert!(link.dropped_pkts.is_multiple_of(5) && link.taken_pkts.is_multiple_of(5));
    let segments_bytes = u64::from(PACKET_BYTES) * link.dropped_pkts;
    assert_eq!(link.dropped_bytes, segments_bytes);
    assert_eq!(meter.flows[0].dropped_pkts, link.dropped_pkts);
}

/// What is delayed in the queue is delivered as soon as it leaves it: a relay in real time has to know when.
#[test]
fn the_next_delivery_is_known_although_nothing_is_behind_the_link() {
    let mut network = network(&htb(true), 83);
    let outlook = Outlook::new(&network);
    let packet = Packet {
        flow: 0,
        wire_bytes: PACKET_BYTES,
        ecn: Ecn::NotEct,
        hop: 0,
        arrived_ns: 0,
        header: Segments(1),
    };
    network.enter(3 * MS, 0, packet, &mut ());
    assert_eq!(outlook.next_delivery_ns(&network), 23 * MS);
    let mut is_delivery = || {
        let (now_ns, event) = network.advance(u64::MAX >> 8, &mut ())?;
        Some((now_ns, matches!(event, Event::Delivery(..))))
    };
    let delivered = std::iter::from_fn(&mut is_delivery).find(|&(_, is_delivery)| is_delivery);
    assert_eq!(delivered, Some((23 * MS, true)));
}
