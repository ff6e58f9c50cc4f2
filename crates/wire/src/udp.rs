//! UDP's header (RFC 768).

use crate::bytes::put_u16;

/// Bytes of a header.
pub const HEADER_BYTES: usize = 8;

/// Offset of the length of header and payload.
pub const LENGTH: usize = 4;

/// Offset of the checksum.
pub const CHECKSUM: usize = 6;

/// Header of a datagram between two ports, without a checksum.
pub fn header([source, destination]: [u16; 2], payload_bytes: u16) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    put_u16(&mut header, 0, source);
    put_u16(&mut header, 2, destination);
    put_u16(&mut header, LENGTH, HEADER_BYTES as u16 + payload_bytes);
    header
}
