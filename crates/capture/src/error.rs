//! Why a capture cannot be read at all, where `Display` is the line a user reads, and why one of its frames cannot.

use std::io;

/// A capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be opened.
    #[error("cannot open {name}: {source}")]
    Open {
        /// Name of the file.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// It is open, but cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The file or input.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// It has no bytes.
    #[error("{name} is empty; use a capture in pcap or pcapng")]
    Empty {
        /// The file or input.
        name: String,
    },
    /// Its first bytes are not those of a capture.
    #[error(
        "{name} is not a capture: {uncompressed}it begins with {first_bytes}; use a file in pcap or pcapng, \
         as written by tcpdump and Wireshark"
    )]
    NotACapture {
        /// The file or input.
        name: String,
        /// Text about compression, or empty.
        uncompressed: &'static str,
        /// Its first bytes in hexadecimal.
        first_bytes: String,
    },
}

/// Why a frame contains no usable TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Neither IPv4 nor IPv6: the EtherType, 0 where there is none.
    NotIp(u16),
    /// IP, but not TCP: the protocol number.
    NotTcp(u8),
    /// A fragment of an IP packet.
    Fragment,
    /// Cut before the end of the first 20 bytes of the TCP header.
    CutHeader,
    /// Lengths contradict each other.
    BadLength,
    /// Not a supported link type.
    UnknownLinkType,
}
