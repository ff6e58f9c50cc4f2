//! A record in a ring: a packet that passed a place, after a header of fixed size.

/// Bytes of a record before the packet.
pub(crate) const HEADER_BYTES: usize = 16;

/// Where a packet passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Place {
    /// Read from the sender's host or written to it.
    Sender,
    /// Read from the receiver's host or written to it.
    Receiver,
    /// Arrived at the bottleneck.
    BottleneckIn,
    /// Left the bottleneck with its last bit.
    BottleneckOut,
}

impl Place {
    /// In the order of their numbers.
    pub(crate) const ALL: [Self; 4] = [
        Self::Sender,
        Self::Receiver,
        Self::BottleneckIn,
        Self::BottleneckOut,
    ];
}

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHeader {
    /// On the monotonic clock.
    pub(crate) time_ns: u64,
    pub(crate) group: u16,
    /// Length of the IPv4 packet.
    pub(crate) packet_bytes: u16,
    /// Length of the part in the record.
    pub(crate) kept_bytes: u16,
    pub(crate) place: Place,
    /// The bottleneck dropped it.
    pub(crate) is_dropped: bool,
}

impl RecordHeader {
    #[inline]
    pub(crate) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&self.time_ns.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.group.to_ne_bytes());
        bytes[10..12].copy_from_slice(&self.packet_bytes.to_ne_bytes());
        bytes[12..14].copy_from_slice(&self.kept_bytes.to_ne_bytes());
        bytes[14] = self.place as u8;
        bytes[15] = u8::from(self.is_dropped);
        bytes
    }

    #[inline]
    pub(crate) fn decode(bytes: &[u8; HEADER_BYTES]) -> Self {
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let [a, b, c, d, e, f, g, h, ..] = *bytes;
        Self {
            time_ns: u64::from_ne_bytes([a, b, c, d, e, f, g, h]),
            group: u16_at(8),
            packet_bytes: u16_at(10),
            kept_bytes: u16_at(12),
            place: Place::ALL[usize::from(bytes[14])],
            is_dropped: bytes[15] != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for place in Place::ALL {
            let header = RecordHeader {
                time_ns: 0x0123_4567_89ab_cdef,
                group: 0xfedc,
                packet_bytes: 65_535,
                kept_bytes: 52,
                place,
                is_dropped: place == Place::BottleneckIn,
            };
            assert_eq!(RecordHeader::decode(&header.encode()), header);
        }
    }
}
