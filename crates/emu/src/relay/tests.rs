//! Real packets through real namespaces; skipped, and saying so, where that is not allowed.
//!
//! Nothing is ever earlier or faster than the path allows: those bounds are tight. How late things are is
//! the machine's, which may be busy: those are wide, and `make bench-kernel` measures them.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use dumbbell_scenario::{Group, Limit, Queue, RttStep};

use super::*;
use crate::hosts::host::{Hosts, RECEIVER_PORT};
use crate::machine::clock::monotonic_ns;
use crate::testbed::hosts;

pub(super) const MS: u64 = 1_000_000;

pub(super) fn group(base_rtt_ms: u64) -> Group {
    Group {
        cc: "reno".into(),
        flows: 2,
        base_rtt_ns: base_rtt_ms * MS,
        rwnd_bytes: 8 << 20,
        sndbuf_bytes: 8 << 20,
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
        let timeout = Some(Duration::from_secs(5));
        socket.set_read_timeout(timeout).expect("a timeout above 0");
        socket
    };
    let (sender, receiver) = (bind(&hosts.senders[group]), bind(&hosts.receivers[group]));
    let to = SocketAddrV4::new(hosts.receivers[group].address, RECEIVER_PORT);
    sender.connect(to).expect("UDP connects at once");
    (sender, receiver)
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
    for (index, one_way_ms) in [(0, 20.167), (1, 50.167)] {
        let (sender, receiver) = udp_sockets(&hosts, index);
        // The earliest of several: what is tested is the path, not the scheduling of this test.
        let fastest_ms = (0..5)
            .map(|_| {
                let sent_ns = monotonic_ns();
                sender.send(&[0; 1000]).expect("it is sent");
                receiver.recv(&mut [0; 2000]).expect("it arrives");
                (monotonic_ns() - sent_ns) as f64 / 1e6
            })
            .fold(f64::INFINITY, f64::min);
        assert!(
            fastest_ms >= one_way_ms && fastest_ms < one_way_ms * 2.0,
            "group {index}: {fastest_ms} ms for {one_way_ms} ms"
        );
    }
    let report = relay.stop().expect("it relays");
    assert_eq!(report.links[0].meter.taken_pkts, 10);
    assert_eq!(report.foreign_pkts, 0, "nothing but ours is on the path");
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
}

#[test]
fn a_reply_takes_the_base_rtt_of_its_time() {
    let mut changing = group(20);
    changing.rtt_steps = vec![RttStep {
        at_ns: 300 * MS,
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
        let (_, from) = receiver.recv_from(&mut [0; 200]).expect("it arrives");
        let replied_ns = monotonic_ns();
        receiver.send_to(&[0; 100], from).expect("it is sent");
        sender.recv(&mut [0; 200]).expect("it arrives");
        (replied_ns, (monotonic_ns() - sent_ns) as f64 / 1e6)
    };
    let step_ns = epoch_ns + 300 * MS;
    let (mut before_ms, mut after_ms) = (f64::INFINITY, f64::INFINITY);
    while monotonic_ns() < step_ns + 400 * MS {
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
    let relay =
        Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX, Vec::new()).expect("it starts");
    let (sender, receiver) = udp_sockets(&hosts, 0);
    for number in 0..30_u8 {
        sender.send(&[number; 1000]).expect("it is sent");
    }
    let arrivals: Vec<(u8, u64)> = (0..21)
        .map(|_| {
            let mut packet = [0; 2000];
            receiver.recv(&mut packet).expect("it arrives");
            (packet[0], monotonic_ns())
        })
        .collect();
    let numbers: Vec<u8> = arrivals.iter().map(|&(number, _)| number).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    let dispersion_ms = (arrivals[20].1 - arrivals[0].1) as f64 / 1e6;
    let expected_ms = 20.0 * 0.8336;
    assert!(
        (dispersion_ms - expected_ms).abs() < 0.5 * expected_ms,
        "{dispersion_ms} ms for {expected_ms} ms"
    );
    let report = relay.stop().expect("it relays");
    let bottleneck = &report.links[0].meter;
    assert_eq!(bottleneck.offered_pkts, 30);
    assert_eq!(
        bottleneck.offered_pkts,
        bottleneck.taken_pkts + bottleneck.dropped_pkts
    );
    assert!(
        (1..=9).contains(&bottleneck.dropped_pkts),
        "{}",
        bottleneck.dropped_pkts
    );
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
    // Nobody carries the sender's last words any more: the receiver hears it from its own end.
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
    assert!(
        rate_bps > 0.5 * 50e6 && rate_bps <= 50e6 * 1.001,
        "{rate_bps} bit/s of 50 Mbit/s"
    );
    assert!(flow.forwarded_bytes as f64 * 8.0 <= 3.0 * 50e6);
    assert_eq!(
        flow.entered_pkts,
        flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts()
    );
    assert!(
        (40_000..60_000).contains(&flow.rtt_min_us),
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
    without.groups[0].tso = false;
    let with = scenario(50_000_000, 500_000, vec![group(20)]);
    for scenario in [with, without] {
        let test = "super_packets_are_split_before_the_bottleneck";
        let Some((_turn, hosts)) = hosts(test, &scenario) else {
            return;
        };
        let report = transfer(&hosts, &scenario, 500);
        let (flow, bottleneck) = (&report.flows[0], &report.links[0].meter);
        // A full packet is 1514 bytes on the wire; only SYN, ACK and the last one are smaller.
        let mean_bytes = bottleneck.taken_bytes as f64 / bottleneck.taken_pkts as f64;
        assert!((1480.0..=1514.0).contains(&mean_bytes), "{mean_bytes}");
        assert_eq!(flow.entered_pkts + 2, bottleneck.offered_pkts);
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
