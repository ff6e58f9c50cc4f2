//! A capture to measure with: bulk transfers with losses, SACK and timestamps, as a sender's
//! tcpdump with a headers-only snap length would record it.

use std::collections::VecDeque;
use std::io::{self, Write};

/// Payload of a segment.
const SEGMENT_BYTES: u32 = 1448;
/// Ethernet, IPv4, TCP with timestamps.
const HEADER_BYTES: usize = 66;
/// With three SACK blocks: the most that fits next to timestamps.
const MAX_FRAME_BYTES: usize = HEADER_BYTES + 4 + 3 * 8;

/// Parameters of the transfers.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) packets: u64,
    pub(crate) connections: u32,
    /// Segments that each connection has in flight.
    pub(crate) window: usize,
    /// One of this many segments is lost; 0: none.
    pub(crate) lost_one_in: u64,
}

/// A segment on its way.
struct InFlight {
    number: u32,
    is_lost: bool,
}

/// One transfer: its sender, and its receiver a window later.
struct Flow {
    port: u16,
    next: u32,
    in_flight: VecDeque<InFlight>,
    resend: VecDeque<u32>,
    /// Receiver: next in order, and what it has beyond that.
    expected: u32,
    received: VecDeque<bool>,
    /// Latest SACK blocks, newest first.
    blocks: Vec<(u32, u32)>,
    unacknowledged: u32,
    highest_resent: u32,
    ip_id: u16,
}

/// Writes a pcap file of that shape.
pub(crate) fn write_pcap(output: &mut impl Write, shape: &Shape) -> io::Result<()> {
    let mut writer = Pcap {
        output,
        time_us: 1_700_000_000_000_000,
        written: 0,
    };
    writer.header()?;
    let mut random = 1u64;
    let mut flows: Vec<Flow> = (0..shape.connections)
        .map(|index| Flow::new(index as u16))
        .collect();
    for flow in &mut flows {
        flow.handshake(&mut writer)?;
    }
    while writer.written < shape.packets {
        for flow in &mut flows {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let is_lost = shape.lost_one_in > 0 && (random >> 33).is_multiple_of(shape.lost_one_in);
            flow.step(&mut writer, shape.window, is_lost)?;
        }
    }
    Ok(())
}

impl Flow {
    fn new(index: u16) -> Self {
        Self {
            port: 40_000 + index,
            next: 0,
            in_flight: VecDeque::new(),
            resend: VecDeque::new(),
            expected: 0,
            received: VecDeque::new(),
            blocks: Vec::new(),
            unacknowledged: 0,
            highest_resent: 0,
            ip_id: index,
        }
    }

    fn handshake<W: Write>(&mut self, writer: &mut Pcap<'_, W>) -> io::Result<()> {
        const SYN: u8 = 2;
        const ACK: u8 = 16;
        // MSS 1460, SACK permitted, timestamps, window scale 10.
        let options = [
            2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 10,
        ];
        self.write_options(writer, true, [0, 0], SYN, &options)?;
        self.write_options(writer, false, [0, 1], SYN | ACK, &options)?;
        self.write(writer, true, [1, 1], 0, &[])
    }

    /// Sends a segment; with the window full, one reaches the receiver first.
    fn step<W: Write>(
        &mut self,
        writer: &mut Pcap<'_, W>,
        window: usize,
        is_lost: bool,
    ) -> io::Result<()> {
        if self.in_flight.len() >= window
            && let Some(arrived) = self.in_flight.pop_front()
            && !arrived.is_lost
        {
            self.receive(writer, arrived.number)?;
        }
        let (number, is_lost) = match self.resend.pop_front() {
            Some(number) => (number, false),
            None => {
                self.next += 1;
                (self.next - 1, is_lost)
            }
        };
        self.in_flight.push_back(InFlight { number, is_lost });
        self.write(
            writer,
            true,
            [1 + number.wrapping_mul(SEGMENT_BYTES), 1],
            SEGMENT_BYTES,
            &[],
        )
    }

    fn receive<W: Write>(&mut self, writer: &mut Pcap<'_, W>, number: u32) -> io::Result<()> {
        let place = (number - self.expected) as usize;
        if place >= self.received.len() {
            self.received.resize(place + 1, false);
        }
        self.received[place] = true;
        while self.received.front() == Some(&true) {
            self.received.pop_front();
            self.expected += 1;
        }
        let expected = self.expected;
        self.blocks.retain(|block| block.0 >= expected);
        self.unacknowledged += 1;
        if number < expected && self.received.is_empty() && self.unacknowledged < 2 {
            return Ok(());
        }
        self.unacknowledged = 0;
        if number >= expected {
            self.report(number);
            self.detect_loss(number);
        }
        let blocks: Vec<(u32, u32)> = self.blocks.iter().take(3).copied().collect();
        let ack = 1 + expected.wrapping_mul(SEGMENT_BYTES);
        self.write(writer, false, [1, ack], 0, &blocks)
    }

