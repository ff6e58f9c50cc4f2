//! The pcap format (draft-ietf-opsawg-pcap): a header, then records.

use super::byte_order::ByteOrder;
use super::clock::Clock;
use super::input::Input;
use super::interface::Interface;
use super::record::{RECORD_BYTES_MAX, Record, Step, Stop};
use crate::link_layer::LinkType;

/// Bytes of the file's header.
const HEADER_BYTES: usize = 24;

/// The link type is in these bits; those above describe the frame check sequence.
const LINK_TYPE_MASK: u32 = 0x03ff_ffff;

/// A pcap file after its header.
pub(super) struct Pcap {
    order: ByteOrder,
    record_header_bytes: usize,
    /// Fractions of a second are in this unit.
    fraction_ns: u64,
}

impl Pcap {
    /// The meaning of the magic number: byte order, unit, kind of record; `None` if it is not one
    /// of pcap's.
    pub(super) fn recognise(magic: [u8; 4]) -> Option<Self> {
        let (order, magic) = match magic {
            [0xa1, 0xb2, ..] => (ByteOrder::Big, u32::from_be_bytes(magic)),
            _ => (ByteOrder::Little, u32::from_le_bytes(magic)),
        };
        let (fraction_ns, record_header_bytes) = match magic {
            0xa1b2_c3d4 => (1000, 16),
            0xa1b2_3c4d => (1, 16),
            // Records of a patched libpcap of the 1990s have 8 bytes more (interface, protocol, kind).
            0xa1b2_cd34 => (1000, 24),
            _ => return None,
        };
        Some(Self {
            order,
            record_header_bytes,
            fraction_ns,
        })
    }

    /// Reads the file's header: its one interface.
    pub(super) fn start(&self, input: &mut Input) -> Result<Interface, Stop> {
        let header = input.take(HEADER_BYTES)?.unwrap_or_default();
        let Some([_magic, _version, _zone, _accuracy, snap_bytes, link_type]) =
            self.order.words(header)
        else {
            return Err(Stop::damage(0, "the file ends within its header"));
        };
        Ok(Interface::new(
            LinkType(link_type & LINK_TYPE_MASK),
            snap_bytes,
            Clock::NANOSECONDS,
        ))
    }

    /// The next record.
    #[inline]
    pub(super) fn step<'a>(&self, input: &'a mut Input) -> Result<Step<'a>, Stop> {
        let offset = input.offset();
        let header = input.peek(self.record_header_bytes)?;
        let Some([seconds, fraction, captured_bytes, wire_bytes]) = self.order.words(header) else {
            return end(input, offset);
        };
        if captured_bytes > RECORD_BYTES_MAX {
            return Err(Stop::damage(
                offset,
                format!("a packet of {captured_bytes} bytes, more than any capture holds"),
            ));
        }
        let length = self.record_header_bytes + captured_bytes as usize;
        let Some(record) = input.take(length)? else {
            return Err(Stop::damage(offset, "the file ends within a packet"));
        };
        Ok(Step::Packet(Record {
            interface: 0,
            time_ns: u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.fraction_ns,
            wire_bytes: wire_bytes.max(captured_bytes),
            frame: &record[self.record_header_bytes..],
            drop_comment: None,
        }))
    }
}

/// The reason why no further record header could be read.
#[cold]
fn end(input: &Input, offset: u64) -> Result<Step<'static>, Stop> {
    if input.is_exhausted() && !input.ended_while_skipping() {
        return Ok(Step::End);
    }
    Err(Stop::damage(offset, "the file ends within a packet"))
}
