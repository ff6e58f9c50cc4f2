//! Retransmission: lost segments leave again as Linux's bursts, the head after a timeout.

use std::cmp::Reverse;

use crate::scoreboard::Retransmission;
use crate::segments::{EVER_RETRANS, HEAD, LOST, PUSHED, RETRANS, SACKED, SAMPLED, Segment};
use crate::sender::Sender;
use crate::timers::XmitTimer;

impl Sender {
    /// Lost segments, lowest first, as far as cwnd and pacing allow.
    #[inline]
    pub(crate) fn retransmit_lost(&mut self) {
        if self.config.behaviour.has_hint_defect {
            return self.retransmit_from_hint();
        }
        let mut head_was_sent = false;
        let mut max_segs = 0; // computed only when something may be sent
        while let Some(&Reverse(seq)) = self.scoreboard.lost_queue.peek() {
            let is_due =
                seq >= self.una && self.segments.get(seq).flags & (LOST | RETRANS | SACKED) == LOST;
            if !is_due {
                self.scoreboard.lost_queue.pop();
                continue;
            }
            if self.is_paced_out() {
                break;
            }
            let sock = &self.cc.sock;
            let in_flight = sock.packets_in_flight();
            if in_flight >= sock.snd_cwnd {
                break;
            }
            let room = sock.snd_cwnd - in_flight;
            if max_segs == 0 {
                max_segs = self.max_burst_pkts();
            }
            self.scoreboard.lost_queue.pop();
            let segments = self.lost_together(seq, room.min(max_segs));
            self.retransmit_segments(seq, segments);
            if self.in_cwnd_reduction() {
                self.cc.sock.prr_out += segments;
            }
            head_was_sent |= seq == self.una && self.timers.pending() != Some(XmitTimer::Reo);
        }
        if head_was_sent {
            self.arm_paced_timer(XmitTimer::Rto, self.rto_us());
        }
    }

    /// The head again, regardless of cwnd and pacing: a timeout expired.
    pub(crate) fn retransmit_head(&mut self) {
        self.retransmit_segments(self.una, 1);
    }

    /// How many lost segments from `first` on, `most` of them, leave as one packet: they were handed down together, and no
    /// SACK has parted them (`tcp_xmit_retransmit_queue`).
    pub(crate) fn lost_together(&self, first: u32, most: u32) -> u32 {
        let is_lost_with =
            |&seq: &u32| self.segments.get(seq).flags & (LOST | RETRANS | SACKED | HEAD) == LOST;
        let last = self.nxt.min(first + most);
        1 + (first + 1..last).take_while(is_lost_with).count() as u32
    }

    pub(crate) fn retransmit_segments(&mut self, first: u32, segments: u32) {
        self.send_again(first, segments);
        for seq in first..first + segments {
            let segment = self.segments.get_mut(seq);
            if !segment.has(RETRANS) {
                segment.flags |= RETRANS;
                self.cc.sock.retrans_out += 1;
            }
        }
        self.recovery.note_retransmission(self.now_ms);
        self.publish_recovery();
    }

    /// Segments are sent again, as one transmission to pacing. A loss probe does not count as a repair: until the ACKs show
    /// otherwise the original is in flight, and the probe is not counted.
    pub(crate) fn send_again(&mut self, first: u32, segments: u32) {
        let end = first + segments;
        self.begin_transmission(first >= self.stream.end);
        if self.segments.records_transmit_states() {
            self.record_transmit_states(first, segments);
        }
        let mut sent_bytes = 0;
        for seq in first..end {
            let mut segment = Segment::stamped(&self.cc.sock, self.segments.get(seq).flags);
            segment.flags = (segment.flags | EVER_RETRANS) & !SAMPLED;
            let ends_burst = segments > 1 && seq + 1 == end && seq < self.stream.end;
            if ends_burst && !self.config.behaviour.pushes_writes_only {
                segment.flags |= PUSHED;
            }
            *self.segments.get_mut(seq) = segment;
            let payload_bytes = self.payload_bytes(seq);
            self.emit(seq, self.stream.kind_of(seq), payload_bytes, segment.flags);
            self.scoreboard.retransmissions.push_back(Retransmission {
                seq,
                nxt: self.nxt,
                sent_us: segment.sent_us,
            });
            sent_bytes += payload_bytes;
        }
        self.part_at(first);
        self.part_at(end);
        let data_pkts = end.min(self.stream.end).saturating_sub(first);
        self.counters.sent_pkts += u64::from(data_pkts);
        self.counters.retransmitted_pkts += u64::from(data_pkts);
        let sock = &mut self.cc.sock;
        sock.total_retrans += segments;
        sock.bytes_retrans = sock.bytes_retrans.wrapping_add(sent_bytes);
        sock.data_segs_out = sock.data_segs_out.saturating_add(data_pkts);
        self.end_transmission(u64::from(sent_bytes));
    }

    /// Segments from `seq` on are no longer sent together with those before.
    fn part_at(&mut self, seq: u32) {
        if seq < self.nxt {
            self.segments.get_mut(seq).flags |= HEAD;
        }
    }
}
