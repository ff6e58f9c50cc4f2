//! A sender under script: ACKs in, segments out.

use std::collections::BTreeMap;

use dumbbell_cc::{CaState, Flow, Sock};
use dumbbell_net::{Ecn, Packet};
use dumbbell_tcp::{
    AckHeader, AckInfo, AckKind, DATA_HEADER_BYTES, DataHeader, EcnMode, SackBlocks, SackSlot,
    SegmentKind, Sender, SenderConfig,
};

use super::{
    Line, MSS_BYTES, NS_PER_MS, as_data, assert_same, format_range, load, parse, parse_range,
};

/// Window that never limits, segments.
const WIDE_PKTS: u32 = 1 << 20;

/// A sender that a script drives. Lines: `< ack N [sack A:B ...] [dsack A:B] [ecr MS] [win N]`,
/// `< synack`, `< synack ece`, `< ack N ece`, `< fin ack N`; `> SEQ`, `> A:B` (new segments at one time), `> SEQ rtx`, `> syn`,
/// `! write BYTES`, `! close`, `> SEQ len BYTES` (a short segment of what was written),
/// `> syn ecn`, `> SEQ cwr`, `> ack` (of a SYN-ACK), `> SEQ last` (with the FIN), `> SEQ fin` (the FIN alone), `> last ack`.
///
/// Without `ecr` an ACK echoes the last transmission of the segment it waited for.
pub(crate) struct SenderScript {
    pub(crate) sender: Sender,
    /// What left since the last [`SenderScript::play`], with its time.
    pub(crate) packets: Vec<(u64, Packet<DataHeader>)>,
    /// Indices in `packets` where what one event sent begins.
    bursts: Vec<usize>,
    now_ns: u64,
    rwnd_pkts: u32,
    highest_ack: u32,
    /// TSval of the last transmission of each segment, ms.
    sent_ms: BTreeMap<u32, u32>,
    ts_ecr_ms: u32,
    /// The ACK of the first SYN-ACK is tested elsewhere.
    hides_handshake: bool,
    /// The application writes: short segments are listed with their length.
    writes: bool,
}

/// Bulk, no offload, nothing but cwnd limits; the application never closes.
pub(crate) fn bulk() -> SenderConfig {
    SenderConfig {
        closes: false,
        sndbuf_pkts: WIDE_PKTS,
        tso: false,
        ..SenderConfig::new(0, MSS_BYTES, None)
    }
}

/// A cumulative ACK without options except timestamps.
fn plain_ack(ack: u32) -> AckHeader {
    AckHeader {
        ack,
        rwnd_bytes: WIDE_PKTS * MSS_BYTES,
        ts_val_ms: 0,
        ts_ecr_ms: 0,
        sack: SackSlot::NONE,
        info: AckInfo::new(AckKind::Ack, 0),
    }
}

impl SenderScript {
    /// A bulk Reno sender whose SYN left at 0 and was answered at `rtt_ms`: its initial window
    /// leaves then.
    pub(crate) fn reno(rtt_ms: u64) -> Self {
        Self::established(bulk(), load("reno"), rtt_ms)
    }

    /// Reno with `segments` segments to send.
    pub(crate) fn reno_sized(rtt_ms: u64, segments: u64) -> Self {
        let config = SenderConfig {
            size_bytes: Some(segments * u64::from(MSS_BYTES)),
            ..bulk()
        };
        Self::established(config, load("reno"), rtt_ms)
    }

    /// Like [`SenderScript::reno_sized`], and the application closes after its last write.
    pub(crate) fn reno_closing(rtt_ms: u64, segments: u64) -> Self {
        let config = SenderConfig {
            size_bytes: Some(segments * u64::from(MSS_BYTES)),
            closes: true,
            ..bulk()
        };
        Self::established(config, load("reno"), rtt_ms)
    }

    /// Reno that sends what the script writes.
    pub(crate) fn reno_writing(rtt_ms: u64) -> Self {
        Self::writing(bulk(), rtt_ms)
    }

