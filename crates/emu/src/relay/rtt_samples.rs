//! RTT samples of the data that go one way. Data are noted in the part where they enter, and ACKs answer them in the
//! part where these leave, which may be another thread's.

use std::sync::Arc;

use dumbbell_wire::tcp::TcpFlags;

use super::rtt_probe::RttProbe;
use super::sent_data::{SentData, SentQueue};
use crate::packet::segment::Segment;

/// What a part knows of the data of one way.
#[derive(Debug)]
pub(crate) struct RttSamples {
    /// The queue of the part where a group's ACKs leave the path, by group.
    sent_of_groups: Vec<Arc<SentQueue>>,
    /// The queue of this part.
    sent: Arc<SentQueue>,
    taken: Vec<SentData>,
    /// A probe for each connection.
    probes: Vec<RttProbe>,
}

impl RttSamples {
    /// Samples of this number of connections; what enters is reported to `sent_of_groups`, and this part's ACKs answer `sent`.
    pub(crate) fn new(
        connections: usize,
        sent_of_groups: Vec<Arc<SentQueue>>,
        sent: Arc<SentQueue>,
    ) -> Self {
        Self {
            sent_of_groups,
            sent,
            taken: Vec::new(),
            probes: (0..connections).map(|_| RttProbe::default()).collect(),
        }
    }

    /// Makes room for this number of connections.
    #[inline]
    fn make_room(&mut self, connections: usize) {
        if connections > self.probes.len() {
            self.probes.resize_with(connections, RttProbe::default);
        }
    }

    /// Data of a group enter the path.
    #[inline]
    pub(crate) fn note_data(&self, group: u16, data: SentData) {
        self.sent_of_groups[usize::from(group)].push(data);
    }

    /// A packet of TCP of a connection leaves the path at `now_ns`; the sample that it gives, ns.
    #[inline]
    pub(crate) fn on_ack(&mut self, now_ns: u64, connection: u32, ack: &Segment) -> Option<u64> {
        if !ack.flags.has(TcpFlags::ACK) {
            return None;
        }
        self.take_sent();
        self.make_room(connection as usize + 1);
        let probe = &mut self.probes[connection as usize];
        if ack.flags.has(TcpFlags::SYN) {
            // The port was that of another connection before.
            *probe = RttProbe::default();
            return None;
        }
        probe.on_ack(ack.acknowledgment, ack.sack.as_slice(), now_ns)
    }

    /// A connection may be over: the room for what it had in flight is given back.
    #[inline]
    pub(crate) fn forget_room(&mut self, connection: u32) {
        if let Some(probe) = self.probes.get_mut(connection as usize) {
            probe.forget_room();
        }
    }

    #[inline]
    fn take_sent(&mut self) {
        self.sent.take(&mut self.taken);
        let mut taken = std::mem::take(&mut self.taken);
        for sent in taken.drain(..) {
            self.make_room(sent.flow as usize + 1);
            let probe = &mut self.probes[sent.flow as usize];
            if sent.is_retransmission {
                probe.on_retransmission(sent.sequence, sent.end_sequence);
            } else {
                probe.on_data(sent.end_sequence, sent.entered_ns);
            }
        }
        self.taken = taken;
    }
}
