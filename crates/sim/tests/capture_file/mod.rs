//! A capture read back by others' parsers.

use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TcpSlice, TransportSlice};
use pcap_parser::pcapng::{Block, EnhancedPacketBlock, OptionCode};
use pcap_parser::{PcapBlock, PcapNGCapture};

/// Options of a TCP header.
#[derive(Debug, Default)]
pub(crate) struct Options {
    pub(crate) mss: Option<u16>,
    pub(crate) sack_permitted: bool,
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack: Vec<(u32, u32)>,
}

/// A packet of the capture.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) point: String,
    pub(crate) time_ns: u64,
    pub(crate) captured_bytes: u32,
    pub(crate) original_bytes: u32,
    pub(crate) header_bytes: u32,
    pub(crate) comment: Option<String>,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) ip_id: u16,
    /// The IP header's ECN field.
    pub(crate) ecn: u8,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u16,
    pub(crate) window: u16,
    pub(crate) payload_bytes: u32,
    pub(crate) options: Options,
    /// With zeros where the capture cut.
    frame: Vec<u8>,
}

/// Every packet of a pcapng file.
pub(crate) fn read_records(bytes: &[u8]) -> Vec<Record> {
    let capture = PcapNGCapture::from_file(bytes).expect("pcapng");
    let mut points = Vec::new();
    let mut records = Vec::new();
    for block in capture.iter() {
        match block {
            PcapBlock::NG(Block::InterfaceDescription(interface)) => {
                let name = interface.if_name().expect("a name").expect("UTF-8");
                points.push(name.to_owned());
            }
            PcapBlock::NG(Block::EnhancedPacket(packet)) => {
                records.push(read_record(&points[packet.if_id as usize], packet));
            }
            _ => {}
        }
    }
    records
}

/// The frame of every packet, with zeros where the capture cut.
pub(crate) fn read_frames(bytes: &[u8]) -> Vec<Vec<u8>> {
    let capture = PcapNGCapture::from_file(bytes).expect("pcapng");
    let packets = capture.iter().filter_map(|block| match block {
        PcapBlock::NG(Block::EnhancedPacket(packet)) => Some(whole_frame(packet)),
        _ => None,
    });
    packets.collect()
}

fn whole_frame(packet: &EnhancedPacketBlock<'_>) -> Vec<u8> {
    let mut frame = packet.data[..packet.caplen as usize].to_vec();
    frame.resize(packet.origlen as usize, 0);
    frame
}

fn read_record(point: &str, packet: &EnhancedPacketBlock<'_>) -> Record {
    let frame = whole_frame(packet);
    let sliced = SlicedPacket::from_ethernet(&frame).expect("a whole frame");
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) =
        (&sliced.net, &sliced.transport)
    else {
        panic!("no TCP over IPv4");
    };
    let comments = packet.options.iter();
    let mut comments = comments.filter(|option| option.code == OptionCode::Comment);
    Record {
        point: point.to_owned(),
        time_ns: u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low),
        captured_bytes: packet.caplen,
        original_bytes: packet.origlen,
        header_bytes: packet.origlen - tcp.payload().len() as u32,
        comment: comments
            .next()
            .map(|option| option.as_str().expect("UTF-8").to_owned()),
        source_port: tcp.source_port(),
        destination_port: tcp.destination_port(),
        ip_id: ip.header().identification(),
        ecn: ip.header().ecn().value(),
        seq: tcp.sequence_number(),
        ack: tcp.acknowledgment_number(),
        flags: u16::from(tcp.slice()[13]),
        window: tcp.window_size(),
        payload_bytes: tcp.payload().len() as u32,
        options: read_options(tcp),
        frame: frame.clone(),
    }
}

fn read_options(tcp: &TcpSlice<'_>) -> Options {
    let mut options = Options::default();
    for option in tcp.options_iterator() {
        match option.expect("a sound option") {
            TcpOptionElement::Noop => {}
            TcpOptionElement::MaximumSegmentSize(mss) => options.mss = Some(mss),
            TcpOptionElement::WindowScale(shift) => options.window_scale = Some(shift),
            TcpOptionElement::SelectiveAcknowledgementPermitted => options.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => options.timestamps = Some((value, echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                options.sack.push(first);
                options.sack.extend(rest.into_iter().flatten());
            }
        }
    }
    options
}

impl Record {
    /// Panics unless both checksums are right (RFC 1071).
    pub(crate) fn assert_checksums(&self) {
        let (ip_header, tcp) = self.frame[14..].split_at(20);
        assert_eq!(folded_sum(ip_header, 0), 0xffff, "IPv4: {self:?}");
        let pseudo_header = folded_sum(&ip_header[12..20], 6 + tcp.len() as u64);
        assert_eq!(
            folded_sum(tcp, u64::from(pseudo_header)),
            0xffff,
            "TCP: {self:?}"
        );
    }
}

/// Ones' complement sum of 16-bit words, from `start` on.
fn folded_sum(bytes: &[u8], start: u64) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)));
    let mut sum = start + words.sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
