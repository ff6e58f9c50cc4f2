//! A record in a ring: a packet that passed a place, after a header of fixed size.

use dumbbell_net::DropReason;
use dumbbell_scenario::Way;

/// Bytes of a record before the packet.
pub(crate) const HEADER_BYTES: usize = 18;

/// Where in them it is why the packet was dropped.
pub(crate) const DROPPED_AT: usize = 17;

/// What a packet may be dropped for, in the order of their numbers from 1 on.
const REASONS: [DropReason; 3] = [
    DropReason::Overflow,
    DropReason::Aqm,
    DropReason::Impairment,
];

/// Number of a reason; 0 is none.
pub(crate) fn number_of(dropped: Option<DropReason>) -> u8 {
    let is_it = |&reason: &DropReason| dropped == Some(reason);
    REASONS.iter().position(is_it).map_or(0, |at| at as u8 + 1)
}

fn reason_of(number: u8) -> Option<DropReason> {
    let at = usize::from(number).checked_sub(1)?;
    REASONS.get(at).copied()
}

/// Where a packet passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Read from the sender's host or written to it.
    Sender,
    /// Read from the receiver's host or written to it.
    Receiver,
    /// Arrived at a link, by its number.
    LinkIn(u16),
    /// Left a link with its last bit.
    LinkOut(u16),
}

impl Place {
    /// Where packets enter the path.
    #[inline]
    pub(crate) fn entrance(way: Way) -> Self {
        match way {
            Way::There => Self::Sender,
            Way::Back => Self::Receiver,
        }
    }

    /// Where packets leave the path.
    #[inline]
    pub(crate) fn exit(way: Way) -> Self {
        match way {
            Way::There => Self::Receiver,
            Way::Back => Self::Sender,
        }
    }

    /// How many places there are with this many links.
    pub(crate) fn count(links: usize) -> usize {
        2 + 2 * links
    }

    /// Its number among them.
    #[inline]
    pub(crate) fn number(self) -> u16 {
        match self {
            Self::Sender => 0,
            Self::Receiver => 1,
            Self::LinkIn(link) => 2 + 2 * link,
            Self::LinkOut(link) => 3 + 2 * link,
        }
    }

    #[inline]
    fn of_number(number: u16) -> Self {
        match (number, number % 2) {
            (0, _) => Self::Sender,
            (1, _) => Self::Receiver,
            (_, 0) => Self::LinkIn((number - 2) / 2),
            _ => Self::LinkOut((number - 3) / 2),
        }
    }
}

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    /// On the monotonic clock.
    pub(crate) time_ns: u64,
    pub(crate) group: u16,
    /// Direction of the packet.
    pub(crate) way: Way,
    /// Length of the packet.
    pub(crate) packet_bytes: u16,
    /// Length of the part in the record.
    pub(crate) kept_bytes: u16,
    pub(crate) place: Place,
    /// Whether its transport's checksum is in it; otherwise its payload is zeros.
    pub(crate) has_checksum: bool,
    /// Why the link dropped it, if it did.
    pub(crate) dropped: Option<DropReason>,
}

impl RecordHeader {
    #[inline]
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&self.time_ns.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.group.to_ne_bytes());
        bytes[10..12].copy_from_slice(&self.packet_bytes.to_ne_bytes());
        bytes[12..14].copy_from_slice(&self.kept_bytes.to_ne_bytes());
        bytes[14..16].copy_from_slice(&self.place.number().to_ne_bytes());
        bytes[16] = u8::from(self.way == Way::Back) | u8::from(self.has_checksum) << 1;
        bytes[DROPPED_AT] = number_of(self.dropped);
        bytes
    }

    #[inline]
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Self {
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let [a, b, c, d, e, f, g, h, ..] = *bytes;
        Self {
            time_ns: u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            group: u16_at(8),
            way: match bytes[16] & 1 {
                0 => Way::There,
                _ => Way::Back,
            },
            packet_bytes: u16_at(10),
            kept_bytes: u16_at(12),
            place: Place::of_number(u16_at(14)),
            has_checksum: bytes[16] & 2 != 0,
            dropped: reason_of(bytes[DROPPED_AT]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let links = [
            Place::LinkIn(0),
            Place::LinkOut(0),
            Place::LinkIn(300),
            Place::LinkOut(301),
        ];
        for place in [Place::Sender, Place::Receiver].into_iter().chain(links) {
            let header = RecordHeader {
                time_ns: 0x0123_4567_89ab_cdef,
                group: 0xfedc,
                packet_bytes: 65_535,
                kept_bytes: 52,
                place,
                has_checksum: place == Place::Sender || place == Place::Receiver,
                way: if place == Place::Receiver {
                    Way::There
                } else {
                    Way::Back
                },
                dropped: (place == Place::LinkIn(300)).then_some(DropReason::Aqm),
            };
            assert_eq!(RecordHeader::decode(&header.encode()), header);
        }
    }
}