    /// The block that a segment beyond the next expected one belongs to comes first.
    fn report(&mut self, number: u32) {
        let (mut start, mut end) = (number, number + 1);
        self.blocks.retain(|&(from, to)| {
            let touches = from <= end && start <= to;
            if touches {
                (start, end) = (start.min(from), end.max(to));
            }
            !touches
        });
        self.blocks.insert(0, (start, end));
        self.blocks.truncate(256);
    }

    /// What is missing three below is sent again, once.
    fn detect_loss(&mut self, number: u32) {
        while self.highest_resent + 3 <= number {
            let candidate = self.highest_resent;
            self.highest_resent += 1;
            let has_arrived = candidate < self.expected
                || self.received.get((candidate - self.expected) as usize) == Some(&true);
            if !has_arrived {
                self.resend.push_back(candidate);
            }
        }
    }

    fn write<W: Write>(
        &mut self,
        writer: &mut Pcap<'_, W>,
        is_data: bool,
        numbers: [u32; 2],
        payload_bytes: u32,
        blocks: &[(u32, u32)],
    ) -> io::Result<()> {
        let mut options = vec![1, 1, 8, 10];
        let now_ms = (writer.time_us / 1000) as u32;
        options.extend(now_ms.to_be_bytes());
        options.extend(now_ms.wrapping_sub(1).to_be_bytes());
        if !blocks.is_empty() {
            options.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
            for &(start, end) in blocks {
                options.extend((1 + start.wrapping_mul(SEGMENT_BYTES)).to_be_bytes());
                options.extend((1 + end.wrapping_mul(SEGMENT_BYTES)).to_be_bytes());
            }
        }
        const ACK: u8 = 16;
        let frame = self.frame(is_data, numbers, ACK, &options, payload_bytes);
        writer.record(&frame, payload_bytes)
    }

    fn write_options<W: Write>(
        &mut self,
        writer: &mut Pcap<'_, W>,
        is_data: bool,
        numbers: [u32; 2],
        flags: u8,
        options: &[u8],
    ) -> io::Result<()> {
        let frame = self.frame(is_data, numbers, flags, options, 0);
        writer.record(&frame, 0)
    }

    /// Headers without checksums, because none of the tools checks them by default.
    fn frame(
        &mut self,
        is_data: bool,
        [seq, ack]: [u32; 2],
        flags: u8,
        options: &[u8],
        payload_bytes: u32,
    ) -> Vec<u8> {
        self.ip_id = self.ip_id.wrapping_add(1);
        let ends = [([10, 0, 0, 1], self.port), ([10, 0, 1, 1], 5001)];
        let (source, destination) = if is_data {
            (ends[0], ends[1])
        } else {
            (ends[1], ends[0])
        };
        let ip_bytes = 40 + options.len() as u16 + payload_bytes as u16;
        let mut frame = Vec::with_capacity(MAX_FRAME_BYTES);
        frame.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0]);
        frame.extend(ip_bytes.to_be_bytes());
        frame.extend(self.ip_id.to_be_bytes());
        frame.extend([0x40, 0, 64, 6, 0, 0]);
        frame.extend(source.0);
        frame.extend(destination.0);
        frame.extend(source.1.to_be_bytes());
        frame.extend(destination.1.to_be_bytes());
        frame.extend(seq.to_be_bytes());
        frame.extend(ack.to_be_bytes());
        frame.extend([
            ((20 + options.len() as u8) / 4) << 4,
            flags,
            0x40,
            0,
            0,
            0,
            0,
            0,
        ]);
        frame.extend(options);
        frame
    }
}

/// A pcap file with times in µs.
struct Pcap<'a, W> {
    output: &'a mut W,
    time_us: u64,
    written: u64,
}

impl<W: Write> Pcap<'_, W> {
    fn header(&mut self) -> io::Result<()> {
        const ETHERNET: u32 = 1;
        let mut header = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
        header.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        header.extend(65_535u32.to_le_bytes());
        header.extend(ETHERNET.to_le_bytes());
        self.output.write_all(&header)
    }

    fn record(&mut self, frame: &[u8], payload_bytes: u32) -> io::Result<()> {
        self.time_us += 3;
        self.written += 1;
        let mut record = Vec::with_capacity(16 + MAX_FRAME_BYTES);
        record.extend(((self.time_us / 1_000_000) as u32).to_le_bytes());
        record.extend(((self.time_us % 1_000_000) as u32).to_le_bytes());
        record.extend((frame.len() as u32).to_le_bytes());
        record.extend((frame.len() as u32 + payload_bytes).to_le_bytes());
        record.extend(frame);
        self.output.write_all(&record)
    }
}
