//! Writes frames: Ethernet, IPv4 and TCP headers in Linux's layout.
//!
//! The payload is zeros, so the checksum is right even if a snap length cuts it off. Headers and
//! checksums are etherparse's.

use std::net::{IpAddr, SocketAddrV4};

use etherparse::{
    EtherType, Ethernet2Header, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement,
};

use crate::packet::{SackBlocks, TcpFlags};

/// TTL of a packet that no router has touched, as Linux sets it.
const TTL: u8 = 64;

/// Largest number of bytes of TCP options.
const MAX_OPTIONS_BYTES: usize = 40;

/// Zeros for a checksum over the payload.
pub(crate) static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

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
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// Window field as it is on the wire, not scaled.
    pub window: u16,
    /// MSS option.
    pub mss: Option<u16>,
    /// SACK-permitted option.
    pub sack_permitted: bool,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// Window-scale option.
    pub window_scale: Option<u8>,
    /// SACK blocks; those that do not fit next to the other options are omitted.
    pub sack: SackBlocks,
    /// AccECN option (RFC 9768 §3.2.3, kind 174): bytes that arrived with ECT(1), CE and ECT(0).
    pub accecn: Option<[u32; 3]>,
    /// Payload, zeros; at most what an IPv4 packet holds.
    pub payload_bytes: u16,
}

impl FrameFacts {
    /// Replaces the content of `frame` by the headers. The frame's payload is zeros: a capture that
    /// keeps more than the headers calls `frame.resize(kept_bytes, 0)`.
    ///
    /// A payload that does not fit in an IPv4 packet is cut.
    pub fn write_headers(&self, frame: &mut Vec<u8>) {
        let mut tcp = self.tcp_header();
        let most_bytes = usize::from(u16::MAX) - Ipv4Header::MIN_LEN - tcp.header_len();
        let payload = &ZEROS[..usize::from(self.payload_bytes).min(most_bytes)];
        let ip = ipv4_header(
            (self.source, self.destination),
            (self.ip_id, self.dscp << 2 | self.ecn & 0b11),
            IpNumber::TCP,
            tcp.header_len() + payload.len(),
        );
        // The payload fits, so the sum cannot fail.
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, payload).unwrap_or_default();
        frame.clear();
        let hosts = [self.source, self.destination].map(|end| IpAddr::V4(*end.ip()));
        frame.extend(ethernet_header(hosts[0], hosts[1]));
        frame.extend(ip.to_bytes());
        frame.extend(tcp.to_bytes());
    }

    fn tcp_header(&self) -> TcpHeader {
        let has = |flag| self.flags.has(flag);
        let mut tcp = TcpHeader {
            source_port: self.source.port(),
            destination_port: self.destination.port(),
            sequence_number: self.seq,
            acknowledgment_number: self.ack,
            ns: has(TcpFlags::AE),
            fin: has(TcpFlags::FIN),
            syn: has(TcpFlags::SYN),
            rst: has(TcpFlags::RST),
            psh: has(TcpFlags::PSH),
            ack: has(TcpFlags::ACK),
            urg: has(TcpFlags::URG),
            ece: has(TcpFlags::ECE),
            cwr: has(TcpFlags::CWR),
            window_size: self.window,
            ..TcpHeader::default()
        };
        let mut options = OptionList::new();
        self.list_options(&mut options);
        // The list never holds more than fits.
        let fits = tcp.set_options(options.as_slice());
        debug_assert!(fits.is_ok());
        if let Some(counters) = self.accecn {
            let options = with_accecn_option(tcp.options.as_slice(), counters);
            let fits = tcp.set_options_raw(&options);
            debug_assert!(fits.is_ok());
        }
        tcp
    }

    /// The options in Linux's order, preceded by no-operations as padding.
    fn list_options(&self, options: &mut OptionList) {
        use TcpOptionElement::{
            MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
            Timestamp, WindowScale,
        };
        if let Some(mss) = self.mss {
            options.push(MaximumSegmentSize(mss), 4);
        }
        if self.sack_permitted {
            if self.timestamps.is_none() {
                options.push(Noop, 1);
                options.push(Noop, 1);
            }
            options.push(SelectiveAcknowledgementPermitted, 2);
        }
        if let Some((value, echo)) = self.timestamps {
            if !self.sack_permitted {
                options.push(Noop, 1);
                options.push(Noop, 1);
            }
            options.push(Timestamp(value, echo), 10);
        }
        if let Some(shift) = self.window_scale {
            options.push(Noop, 1);
            options.push(WindowScale(shift), 3);
        }
        let room = MAX_OPTIONS_BYTES.saturating_sub(options.bytes + 4) / 8;
        let blocks = self.sack.as_slice();
        let blocks = &blocks[..blocks.len().min(room)];
        if let Some((first, others)) = blocks.split_first() {
            let mut rest = [None; 3];
            for (place, block) in rest.iter_mut().zip(others) {
                *place = Some(*block);
            }
            options.push(Noop, 1);
            options.push(Noop, 1);
            options.push(SelectiveAcknowledgement(*first, rest), 2 + 8 * blocks.len());
        }
    }
}

