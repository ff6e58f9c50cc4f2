//! Puts TCP packets together that IP has cut in fragments.

use std::collections::VecDeque;

use crate::dissect::tcp_fragment;
use crate::link_layer::LinkType;
use crate::network::NetworkId;
use crate::packet::TcpPacket;
use std::net::IpAddr;

/// Packets that wait for fragments; beyond it the oldest is given up.
const WAITING_MAX: usize = 64;
/// Fragments of one packet: the largest, in the smallest pieces that links carry.
const PIECES_MAX: usize = 256;
/// A packet whose fragments are further apart is given up (RFC 8200 §4.5).
const WAIT_NS: u64 = 60_000_000_000;

/// What the fragments of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    interface: u32,
    network: NetworkId,
    addresses: [IpAddr; 2],
    id: u32,
}

/// A packet of which fragments are missing.
#[derive(Debug)]
struct Waiting {
    key: Key,
    since_ns: u64,
    /// The first fragment, with the header.
    first: Option<TcpPacket>,
    /// Length of the header.
    header_bytes: usize,
    /// Where the pieces begin and end.
    pieces: Vec<(usize, usize)>,
    /// Length of the whole, known from the last fragment.
    total_bytes: Option<usize>,
    wire_bytes: u32,
}

/// Packets of which fragments are missing.
#[derive(Debug, Default)]
pub(crate) struct Fragments {
    waiting: VecDeque<Waiting>,
}

/// A fragment as captured.
#[derive(Clone, Copy)]
pub(crate) struct Fragment<'a> {
    pub(crate) interface: u32,
    pub(crate) time_ns: u64,
    pub(crate) link_type: LinkType,
    pub(crate) frame: &'a [u8],
    pub(crate) wire_bytes: u32,
}

impl Fragments {
    /// Adds a fragment; the packet if it is complete with it, and of how many fragments.
    #[cold]
    pub(crate) fn push(&mut self, fragment: &Fragment<'_>) -> Option<(TcpPacket, u64)> {
        let (ip, network, first) =
            tcp_fragment(fragment.link_type, fragment.frame, fragment.wire_bytes).ok()?;
        let place = ip.fragment?;
        let key = Key {
            interface: fragment.interface,
            network,
            addresses: [ip.source, ip.destination],
            id: place.id,
        };
        let index = self.index_of(key, fragment.time_ns);
        let waiting = &mut self.waiting[index];
        if let Some(packet) = first {
            waiting.header_bytes = ip.segment_bytes - packet.payload_bytes as usize;
            waiting.first = Some(packet);
        }
        let start = usize::from(place.offset_bytes);
        let end = start + ip.segment_bytes;
        let piece = (start, end);
        if waiting.pieces.contains(&piece) || waiting.pieces.len() >= PIECES_MAX {
            return None;
        }
        waiting.pieces.push(piece);
        waiting.wire_bytes = waiting.wire_bytes.saturating_add(fragment.wire_bytes);
        if !place.has_more {
            waiting.total_bytes = Some(end);
        }
        let packet = waiting.whole()?;
        let count = waiting.pieces.len() as u64;
        self.waiting.remove(index);
        Some((packet, count))
    }

    fn index_of(&mut self, key: Key, now_ns: u64) -> usize {
        let found = self.waiting.iter().position(|waiting| waiting.key == key);
        if let Some(index) = found {
            if now_ns.saturating_sub(self.waiting[index].since_ns) <= WAIT_NS {
                return index;
            }
            self.waiting.remove(index);
        }
        if self.waiting.len() >= WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting {
            key,
            since_ns: now_ns,
            first: None,
            header_bytes: 0,
            pieces: Vec::new(),
            total_bytes: None,
            wire_bytes: 0,
        });
        self.waiting.len() - 1
    }
}

impl Waiting {
    /// The packet, if no piece is missing.
    fn whole(&mut self) -> Option<TcpPacket> {
        let (first, total_bytes) = (self.first?, self.total_bytes?);
        self.pieces.sort_unstable();
        let reached = self.pieces.iter().fold(0, |reached, &(start, end)| {
            if start <= reached {
                reached.max(end)
            } else {
                reached
            }
        });
        (reached == total_bytes).then(|| TcpPacket {
            payload_bytes: (total_bytes - self.header_bytes) as u32,
            wire_bytes: self.wire_bytes,
            ..first
        })
    }
}
