//! Packet stories: a script of what was captured, and the tables' content.
//!
//! A line is a packet: time in ms, `>` from the initiator or `<` to it, and words:
//!
//! - `S` SYN, `F` FIN, `R` RST, `P` PSH, `E` ECE, `C` CWR, `A` AE (any of them together); `-` none
//! - `1:1001` payload of that sequence range, relative to the SYN
//! - `seq N` where there is no payload; otherwise the end of what that side has sent
//! - `ack N` acknowledgment number, relative to the other SYN; otherwise none
//! - `sack A-B,C-D` blocks; `ts V,E` timestamps; `win N`; `id N`
//! - `mss N`, `ws N`, `sackok` on a SYN
//! - `ce`, `ect` in the IP header; `dropped` our mark; `bad` a wrong checksum; `at N` interface
//!
//! `#` begins a comment.

use std::net::{IpAddr, Ipv4Addr};

use dumbbell_capture::{
    Analysis, AnalysisOptions, Checksum, Endpoint, NetworkId, PacketList, SackBlocks, TcpFlags,
    TcpPacket, analyze,
};
use dumbbell_table::Batch;

/// Sequence numbers of the SYNs: of the initiator, of the other side.
pub(crate) const SYN_SEQS: [u32; 2] = [1_000_000, 5_000_000];

/// Captures begin at this time of day, ns.
const EPOCH_NS: u64 = 1_700_000_000_000_000_000;

/// The usual handshake: 40 ms, captured at the initiator; both with SACK and without timestamps.
pub(crate) const HANDSHAKE: &str = "
    0   > S mss 1460 ws 7 sackok
    40  < S ack 1 mss 1460 ws 7 sackok
    40  > - ack 1
";

/// The packets of a script, with other initial sequence numbers.
pub(crate) fn packets_from(script: &str, syn_seqs: [u32; 2]) -> Vec<TcpPacket> {
    let mut ends = [1, 1];
    let lines = script
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let lines = lines.filter(|line| !line.trim().is_empty());
    lines
        .map(|line| packet(line, syn_seqs, &mut ends))
        .collect()
}

fn packet(line: &str, syn_seqs: [u32; 2], ends: &mut [u32; 2]) -> TcpPacket {
    let mut words = line.split_whitespace();
    let time_ms: f64 = words.next().expect("a time").parse().expect("a time in ms");
    let side = match words.next() {
        Some(">") => 0,
        Some("<") => 1,
        other => panic!("a direction, not {other:?} in `{line}`"),
    };
    let mut packet = empty_packet(side);
    packet.time_ns = EPOCH_NS + (time_ms * 1e6).round() as u64;
    let mut seq = None;
    let [own, other] = [syn_seqs[side], syn_seqs[1 - side]];
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .unwrap_or_else(|| panic!("a value in `{line}`"))
        };
        match word {
            "seq" => seq = Some(number(value())),
            "ack" => {
                packet.flags.0 |= TcpFlags::ACK;
                packet.ack = other.wrapping_add(number(value()));
            }
            "sack" => packet.sack = blocks(value(), other),
            "ts" => packet.timestamps = Some(pair(value(), ',')),
            "win" => packet.window = number(value()) as u16,
            "id" => packet.ip_id = Some(number(value()) as u16),
            "mss" => packet.mss = Some(number(value()) as u16),
            "ws" => packet.window_scale = Some(number(value()) as u8),
            "at" => packet.interface = number(value()),
            "sackok" => packet.sack_permitted = true,
            "ce" => packet.ecn = 3,
            "ect" => packet.ecn = 2,
            "dropped" => packet.is_marked_dropped = true,
            "bad" => packet.checksum = Checksum::Bad,
            range if range.contains(':') => {
                let (start, end) = pair(range, ':');
                seq = Some(start);
                packet.payload_bytes = end - start;
                ends[side] = ends[side].max(end);
            }
            flags => packet.flags.0 |= flags.chars().map(flag).fold(0, |all, one| all | one),
        }
    }
    let is_syn = packet.flags.has(TcpFlags::SYN);
    let seq = seq.unwrap_or(if is_syn { 0 } else { ends[side] });
    if packet.flags.has(TcpFlags::FIN) {
        ends[side] = ends[side].max(seq + packet.payload_bytes + 1);
    }
    packet.seq = own.wrapping_add(seq);
    packet.wire_bytes = 54 + packet.payload_bytes;
    packet
}

