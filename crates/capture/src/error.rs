//! Why a capture cannot be read at all. `Display` is the line a user reads.

use std::io;

/// A capture cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be opened.
    #[error("cannot open {name}: {source}")]
    Open {
        /// What was to be opened.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// It is open, but cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// What was to be read.
        name: String,
        /// Why not.
        source: io::Error,
    },
    /// It has no bytes.
    #[error("{name} is empty; say a capture in pcap or pcapng")]
    Empty {
        /// What was to be read.
        name: String,
    },
    /// It begins as no capture does.
    #[error(
        "{name} is no capture: {uncompressed}it begins with {first_bytes}; say a file in pcap or pcapng, \
         as tcpdump and Wireshark write them"
    )]
    NotACapture {
        /// What was to be read.
        name: String,
        /// A word about compression, or nothing.
        uncompressed: &'static str,
        /// Its first bytes in hexadecimal.
        first_bytes: String,
    },
}
