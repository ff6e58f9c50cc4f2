//! Counts of what was read of a capture, and of what could not be read.

use crate::error::Unread;

/// Counts of packets. Every packet is counted once in [`packets`](Self::packets) and once in one of the others
/// up to [`unknown_link_type`](Self::unknown_link_type).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Packets in the capture.
    pub packets: u64,
    /// TCP packets, which were returned.
    pub tcp_pkts: u64,
    /// Neither IPv4 nor IPv6: ARP, for one.
    pub not_ip: u64,
    /// IP, but not TCP.
    pub not_tcp: u64,
    /// IP fragments: only the first has ports, and none has the segment's length.
    pub fragments: u64,
    /// Cut before the end of the first 20 bytes of the TCP header.
    pub cut_headers: u64,
    /// Lengths in the record or in the headers contradict each other.
    pub bad_lengths: u64,
    /// Frames of an unsupported link type.
    pub unknown_link_type: u64,
    /// Where reading had to end before the end of the file.
    pub damage: Option<Damage>,
}

/// Where a capture is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes before it: before the damaged record, in what a compressed file holds.
    pub offset: u64,
    /// What is wrong, in a few words.
    pub what: String,
}

impl ReadCounts {
    #[cold]
    pub(super) fn count_unread(&mut self, reason: Unread) {
        *match reason {
            Unread::NotIp => &mut self.not_ip,
            Unread::NotTcp => &mut self.not_tcp,
            Unread::Fragment => &mut self.fragments,
            Unread::CutHeader => &mut self.cut_headers,
            Unread::BadLength => &mut self.bad_lengths,
            Unread::UnknownLinkType => &mut self.unknown_link_type,
        } += 1;
    }
}
