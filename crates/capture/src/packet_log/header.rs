//! What the log needs to know of a packet's headers.

use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::net::IpAddr;

use dumbbell_wire::ip::{ECN_BITS, PROTOCOL_TCP, PROTOCOL_UDP, Version, version};
use dumbbell_wire::{ipv4, transport};
use foldhash::quality::FixedState;

use crate::ip::IpPacket;
use crate::link_layer::LinkType;
use crate::network::NetworkId;
use crate::reader::Record;

/// The ECN field of an IP header (RFC 3168 §5), by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ecn {
    NotEct = 0,
    Ect1 = 1,
    Ect0 = 2,
    Ce = 3,
}

/// One direction of a flow; ports are 0 where there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    pub(super) protocol: u8,
    pub(super) source: (IpAddr, u16),
    pub(super) destination: (IpAddr, u16),
}

/// A packet's headers.
pub(super) struct Header<'a> {
    pub(super) flow: Flow,
    pub(super) ecn: Ecn,
    /// From the IP header on.
    packet: &'a [u8],
    wire_bytes: u32,
}

impl<'a> Header<'a> {
    /// Reads a packet as captured; `None` if it is not of IP, or cut within its header.
    pub(super) fn parse(link_type: LinkType, record: &Record<'a>) -> Option<Self> {
        let packet = link_type
            .ip_packet(record.frame, &mut NetworkId::NONE.clone())
            .ok()?;
        let link_bytes = record.frame.len() - packet.len();
        let wire_bytes = (record.wire_bytes as usize).max(record.frame.len()) - link_bytes;
        let ip = IpPacket::parse(packet, wire_bytes).ok()?;
        let has_ports = ip.fragment.is_none() && matches!(ip.protocol, PROTOCOL_TCP | PROTOCOL_UDP);
        let ports = has_ports.then(|| transport::ports(ip.segment)).flatten();
        let [source_port, destination_port] = ports.unwrap_or_default();
        Some(Self {
            flow: Flow {
                protocol: ip.protocol,
                source: (ip.source, source_port),
                destination: (ip.destination, destination_port),
            },
            ecn: match ip.ecn {
                0 => Ecn::NotEct,
                1 => Ecn::Ect1,
                2 => Ecn::Ect0,
                _ => Ecn::Ce,
            },
            packet,
            wire_bytes: record.wire_bytes,
        })
    }

    /// The same at both sides of a link: of all bytes but the ECN field, and the checksum that covers it.
    pub(super) fn key(&self, hash: &FixedState) -> u64 {
        let mut hasher = hash.build_hasher();
        self.wire_bytes.hash(&mut hasher);
        let mut start = [0; 12];
        let (first, rest) = self.packet.split_at(self.packet.len().min(start.len()));
        start[..first.len()].copy_from_slice(first);
        match version(self.packet) {
            Version::V4 => {
                start[ipv4::TOS] &= !ECN_BITS;
                start[ipv4::CHECKSUM..].fill(0);
            }
            Version::V6 => start[1] &= !(ECN_BITS << 4),
        }
        hasher.write(&start);
        hasher.write(rest);
        hasher.finish()
    }
}