    /// The same with something configured.
    pub(crate) fn writing(config: SenderConfig, rtt_ms: u64) -> Self {
        Self::writing_with(config, load("reno"), rtt_ms)
    }

    /// The same with this congestion control algorithm.
    pub(crate) fn writing_with(config: SenderConfig, cc: Flow, rtt_ms: u64) -> Self {
        let config = SenderConfig {
            size_bytes: Some(0),
            ..config
        };
        let mut script = Self::established(config, cc, rtt_ms);
        script.writes = true;
        script
    }

    pub(crate) fn established(config: SenderConfig, cc: Flow, rtt_ms: u64) -> Self {
        let mut script = Self::connecting(config, cc, WIDE_PKTS);
        script.run_until(rtt_ms * NS_PER_MS);
        script.skip(); // the story begins after the handshake
        script.hides_handshake = true;
        let agrees = config.ecn != EcnMode::Off;
        script.feed(if agrees {
            &["synack", "ece"]
        } else {
            &["synack"]
        });
        script.hides_handshake = false;
        script
    }

    /// The SYN left at 0; every ACK will offer `rwnd_pkts`.
    pub(crate) fn connecting(config: SenderConfig, cc: Flow, rwnd_pkts: u32) -> Self {
        let mut script = Self {
            sender: Sender::new(config, cc),
            packets: Vec::new(),
            bursts: Vec::new(),
            now_ns: 0,
            rwnd_pkts,
            highest_ack: 0,
            sent_ms: BTreeMap::new(),
            ts_ecr_ms: 0,
            hides_handshake: false,
            writes: false,
        };
        script.sender.start(0);
        script.collect();
        script
    }

    /// A bulk Reno sender on a path of 100 ms, whose peer offers 10 segments: they leave at 100 ms.
    pub(crate) fn reno_within_10() -> Self {
        let mut script = Self::connecting(bulk(), load("reno"), 10);
        script.play(
            "0 > syn
             100 < synack
             100 > ack
             100 > 0:10",
        );
        script
    }

    /// The initial window leaves at 100 ms, and the ACK of 0 at 200 ms admits 10 and 11.
    pub(crate) fn first_ack(&mut self) -> &mut Self {
        self.play(
            "100 > 0:10
             200 < ack 1
             200 > 10:12",
        )
    }

    /// After that 1 is missing: at 201 ms the ACK of 2 admits 12 (limited transmit).
    pub(crate) fn first_hole(&mut self) -> &mut Self {
        self.first_ack().play(
            "201 < ack 1 sack 2
             201 > 12",
        )
    }

    /// After the first ACK 1 is lost: at 203 ms an ACK of three behind it begins fast recovery.
    pub(crate) fn lost_one(&mut self) -> &mut Self {
        self.first_ack().play(
            "203 < ack 1 sack 2:5
             203 > 1 rtx
             203 > 12",
        )
    }

    pub(crate) fn sock(&self) -> &Sock {
        self.sender.sock()
    }

    pub(crate) fn state(&self) -> CaState {
        self.sock().ca_state()
    }

    /// The congestion window, packets.
    pub(crate) fn cwnd(&self) -> u32 {
        self.sock().snd_cwnd
    }

    /// Time until the RTO, or the next timer, ms from now.
    pub(crate) fn next_timer_ms(&self) -> f64 {
        (self.sender.next_timer_ns() - self.now_ns) as f64 / NS_PER_MS as f64
    }

