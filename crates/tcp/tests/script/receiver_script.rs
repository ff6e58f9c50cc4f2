//! A receiver under script: segments in, ACKs out.

use dumbbell_net::Ecn;
use dumbbell_tcp::{
    AckHeader, AckKind, DATA_HEADER_BYTES, DataHeader, DataInfo, EcnMode, Offload, Receiver,
    ReceiverConfig, SYN_BYTES, SackBlock, SackBlocks, SackStore, Segment, SegmentKind,
};

use super::{Line, MSS_BYTES, NS_PER_MS, assert_same, format_range, parse, parse_ms, parse_range};

/// A receiver that a script drives. Lines: `< SEQ` or `< A:B` (back to back), `[len BYTES]`,
/// `[ts MS]` (its time without), `[is last]` (with the FIN), `[is ect]`, `[is ce]`, `[is cwr]`, `[is psh]`,
/// `< SEQ is fin`, `< syn`, `< syn ecn`,
/// `< ack` (of the SYN-ACK), `< last-ack`; `> ack N [dsack A:B] [sack A:B ...] [ecr MS]`, `> synack`,
/// `! answer` (this host sends data), `> fin ack N ...`, and `> ack N ... after fin`; ` ece` follows the kind and number.
///
/// `ecr` is compared only where a line of the script has it.
pub(crate) struct ReceiverScript {
    pub(crate) receiver: Receiver,
    acks: Vec<(u64, SentAck)>,
    sacks: SackStore,
    now_ns: u64,
    /// ECN field and CWR flag of what arrives.
    ecn: Ecn,
    cwr: bool,
    psh: bool,
    /// How many segments the next packet has.
    segments: u32,
}

/// An ACK as it left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentAck {
    pub(crate) header: AckHeader,
    pub(crate) sack: SackBlocks,
    pub(crate) wire_bytes: u32,
    pub(crate) ecn: Ecn,
}

/// Linux's receiver: a window of 45 segments, delayed ACKs, RTT 100 ms. The SYN can offer this window, so it does not grow.
pub(crate) fn linux_receiver() -> ReceiverConfig {
    ReceiverConfig {
        rwnd_bytes: 45 * MSS_BYTES,
        ..ReceiverConfig::new(0, MSS_BYTES, 100 * NS_PER_MS)
    }
}

impl ReceiverScript {
    /// Linux's receiver: SACKs are compressed for 1 ms.
    pub(crate) fn new() -> Self {
        Self::with(linux_receiver())
    }

    pub(crate) fn with(config: ReceiverConfig) -> Self {
        Self {
            receiver: Receiver::new(config),
            acks: Vec::new(),
            sacks: SackStore::new(),
            now_ns: 0,
            ecn: Ecn::NotEct,
            cwr: false,
            psh: false,
            segments: 1,
        }
    }

    /// Past the sixteen quick ACKs: segments below 16 have arrived by 0 ms.
    pub(crate) fn past_quickacks() -> Self {
        let mut script = Self::new();
        script.feed(&["0:16"]);
        script.acks.clear();
        script
    }

    /// The same after a handshake that measured `rtt_ms`.
    pub(crate) fn past_quickacks_of_rtt_ms(rtt_ms: u64) -> Self {
        let mut script = Self::new();
        script.feed(&["syn"]);
        script.now_ns = rtt_ms * NS_PER_MS;
        script.feed(&["ack"]);
        script.feed(&["0:16"]);
        script.acks.clear();
        script
    }

    /// The same, and it has answered a short message, number 16, in time.
    pub(crate) fn answering() -> Self {
        let mut script = Self::past_quickacks();
        script.feed(&["16", "len", "100", "is", "psh"]);
        script.receiver.on_answer(0);
        script.collect();
        script.acks.clear();
        script
    }

    /// The same with ECN in this mode, by the handshake.
    pub(crate) fn with_ecn(mode: EcnMode) -> Self {
        let mut script = Self::with(ReceiverConfig {
            ecn: mode,
            ..linux_receiver()
        });
        script.feed(&["syn", "ecn"]);
        script.feed(&["ack"]);
        script.feed(&["0:16", "is", "ect"]);
        script.acks.clear();
        script
    }

    /// Everything that left since the last call.
    pub(crate) fn take_acks(&mut self) -> Vec<SentAck> {
        let acks = std::mem::take(&mut self.acks);
        acks.into_iter().map(|(_, ack)| ack).collect()
    }

