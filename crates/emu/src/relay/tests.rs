//! Real packets through real namespaces; skipped, and saying so, where that is not allowed.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use dumbbell_run::{BottleneckConfig, CongestionControl, Group, Queue};

use super::*;
use crate::clock::monotonic_ns;
use crate::host::{Hosts, RECEIVER_PORT};

const MS: u64 = 1_000_000;

fn group(base_rtt_ms: u64) -> Group {
    Group {
        cc: CongestionControl {
            name: "reno".to_owned(),
            params: std::collections::BTreeMap::new(),
        },
        flows: 2,
        base_rtt_ns: base_rtt_ms * MS,
        start_ns: 0,
        start_jitter_ns: 0,
        stop_ns: None,
        size_bytes: None,
        mss_bytes: 1448,
        rwnd_bytes: 8 << 20,
        sndbuf_bytes: 8 << 20,
        tso: true,
        delayed_ack: true,
    }
}

fn scenario(link_rate_bps: u64, limit_bytes: u64, groups: Vec<Group>) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns: 3_000 * MS,
        sample_interval_ns: 10 * MS,
        bottleneck: BottleneckConfig {
            link_rate_bps,
            queue: Queue::Bfifo { limit_bytes },
        },
        groups,
    }
}

/// Hosts, unless this user may not have them.
#[allow(
    clippy::print_stderr,
    reason = "whoever runs the tests shall see what was skipped"
)]
fn hosts(test: &str, scenario: &Scenario) -> Option<Arc<Hosts>> {
    match Hosts::new(scenario) {
        Ok(hosts) => Some(Arc::new(hosts)),
        Err(reason) => {
            eprintln!("SKIPPED: {test}: {reason}");
            None
        }
    }
}

/// A UDP socket of either host of a group.
fn udp_sockets(hosts: &Hosts, group: usize) -> (UdpSocket, UdpSocket) {
    let bind = |host: &crate::host::Host| {
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
    let Some(hosts) = hosts(
        "a_packet_takes_access_link_and_delay_to_the_receiver",
        &scenario,
    ) else {
        return;
    };
    let relay = Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX).expect("it starts");
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
            fastest_ms >= one_way_ms && fastest_ms < one_way_ms * 1.02,
            "group {index}: {fastest_ms} ms for {one_way_ms} ms"
        );
    }
    let report = relay.stop().expect("it relays");
    assert_eq!(report.bottleneck.taken_pkts, 10);
    assert_eq!(report.foreign_pkts, 0, "nothing but ours is on the path");
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
}

#[test]
fn a_burst_leaves_at_the_link_rate_and_what_does_not_fit_is_dropped() {
    // 10 Mbit/s: 1042 bytes take 833.6 µs. One is on the wire and 20 fit in the queue.
    let scenario = scenario(10_000_000, 20 * 1042, vec![group(20)]);
    let Some(hosts) = hosts(
        "a_burst_leaves_at_the_link_rate_and_what_does_not_fit_is_dropped",
        &scenario,
    ) else {
        return;
    };
    let relay = Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX).expect("it starts");
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
        (dispersion_ms - expected_ms).abs() < 0.05 * expected_ms,
        "{dispersion_ms} ms for {expected_ms} ms"
    );
    let report = relay.stop().expect("it relays");
    let bottleneck = &report.bottleneck;
    assert_eq!(bottleneck.offered_pkts, 30);
    assert_eq!(
        bottleneck.offered_pkts,
        bottleneck.taken_pkts + bottleneck.dropped_pkts
    );
    assert!(
        (8..=9).contains(&bottleneck.dropped_pkts),
        "{}",
        bottleneck.dropped_pkts
    );
}

/// Sends for `seconds` over flow 0 of group 0; gives the relay's report.
fn transfer(hosts: &Arc<Hosts>, scenario: &Scenario, duration_ms: u64) -> RelayReport {
    let (sender, receiver) = (&hosts.senders[0], &hosts.receivers[0]);
    let to = SocketAddrV4::new(receiver.address, RECEIVER_PORT);
    let listener = receiver
        .namespace
        .within(|| TcpListener::bind(to))
        .expect("the namespace can be entered")
        .expect("the port is free");
    let epoch_ns = monotonic_ns();
    let end_ns = epoch_ns + duration_ms * MS;
    let relay = Relay::start(hosts, scenario, epoch_ns, end_ns).expect("it starts");
    let receiving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection comes");
        let mut buffer = vec![0; 1 << 16];
        while stream.read(&mut buffer).is_ok_and(|bytes| bytes > 0) {}
    });
    let from = SocketAddrV4::new(sender.address, crate::host::FIRST_FLOW_PORT);
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
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    bind(&socket, &from).expect("the port is free");
    connect(&socket, &to).expect("the receiver listens");
    TcpStream::from(socket)
}

#[test]
fn tcp_fills_the_link_and_packets_are_conserved() {
    let scenario = scenario(50_000_000, 500_000, vec![group(40)]);
    let Some(hosts) = hosts("tcp_fills_the_link_and_packets_are_conserved", &scenario) else {
        return;
    };
    let report = transfer(&hosts, &scenario, 3000);
    let flow = &report.flows[0];
    let rate_bps = flow.forwarded_bytes as f64 * 8.0 / 3.0;
    assert!(
        rate_bps > 0.9 * 50e6 && rate_bps <= 50e6 * 1.001,
        "{rate_bps} bit/s of 50 Mbit/s"
    );
    assert_eq!(
        flow.entered_pkts,
        flow.arrived_pkts + flow.dropped_pkts + flow.on_path_pkts
    );
    assert!(
        (40_000..40_400).contains(&flow.rtt_min_us),
        "{} us for a base RTT of 40 ms",
        flow.rtt_min_us
    );
    assert_eq!(report.queue.time_us.len(), 300);
    assert_eq!(report.queue.time_us[299], 3_000_000);
    let bottleneck = &report.bottleneck;
    assert_eq!(
        bottleneck.offered_pkts,
        bottleneck.taken_pkts + bottleneck.dropped_pkts + bottleneck.backlog_pkts()
    );
    assert_eq!(report.foreign_pkts, 0);
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
    eprintln!(
        "lateness p50 {} p99 {} max {} us; min rtt {} us; cpu {} {} ms; realtime {}",
        report.lateness.quantile_us(0.5),
        report.lateness.quantile_us(0.99),
        report.lateness.max_us(),
        flow.rtt_min_us,
        report.forward_cpu_ns / MS,
        report.reverse_cpu_ns / MS,
        report.is_realtime
    );
}
