//! RTT samples of one flow, taken where its packets enter and leave the path at the sender.
//!
//! As Linux takes them: a sample is the age of the newest data packet that an ACK acknowledges
//! newly, by its number or by SACK, and that was never sent twice (Karn's algorithm, RFC 6298 §3).

use std::collections::VecDeque;

use crate::packet::segment::is_before;

/// A data packet on its way, or one whose ACK is.
#[derive(Clone, Copy, Debug)]
struct InFlight {
    end_sequence: u32,
    entered_ns: u64,
    is_retransmitted: bool,
    is_sacked: bool,
}

impl InFlight {
    /// When it entered, if its acknowledgment gives an RTT.
    fn sample(&self) -> Option<u64> {
        (!self.is_retransmitted && !self.is_sacked).then_some(self.entered_ns)
    }
}

/// What of one flow is in flight.
#[derive(Debug, Default)]
pub(crate) struct RttProbe {
    /// In sequence order.
    in_flight: VecDeque<InFlight>,
}

impl RttProbe {
    /// Nothing is in flight, and perhaps never will be: the room for it is given back.
    pub(crate) fn forget_room(&mut self) {
        if self.in_flight.is_empty() && self.in_flight.capacity() > 0 {
            self.in_flight = VecDeque::new();
        }
    }

    /// A data packet with the bytes up to `end_sequence` enters the path.
    #[inline]
    pub(crate) fn on_data(&mut self, end_sequence: u32, entered_ns: u64) {
        let is_new = self
            .in_flight
            .back()
            .is_none_or(|last| is_before(last.end_sequence, end_sequence));
        if is_new {
            self.in_flight.push_back(InFlight {
                end_sequence,
                entered_ns,
                is_retransmitted: false,
                is_sacked: false,
            });
        }
    }

    /// The bytes from `sequence` to `end_sequence` enter the path again.
    pub(crate) fn on_retransmission(&mut self, sequence: u32, end_sequence: u32) {
        let first = self.first_beyond(sequence);
        for packet in self.in_flight.range_mut(first..) {
            packet.is_retransmitted = true;
            if !is_before(packet.end_sequence, end_sequence) {
                break;
            }
        }
    }

