//! The disciplines that a running kernel had against ours: the same packets at the same times through both.
//!
//! `tests/data/linux-queues.json` has what Linux did; `tests/python/linux/queues.py` measures it again.

#![allow(clippy::print_stdout, reason = "--nocapture shows the figures")]

use dumbbell_net::queue::tbf;
use dumbbell_net::{Ecn, Effects, Limit, Packet, Queue, QueueConfig, QueueDiscipline, Site};

/// A packet of the measurement: when it was sent, its size, and when it arrived.
type Measured = (u64, u32, Option<u64>);

fn measured(case: &str) -> Vec<Measured> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/data/linux-queues.json"
    );
    let text = std::fs::read_to_string(path).expect("what Linux did");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let packets = document["cases"][case]["packets"].clone();
    serde_json::from_value(packets).expect("packets")
}

/// What takes packets from a queue.
#[derive(Clone, Copy, Debug)]
enum Server {
    /// The queue's own clock.
    Own,
    /// A token bucket of 8 Mbit/s and these bytes: a packet goes when it has its tokens.
    Bucket(f64),
    /// HTB's of the same rate: a packet goes when there are tokens or none, and then takes its own.
    Htb(f64),
}

const BYTES_PER_NS: f64 = 8e6 / 8e9;

/// When our queue sends each packet.
fn ours(queue: &QueueConfig, packets: &[Measured], server: Server) -> Vec<Option<u64>> {
    let mut queue = queue.build::<()>(&Site::default());
    let mut sent = vec![None; packets.len()];
    let mut effects = Effects::new();
    let burst_bytes = match server {
        Server::Bucket(bytes) | Server::Htb(bytes) => bytes,
        Server::Own => 0.0,
    };
    let (mut tokens, mut counted_ns) = (burst_bytes, 0);
    let mut serve = |queue: &mut QueueDiscipline<()>, from_ns: u64, until_ns: u64| {
        let mut now_ns = from_ns;
        while queue.backlog_pkts() > 0 {
            let mut first_bytes = None;
            queue.for_each(&mut |packet| {
                first_bytes.get_or_insert(f64::from(packet.wire_bytes));
            });
            let first_bytes = first_bytes.expect("it waits");
            let needed_bytes = match server {
                Server::Own => f64::MIN,
                Server::Bucket(_) => first_bytes,
                Server::Htb(_) => 0.0,
            };
            let due_ns = counted_ns + ((needed_bytes - tokens) / BYTES_PER_NS).max(0.0) as u64;
            now_ns = now_ns.max(due_ns).max(queue.next_event().unwrap_or(0));
            if now_ns > until_ns {
                break;
            }
            let packet = queue
                .dequeue(now_ns, &mut Effects::new())
                .expect("it waits");
            sent[packet.flow as usize] = Some(now_ns);
            tokens += (now_ns - counted_ns) as f64 * BYTES_PER_NS;
            tokens = tokens.min(burst_bytes) - first_bytes;
            counted_ns = now_ns;
        }
    };
    let mut last_ns = 0;
    for (number, &(at_ns, wire_bytes, _)) in (0..).zip(packets) {
        serve(&mut queue, last_ns, at_ns);
        let packet = Packet {
            flow: number,
            wire_bytes,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: at_ns,
            header: (),
        };
        queue.enqueue(at_ns, packet, &mut effects);
        last_ns = at_ns;
    }
    serve(&mut queue, last_ns, u64::MAX);
    sent
}

/// How ours differs from Linux.
#[derive(Debug)]
struct Difference {
    /// Packets that passed Linux's.
    passed: usize,
    /// Packets that passed ours.
    passed_ours: usize,
    /// Packets that passed in one and were dropped in the other.
    other_fate: usize,
    /// For those that passed both: how much later Linux's arrived, in the middle and of 90 %, ns.
    later_p50_ns: i64,
    later_p90_ns: i64,
    earliest_ns: i64,
}

fn difference(case: &str, queue: &QueueConfig, server: Server) -> Difference {
    let packets = measured(case);
    assert_eq!(packets.len(), 600);
    let ours = ours(queue, &packets, server);
    let both = || packets.iter().map(|packet| packet.2).zip(&ours);
    let mut later: Vec<i64> = both()
        .filter_map(|(linux, ours)| Some(linux? as i64 - (*ours)? as i64))
        .collect();
    later.sort_unstable();
    Difference {
        passed: packets.iter().filter(|packet| packet.2.is_some()).count(),
        passed_ours: ours.iter().flatten().count(),
        other_fate: both()
            .filter(|(linux, ours)| linux.is_some() != ours.is_some())
            .count(),
        later_p50_ns: later[later.len() / 2],
        later_p90_ns: later[later.len() * 9 / 10],
        earliest_ns: later[0],
    }
}

/// The sender's clock is read before the packet is in the kernel, and a timer of Linux's is late by what else
/// the machine does, so Linux's are later. A packet at the edge of a full queue may then fare otherwise, and those
/// behind it come a packet's time earlier or later, until the queue is empty.
fn assert_alike(case: &str, queue: &QueueConfig, server: Server, rate_bps: i64) {
    let found = difference(case, queue, server);
    let packet_ns = 1514 * 8 * 1_000_000_000 / rate_bps;
    assert!(found.passed > 100, "{case}: {found:?}");
    assert!(
        found.passed.abs_diff(found.passed_ours) <= found.passed / 100,
        "{case}: {found:?}"
    );
    assert!(
        found.other_fate <= found.passed * 3 / 100,
        "{case}: {found:?}"
    );
    assert!(
        (0..500_000).contains(&found.later_p50_ns),
        "{case}: {found:?}"
    );
    assert!(found.later_p90_ns < 2 * packet_ns, "{case}: {found:?}");
    assert!(found.earliest_ns > -2 * packet_ns, "{case}: {found:?}");
}

#[test]
fn tbf_passes_and_delays_what_linuxs_does() {
    let tbf = |rate_bps, burst_bytes, limit_bytes, peakrate_bps| {
        QueueConfig::from(tbf::Config {
            rate_bps,
            burst_bytes,
            limit_bytes,
            peakrate_bps,
            mtu_bytes: 1600,
            ..tbf::Config::default()
        })
    };
    assert_alike(
        "tbf",
        &tbf(8_000_000, 20_000, 60_000, None),
        Server::Own,
        8_000_000,
    );
    let peaked = tbf(4_000_000, 30_000, 60_000, Some(16_000_000));
    assert_alike("tbf, peak rate", &peaked, Server::Own, 4_000_000);
    // Every packet longer than the burst is dropped, and no other.
    let small = tbf(8_000_000, 1000, 30_000, None);
    assert_alike("tbf, long packets", &small, Server::Own, 8_000_000);
}

/// Linux's with a `tbf` of 6000 bytes of burst to take packets from them.
#[test]
fn drop_tail_drops_and_delays_what_linuxs_does() {
    let bytes = QueueConfig::drop_tail(Limit::Bytes(20_000));
    assert_alike("bfifo", &bytes, Server::Bucket(6000.0), 8_000_000);
    let packets = QueueConfig::drop_tail(Limit::Packets(20));
    assert_alike("pfifo", &packets, Server::Bucket(6000.0), 8_000_000);
}

/// And with an `htb` of 1514 bytes of burst.
#[test]
fn drop_tail_in_htb_does_too() {
    let packets = QueueConfig::drop_tail(Limit::Packets(20));
    assert_alike("htb", &packets, Server::Htb(1514.0), 8_000_000);
}
