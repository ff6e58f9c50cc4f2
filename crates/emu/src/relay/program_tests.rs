//! What programs send: both versions of IP, any protocol, fragments, super-packets of datagrams.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use dumbbell_results::{Connection, ConnectionEnds};
use dumbbell_scenario::{Group, Program};
use rustix::net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketType, ipproto};

use super::tests::{group, receive, scenario};
use super::*;
use crate::hosts::host::Host;
use crate::machine::clock::monotonic_ns;
use crate::packet::super_packet::MAX_READ_BYTES;
use crate::skipped::skipped;
use crate::sockets::datagram::set_datagram_bytes;
use crate::testbed::hosts;
use dumbbell_wire::checksum::internet_checksum;

const PATIENCE: Duration = Duration::from_secs(10);

/// A dumbbell of 50 Mbit/s whose hosts run programs.
fn of_programs(base_rtt_ms: u64) -> Scenario {
    let programs = Group {
        flows: 1,
        program: Some(Program::default()),
        ..group(base_rtt_ms)
    };
    scenario(50_000_000, 500_000, vec![programs])
}

/// The host's addresses: IPv4, and IPv6 where the kernel has it.
fn addresses(host: &Host) -> Vec<IpAddr> {
    let v6 = host.address6.map(IpAddr::V6);
    [IpAddr::V4(host.address)].into_iter().chain(v6).collect()
}

/// Pairs of addresses of the sender and the receiver of group 0, of each version of IP.
fn pairs(hosts: &Hosts, test: &str) -> Vec<(IpAddr, IpAddr)> {
    let (senders, receivers) = (&hosts.senders[0], &hosts.receivers[0]);
    if senders.address6.is_none() {
        skipped(test, "no IPv6 in this kernel; its half of the test");
    }
    (addresses(senders).into_iter())
        .zip(addresses(receivers))
        .collect()
}

fn inside<T: Send>(host: &Host, f: impl FnOnce() -> T + Send) -> T {
    host.namespace
        .within(f)
        .expect("the namespace can be entered")
}

fn udp_socket(host: &Host, address: IpAddr, port: u16) -> UdpSocket {
    let socket = inside(host, move || UdpSocket::bind((address, port)));
    let socket = socket.expect("the port is free");
    let timeout = Some(PATIENCE);
    socket.set_read_timeout(timeout).expect("a timeout above 0");
    socket
}

fn relay(hosts: &Arc<Hosts>, scenario: &Scenario) -> Relay {
    let started = Relay::start(hosts, scenario, monotonic_ns(), u64::MAX, Vec::new());
    started.expect("it starts")
}

/// The connections of TCP, or of UDP.
fn of_protocol(report: &RelayReport, is_tcp: bool) -> Vec<(ConnectionEnds, &Connection)> {
    let with_ends = report.connections.iter();
    with_ends
        .filter_map(|connection| Some((connection.ends?, connection)))
        .filter(|(ends, _)| ends.is_tcp == is_tcp)
        .collect()
}

/// Bytes that are not zeros and never the same twice in a row.
fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|byte| (byte % 251) as u8 + 1).collect()
}

#[test]
fn tcp_carries_bytes_both_ways_over_either_version() {
    const TEST: &str = "tcp_carries_bytes_both_ways_over_either_version";
    let scenario = of_programs(20);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let running = relay(&hosts, &scenario);
    let expected = content(2_000_000);
    let pairs = pairs(&hosts, TEST);
    for &(server, client) in &pairs {
        let listener = inside(&hosts.senders[0], || TcpListener::bind((server, 80)));
        let listener = listener.expect("the port is free");
        let connected = inside(&hosts.receivers[0], || TcpStream::connect((server, 80)));
        let mut at_client = connected.expect("it listens");
        let (mut at_server, from) = listener.accept().expect("it connects");
        assert_eq!(from.ip(), client);
        at_client.set_read_timeout(Some(PATIENCE)).expect("above 0");
        at_server.set_read_timeout(Some(PATIENCE)).expect("above 0");
        let sent = expected.clone();
        let serving = thread::spawn(move || {
            at_server.write_all(&sent).expect("the path is alive");
            let mut upload = Vec::new();
            at_server.read_to_end(&mut upload).expect("it ends");
            upload
        });
        let mut download = vec![0; expected.len()];
        at_client.read_exact(&mut download).expect("it comes");
        at_client.write_all(&expected).expect("the path is alive");
        drop(at_client);
        let upload = serving.join().expect("it does not panic");
        assert!(download == expected && upload == expected, "{server}");
    }
    let report = running.stop().expect("it relays");
    assert_eq!(
        (report.foreign_pkts, report.connections.len()),
        (0, pairs.len())
    );
    let sent_bytes = (pairs.len() * expected.len()) as u64;
    for ((ends, connection), (server, client)) in of_protocol(&report, true).iter().zip(pairs) {
        assert_eq!(
            (ends.server, ends.client.ip()),
            ((server, 80).into(), client)
        );
        for way in [connection.down, connection.up] {
            // Full segments of 1448 bytes, or 1428 over IPv6, and ACKs for the other way.
            assert!(way.pkts > 1400 && way.bytes > 2_000_000, "{way:?}");
        }
    }
    let flow = &report.flows[0];
    assert!(flow.arrived_pkts >= 1382 && flow.requests.arrived_pkts >= 1382);
    assert!(flow.rtt_min_us >= 20_000, "{} us", flow.rtt_min_us);
    // Headers and ACKs go down, too; the way up has no link.
    let (down, up) = (flow.forwarded_bytes, flow.requests.forwarded_bytes);
    assert!((sent_bytes..sent_bytes * 5 / 4).contains(&down), "{down}");
    assert_eq!(up, 0);
    assert_eq!(hosts.dropped_pkts().expect("counted"), 0);
}