    /// An ACK with these SACK blocks reaches the sender; the sample that it gives, ns.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        acknowledgment: u32,
        sack: &[(u32, u32)],
        now_ns: u64,
    ) -> Option<u64> {
        let mut newest_ns = None;
        while let Some(packet) = self.in_flight.front() {
            if is_before(acknowledgment, packet.end_sequence) {
                break;
            }
            newest_ns = newest_ns.max(packet.sample());
            self.in_flight.pop_front();
        }
        // All of them: Linux puts off ACKs that would only add to the SACKs before (`tcp_comp_sack_nr`), so
        // that more than the first block may be news.
        for &(left, right) in sack {
            newest_ns = newest_ns.max(self.on_sack(left, right));
        }
        newest_ns.map(|entered_ns| now_ns - entered_ns)
    }

    /// The block grew at an edge or is new: what it covers anew is at its edges, so the work is
    /// proportional to that and not to the block.
    fn on_sack(&mut self, left: u32, right: u32) -> Option<u64> {
        let first = self.first_beyond(left);
        let end = self.first_beyond(right).max(first);
        let mut newest_ns = None;
        let mut mark = |packet: &mut InFlight| {
            newest_ns = newest_ns.max(packet.sample());
            !std::mem::replace(&mut packet.is_sacked, true)
        };
        for packet in self.in_flight.range_mut(first..end).rev() {
            if !mark(packet) {
                break;
            }
        }
        for packet in self.in_flight.range_mut(first..end) {
            if !mark(packet) {
                break;
            }
        }
        newest_ns
    }

    /// Index of the first packet with bytes beyond `sequence`.
    fn first_beyond(&self, sequence: u32) -> usize {
        self.in_flight
            .partition_point(|packet| !is_before(sequence, packet.end_sequence))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn probe_with(packets: u32, first_sequence: u32) -> RttProbe {
        let mut probe = RttProbe::default();
        for index in 0..packets {
            let end_sequence = first_sequence.wrapping_add((index + 1) * 1000);
            probe.on_data(end_sequence, u64::from(index));
        }
        probe
    }

    #[test]
    fn the_newest_packet_acknowledged_counts() {
        let mut probe = probe_with(4, 0);
        assert_eq!(probe.on_ack(2000, &[], 100), Some(99));
        assert_eq!(
            probe.on_ack(2000, &[], 110),
            None,
            "a duplicate says nothing"
        );
        assert_eq!(
            probe.on_ack(2999, &[], 110),
            None,
            "half a packet says nothing"
        );
        assert_eq!(probe.on_ack(4000, &[], 120), Some(117));
    }

    #[test]
    fn what_was_sent_twice_gives_no_sample() {
        let mut probe = probe_with(4, 0);
        probe.on_retransmission(1000, 3000);
        assert_eq!(probe.on_ack(1000, &[], 100), Some(100));
        assert_eq!(probe.on_ack(3000, &[], 100), None, "Karn's algorithm");
        assert_eq!(probe.on_ack(4000, &[], 100), Some(97));
    }

    #[test]
    fn sack_gives_samples_once_and_so_does_the_ack_that_covers_it() {
        let mut probe = probe_with(6, 0);
        assert_eq!(probe.on_ack(1000, &[], 100), Some(100));
        assert_eq!(probe.on_ack(1000, &[(2000, 3000)], 110), Some(108));
        assert_eq!(probe.on_ack(1000, &[(2000, 5000)], 120), Some(116));
        assert_eq!(probe.on_ack(1000, &[(2000, 5000)], 130), None);
        probe.on_retransmission(1000, 2000);
        assert_eq!(
            probe.on_ack(5000, &[], 140),
            None,
            "all sacked or sent twice"
        );
        assert_eq!(probe.on_ack(6000, &[], 150), Some(145));
    }

    #[test]
    fn a_hole_filled_joins_two_blocks() {
        let mut probe = probe_with(5, 0);
        assert_eq!(probe.on_ack(0, &[(1000, 2000)], 10), Some(9));
        assert_eq!(probe.on_ack(0, &[(3000, 4000)], 20), Some(17));
        assert_eq!(
            probe.on_ack(0, &[(1000, 4000)], 30),
            None,
            "edges are known"
        );
        assert_eq!(probe.on_ack(0, &[(3000, 5000)], 30), Some(26));
    }

    #[test]
    fn every_block_may_be_news() {
        let mut probe = probe_with(6, 0);
        let blocks = [(5000, 6000), (1000, 3000)];
        assert_eq!(probe.on_ack(0, &blocks, 10), Some(5));
        probe.on_retransmission(0, 1000);
        assert_eq!(probe.on_ack(3000, &[], 100), None, "known for long");
    }

    #[test]
    fn a_d_sack_below_the_ack_says_nothing() {
        let mut probe = probe_with(3, 0);
        assert_eq!(probe.on_ack(2000, &[(0, 1000)], 50), Some(49));
        assert_eq!(probe.on_ack(2000, &[(1000, 2000)], 50), None);
    }

    #[test]
    fn numbers_wrap_around() {
        let mut probe = probe_with(4, 0xffff_fc00);
        assert_eq!(probe.on_ack(0xffff_ffe8, &[], 100), Some(100));
        assert_eq!(probe.on_ack(2976, &[], 100), Some(97));
    }

    proptest! {
        #[test]
        fn in_flight_never_holds_what_was_acknowledged(
            first_sequence in any::<u32>(),
            acks in prop::collection::vec((0_u32..50, 0_u32..50, 0_u32..50), 1..40),
        ) {
            let mut probe = probe_with(50, first_sequence);
            let mut highest = 0;
            for (ack, left, blocks) in acks {
                highest = highest.max(ack);
                let edge = |packets: u32| first_sequence.wrapping_add(packets * 1000);
                let sample = probe.on_ack(edge(ack), &[(edge(left), edge(left + blocks))], 1000);
                prop_assert!(sample.is_none_or(|sample_ns| sample_ns > 950));
                prop_assert_eq!(probe.in_flight.len() as u32, 50 - highest);
            }
        }
    }
}
