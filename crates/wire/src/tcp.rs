//! TCP's header (RFC 9293 §3.1).

use crate::bytes::{put_u16, put_u32, read_u16, read_u32};
use crate::tcp_options::Options;

/// Bytes of a header without options.
pub const HEADER_BYTES: usize = 20;

/// Offset of the sequence number.
pub const SEQUENCE: usize = 4;
/// Offset of the acknowledgment number.
pub const ACKNOWLEDGMENT: usize = 8;
/// Offset of the header's length and the flag AE.
const LENGTH: usize = 12;
/// Offset of the flags but AE.
pub const FLAGS: usize = 13;
const WINDOW: usize = 14;
/// Offset of the checksum.
pub const CHECKSUM: usize = 16;

/// The flags of a header (RFC 9293 §3.1; AE: RFC 9768), lowest bit FIN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: u16 = 0x001;
    /// Synchronise sequence numbers.
    pub const SYN: u16 = 0x002;
    /// Reset the connection.
    pub const RST: u16 = 0x004;
    /// Push: a write ends here.
    pub const PSH: u16 = 0x008;
    /// The acknowledgment number is valid.
    pub const ACK: u16 = 0x010;
    /// The urgent pointer is valid.
    pub const URG: u16 = 0x020;
    /// ECN echo (RFC 3168).
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u16 = 0x080;
    /// Accurate ECN (RFC 9768).
    pub const AE: u16 = 0x100;

    /// Whether any flag of `mask` is set.
    #[inline]
    pub fn has(self, mask: u16) -> bool {
        self.0 & mask != 0
    }
}

/// View of a header, of which at least the fixed part is there.
#[derive(Clone, Copy, Debug)]
pub struct Tcp<'a> {
    fixed: &'a [u8; HEADER_BYTES],
    behind: &'a [u8],
}

impl<'a> Tcp<'a> {
    /// The header at the start of `segment`; `None` if its fixed part is cut.
    #[inline]
    pub fn new(segment: &'a [u8]) -> Option<Self> {
        let (fixed, behind) = segment.split_first_chunk()?;
        Some(Self { fixed, behind })
    }

    /// Port of the sending host.
    #[inline]
    pub fn source_port(self) -> u16 {
        read_u16(self.fixed, 0)
    }

    /// Port of the receiving host.
    #[inline]
    pub fn destination_port(self) -> u16 {
        read_u16(self.fixed, 2)
    }

    /// Sequence number of the first byte of payload.
    #[inline]
    pub fn sequence(self) -> u32 {
        read_u32(self.fixed, SEQUENCE)
    }

    /// Acknowledgment number; valid if the flag ACK is set.
    #[inline]
    pub fn acknowledgment(self) -> u32 {
        read_u32(self.fixed, ACKNOWLEDGMENT)
    }

    /// Length of the header with its options, bytes.
    #[inline]
    pub fn header_bytes(self) -> usize {
        usize::from(self.fixed[LENGTH] >> 4) * 4
    }

    /// Flags, from FIN to AE.
    #[inline]
    pub fn flags(self) -> TcpFlags {
        TcpFlags(read_u16(self.fixed, LENGTH) & 0x1ff)
    }

    /// Whether a bit is set that has no meaning yet.
    #[inline]
    pub fn has_reserved(self) -> bool {
        self.fixed[LENGTH] & 0x0e != 0
    }

    /// Window field as it is on the wire, not scaled.
    #[inline]
    pub fn window(self) -> u16 {
        read_u16(self.fixed, WINDOW)
    }

    /// The options, as far as they are there.
    #[inline]
    pub fn options(self) -> Options<'a> {
        let bytes = self.header_bytes().saturating_sub(HEADER_BYTES);
        Options::new(&self.behind[..self.behind.len().min(bytes)])
    }
}

/// Fields of a header.
#[derive(Clone, Copy, Debug)]
pub struct TcpFields {
    /// Source and destination port.
    pub ports: [u16; 2],
    /// Sequence number of the first byte of payload.
    pub sequence: u32,
    /// Acknowledgment number; valid if the flag ACK is set.
    pub acknowledgment: u32,
    /// Flags, from FIN to AE.
    pub flags: TcpFlags,
    /// Window field as it is on the wire, not scaled.
    pub window: u16,
}

impl TcpFields {
    /// The fixed part of a header in front of `option_bytes` of options, without a checksum.
    pub fn to_bytes(&self, option_bytes: usize) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        let [source, destination] = self.ports;
        put_u16(&mut header, 0, source);
        put_u16(&mut header, 2, destination);
        put_u32(&mut header, SEQUENCE, self.sequence);
        put_u32(&mut header, ACKNOWLEDGMENT, self.acknowledgment);
        let words = (HEADER_BYTES + option_bytes) as u16 / 4;
        put_u16(&mut header, LENGTH, words << 12 | self.flags.0 & 0x1ff);
        put_u16(&mut header, WINDOW, self.window);
        header
    }
}