/// Options, and behind them the AccECN option with a no-operation that aligns it, if there is room.
fn with_accecn_option(options: &[u8], counters: [u32; 3]) -> Vec<u8> {
    const KIND: u8 = 174;
    const BYTES: u8 = 11;
    const NOOP: u8 = 1;
    let mut all = options.to_vec();
    if all.len() + usize::from(BYTES) < MAX_OPTIONS_BYTES {
        all.extend([KIND, BYTES]);
        for counter in counters {
            all.extend(&counter.to_be_bytes()[1..]);
        }
        all.push(NOOP);
    }
    all
}

/// IPv4 header between two hosts: identification, DSCP with ECN field, and what of so many bytes follows.
pub(crate) fn ipv4_header(
    (source, destination): (SocketAddrV4, SocketAddrV4),
    (identification, tos): (u16, u8),
    protocol: IpNumber,
    bytes: usize,
) -> Ipv4Header {
    let mut ip = Ipv4Header {
        total_len: (Ipv4Header::MIN_LEN + bytes) as u16,
        identification,
        dont_fragment: true,
        time_to_live: TTL,
        protocol,
        source: source.ip().octets(),
        destination: destination.ip().octets(),
        dscp: IpDscp::try_new(tos >> 2).unwrap_or_default(),
        ecn: IpEcn::try_new(tos & 0b11).unwrap_or_default(),
        ..Ipv4Header::default()
    };
    ip.header_checksum = ip.calc_header_checksum();
    ip
}

/// A list of options that needs no heap.
struct OptionList {
    elements: [TcpOptionElement; Self::MAX],
    count: usize,
    bytes: usize,
}

impl OptionList {
    /// MSS, SACK-permitted, timestamps, window scale and SACK, no-operations between them.
    const MAX: usize = 10;

    fn new() -> Self {
        Self {
            elements: std::array::from_fn(|_| TcpOptionElement::Noop),
            count: 0,
            bytes: 0,
        }
    }

    fn push(&mut self, element: TcpOptionElement, bytes: usize) {
        self.elements[self.count] = element;
        self.count += 1;
        self.bytes += bytes;
    }

    fn as_slice(&self) -> &[TcpOptionElement] {
        &self.elements[..self.count]
    }
}

/// Ethernet header of an IP packet between two hosts. Each host's address is locally administered
/// and made of its IPv4 address, or of the last four bytes of its IPv6 address.
pub fn ethernet_header(source: IpAddr, destination: IpAddr) -> [u8; 14] {
    let header = Ethernet2Header {
        source: mac_address(source),
        destination: mac_address(destination),
        ether_type: match source {
            IpAddr::V4(_) => EtherType::IPV4,
            IpAddr::V6(_) => EtherType::IPV6,
        },
    };
    header.to_bytes()
}

/// Bit 1 of the first byte: locally administered, not a manufacturer's.
fn mac_address(host: IpAddr) -> [u8; 6] {
    let [a, b, c, d] = match host {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => {
            let [.., a, b, c, d] = address.octets();
            [a, b, c, d]
        }
    };
    [0b10, 0, a, b, c, d]
}
