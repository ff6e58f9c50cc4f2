//! Real packets through real namespaces; skipped, and saying so, where that is not allowed.
//!
//! Nothing is ever earlier or faster than the path allows: those bounds are tight. How late things are is
//! the machine's, which may be busy or stand still for half a second: no bound is on a single packet, but on
//! the best of several, or only where the relay itself reports that it was on time. `make bench-kernel`
//! measures lateness.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use dumbbell_scenario::{Group, Host, Limit, Queue, RttStep};

use super::*;
use crate::hosts::host::{Hosts, RECEIVER_PORT};
use crate::machine::clock::monotonic_ns;
use crate::testbed::hosts;

pub(super) const MS: u64 = 1_000_000;

/// How long a packet may take on any machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// A relay whose latest packet was less late than this did not stand still, µs.
const PUNCTUAL_US: f64 = 10_000.0;

/// Whether what a test expects of punctual packets can be asked for.
fn is_punctual(report: &RelayReport) -> bool {
    report.lateness.max_us() < PUNCTUAL_US
}

pub(super) fn group(base_rtt_ms: u64) -> Group {
    Group {
        cc: "reno".into(),
        flows: 2,
        base_rtt_ns: base_rtt_ms * MS,
        host: Host {
            rwnd_bytes: 8 << 20,
            sndbuf_bytes: 8 << 20,
            ..Host::default()
        },
        ..Group::default()
    }
}

pub(super) fn scenario(link_rate_bps: u64, limit_bytes: u64, groups: Vec<Group>) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns: 3_000 * MS,
        sample_interval_ns: 10 * MS,
        groups,
        ..Scenario::dumbbell(link_rate_bps, Queue::drop_tail(Limit::Bytes(limit_bytes)))
    }
}

/// A UDP socket of either host of a group.
pub(super) fn udp_sockets(hosts: &Hosts, group: usize) -> (UdpSocket, UdpSocket) {
    let bind = |host: &crate::hosts::host::Host| {
        let address = host.address;
        let socket = host
            .namespace
            .within(move || UdpSocket::bind((address, RECEIVER_PORT)))
            .expect("the namespace can be entered")
            .expect("the port is free");
        let timeout = Some(PATIENCE);
        socket.set_read_timeout(timeout).expect("a timeout above 0");
        socket
    };
    let (sender, receiver) = (bind(&hosts.senders[group]), bind(&hosts.receivers[group]));
    let to = SocketAddrV4::new(hosts.receivers[group].address, RECEIVER_PORT);
    sender.connect(to).expect("UDP connects at once");
    (sender, receiver)
}

/// Receives a datagram; gives its sender.
pub(super) fn receive(socket: &UdpSocket, packet: &mut [u8]) -> SocketAddr {
    loop {
        match socket.recv_from(packet) {
            Ok((_, from)) => return from,
            // A process that was stopped and goes on.
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => panic!("no datagram came: {error}"),
        }
    }
}

#[test]
fn a_packet_takes_access_link_and_delay_to_the_receiver() {
    let scenario = scenario(50_000_000, 100_000, vec![group(40), group(100)]);
    let Some((_turn, hosts)) = hosts(
        "a_packet_takes_access_link_and_delay_to_the_receiver",
        &scenario,
    ) else {
        return;
    };
    let relay =
        Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX, Vec::new()).expect("it starts");
    // Serialisation of 1000 + 28 + 14 bytes is 0.167 ms; the longer path has 30 ms of access delay.
    let mut sent_pkts = 0;
    for (index, one_way_ms) in [(0, 20.167), (1, 50.167)] {
        let (sender, receiver) = udp_sockets(&hosts, index);
        // The earliest of several: what is tested is the path, not the scheduling of this test.
        let mut fastest_ms = f64::INFINITY;
        for attempt in 0..100 {
            let sent_ns = monotonic_ns();
            sender.send(&[0; 1000]).expect("it is sent");
            receive(&receiver, &mut [0; 2000]);
            fastest_ms = fastest_ms.min((monotonic_ns() - sent_ns) as f64 / 1e6);
            sent_pkts += 1;
            if attempt >= 5 && fastest_ms < one_way_ms * 2.0 {
                break;
            }
        }
        assert!(
            fastest_ms >= one_way_ms && fastest_ms < one_way_ms * 2.0,
            "group {index}: {fastest_ms} ms for {one_way_ms} ms"
        );
    }
    let report = relay.stop().expect("it relays");
    assert_eq!(report.links[0].meter.taken_pkts, sent_pkts);
    assert_eq!(report.foreign_pkts, 0, "nothing but ours is on the path");
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
}

