//! Captures of what programs send: any payload, both versions of IP.

use std::net::{IpAddr, UdpSocket};

use dumbbell_scenario::{Group, Limit, Program, Queue};
use dumbbell_wire::checksum::internet_checksum;
use dumbbell_wire::ip::{Ip, PROTOCOL_UDP, Version};

use super::captured::{Captured, read};
use super::*;
use crate::machine::clock::monotonic_ns;
use crate::relay::{Relay, parts};
use crate::skipped::skipped;
use crate::testbed::hosts;

const MS: u64 = 1_000_000;

/// Payload of which no two parts are the same, and none is zeros.
const PAYLOAD: &[u8] = b"what a program sends, of 43 bytes in all...";

/// Sends a datagram over each version of IP from the receiver's host to the sender's, and reads the capture.
fn captured(test: &str, snap_bytes: Option<u32>) -> Option<Vec<Captured>> {
    let scenario = Scenario {
        duration_ns: 1_000 * MS,
        groups: vec![Group {
            cc: "linux/reno".into(),
            base_rtt_ns: 2 * MS,
            program: Some(Program::default()),
            ..Group::default()
        }],
        ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(40_000)))
    };
    let (_turn, hosts) = hosts(test, &scenario)?;
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let config = CaptureConfig {
        path: directory.path().join("capture.pcapng"),
        snap_bytes,
        senders: true,
        receivers: true,
        links: false,
    };
    let (capture, taps) =
        Capture::start(&config, &scenario, parts(&scenario).len()).expect("it can be written");
    let relay = Relay::start(&hosts, &scenario, monotonic_ns(), u64::MAX, taps).expect("it starts");
    let (server, client) = (&hosts.senders[0], &hosts.receivers[0]);
    if server.address6.is_none() {
        skipped(test, "no IPv6 in this kernel");
    }
    let versions = [
        (IpAddr::V4(server.address), IpAddr::V4(client.address)),
        (IpAddr::V6(server.address6?), IpAddr::V6(client.address6?)),
    ];
    for (to, from) in versions {
        let bound = |host: &crate::hosts::host::Host, address: IpAddr| {
            let socket = host
                .namespace
                .within(move || UdpSocket::bind((address, 443)));
            let socket = socket
                .expect("the namespace can be entered")
                .expect("the port is free");
            let timeout = Some(std::time::Duration::from_secs(10));
            socket.set_read_timeout(timeout).expect("above 0");
            socket
        };
        let (at_server, at_client) = (bound(server, to), bound(client, from));
        at_client.send_to(PAYLOAD, (to, 443)).expect("it is sent");
        let mut received = [0; 100];
        let (bytes, _) = at_server.recv_from(&mut received).expect("it comes");
        assert_eq!(&received[..bytes], PAYLOAD);
    }
    relay.stop().expect("it relays");
    capture.finish().expect("it is written");
    Some(read(&config.path))
}

#[test]
fn checksums_are_those_of_the_payload_whether_it_is_kept_or_not() {
    let test = "checksums_are_those_of_the_payload_whether_it_is_kept_or_not";
    for snap_bytes in [None, Some(u32::MAX)] {
        let Some(captured) = captured(test, snap_bytes) else {
            return;
        };
        // Each at the client's host and at the server's.
        assert_eq!(captured.len(), 4, "{captured:?}");
        for (packet, version) in
            captured
                .iter()
                .zip([Version::V4, Version::V4, Version::V6, Version::V6])
        {
            let bytes = packet.packet();
            let ip = Ip::parse(bytes).expect("a header");
            assert_eq!((ip.version, ip.protocol), (version, PROTOCOL_UDP));
            let header_bytes = ip.header_bytes + 8;
            let kept = &bytes[header_bytes..];
            assert_eq!(kept, if snap_bytes.is_none() { &[] } else { PAYLOAD });
            let udp_bytes = (8 + PAYLOAD.len()) as u16;
            let [high, low] = udp_bytes.to_be_bytes();
            let sum = internet_checksum([
                ip.addresses(bytes),
                &[0, PROTOCOL_UDP, high, low],
                &bytes[ip.header_bytes..header_bytes],
                PAYLOAD,
            ]);
            assert_eq!(sum, 0, "{packet:?}");
        }
    }
}
