//! The pcapng format (draft-ietf-opsawg-pcapng): sections of blocks.

use super::byte_order::ByteOrder;
use super::clock::Clock;
use super::input::{Input, WINDOW_BYTES};
use super::interface::{INTERFACES_MAX, Interface};
use super::interface_names::InterfaceNames;
use super::options::Options;
use super::record::{RECORD_BYTES_MAX, Record, Step, Stop};
use crate::link_layer::LinkType;
use crate::writer::DROPPED;

/// Type of the block that begins a section: the same in both byte orders (§4.1).
pub(super) const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Types of other blocks (§4, §11.1).
const INTERFACE_DESCRIPTION: u32 = 1;
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Codes of options.
const COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
const ISB_IFDROP: u16 = 5;

/// Type and length before a block's body, and the length again after it.
const BLOCK_HEAD_BYTES: usize = 8;
const BLOCK_BYTES_MIN: u32 = 12;

/// A pcapng file being read.
pub(super) struct Pcapng {
    order: ByteOrder,
    /// Position of the section's first interface among those of the file.
    first_interface: usize,
    /// Simple packets have no time: they get that of the packet before them.
    last_time_ns: u64,
    names: InterfaceNames,
}

impl Pcapng {
    pub(super) fn new() -> Self {
        Self {
            order: ByteOrder::Little,
            first_interface: 0,
            last_time_ns: 0,
            names: InterfaceNames::default(),
        }
    }

    /// The next block.
    #[inline]
    pub(super) fn step<'a>(
        &mut self,
        input: &'a mut Input,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Step<'a>, Stop> {
        let offset = input.offset();
        let Some([kind, mut length, magic]) = self.order.words(input.peek(12)?) else {
            return end(input, offset);
        };
        let is_section = kind == SECTION_HEADER;
        if is_section {
            if magic == BYTE_ORDER_MAGIC.swap_bytes() {
                self.order = self.order.other();
                length = length.swap_bytes();
            } else if magic != BYTE_ORDER_MAGIC {
                let what = "a section without its byte-order magic";
                return Err(Stop::damage(offset, what));
            }
            self.first_interface = interfaces.len();
        }
        let body = take_block(self.order, input, offset, length)?;
        if is_section {
            self.check_version(body.bytes, offset)?;
            return Ok(Step::Other);
        }
        match kind {
            ENHANCED_PACKET => Ok(self.enhanced_packet(body, interfaces)),
            SIMPLE_PACKET => Ok(self.simple_packet(body.bytes, interfaces)),
            OLD_PACKET => Ok(self.old_packet(body, interfaces)),
            INTERFACE_DESCRIPTION => self.describe_interface(body.bytes, interfaces, offset),
            INTERFACE_STATISTICS => {
                self.interface_statistics(body.bytes, interfaces);
                Ok(Step::Other)
            }
            _ => Ok(Step::Other),
        }
    }