#[test]
fn a_reply_takes_the_base_rtt_of_its_time() {
    let mut changing = group(20);
    changing.rtt_steps = vec![RttStep {
        at_ns: 1_000 * MS,
        base_rtt_ns: 80 * MS,
    }];
    let scenario = scenario(50_000_000, 100_000, vec![changing]);
    let Some((_turn, hosts)) = hosts("a_reply_takes_the_base_rtt_of_its_time", &scenario) else {
        return;
    };
    let epoch_ns = monotonic_ns();
    let relay = Relay::start(&hosts, &scenario, epoch_ns, u64::MAX, Vec::new()).expect("it starts");
    let (sender, receiver) = udp_sockets(&hosts, 0);
    let round_trip_ms = || {
        let sent_ns = monotonic_ns();
        sender.send(&[0; 100]).expect("it is sent");
        let from = receive(&receiver, &mut [0; 200]);
        let replied_ns = monotonic_ns();
        receiver.send_to(&[0; 100], from).expect("it is sent");
        receive(&sender, &mut [0; 200]);
        (replied_ns, (monotonic_ns() - sent_ns) as f64 / 1e6)
    };
    let step_ns = epoch_ns + 1_000 * MS;
    let (mut before_ms, mut after_ms) = (f64::INFINITY, f64::INFINITY);
    // Until one was not held up by the machine.
    while after_ms >= 120.0 && monotonic_ns() < step_ns + 5_000 * MS {
        let (replied_ns, ms) = round_trip_ms();
        // Well before it, or after it: when exactly the relay reads the reply is not known.
        if replied_ns + 20 * MS < step_ns {
            before_ms = before_ms.min(ms);
        } else if replied_ns > step_ns {
            after_ms = after_ms.min(ms);
        }
    }
    relay.stop().expect("it relays");
    assert!((20.0..40.0).contains(&before_ms), "{before_ms} ms");
    assert!((80.0..120.0).contains(&after_ms), "{after_ms} ms");
}

/// Sends 30 packets of 1000 bytes at once, receives 21 of them and says how far apart, ms, the first and the
/// last of these arrived.
fn burst(hosts: &Arc<Hosts>, scenario: &Scenario) -> (f64, RelayReport) {
    let relay =
        Relay::start(hosts, scenario, monotonic_ns(), u64::MAX, Vec::new()).expect("it starts");
    let (sender, receiver) = udp_sockets(hosts, 0);
    for number in 0..30_u8 {
        sender.send(&[number; 1000]).expect("it is sent");
    }
    let arrivals: Vec<(u8, u64)> = (0..21)
        .map(|_| {
            let mut packet = [0; 2000];
            receive(&receiver, &mut packet);
            (packet[0], monotonic_ns())
        })
        .collect();
    let numbers: Vec<u8> = arrivals.iter().map(|&(number, _)| number).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    let dispersion_ms = (arrivals[20].1 - arrivals[0].1) as f64 / 1e6;
    (dispersion_ms, relay.stop().expect("it relays"))
}

#[test]
fn a_burst_leaves_at_the_link_rate_and_what_does_not_fit_is_dropped() {
    // 10 Mbit/s: 1042 bytes take 833.6 µs. One is on the wire and 20 fit in the queue.
    let scenario = scenario(10_000_000, 20 * 1042, vec![group(20)]);
    let Some((_turn, hosts)) = hosts(
        "a_burst_leaves_at_the_link_rate_and_what_does_not_fit_is_dropped",
        &scenario,
    ) else {
        return;
    };
    let expected_ms = 20.0 * 0.8336;
    let mut seen = Vec::new();
    // Until the machine lets a burst be a burst, and its arrivals be noticed as they come.
    let is_seen = (0..20).any(|_| {
        let (dispersion_ms, report) = burst(&hosts, &scenario);
        let bottleneck = &report.links[0].meter;
        let (offered_pkts, dropped_pkts) = (bottleneck.offered_pkts, bottleneck.dropped_pkts);
        assert!((21..=30).contains(&offered_pkts), "{offered_pkts}");
        assert_eq!(
            offered_pkts,
            bottleneck.taken_pkts + dropped_pkts + report.links[0].backlog_pkts
        );
        assert!(dropped_pkts <= 9, "{dropped_pkts}");
        seen.push((dispersion_ms, offered_pkts, dropped_pkts));
        (dispersion_ms - expected_ms).abs() < 0.5 * expected_ms
            && offered_pkts == 30
            && dropped_pkts > 0
    });
    assert!(is_seen, "{seen:?} for {expected_ms} ms");
}

/// Sends for a while over flow 0 of group 0; gives the relay's report.
pub(super) fn transfer(hosts: &Arc<Hosts>, scenario: &Scenario, duration_ms: u64) -> RelayReport {
    let (sender, receiver) = (&hosts.senders[0], &hosts.receivers[0]);
    let to = SocketAddrV4::new(receiver.address, RECEIVER_PORT);
    let listener = receiver
        .namespace
        .within(|| TcpListener::bind(to))
        .expect("the namespace can be entered")
        .expect("the port is free");
    let epoch_ns = monotonic_ns();
    let end_ns = epoch_ns + duration_ms * MS;
    let relay = Relay::start(hosts, scenario, epoch_ns, end_ns, Vec::new());
    let relay = relay.expect("it starts");
    let receiving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection comes");
        let mut buffer = vec![0; 1 << 16];
        while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
    });
    let from = SocketAddrV4::new(sender.address, crate::hosts::host::FIRST_FLOW_PORT);
    let mut stream = sender
        .namespace
        .within(|| connect_from(from, to))
        .expect("the namespace can be entered");
    let block = vec![0; 1 << 16];
    while monotonic_ns() < end_ns + 20 * MS {
        stream.write_all(&block).expect("the path is alive");
    }
    let report = relay.stop().expect("it relays");
    drop(stream);
    // Nothing carries the sender's last words any more: the receiver hears it from its own end.
    drop(receiving);
    report
}