    /// Continues where the last script ended. Everything that leaves up to its last line must be in
    /// it, at its time.
    pub(crate) fn play(&mut self, script: &str) -> &mut Self {
        let mut want = Vec::new();
        let mut last_ns = self.now_ns;
        for line in parse(script) {
            match line {
                Line::Arrives(time_ns, words) => {
                    self.run_until(time_ns);
                    self.feed(&words);
                    last_ns = time_ns;
                }
                Line::Leaves(time_ns, what) => {
                    want.push((time_ns, what));
                    last_ns = last_ns.max(time_ns);
                }
                Line::Passes(time_ns) => last_ns = last_ns.max(time_ns),
                Line::Does(time_ns, words) => {
                    self.run_until(time_ns);
                    self.apply(&words);
                    last_ns = time_ns;
                }
            }
        }
        self.run_until(last_ns);
        let left = describe(&self.packets, &self.bursts, self.writes);
        self.skip();
        assert_same(&left, &want);
        self
    }

    /// ECN fields of what left since the last call to forget.
    pub(crate) fn ecn_fields(&self) -> Vec<Ecn> {
        let packets = self.packets.iter();
        packets.map(|(_, packet)| packet.ecn).collect()
    }

    /// First segment, number of segments and wire bytes of what left since the last call to forget, which it
    /// then forgets.
    pub(crate) fn take_super_packets(&mut self) -> Vec<(u32, u32, u32)> {
        let packets = self.packets.iter().map(|(_, packet)| packet);
        let facts = packets.map(|it| (it.header.seq, it.header.segments(), it.wire_bytes));
        let facts = facts.collect();
        self.skip();
        facts
    }

    /// Identifications of the IP packets that left since then.
    pub(crate) fn ip_ids(&self) -> Vec<u16> {
        let packets = self.packets.iter();
        packets.map(|(_, packet)| packet.header.ip_id()).collect()
    }

    /// Plays lines of `<` and `.`; ignores what leaves.
    pub(crate) fn hear(&mut self, script: &str) -> &mut Self {
        for line in parse(script) {
            match line {
                Line::Arrives(time_ns, words) => {
                    self.run_until(time_ns);
                    self.feed(&words);
                }
                Line::Passes(time_ns) => self.run_until(time_ns),
                Line::Does(time_ns, words) => {
                    self.run_until(time_ns);
                    self.apply(&words);
                }
                Line::Leaves(..) => panic!("that is for `play`"),
            }
        }
        self.skip()
    }

    /// Forgets what left so far: for the part of a story that is tested elsewhere.
    pub(crate) fn skip(&mut self) -> &mut Self {
        self.packets.clear();
        self.bursts.clear();
        self
    }

    /// Fires timers up to `time_ns` and stays there.
    pub(crate) fn run_until(&mut self, time_ns: u64) {
        assert!(time_ns >= self.now_ns, "a script's time goes forward");
        while self.sender.next_timer_ns() <= time_ns {
            self.now_ns = self.now_ns.max(self.sender.next_timer_ns());
            self.sender.on_timer(self.now_ns);
            self.collect();
        }
        self.now_ns = time_ns;
    }

    /// The application acts now.
    fn apply(&mut self, words: &[&str]) {
        match words {
            ["write", bytes] => self.sender.write(bytes.parse().expect("bytes")),
            ["close"] => self.sender.close(),
            _ => panic!("what is `{words:?}`?"),
        }
        self.collect();
    }

    /// An ACK arrives now.
    pub(crate) fn feed(&mut self, words: &[&str]) -> Option<u32> {
        let (ack, sack) = self.parse_ack(words);
        let rtt_us = self.sender.on_ack(self.now_ns, &ack, &sack);
        self.collect();
        rtt_us
    }

