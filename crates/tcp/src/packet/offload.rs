//! A packet of several segments, and how it is cut.

use super::{DATA_HEADER_BYTES, DataHeader, DataInfo, SegmentKind};

/// Segments that travel as one packet: how many, and the payload of all but the last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Offload(u32);

impl Offload {
    const FURTHER_SHIFT: u32 = 16;

    /// A packet of one segment.
    pub const NONE: Self = Self(0);

    /// `segments` segments, 1 to 65,536, in one packet, whose payload is `mss_bytes`, below 65,536, in each
    /// but the last.
    #[inline]
    pub fn new(segments: u32, mss_bytes: u32) -> Self {
        debug_assert!(segments > 0 && segments <= 1 << 16 && mss_bytes < 1 << 16);
        if segments == 1 {
            Self::NONE
        } else {
            Self((segments - 1) << Self::FURTHER_SHIFT | mss_bytes)
        }
    }

    #[inline]
    fn segments(self) -> u32 {
        (self.0 >> Self::FURTHER_SHIFT) + 1
    }

    /// Wire bytes of all segments but the last.
    fn wire_bytes_before_last(self) -> u32 {
        (self.segments() - 1) * self.wire_bytes_of_full()
    }

    fn wire_bytes_of_full(self) -> u32 {
        (self.0 & 0xffff) + DATA_HEADER_BYTES
    }
}

impl DataHeader {
    /// Segments that the packet carries.
    #[inline]
    pub fn segments(&self) -> u32 {
        self.offload.segments()
    }

    /// Segment number `index` of a packet of `wire_bytes`, as a packet of its own, and its wire bytes: as
    /// Linux's `tcp_gso_segment` cuts it, with CWR on the first, PSH and FIN on the last, and an
    /// identification of the IP packet that counts on.
    #[must_use]
    pub fn segment(&self, index: u32, wire_bytes: u32) -> (Self, u32) {
        let is_last = index + 1 == self.segments();
        let mut info = self.info.0;
        if index > 0 {
            info &= !DataInfo::CWR;
        }
        if !is_last {
            let kind = 0xff << DataInfo::KIND_SHIFT | DataInfo::PSH;
            info = info & !kind | (SegmentKind::Data as u32) << DataInfo::KIND_SHIFT;
        }
        let ip_id = self.ip_id().wrapping_add(index as u16);
        let header = Self {
            seq: self.seq + index,
            info: DataInfo(info & !0xffff | u32::from(ip_id)),
            offload: Offload::NONE,
            ..*self
        };
        let wire_bytes = if is_last {
            wire_bytes - self.offload.wire_bytes_before_last()
        } else {
            self.offload.wire_bytes_of_full()
        };
        (header, wire_bytes)
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_net::Header as _;

    use super::*;
    use crate::packet::Segment;

    /// 2,500 bytes in segments of 1,000: the last has 500, the FIN and PSH, the first CWR.
    #[test]
    fn a_super_packet_is_cut_into_the_segments_it_was_made_of() {
        let whole = DataHeader {
            seq: 7,
            ts_val_ms: 3,
            ts_ecr_ms: 2,
            info: DataInfo::new(SegmentKind::LastData, 0xffff)
                .cwr(true)
                .psh(true),
            offload: Offload::new(3, 1000),
        };
        let wire_bytes = 2500 + 3 * DATA_HEADER_BYTES;
        assert_eq!(Segment::Data(whole).segments(), 3);
        let cut: Vec<_> = (0..3)
            .map(|index| whole.segment(index, wire_bytes))
            .collect();
        let facts = |(header, wire_bytes): &(DataHeader, u32)| {
            let flags = (header.cwr(), header.psh());
            (
                header.seq,
                header.ip_id(),
                header.kind(),
                flags,
                *wire_bytes,
            )
        };
        let full_bytes = 1000 + DATA_HEADER_BYTES;
        let expected = [
            (7, 0xffff, SegmentKind::Data, (true, false), full_bytes),
            (8, 0, SegmentKind::Data, (false, false), full_bytes),
            (
                9,
                1,
                SegmentKind::LastData,
                (false, true),
                500 + DATA_HEADER_BYTES,
            ),
        ];
        assert_eq!(cut.iter().map(facts).collect::<Vec<_>>(), expected);
        assert!(cut.iter().all(|(header, _)| header.segments() == 1));
    }
}