    #[inline]
    fn enhanced_packet<'a>(&mut self, body: Body<'a>, interfaces: &[Interface]) -> Step<'a> {
        match self.order.words(body.bytes) {
            Some(fields) => self.packet(fields, body, interfaces),
            None => Step::BadPacket,
        }
    }

    /// The obsolete packet block (§A) has its interface in 16 bits, then a count of drops.
    #[cold]
    fn old_packet<'a>(&mut self, body: Body<'a>, interfaces: &[Interface]) -> Step<'a> {
        let (Some([_, high, low, captured_bytes, wire_bytes]), Some(interface)) =
            (self.order.words(body.bytes), body.bytes.first_chunk())
        else {
            return Step::BadPacket;
        };
        let interface = u32::from(self.order.u16(*interface));
        let fields = [interface, high, low, captured_bytes, wire_bytes];
        self.packet(fields, body, interfaces)
    }

    /// A packet with time and options.
    #[inline(always)]
    fn packet<'a>(
        &mut self,
        fields: [u32; 5],
        body: Body<'a>,
        interfaces: &[Interface],
    ) -> Step<'a> {
        let [interface, high, low, captured_bytes, wire_bytes] = fields;
        let index = self.first_interface.saturating_add(interface as usize);
        let Some(described) = interfaces.get(index) else {
            return Step::BadPacket;
        };
        let behind_fields = &body.bytes[size_of_val(&fields)..];
        if captured_bytes as usize > body.length - size_of_val(&fields) {
            return Step::BadPacket;
        }
        let held_bytes = behind_fields.len().min(captured_bytes as usize);
        let (frame, behind) = behind_fields.split_at(held_bytes);
        let ticks = u64::from(high) << 32 | u64::from(low);
        self.last_time_ns = described.clock.time_ns(ticks);
        Step::Packet(Record {
            interface: index as u32,
            time_ns: self.last_time_ns,
            wire_bytes: wire_bytes.max(captured_bytes),
            frame,
            drop_comment: (behind.len() > 4)
                .then(|| self.drop_comment(frame.len(), behind))
                .flatten(),
        })
    }

    /// The comment that marks the packet as dropped by a link; `behind` is what follows the frame.
    fn drop_comment<'a>(&self, frame_bytes: usize, behind: &'a [u8]) -> Option<&'a [u8]> {
        let padding_bytes = frame_bytes.next_multiple_of(4) - frame_bytes;
        let options = behind.get(padding_bytes..).unwrap_or_default();
        Options::new(self.order, options)
            .find(|&(code, value)| code == COMMENT && value.starts_with(DROPPED.as_bytes()))
            .map(|(_, value)| value)
    }

    /// A simple packet belongs to the first interface; its captured length is that of the block or
    /// the snap length.
    fn simple_packet<'a>(&mut self, body: &'a [u8], interfaces: &[Interface]) -> Step<'a> {
        let (Some([wire_bytes]), Some(described)) =
            (self.order.words(body), interfaces.get(self.first_interface))
        else {
            return Step::BadPacket;
        };
        let mut captured_bytes = wire_bytes;
        if described.snap_bytes > 0 {
            captured_bytes = captured_bytes.min(described.snap_bytes);
        }
        // Without a snap length the block's length limits the packet.
        let frame = &body[4..];
        Step::Packet(Record {
            interface: self.first_interface as u32,
            time_ns: self.last_time_ns,
            wire_bytes,
            frame: &frame[..frame.len().min(captured_bytes as usize)],
            drop_comment: None,
        })
    }

    fn describe_interface(
        &mut self,
        body: &[u8],
        interfaces: &mut Vec<Interface>,
        offset: u64,
    ) -> Result<Step<'static>, Stop> {
        let (Some([_, snap_bytes]), Some(link_type)) = (self.order.words(body), body.first_chunk())
        else {
            return Err(Stop::damage(offset, "an interface without its link type"));
        };
        if interfaces.len() >= INTERFACES_MAX {
            return Err(Stop::damage(
                offset,
                format!("more than {INTERFACES_MAX} interfaces"),
            ));
        }
        let link_type = LinkType(u32::from(self.order.u16(*link_type)));
        let mut clock = Clock::MICROSECONDS;
        let mut interface = Interface::new(link_type, snap_bytes, clock);
        for (code, value) in Options::new(self.order, &body[8..]) {
            match (code, value) {
                (IF_NAME, name) => interface.set_name(name),
                (IF_TSRESOL, &[resolution, ..]) => clock.set_resolution(resolution),
                (IF_TSOFFSET, value) => {
                    if let Some(offset_s) = value.first_chunk() {
                        clock.set_offset_s(self.order.u64(*offset_s).cast_signed());
                    }
                }
                _ => {}
            }
        }
        interface.clock = clock;
        interface.name = self.names.unique(interface.name, interfaces.len());
        interfaces.push(interface);
        Ok(Step::Other)
    }

    /// Number of packets that the capturing machine missed; an interface's last statistics count.
    fn interface_statistics(&self, body: &[u8], interfaces: &mut [Interface]) {
        let Some([interface, _, _]) = self.order.words(body) else {
            return;
        };
        let index = self.first_interface.saturating_add(interface as usize);
        let Some(described) = interfaces.get_mut(index) else {
            return;
        };
        for (code, value) in Options::new(self.order, &body[12..]) {
            if let (ISB_IFDROP, Some(missed_pkts)) = (code, value.first_chunk()) {
                described.missed_pkts = Some(self.order.u64(*missed_pkts));
            }
        }
    }

    fn check_version(&self, body: &[u8], offset: u64) -> Result<(), Stop> {
        let major = body.get(4..).and_then(<[u8]>::first_chunk);
        match major.map(|major| self.order.u16(*major)) {
            Some(1) => Ok(()),
            Some(major) => Err(Stop::damage(
                offset,
                format!("a section of pcapng version {major}; known is 1"),
            )),
            None => Err(Stop::damage(offset, "a section without its version")),
        }
    }
}

/// The content between a block's two lengths.
#[derive(Clone, Copy)]
struct Body<'a> {
    /// The beginning of a block larger than the window; all of any other.
    bytes: &'a [u8],
    length: usize,
}

/// Takes a block; its two lengths must be equal.
#[inline]
fn take_block(
    order: ByteOrder,
    input: &mut Input,
    offset: u64,
    length: u32,
) -> Result<Body<'_>, Stop> {
    if !(BLOCK_BYTES_MIN..=RECORD_BYTES_MAX).contains(&length) {
        return Err(Stop::damage(
            offset,
            format!(
                "a block of {length} bytes; a block has {BLOCK_BYTES_MIN} to {RECORD_BYTES_MAX}"
            ),
        ));
    }
    // Old writers did not count the padding.
    let padded_bytes = length.next_multiple_of(4) as usize;
    let Some(block) = input.take(padded_bytes)? else {
        return Err(Stop::damage(offset, "the file ends within a block"));
    };
    let body_bytes = padded_bytes - BLOCK_BYTES_MIN as usize;
    if padded_bytes > WINDOW_BYTES {
        return Ok(Body {
            bytes: &block[BLOCK_HEAD_BYTES..],
            length: body_bytes,
        });
    }
    let (bytes, length_again) = block[BLOCK_HEAD_BYTES..].split_at(body_bytes);
    if order.words(length_again) != Some([length]) {
        return Err(Stop::damage(
            offset,
            format!("a block of {length} bytes that says otherwise at its end"),
        ));
    }
    Ok(Body {
        bytes,
        length: body_bytes,
    })
}

/// The reason why no further block could be read.
#[cold]
fn end(input: &Input, offset: u64) -> Result<Step<'static>, Stop> {
    if input.is_exhausted() && !input.ended_while_skipping() {
        return Ok(Step::End);
    }
    Err(Stop::damage(offset, "the file ends within a block"))
}
