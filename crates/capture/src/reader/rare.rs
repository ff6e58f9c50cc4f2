//! What is not simply a whole packet of TCP in IP: tunnels, fragments, and what is only counted.

use super::counts::ReadCounts;
use super::record::Record;
use crate::dissect::dissect_tunnel;
use crate::error::Unread;
use crate::fragments::{Fragment, Fragments};
use crate::link_layer::LinkType;
use crate::packet::TcpPacket;

/// Where such a packet is read.
pub(super) struct Rare<'a> {
    pub(super) link_type: LinkType,
    pub(super) checks_checksum: bool,
    pub(super) fragments: &'a mut Fragments,
    pub(super) counts: &'a mut ReadCounts,
}

impl Rare<'_> {
    /// The packet of TCP of a record, or that it completes; counts it, or why there is none.
    #[cold]
    pub(super) fn packet(mut self, record: &Record<'_>, reason: Unread) -> Option<TcpPacket> {
        let read = match reason {
            Unread::NotTcp(_) => dissect_tunnel(
                self.link_type,
                record.frame,
                record.wire_bytes,
                self.checks_checksum,
            ),
            other => Err(other),
        };
        let mut packet = match read {
            Ok(packet) => packet,
            Err(Unread::Fragment) => self.put_together(record)?,
            Err(reason) => {
                self.counts.count_unread(reason, self.link_type);
                return None;
            }
        };
        packet.interface = record.interface;
        packet.time_ns = record.time_ns;
        packet.is_marked_dropped = record.drop_comment.is_some();
        self.counts.tcp_pkts += 1;
        Some(packet)
    }

    fn put_together(&mut self, record: &Record<'_>) -> Option<TcpPacket> {
        let whole = self.fragments.push(&Fragment {
            interface: record.interface,
            time_ns: record.time_ns,
            link_type: self.link_type,
            frame: record.frame,
            wire_bytes: record.wire_bytes,
        });
        let Some((packet, count)) = whole else {
            self.counts.fragments += 1;
            return None;
        };
        self.counts.fragments -= count - 1;
        self.counts.joined_fragments += count - 1;
        Some(packet)
    }
}
