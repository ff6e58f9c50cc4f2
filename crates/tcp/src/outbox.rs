//! Packets on their way out of an endpoint.

use dumbbell_cc::fetch;
use dumbbell_net::Packet;

use crate::packet::Segment;

/// What an endpoint has decided to send, until it is fetched. What was fetched is forgotten with the next packet, so
/// that fetching moves nothing.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    packets: Vec<Packet<Segment>>,
    is_fetched: bool,
}

impl Outbox {
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet<Segment>) {
        self.forget_fetched();
        self.packets.push(packet);
    }

    /// Packets to be fetched.
    #[inline]
    pub(crate) fn waiting(&mut self) -> &mut Vec<Packet<Segment>> {
        self.forget_fetched();
        &mut self.packets
    }

    /// Asks for the memory of the packet that comes next.
    #[inline]
    pub(crate) fn fetch_ahead(&self) {
        if let Some(packet) = self.packets.first() {
            fetch(packet);
        }
    }

    #[inline]
    pub(crate) fn has_packets(&self) -> bool {
        !self.is_fetched && !self.packets.is_empty()
    }

    /// The packets that came since the last call.
    #[inline]
    pub(crate) fn fetch(&mut self) -> &[Packet<Segment>] {
        self.forget_fetched();
        self.is_fetched = true;
        &self.packets
    }

    #[inline]
    fn forget_fetched(&mut self) {
        if self.is_fetched {
            self.is_fetched = false;
            self.packets.clear();
        }
    }
}
