//! When a network delivers next at the earliest.

use super::{Network, Next};

/// For a driver in real time, which sleeps between deliveries: everything else happens at its due time however
/// late the network is asked.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// For each source of events, the least time from its event to a delivery, ns; `u64::MAX` if no route
    /// has it.
    rest_ns: Vec<u64>,
}

impl Outlook {
    /// The outlook of `network`, for any packets that are in it later.
    pub fn new<H>(network: &Network<H>) -> Self {
        let mut rest_ns = vec![u64::MAX; network.entrance + 1];
        // Each route from its end: what follows an element is known when it comes.
        let mut after_ns = u64::MAX;
        for hop in network.hops.iter().rev() {
            match *hop {
                Next::End => after_ns = 0,
                Next::Link(link) => {
                    let index = 2 * link as usize;
                    shorten(&mut rest_ns[index + 1], after_ns);
                    after_ns = after_ns.saturating_add(network.lines[index + 1].least_delay_ns());
                    shorten(&mut rest_ns[index], after_ns);
                }
                Next::Line(line) => {
                    shorten(&mut rest_ns[line as usize], after_ns);
                    let line = &network.lines[line as usize];
                    after_ns = after_ns.saturating_add(line.least_delay_ns());
                }
            }
        }
        // What enters later may be delivered at once, for all that is known here.
        if let Some(entrance_ns) = rest_ns.last_mut() {
            *entrance_ns = 0;
        }
        Self { rest_ns }
    }

    /// No packet is delivered earlier, ns; `u64::MAX`: there is none.
    pub fn next_delivery_ns<H>(&self, network: &Network<H>) -> u64 {
        let sources = self.rest_ns.iter().enumerate();
        sources
            .filter(|&(source, _)| source != network.timer && network.due.is_due_ever(source))
            .map(|(source, rest_ns)| network.due.due_ns(source).saturating_add(*rest_ns))
            .min()
            .unwrap_or(u64::MAX)
    }
}

fn shorten(time_ns: &mut u64, other_ns: u64) {
    *time_ns = other_ns.min(*time_ns);
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::{DelayLine, Ecn, Event, Hop, Limit, Link, Packet, QueueConfig, Site, Transmitter};

    const MS: u64 = 1_000_000;

    fn packet() -> Packet<()> {
        Packet {
            flow: 0,
            wire_bytes: 1250, // 10 ms at 1 Mbit/s
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: (),
        }
    }

    #[test]
    fn the_next_delivery_is_never_later_and_exact_on_the_last_stretch() {
        let link = |delay_ns| {
            let link = Link::new(
                Vec::new(),
                QueueConfig::drop_tail(Limit::Packets(10)).build(&Site::default()),
                Transmitter::new(1_000_000, VecDeque::new()),
            );
            (link, DelayLine::new(delay_ns))
        };
        let routes = [
            vec![Hop::Line(0), Hop::Link(0), Hop::Link(1)],
            vec![Hop::Link(1)],
        ];
        let lines = vec![DelayLine::new(3 * MS)];
        let mut network = Network::new(vec![link(5 * MS), link(7 * MS)], lines, &routes);
        let outlook = Outlook::new(&network);
        assert_eq!(outlook.next_delivery_ns(&network), u64::MAX);
        network.enter(0, 0, packet(), &mut ());
        // 3 + 5 + 7 ms of propagation; the time on both wires is not known yet.
        assert_eq!(outlook.next_delivery_ns(&network), 15 * MS);
        let mut said = Vec::new();
        loop {
            let next_ns = outlook.next_delivery_ns(&network);
            let (now_ns, event) = network
                .advance(u64::MAX - 1, &mut ())
                .expect("it is delivered");
            said.push(next_ns / MS);
            if let Event::Delivery(..) = event {
                assert_eq!((next_ns, now_ns), (35 * MS, 35 * MS));
                break;
            }
        }
        assert!(said.is_sorted(), "{said:?}");
        network.set_timer(1);
        assert_eq!(
            outlook.next_delivery_ns(&network),
            u64::MAX,
            "a timer is no packet"
        );
    }
}
