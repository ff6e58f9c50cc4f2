//! Super-packets: a burst of segments that stays one packet on its way, as where segmentation offload is on
//! and nothing cuts it: on virtual Ethernet (Linux's `veth`), between namespaces of one machine.
//!
//! Queues see one packet of all its bytes; it is dropped or marked as a whole. At the receiver its segments
//! reach TCP as one, so that a super-packet of two or more is acknowledged at once, by one ACK (Linux 4.15
//! `__tcp_ack_snd_check`). What is sent again is a packet of one segment each.
//!
//! A packet's header says how many segments it carries, and its wire bytes are the sum of theirs. Queues, media and
//! impairments need not know; only a link whose discipline or medium cuts super-packets (`uncut_bytes`) lets each
//! segment arrive by itself. The meter and the engine count segments.

use dumbbell_net::{DATA_HEADER_BYTES, Ecn};

use crate::gro::Place;
use crate::packet::{DataHeader, Offload, Segment, SegmentKind};
use crate::receiver::Receiver;
use crate::sender::Sender;

/// A burst of new segments, which end where it ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// Its first segment and how many it has.
    pub(crate) first: u32,
    pub(crate) segments: u32,
    /// The last of them: what it is for, its payload in bytes, its flags.
    pub(crate) last_kind: SegmentKind,
    pub(crate) last_bytes: u32,
    pub(crate) flags: u8,
}

impl Sender {
    /// Sends a burst in as few packets as hold it (`GSO_MAX_SIZE`: 64 kB with headers).
    #[cold]
    pub(crate) fn send_super_packets(&mut self, burst: Burst) {
        let mss_bytes = self.config.mss_bytes;
        let most = (self.cc.sock.sk_gso_max_size / mss_bytes).max(1);
        let end = burst.first + burst.segments;
        let mut first = burst.first;
        while first < end {
            let segments = most.min(end - first);
            let (kind, payload_bytes, flags) = if first + segments == end {
                (burst.last_kind, burst.last_bytes, burst.flags)
            } else {
                (SegmentKind::Data, mss_bytes, 0)
            };
            let before_last_bytes = (segments - 1) * (mss_bytes + DATA_HEADER_BYTES);
            let wire_bytes = before_last_bytes + payload_bytes + DATA_HEADER_BYTES;
            self.send_packet(first, kind, wire_bytes, flags);
            if let Some(packet) = self.output.outbox.waiting().last_mut()
                && let Segment::Data(header) = &mut packet.header
            {
                header.offload = Offload::new(segments, mss_bytes);
            }
            // Each segment has an identification of its own when it is cut.
            self.output.ip_id = self.output.ip_id.wrapping_add((segments - 1) as u16);
            first += segments;
        }
    }
}

impl Receiver {
    /// The segments of a super-packet reach TCP as one: only the last of them is answered. Receive offload
    /// does not hold it back, and what that holds goes first (Linux 4.15 `dev_gro_receive`).
    #[cold]
    pub(crate) fn receive_super_packet(
        &mut self,
        now_ns: u64,
        header: &DataHeader,
        wire_bytes: u32,
        ecn: Ecn,
    ) {
        self.flush(now_ns);
        let segments = header.segments();
        for index in 0..segments {
            let (segment, wire_bytes) = header.segment(index, wire_bytes);
            self.count_arrival(wire_bytes - DATA_HEADER_BYTES, ecn);
            self.place = if index + 1 < segments {
                Place::Inner
            } else {
                Place::Last
            };
            self.receive(now_ns, &segment, wire_bytes, ecn);
        }
        self.place = Place::Alone;
    }
}
