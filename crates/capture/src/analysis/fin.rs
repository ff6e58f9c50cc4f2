//! A FIN takes a sequence number and no byte.

use super::flight::{Flight, Sent, SentOutcome};
use super::segment_ring::Segment;

impl Flight {
    pub(super) fn on_fin(&mut self, sent: &Sent, fin: u64, outcome: &mut SentOutcome) {
        if self.fin == Some(fin) {
            if outcome.retransmission.is_none() {
                let kind = self.classify(sent, fin, fin + 1);
                outcome.retransmission = Some(kind);
                self.send_again(sent, fin, fin + 1, kind);
            }
            return;
        }
        if fin > self.highest {
            self.push_unseen(fin, sent.now_ns, sent.tsval);
        }
        self.fin = Some(fin);
        if fin < self.highest {
            self.see_fin(sent, fin);
        } else {
            let segment = Segment::sent(fin, 1, sent.now_ns, sent.tsval, self.epoch);
            self.push_new(segment.control());
        }
    }

    /// A FIN whose sequence number already counted as sent because of an ACK of it.
    fn see_fin(&mut self, sent: &Sent, fin: u64) {
        if fin < self.base() {
            self.missing.fill(fin, fin + 1);
            return;
        }
        let is_filled = self.fill_gaps(sent, fin, fin + 1, &mut SentOutcome::default()) > 0;
        let index = self.ring.find(fin).filter(|_| is_filled);
        let segment = index.and_then(|index| self.ring.get_mut(index));
        if let Some(segment) = segment.filter(|segment| segment.len == 1) {
            self.in_network_bytes -= segment.bytes_in_network(self.epoch);
            *segment = segment.control();
        }
    }

    /// Bytes that the sender must have sent and the capture has not seen. A last sequence number
    /// alone is a FIN that the capture lacks, and no byte.
    pub(crate) fn missing_bytes(&self) -> u64 {
        let is_fin_missing = self.fin.is_none() && self.missing.ends_with_one(self.highest);
        self.missing.bytes() - u64::from(is_fin_missing)
    }
}