#[test]
fn an_upload_has_rtts() {
    const TEST: &str = "an_upload_has_rtts";
    let scenario = of_programs(20);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let running = relay(&hosts, &scenario);
    let server = addresses(&hosts.senders[0])[0];
    let listener = inside(&hosts.senders[0], || TcpListener::bind((server, 80)));
    let listener = listener.expect("the port is free");
    let connected = inside(&hosts.receivers[0], || TcpStream::connect((server, 80)));
    let mut at_client = connected.expect("it listens");
    let (mut at_server, _) = listener.accept().expect("it connects");
    at_server.set_read_timeout(Some(PATIENCE)).expect("above 0");
    let sending = thread::spawn(move || at_client.write_all(&content(1_000_000)));
    let mut received = Vec::new();
    at_server.read_to_end(&mut received).expect("it ends");
    let sent = sending.join().expect("it does not panic");
    sent.expect("the path is alive");
    assert_eq!(received.len(), 1_000_000);
    let report = running.stop().expect("it relays");
    let flow = &report.flows[0];
    assert_eq!(
        flow.arrived_pkts, 0,
        "no data came to the client, and so no sample of their RTT"
    );
    // 691 segments, of which an ACK answers at most 44: one device's super-packet.
    assert!(flow.rtt_us.count() > 15, "{}", flow.rtt_us.count());
    assert!(flow.rtt_min_us >= 20_000, "{} us", flow.rtt_min_us);
    assert!(flow.rtt_max_us < 1_000_000, "{} us", flow.rtt_max_us);
}

#[test]
fn datagrams_and_their_fragments_arrive_whole() {
    const TEST: &str = "datagrams_and_their_fragments_arrive_whole";
    let scenario = of_programs(2);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let running = relay(&hosts, &scenario);
    let pairs = pairs(&hosts, TEST);
    for &(server, client) in &pairs {
        let at_server = udp_socket(&hosts.senders[0], server, 443);
        let at_client = udp_socket(&hosts.receivers[0], client, 7000);
        for bytes in [1, 1400, 5000] {
            let (expected, mut received) = (content(bytes), vec![0; 6000]);
            at_client
                .send_to(&expected, (server, 443))
                .expect("it is sent");
            assert_eq!(receive(&at_server, &mut received), (client, 7000).into());
            assert_eq!(received[..bytes], expected);
            at_server
                .send_to(&expected, (client, 7000))
                .expect("it is sent");
            assert_eq!(receive(&at_client, &mut received), (server, 443).into());
            assert_eq!(received[..bytes], expected);
        }
    }
    let report = running.stop().expect("it relays");
    assert_eq!(report.foreign_pkts, 0);
    let datagrams = of_protocol(&report, false);
    assert_eq!(datagrams.len(), pairs.len());
    for (_, connection) in datagrams {
        assert_eq!((connection.down.pkts, connection.up.pkts), (2, 2));
    }
    // 5008 bytes take four packets of 1500 bytes, of both versions.
    let rest = report
        .connections
        .iter()
        .find(|connection| connection.ends.is_none());
    let rest = rest.expect("fragments");
    let fragments = 4 * pairs.len() as u64;
    assert_eq!((rest.down.pkts, rest.up.pkts), (fragments, fragments));
}

/// Sends an echo request from the receiver's host to `to`, and gives the time until the reply, ms.
fn ping(hosts: &Hosts, to: IpAddr, number: u16) -> f64 {
    let (family, protocol, request): (_, Protocol, u8) = match to {
        IpAddr::V4(_) => (AddressFamily::INET, ipproto::ICMP, 8),
        IpAddr::V6(_) => (AddressFamily::INET6, ipproto::ICMPV6, 128),
    };
    let socket = inside(&hosts.receivers[0], || {
        rustix::net::socket(family, SocketType::RAW, Some(protocol))
    });
    let socket = socket.expect("raw sockets are allowed in a namespace of ours");
    let [high, low] = number.to_be_bytes();
    let mut message = vec![request, 0, 0, 0, 0xdb, 0xdb, high, low];
    message.extend(content(56));
    // Of ICMPv6 the kernel fills it in.
    let checksum = internet_checksum([&message]).to_be_bytes();
    message[2..4].copy_from_slice(&checksum);
    let (sent, address) = (Instant::now(), std::net::SocketAddr::new(to, 0));
    let flags = SendFlags::empty();
    rustix::net::sendto(&socket, &message, flags, &address).expect("it is sent");
    let mut reply = [0; 200];
    while sent.elapsed() < PATIENCE {
        let Ok((bytes, _)) = rustix::net::recv(&socket, &mut reply[..], RecvFlags::DONTWAIT) else {
            thread::sleep(Duration::from_micros(50));
            continue;
        };
        // IPv4's header comes with it.
        let start = match to {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 0,
        };
        let is_reply = matches!(reply[start], 0 | 129);
        if is_reply && reply[start + 4..bytes] == message[4..] {
            return sent.elapsed().as_secs_f64() * 1e3;
        }
    }
    panic!("no reply came from {to}");
}

