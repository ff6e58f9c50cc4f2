//! A capture file's record of one packet, and why reading stops.

use std::io;

/// A packet as recorded.
pub(crate) struct Record<'a> {
    /// Position among the interfaces of the whole file.
    pub(crate) interface: u32,
    pub(crate) time_ns: u64,
    /// Length on the wire.
    pub(crate) wire_bytes: u32,
    /// The frame, maybe cut.
    pub(crate) frame: &'a [u8],
    /// The comment that says that a link dropped it, and which and why.
    pub(crate) drop_comment: Option<&'a [u8]>,
}

/// The result of one step through a file.
pub(super) enum Step<'a> {
    Packet(Record<'a>),
    /// A packet whose record contradicts itself; the next one can be found.
    BadPacket,
    /// Something other than a packet.
    Other,
    End,
}

/// Why reading cannot continue.
#[derive(Debug)]
pub(super) enum Stop {
    /// The data is invalid.
    Damage { offset: u64, what: String },
    /// The input cannot be read.
    Io(io::Error),
}

impl Stop {
    pub(super) fn damage(offset: u64, what: impl Into<String>) -> Self {
        Self::Damage {
            offset,
            what: what.into(),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A longer record is damage: the longest snap length that Wireshark and libpcap allow for any link type is
/// 128 MiB, for Ethernet 256 KiB.
pub(super) const RECORD_BYTES_MAX: u32 = 256 << 20;