fn connect_from(from: SocketAddrV4, to: SocketAddrV4) -> TcpStream {
    use rustix::net::sockopt::set_tcp_congestion;
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    // CUBIC may leave slow start early when this machine is busy with something else.
    set_tcp_congestion(&socket, "reno").expect("every kernel has it");
    bind(&socket, &from).expect("the port is free");
    connect(&socket, &to).expect("the receiver listens");
    TcpStream::from(socket)
}

#[test]
fn tcp_fills_the_link_and_packets_are_conserved() {
    let scenario = scenario(50_000_000, 500_000, vec![group(40)]);
    let Some((_turn, hosts)) = hosts("tcp_fills_the_link_and_packets_are_conserved", &scenario)
    else {
        return;
    };
    let report = transfer(&hosts, &scenario, 3000);
    let flow = &report.flows[0];
    // Of the last two seconds: the first has slow start in it.
    let forwarded_pkts = report.queue.forwarded_pkts[299] - report.queue.forwarded_pkts[99];
    let rate_bps = forwarded_pkts as f64 * 1514.0 * 8.0 / 2.0;
    assert!(rate_bps <= 50e6 * 1.001, "{rate_bps} bit/s of 50 Mbit/s");
    assert!(
        rate_bps > 0.5 * 50e6 || !is_punctual(&report),
        "{rate_bps} bit/s of 50 Mbit/s"
    );
    assert!(flow.forwarded_bytes as f64 * 8.0 <= 3.0 * 50e6);
    assert_eq!(
        flow.entered_pkts,
        flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts()
    );
    assert!(
        flow.rtt_min_us >= 40_000 && (flow.rtt_min_us < 60_000 || !is_punctual(&report)),
        "{} us for a base RTT of 40 ms",
        flow.rtt_min_us
    );
    assert_eq!(report.queue.time_us.len(), 300);
    assert_eq!(report.queue.time_us[299], 3_000_000);
    let bottleneck = &report.links[0].meter;
    assert_eq!(
        bottleneck.offered_pkts,
        bottleneck.taken_pkts + bottleneck.dropped_pkts + report.links[0].backlog_pkts
    );
    assert_eq!(report.foreign_pkts, 0);
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
}

/// The sender's congestion window, and so its bursts, are larger than one packet; every packet that
/// leaves the path must fit the device all the same.
#[test]
fn super_packets_are_split_before_the_bottleneck() {
    let mut without = scenario(50_000_000, 500_000, vec![group(20)]);
    without.groups[0].host.tso = false;
    let with = scenario(50_000_000, 500_000, vec![group(20)]);
    for scenario in [with, without] {
        let test = "super_packets_are_split_before_the_bottleneck";
        let Some((_turn, hosts)) = hosts(test, &scenario) else {
            return;
        };
        let report = transfer(&hosts, &scenario, 1500);
        let (flow, bottleneck) = (&report.flows[0], &report.links[0].meter);
        // A full packet is 1514 bytes on the wire; only SYN and ACK are smaller.
        let mean_bytes = bottleneck.taken_bytes as f64 / bottleneck.taken_pkts as f64;
        assert!((1480.0..=1514.0).contains(&mean_bytes), "{mean_bytes}");
        // On a slow machine the SYN goes out again, and so does the ACK.
        let others = bottleneck.offered_pkts - flow.entered_pkts;
        assert!((2..=6).contains(&others), "{others}");
    }
}

#[test]
fn nothing_is_left_of_dropped_hosts() {
    let scenario = scenario(50_000_000, 100_000, vec![group(40), group(40)]);
    let Some((_turn, hosts)) = hosts("nothing_is_left_of_dropped_hosts", &scenario) else {
        return;
    };
    // Other tests may have namespaces of their own at the same time.
    let own: Vec<PathBuf> = hosts
        .senders
        .iter()
        .chain(&hosts.receivers)
        .map(|host| {
            host.namespace
                .within(|| std::fs::read_link("/proc/thread-self/ns/net"))
                .expect("the namespace can be entered")
                .expect("it has a number")
        })
        .collect();
    let open = || {
        std::fs::read_dir("/proc/self/fd")
            .expect("it can be read")
            .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
            .filter(|target| own.contains(target))
            .count()
    };
    assert_eq!(open(), 4);
    let relay =
        Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX, Vec::new()).expect("it starts");
    drop(hosts);
    assert_eq!(open(), 4, "the relay still needs them");
    drop(relay);
    // Devices and namespaces have no name and no mount: without a descriptor they are gone.
    assert_eq!(open(), 0);
}