    fn parse_ack(&mut self, words: &[&str]) -> (AckHeader, SackBlocks) {
        let mut ack = plain_ack(self.highest_ack);
        ack.rwnd_bytes = self.rwnd_pkts * MSS_BYTES;
        let (mut kind, mut ece) = (AckKind::Ack, false);
        let (mut sack, mut dsack, mut ts_ecr_ms) = (Vec::new(), None, None);
        let mut key = "";
        for &word in words {
            match word {
                "synack" => {
                    kind = AckKind::SynAck;
                    ts_ecr_ms = Some(0);
                }
                "ece" => ece = true,
                "fin" => kind = AckKind::FinAck,
                "ack" | "sack" | "dsack" | "ecr" | "win" => key = word,
                value => match key {
                    "ack" => ack.ack = value.parse().expect("a segment"),
                    "sack" => sack.push(parse_range(value)),
                    "dsack" => dsack = Some(parse_range(value)),
                    "ecr" => ts_ecr_ms = Some(value.parse().expect("ms")),
                    "win" => ack.rwnd_bytes = value.parse::<u32>().expect("segments") * MSS_BYTES,
                    _ => panic!("what is `{value}`?"),
                },
            }
        }
        if ack.ack > self.highest_ack {
            // RFC 7323 §4.3: the segment that touched the last ACK is echoed.
            self.ts_ecr_ms = self.sent_ms[&self.highest_ack];
            self.highest_ack = ack.ack;
        }
        ack.ts_val_ms = (self.now_ns / NS_PER_MS) as u32;
        ack.ts_ecr_ms = ts_ecr_ms.unwrap_or(self.ts_ecr_ms);
        ack.info = AckInfo::new(kind, 0).ece(ece);
        (ack, SackBlocks::new(dsack, &sack))
    }

    fn collect(&mut self) {
        self.bursts.push(self.packets.len());
        for packet in self.sender.poll_transmit(self.now_ns).to_vec() {
            let packet = as_data(packet);
            let header = packet.header;
            if header.kind() == SegmentKind::HandshakeAck && self.hides_handshake {
                continue;
            }
            if header.is_data() || header.kind() == SegmentKind::Fin {
                let sent = header.seq..header.seq + header.segments();
                self.sent_ms.extend(sent.map(|seq| (seq, header.ts_val_ms)));
            }
            self.packets.push((self.now_ns, packet));
        }
        self.sender.check_invariants();
    }
}

/// Packets in a script's notation, with new neighbours of one event joined.
fn describe(
    packets: &[(u64, Packet<DataHeader>)],
    bursts: &[usize],
    shows_lengths: bool,
) -> Vec<(u64, String)> {
    let mut lines: Vec<(u64, String)> = Vec::new();
    let mut run: Option<(u64, u32, u32)> = None;
    for (index, &(time_ns, packet)) in packets.iter().enumerate() {
        let header = packet.header;
        let payload_bytes = packet.wire_bytes - DATA_HEADER_BYTES;
        let is_short = shows_lengths && header.is_data() && payload_bytes < MSS_BYTES;
        if let Some((_, _, end)) = &mut run
            && !is_short
            && header.kind() == SegmentKind::Data
            && !header.is_retransmission()
            && !header.cwr()
            && !bursts.contains(&index)
            && *end == header.seq
        {
            *end += 1;
            continue;
        }
        lines.extend(run.take().map(|(t, s, e)| (t, format_range(s, e))));
        let again = if header.is_retransmission() {
            " rtx"
        } else {
            ""
        };
        let line = match header.kind() {
            SegmentKind::Data if !header.is_retransmission() && !header.cwr() && !is_short => {
                run = Some((time_ns, header.seq, header.seq + 1));
                continue;
            }
            SegmentKind::Data if header.cwr() => format!("{} cwr", header.seq),
            SegmentKind::Data => format!("{}{again}", header.seq),
            SegmentKind::LastData => format!("{} last{again}", header.seq),
            SegmentKind::Fin => format!("{} fin{again}", header.seq),
            SegmentKind::Syn if header.cwr() => "syn ecn".to_owned(),
            SegmentKind::Syn => "syn".to_owned(),
            SegmentKind::HandshakeAck => "ack".to_owned(),
            SegmentKind::WindowProbe => "probe".to_owned(),
            SegmentKind::LastAck => "last ack".to_owned(),
        };
        let line = if is_short {
            format!("{line} len {payload_bytes}")
        } else {
            line
        };
        lines.push((time_ns, line));
    }
    lines.extend(run.map(|(t, s, e)| (t, format_range(s, e))));
    lines
}
