//! Packets for tests: from host 1 to host 2.

use std::net::Ipv6Addr;

use dumbbell_wire::ip::PROTOCOL_TCP;
use dumbbell_wire::ipv4::Ipv4Fields;
use dumbbell_wire::ipv6;
use dumbbell_wire::tcp::{TcpFields, TcpFlags};

/// From 10.0.0.1 to 10.0.0.2, identification 7.
pub(crate) fn v4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let header = Ipv4Fields {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        tos: 0,
        identification: 7,
        protocol,
        payload_bytes: payload.len() as u16,
    };
    [&header.to_bytes(), payload].concat()
}

/// From fd64:756d:6262::a00:1 to fd64:756d:6262::a00:2.
pub(crate) fn v6_header(traffic_class: u8, next_header: u8, payload_bytes: u16) -> Vec<u8> {
    let host = |host| Ipv6Addr::new(0xfd64, 0x756d, 0x6262, 0, 0, 0, 0x0a00, host);
    ipv6::header(traffic_class, next_header, payload_bytes, [1, 2].map(host)).to_vec()
}

/// A TCP segment over IPv4 from port 10000 to port 5001, without its checksum.
pub(crate) fn segment(flags: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let fields = TcpFields {
        ports: [10_000, 5001],
        sequence: 0x0102_0304,
        acknowledgment: 0x0506_0708,
        flags: TcpFlags(flags),
        window: 256,
    };
    let header = fields.to_bytes(options.len());
    v4(PROTOCOL_TCP, &[&header, options, payload].concat())
}
