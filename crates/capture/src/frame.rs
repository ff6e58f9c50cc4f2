//! Writes frames of TCP segments in Linux's layout.
//!
//! The payload is zeros, so the checksum is right even if a snap length cuts it off.

use std::net::{IpAddr, SocketAddrV4};

use dumbbell_wire::ip::{Ip, PROTOCOL_TCP};
use dumbbell_wire::ipv4::Ipv4Fields;
use dumbbell_wire::tcp::{self, TcpFields};
use dumbbell_wire::tcp_options::{AccEcnBytes, MAX_BYTES, OptionBytes};
use dumbbell_wire::{ethernet, ipv4, transport};

use crate::packet::{SackBlocks, TcpFlags};

/// A TCP segment in an IPv4 packet in an Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameFacts {
    /// Where it comes from.
    pub source: SocketAddrV4,
    /// Where it goes.
    pub destination: SocketAddrV4,
    /// Identification of the IP packet.
    pub ip_id: u16,
    /// Differentiated services codepoint of the IP header: 6 bits (RFC 2474).
    pub dscp: u8,
    /// ECN field of the IP header, its two lowest bits.
    pub ecn: u8,
    /// Sequence number of the first byte of payload.
    pub seq: u32,
    /// Acknowledgment number; valid if the flag ACK is set.
    pub ack: u32,
    /// Flags, from FIN to AE.
    pub flags: TcpFlags,
    /// Window field as it is on the wire, not scaled.
    pub window: u16,
    /// Maximum segment size of the MSS option, bytes.
    pub mss: Option<u16>,
    /// Whether it has the SACK-permitted option.
    pub sack_permitted: bool,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// Shift of the window-scale option.
    pub window_scale: Option<u8>,
    /// SACK blocks; those that do not fit next to the other options are omitted.
    pub sack: SackBlocks,
    /// AccECN option (RFC 9768 §3.2.3, kind 174).
    pub accecn: Option<AccEcnBytes>,
    /// Payload, zeros; at most what an IPv4 packet holds.
    pub payload_bytes: u16,
}

impl FrameFacts {
    /// Replaces the content of `frame` by the headers. The frame's payload is zeros: a capture that
    /// keeps more than the headers calls `frame.resize(kept_bytes, 0)`.
    ///
    /// A payload that does not fit in an IPv4 packet is cut.
    pub fn write_headers(&self, frame: &mut Vec<u8>) {
        let options = self.options();
        let fields = TcpFields {
            ports: [self.source.port(), self.destination.port()],
            sequence: self.seq,
            acknowledgment: self.ack,
            flags: self.flags,
            window: self.window,
        };
        let mut header = [0; tcp::HEADER_BYTES + MAX_BYTES];
        let (fixed, behind) = header.split_at_mut(tcp::HEADER_BYTES);
        let option_bytes = options.as_slice().len();
        fixed.copy_from_slice(&fields.to_bytes(option_bytes));
        behind[..option_bytes].copy_from_slice(options.as_slice());
        let header = &header[..tcp::HEADER_BYTES + option_bytes];
        let ip = Ipv4Fields {
            source: *self.source.ip(),
            destination: *self.destination.ip(),
            tos: self.dscp << 2 | self.ecn & 0b11,
            identification: self.ip_id,
            protocol: PROTOCOL_TCP,
            payload_bytes: packet_payload(header.len(), self.payload_bytes),
        };
        write_packet(frame, &ip, header);
    }

    /// The options in Linux's order.
    fn options(&self) -> OptionBytes {
        let mut options = OptionBytes::default();
        if let Some(mss) = self.mss {
            options.push_mss(mss);
        }
        options.push_sack_permitted_and_timestamps(self.sack_permitted, self.timestamps);
        if let Some(shift) = self.window_scale {
            options.push_window_scale(shift);
        }
        if let Some(counters) = &self.accecn {
            options.push_accecn(counters);
        }
        options.push_sack(&self.sack);
        options.align();
        options
    }
}

/// Bytes that follow the IP header: the transport's header, and a payload that is cut where IPv4 ends.
pub(crate) fn packet_payload(header_bytes: usize, payload_bytes: u16) -> u16 {
    let most_bytes = u16::MAX - (ipv4::HEADER_BYTES + header_bytes) as u16;
    header_bytes as u16 + payload_bytes.min(most_bytes)
}

/// Replaces the content of `frame` by the headers of a packet whose payload is zeros: Ethernet's, IP's and the
/// transport's, with its checksum.
pub(crate) fn write_packet(frame: &mut Vec<u8>, fields: &Ipv4Fields, transport_header: &[u8]) {
    frame.clear();
    let [source, destination] = [fields.source, fields.destination].map(IpAddr::V4);
    frame.extend(ethernet::header_of_hosts(source, destination));
    frame.extend(fields.to_bytes());
    frame.extend(transport_header);
    let packet = &mut frame[ethernet::HEADER_BYTES..];
    if let Some(ip) = Ip::parse(packet) {
        let packet_bytes = ip.packet_bytes(packet);
        transport::fill_checksum(&ip, packet, packet_bytes);
    }
}
