//! What waits in a link's queue, by route.

use std::sync::Arc;

use crate::Packet;

/// Wire bytes that wait, by route.
#[derive(Clone, Debug)]
pub(super) struct BacklogByRoute {
    /// The route of each hop, as packets number hops.
    route_of_hop: Arc<[u32]>,
    /// Waiting bytes of each route.
    bytes: Vec<u64>,
}

impl BacklogByRoute {
    /// Nothing waits on any of `routes` routes.
    pub(super) fn new(route_of_hop: Arc<[u32]>, routes: usize) -> Self {
        Self {
            route_of_hop,
            bytes: vec![0; routes],
        }
    }

    /// Wire bytes that wait on a route.
    pub(super) fn of_route(&self, route: usize) -> u64 {
        self.bytes[route]
    }

    /// On all of them.
    pub(super) fn sum(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// A packet joins the queue.
    #[inline]
    pub(super) fn add<H>(&mut self, packet: &Packet<H>) {
        *self.of(packet) += u64::from(packet.wire_bytes);
    }

    /// It leaves the queue, one way or the other.
    #[inline]
    pub(super) fn remove<H>(&mut self, packet: &Packet<H>) {
        *self.of(packet) -= u64::from(packet.wire_bytes);
    }

    #[inline]
    fn of<H>(&mut self, packet: &Packet<H>) -> &mut u64 {
        &mut self.bytes[self.route_of_hop[packet.hop as usize] as usize]
    }
}