fn empty_packet(side: usize) -> TcpPacket {
    let ends = [endpoint(1, 40000), endpoint(2, 5001)];
    TcpPacket {
        interface: 0,
        time_ns: 0,
        wire_bytes: 0,
        source: ends[side],
        destination: ends[1 - side],
        seq: 0,
        ack: 0,
        flags: TcpFlags::default(),
        window: 1000,
        payload_bytes: 0,
        ecn: 0,
        ip_id: None,
        ttl: 64,
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::default(),
        is_marked_dropped: false,
        has_cut_options: false,
        network: NetworkId::NONE,
        checksum: Checksum::Unknown,
    }
}

pub(crate) fn endpoint(host: u8, port: u16) -> Endpoint {
    Endpoint {
        address: IpAddr::V4(Ipv4Addr::new(10, 0, 0, host)),
        port,
    }
}

fn flag(letter: char) -> u16 {
    match letter {
        'S' => TcpFlags::SYN,
        'F' => TcpFlags::FIN,
        'R' => TcpFlags::RST,
        'P' => TcpFlags::PSH,
        'E' => TcpFlags::ECE,
        'C' => TcpFlags::CWR,
        'A' => TcpFlags::AE,
        '-' => 0,
        _ => panic!("no flag `{letter}`"),
    }
}

fn number(word: &str) -> u32 {
    word.parse()
        .unwrap_or_else(|_| panic!("a number, not `{word}`"))
}

fn pair(word: &str, between: char) -> (u32, u32) {
    let (first, second) = word
        .split_once(between)
        .unwrap_or_else(|| panic!("two in `{word}`"));
    (number(first), number(second))
}

fn blocks(word: &str, syn_seq: u32) -> SackBlocks {
    let mut blocks = SackBlocks::default();
    for block in word.split(',') {
        let (start, end) = pair(block, '-');
        blocks.push(syn_seq.wrapping_add(start), syn_seq.wrapping_add(end));
    }
    blocks
}

/// The tables of a story.
pub(crate) struct Analyzed {
    pub(crate) analysis: Analysis,
}

/// Analyses scripts, one after the other.
pub(crate) fn analyze_scripts(scripts: &[&str]) -> Analyzed {
    analyze_with(scripts, &AnalysisOptions::default())
}

pub(crate) fn analyze_with(scripts: &[&str], options: &AnalysisOptions) -> Analyzed {
    analyze_packets(packets_from(&scripts.join("\n"), SYN_SEQS), options)
}

pub(crate) fn analyze_packets(packets: Vec<TcpPacket>, options: &AnalysisOptions) -> Analyzed {
    let mut source = PacketList(packets.into_iter());
    let analysis = analyze(&mut source, options).expect("packets in memory");
    Analyzed { analysis }
}

impl Analyzed {
    /// A column of the initiator's direction of the first connection.
    pub(crate) fn sent(&self, column: &str) -> Option<f64> {
        number_of(&self.analysis.connections, column, 0)
    }

    /// Columns of the initiator's direction, as a script: `pkts 3, data_pkts 1`.
    #[track_caller]
    pub(crate) fn expect(&self, columns: &str) {
        self.check(0, columns);
    }

    /// The same, of the other direction.
    #[track_caller]
    pub(crate) fn expect_answered(&self, columns: &str) {
        self.check(1, columns);
    }

    #[track_caller]
    pub(crate) fn check(&self, row: usize, columns: &str) {
        for wanted in columns.split(',') {
            let (name, value) = wanted.trim().split_once(' ').expect("name and value");
            let wanted = (value != "null").then(|| value.parse::<f64>().expect("a number"));
            let analyzed = number_of(&self.analysis.connections, name, row);
            assert_eq!(analyzed, wanted, "{name} of row {row}");
        }
    }

    pub(crate) fn text(&self, column: &str, row: usize) -> String {
        text_of(&self.analysis.connections, column, row)
    }
}

/// A number in a table, booleans being 0 and 1.
pub(crate) fn number_of(table: &Batch, column: &str, row: usize) -> Option<f64> {
    table[column].number(row)
}

/// A text in a table.
pub(crate) fn text_of(table: &Batch, column: &str, row: usize) -> String {
    table[column].text(row).unwrap_or_default().to_owned()
}
