//! What a scenario says of the packets of a route, where their headers do not say it.

use std::sync::Arc;

use crate::{Header, Hop, Packet};

/// What all packets of a route have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteFacts {
    /// The hosts they go between, from and to, as numbers that the driver chooses.
    pub hosts: (u32, u32),
    /// Their differentiated services codepoint (RFC 2474): 6 bits.
    pub dscp: u8,
}

/// The facts of each route, found by where a packet is on its route: a simulated packet carries neither
/// addresses nor a DSCP, but its hop, which is on one route only.
///
/// Shared, so that every queue can have it.
#[derive(Clone, Debug, Default)]
pub struct FactsByHop(Arc<[RouteFacts]>);

impl FactsByHop {
    /// The facts of routes that a [`Network`](crate::Network) is made with, in the same order.
    pub fn new(routes: &[Vec<Hop>], facts: &[RouteFacts]) -> Self {
        let hops = routes.iter().zip(facts);
        // A route's hops follow one another, and then its end.
        hops.flat_map(|(route, &facts)| std::iter::repeat_n(facts, route.len() + 1))
            .collect()
    }

    /// The facts of a packet: its header's, else its route's.
    #[inline]
    pub fn of<H: Header>(&self, packet: &Packet<H>) -> RouteFacts {
        let of_route = self.0.get(packet.hop as usize).copied().unwrap_or_default();
        RouteFacts {
            hosts: packet.header.hosts().unwrap_or(of_route.hosts),
            dscp: packet.header.dscp().unwrap_or(of_route.dscp),
        }
    }
}

impl FromIterator<RouteFacts> for FactsByHop {
    fn from_iter<I: IntoIterator<Item = RouteFacts>>(facts: I) -> Self {
        Self(facts.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    fn packet<H>(hop: u32, header: H) -> Packet<H> {
        Packet {
            flow: 0,
            wire_bytes: 66,
            ecn: Ecn::NotEct,
            hop,
            arrived_ns: 0,
            header,
        }
    }

    #[test]
    fn a_packet_has_the_facts_of_its_route_wherever_it_is_on_it() {
        let routes = [
            vec![Hop::Line(0), Hop::Link(0)],
            vec![Hop::Link(1)],
            vec![Hop::Link(0), Hop::Link(1), Hop::Line(0)],
        ];
        let facts = [46, 8, 10].map(|dscp| RouteFacts {
            hosts: (u32::from(dscp), 1),
            dscp,
        });
        let by_hop = FactsByHop::new(&routes, &facts);
        let dscp_at = |hop| by_hop.of(&packet(hop, ())).dscp;
        let found: Vec<u8> = (0..9).map(dscp_at).collect();
        assert_eq!(found, [46, 46, 46, 8, 8, 10, 10, 10, 10]);
        assert_eq!(by_hop.of(&packet(5, ())).hosts, (10, 1));
        assert_eq!(
            FactsByHop::default().of(&packet(5, ())),
            RouteFacts::default()
        );
    }

    #[test]
    fn what_a_header_says_goes_first() {
        #[derive(Clone)]
        struct Marked;
        impl Header for Marked {
            fn is_data(&self) -> bool {
                true
            }
            fn is_forward(&self) -> bool {
                true
            }
            fn dscp(&self) -> Option<u8> {
                Some(34)
            }
        }
        let facts = RouteFacts {
            hosts: (3, 4),
            dscp: 8,
        };
        let by_hop: FactsByHop = std::iter::repeat_n(facts, 2).collect();
        let expected = RouteFacts { dscp: 34, ..facts };
        assert_eq!(by_hop.of(&packet(1, Marked)), expected);
    }
}