#[test]
fn an_echo_takes_the_base_rtt() {
    const TEST: &str = "an_echo_takes_the_base_rtt";
    let scenario = of_programs(30);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let running = relay(&hosts, &scenario);
    let pairs = pairs(&hosts, TEST);
    for &(server, _) in &pairs {
        let rtts_ms = (0..10).map(|number| ping(&hosts, server, number));
        let fastest_ms = rtts_ms.fold(f64::INFINITY, f64::min);
        assert!(
            (30.0..45.0).contains(&fastest_ms),
            "{server}: {fastest_ms} ms"
        );
    }
    let report = running.stop().expect("it relays");
    let [rest] = &*report.connections else {
        panic!("{:?}", report.connections);
    };
    let echoes = 10 * pairs.len() as u64;
    assert_eq!(rest.ends, None);
    assert_eq!((rest.down.pkts, rest.up.pkts), (echoes, echoes));
    assert_eq!(report.foreign_pkts, 0);
}

#[test]
fn what_is_for_nobody_on_the_path_is_left_out() {
    let test = "what_is_for_nobody_on_the_path_is_left_out";
    let scenario = of_programs(2);
    let Some((_turn, hosts)) = hosts(test, &scenario) else {
        return;
    };
    let running = relay(&hosts, &scenario);
    let host = &hosts.senders[0];
    let socket = udp_socket(host, IpAddr::V4(host.address), 5000);
    for to in ["192.0.2.1:9", "224.0.0.251:5353"] {
        socket.send_to(b"anybody?", to).expect("it is sent");
    }
    // What comes later has been read later.
    ping(&hosts, IpAddr::V4(host.address), 1);
    let report = running.stop().expect("it relays");
    assert_eq!((report.foreign_pkts, report.connections.len()), (2, 1));
}

/// Sends 20 datagrams of 1000 bytes and one of 500 in one call.
fn send_batch(from: UdpSocket, to: (IpAddr, u16)) -> UdpSocket {
    let from = OwnedFd::from(from);
    set_datagram_bytes(&from, 1000).expect("Linux 4.18 or later");
    let from = UdpSocket::from(from);
    from.send_to(&content(20_500), to).expect("it is sent");
    from
}

#[test]
fn a_batch_of_datagrams_is_one_read_and_arrives_as_what_was_sent() {
    const TEST: &str = "a_batch_of_datagrams_is_one_read_and_arrives_as_what_was_sent";
    let scenario = of_programs(2);
    let Some((_turn, hosts)) = hosts(TEST, &scenario) else {
        return;
    };
    let expected = content(20_500);
    for (server, client) in pairs(&hosts, TEST) {
        let at_client = udp_socket(&hosts.receivers[0], client, 7000);
        let at_server = udp_socket(&hosts.senders[0], server, 443);
        let at_server = send_batch(at_server, (client, 7000));
        let mut read = vec![0; MAX_READ_BYTES];
        let bytes = hosts.senders[0]
            .device
            .read(&mut read)
            .expect("it can be read");
        let bytes = bytes.expect("it has been sent");
        if bytes > 20_500 {
            const GSO_UDP_L4: u8 = 5;
            assert_eq!(read[1], GSO_UDP_L4);
        } else {
            skipped(TEST, "datagrams in one read need Linux 6.2");
            while hosts.senders[0]
                .device
                .read(&mut read)
                .expect("it can be read")
                .is_some()
            {}
        }
        let running = relay(&hosts, &scenario);
        send_batch(at_server, (client, 7000));
        let mut received: Vec<u8> = Vec::new();
        for _ in 0..21 {
            let mut datagram = [0; 2000];
            let (bytes, from) = at_client.recv_from(&mut datagram).expect("it comes");
            assert_eq!(from, (server, 443).into());
            received.extend(&datagram[..bytes]);
        }
        assert!(received == expected, "{server}");
        let report = running.stop().expect("it relays");
        let header_bytes = if server.is_ipv4() { 42 } else { 62 };
        let there = report.connections[0].down;
        assert_eq!((there.pkts, there.bytes), (21, 20_500 + 21 * header_bytes));
        assert_eq!(report.flows[0].arrived_pkts, 21);
    }
}