    /// Plays a script on; every ACK up to its last line must be in it, at its time.
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
        let left: Vec<_> = std::mem::take(&mut self.acks)
            .iter()
            .enumerate()
            .map(|(index, (time_ns, ack))| {
                let with_ecr = want.get(index).is_some_and(|(_, w)| w.contains("ecr"));
                (*time_ns, describe(ack, with_ecr))
            })
            .collect();
        assert_same(&left, &want);
        self
    }

    /// Plays lines of `<`; ignores what leaves.
    pub(crate) fn hear(&mut self, script: &str) -> &mut Self {
        for line in parse(script) {
            match line {
                Line::Arrives(time_ns, words) => {
                    self.run_until(time_ns);
                    self.feed(&words);
                }
                Line::Leaves(..) | Line::Passes(_) | Line::Does(..) => panic!("that is for `play`"),
            }
        }
        self.acks.clear();
        self
    }

    /// The host acts now.
    fn apply(&mut self, words: &[&str]) {
        match words {
            ["answer"] => self.receiver.on_answer(self.now_ns),
            _ => panic!("what is `{words:?}`?"),
        }
        self.collect();
    }

    fn run_until(&mut self, time_ns: u64) {
        while self.receiver.next_timer_ns() <= time_ns {
            self.now_ns = self.receiver.next_timer_ns();
            self.receiver.on_timer(self.now_ns);
            self.collect();
        }
        self.now_ns = time_ns;
    }

    pub(crate) fn feed(&mut self, words: &[&str]) {
        let now_ms = (self.now_ns / NS_PER_MS) as u32;
        match words {
            ["syn", "ecn"] => {
                self.cwr = true;
                self.arrive(0, 0, now_ms, SegmentKind::Syn);
                self.cwr = false;
                return;
            }
            ["syn"] => return self.arrive(0, 0, now_ms, SegmentKind::Syn),
            ["ack"] => return self.arrive(0, 0, now_ms, SegmentKind::HandshakeAck),
            ["last-ack"] => return self.arrive(0, 0, now_ms, SegmentKind::LastAck),
            _ => {}
        }
        let (mut payload_bytes, mut ts_val_ms) = (MSS_BYTES, now_ms);
        let (mut kind, mut is_one) = (SegmentKind::Data, false);
        let mut options = words[1..].chunks_exact(2);
        for option in &mut options {
            match option[0] {
                "is" if option[1] == "psh" => self.psh = true,
                "as" if option[1] == "one" => is_one = true,
                "len" => payload_bytes = option[1].parse().expect("bytes"),
                "is" if option[1] == "last" => kind = SegmentKind::LastData,
                "is" if option[1] == "fin" => {
                    kind = SegmentKind::Fin;
                    payload_bytes = 0;
                }
                "is" if option[1] == "ect" => self.ecn = Ecn::Ect0,
                "is" if option[1] == "ce" => self.ecn = Ecn::Ce,
                "is" if option[1] == "cwr" => self.cwr = true,
                "ts" => ts_val_ms = (parse_ms(option[1]) / NS_PER_MS) as u32,
                other => panic!("what is `{other}`?"),
            }
        }
        let SackBlock { start, end } = parse_range(words[0]);
        if is_one {
            self.segments = end - start;
            self.arrive(start, payload_bytes, ts_val_ms, kind);
            self.segments = 1;
        } else {
            for seq in start..end {
                self.arrive(seq, payload_bytes, ts_val_ms, kind);
            }
        }
        (self.ecn, self.cwr, self.psh) = (Ecn::NotEct, false, false);
    }

    fn arrive(&mut self, seq: u32, payload_bytes: u32, ts_val_ms: u32, kind: SegmentKind) {
        let wire_bytes = match kind {
            SegmentKind::Syn => SYN_BYTES,
            _ => self.segments * (payload_bytes + DATA_HEADER_BYTES),
        };
        let header = DataHeader {
            seq,
            ts_val_ms,
            ts_ecr_ms: 0,
            info: DataInfo::new(kind, 0).cwr(self.cwr).psh(self.psh),
            offload: Offload::new(self.segments, MSS_BYTES),
        };
        self.receiver
            .on_packet(self.now_ns, &header, wire_bytes, self.ecn);
        self.collect();
    }

    fn collect(&mut self) {
        let packets: Vec<_> = self.receiver.poll_transmit(&mut self.sacks).to_vec();
        for packet in packets {
            let Segment::Ack(header) = packet.header else {
                panic!("a receiver sends ACKs");
            };
            let sent = SentAck {
                header,
                sack: *self.sacks.get(header.sack),
                wire_bytes: packet.wire_bytes,
                ecn: packet.ecn,
            };
            self.sacks.free(header.sack);
            self.acks.push((self.now_ns, sent));
        }
    }
}

fn describe(sent: &SentAck, with_ecr: bool) -> String {
    let ack = &sent.header;
    let mut text = match ack.kind() {
        AckKind::SynAck => "synack".to_owned(),
        AckKind::FinAck => format!("fin ack {}", ack.ack),
        AckKind::Ack | AckKind::AfterFin => format!("ack {}", ack.ack),
    };
    if ack.ece() {
        text += " ece";
    }
    let show = |block: &SackBlock| format!(" {}", format_range(block.start, block.end));
    if let Some(block) = sent.sack.dsack() {
        text += " dsack";
        text += &show(&block);
    }
    if !sent.sack.received().is_empty() {
        text += " sack";
        text.extend(sent.sack.received().iter().map(show));
    }
    if ack.kind() == AckKind::AfterFin {
        text += " after fin";
    }
    if with_ecr {
        text += &format!(" ecr {}", ack.ts_ecr_ms);
    }
    text
}
