//! What happened at the links, counted.

use crate::flow_order::FlowOrder;
use crate::medium::Account;
use crate::{DropReason, Header, Histogram, Link, Network, Observer, Packet};

/// Counts at every link of a network, and of every flow over all of them.
#[derive(Clone, Debug)]
pub struct Meter {
    /// Counts of each link.
    pub links: Vec<LinkMeter>,
    /// Counts of each flow.
    pub flows: Vec<FlowMeter>,
    /// The end of the route that each place on the routes is the last link before.
    last_link_of: Vec<Option<End>>,
}

/// Where a route ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Receiver,
    Sender,
}

/// Counts at one link.
#[derive(Clone, Debug)]
pub struct LinkMeter {
    /// Packets that arrived; here and below each segment of a super-packet counts.
    pub offered_pkts: u64,
    /// Packets that went on the wire, the one that is still on it included.
    pub taken_pkts: u64,
    /// Their wire bytes.
    pub taken_bytes: u64,
    /// Packets marked CE here, still waiting or gone on; one that came with CE does not count.
    pub marked_pkts: u64,
    /// Packets dropped, for any reason.
    pub dropped_pkts: u64,
    /// Packets lost to an impairment, among the dropped ones.
    pub random_loss_pkts: u64,
    /// Packets dropped with room left in the queue, among the dropped ones.
    pub aqm_dropped_pkts: u64,
    /// Wire bytes of all that were dropped.
    pub dropped_bytes: u64,
    /// Packets lost to an impairment behind the link; they count as taken, and not as dropped.
    pub lost_behind_pkts: u64,
    /// Copies that impairments made.
    pub duplicated_pkts: u64,
    /// Packets that left the queue after one of their flow that had joined it later; only those after
    /// the first packet of any flow was overtaken are looked at.
    pub reordered_pkts: u64,
    /// When the packet joined the queue that joined last of those that have left it, ns; later than all as soon
    /// as they are looked at by flow.
    latest_arrived_ns: u64,
    /// Order of each flow, once a packet was overtaken by one of another: a FIFO never has it.
    order: Option<Box<FlowOrder>>,
    /// How long packets waited, µs.
    pub sojourn_us: Histogram,
    /// Sum over the packets, ns.
    pub sojourn_sum_ns: u128,
    /// The longest wait, µs.
    pub sojourn_max_us: u64,
    /// Sojourn of the packet that went on the wire last, since it was last asked for.
    last_sojourn_us: Option<u32>,
    /// When the packet that went on the wire last is through, ns.
    last_done_ns: u64,
    /// Wire bytes of that packet, and its segments.
    last_wire_bytes: u64,
    last_segments: u64,
    /// Time during which something waited or was on the wire, ns; of a queue that holds packets back on a
    /// clock of its own, only the time on the wire.
    pub busy_ns: u64,
    /// The part of it before the present rate, ns, and what the link could carry in it, 10⁻⁹ bit.
    busy_before: (u64, u128),
    /// The present rate, bit/s.
    link_rate_bps: u64,
    /// What another medium than a wire offered, and what of it carried packets, as of the end of the
    /// books; before, as of their beginning.
    medium: Option<Account>,
    /// Packets that it had in hand at the end of the books.
    pub held_pkts: u64,
    /// The longest queue, wire bytes.
    pub backlog_max_bytes: u64,
    /// ∫ backlog dt, byte·ns.
    pub backlog_byte_ns: u128,
    since_ns: u64,
}

/// Counts of one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowMeter {
    /// Data packets from the sender that were dropped.
    pub dropped_pkts: u64,
    /// Packets without data from the receiver that were dropped.
    pub acks_dropped: u64,
    /// Data packets from the receiver that were dropped.
    pub requests_dropped: u64,
    /// Copies of data packets from the sender.
    pub duplicated_pkts: u64,
    /// Copies of data packets from the receiver.
    pub requests_duplicated: u64,
    /// Data packets from the sender that were marked CE.
    pub marked_pkts: u64,
    /// Wire bytes, of any packet from the sender, that went on the wire of the last link.
    pub forwarded_bytes: u64,
    /// Wire bytes, of any packet from the receiver, that went on the wire of the last link back.
    pub requests_forwarded_bytes: u64,
}

impl Meter {
    /// Nothing counted yet, at `now_ns`, of `links` and `flows` flows; `last_link_of` by place on
    /// the routes.
    pub(crate) fn new<H: Header>(
        links: &[Link<H>],
        flows: usize,
        last_link_of: Vec<Option<End>>,
        now_ns: u64,
    ) -> Self {
        let links = links.iter();
        Self {
            links: links
                .map(|link| LinkMeter::new(link.link_rate_bps(), now_ns))
                .collect(),
            flows: vec![FlowMeter::default(); flows],
            last_link_of,
        }
    }
}

impl LinkMeter {
    /// Nothing counted yet, at `now_ns`.
    pub fn new(link_rate_bps: u64, now_ns: u64) -> Self {
        Self {
            offered_pkts: 0,
            taken_pkts: 0,
            taken_bytes: 0,
            marked_pkts: 0,
            dropped_pkts: 0,
            random_loss_pkts: 0,
            aqm_dropped_pkts: 0,
            dropped_bytes: 0,
            lost_behind_pkts: 0,
            duplicated_pkts: 0,
            reordered_pkts: 0,
            latest_arrived_ns: 0,
            order: None,
            sojourn_us: Histogram::new(),
            sojourn_sum_ns: 0,
            sojourn_max_us: 0,
            last_sojourn_us: None,
            last_done_ns: 0,
            last_wire_bytes: 0,
            last_segments: 1,
            busy_ns: 0,
            busy_before: (0, 0),
            link_rate_bps,
            medium: None,
            held_pkts: 0,
            backlog_max_bytes: 0,
            backlog_byte_ns: 0,
            since_ns: now_ns,
        }
    }

    /// Packets and wire bytes that are through at `now_ns`: what was taken, less what is on the wire.
    pub fn forwarded(&self, now_ns: u64) -> (u64, u64) {
        if self.last_done_ns > now_ns {
            (
                self.taken_pkts - self.last_segments,
                self.taken_bytes - self.last_wire_bytes,
            )
        } else {
            (self.taken_pkts, self.taken_bytes)
        }
    }

    /// Sojourn of the last packet that left the queue since the last call, µs.
    pub fn take_last_sojourn_us(&mut self) -> Option<u32> {
        self.last_sojourn_us.take()
    }

    /// What the link could carry in the time that it was busy, bits.
    pub fn busy_capacity_bits(&self) -> f64 {
        self.busy_capacity_nanobits() as f64 / 1e9
    }

    fn busy_capacity_nanobits(&self) -> u128 {
        let (before_ns, before_nanobits) = self.busy_before;
        let now_ns = u128::from(self.busy_ns - before_ns);
        before_nanobits + now_ns * u128::from(self.link_rate_bps)
    }

    /// What another medium than a wire offered, and what of it carried packets; known once the books
    /// are closed.
    pub fn medium(&self) -> Option<Account> {
        self.medium
    }

    /// Brings the books up to `now_ns`.
    #[inline(always)]
    fn charge<H: Header>(&mut self, now_ns: u64, link: &Link<H>) {
        let elapsed_ns = now_ns - self.since_ns;
        if elapsed_ns == 0 {
            return;
        }
        let backlog_bytes = link.backlog_bytes();
        self.backlog_byte_ns += u128::from(elapsed_ns) * u128::from(backlog_bytes);
        // What a shaper holds back does not wait for the wire.
        self.busy_ns += if backlog_bytes > 0 && !link.has_clock() {
            elapsed_ns
        } else {
            let on_wire_ns = link.busy_until_ns().saturating_sub(self.since_ns);
            elapsed_ns.min(on_wire_ns)
        };
        self.since_ns = now_ns;
    }

    /// A packet leaves a queue in which packets overtake one another.
    #[inline(never)]
    fn check_order<H: Header>(&mut self, packet: &Packet<H>) {
        self.latest_arrived_ns = u64::MAX;
        let order = self.order.get_or_insert_with(|| Box::new(FlowOrder::new()));
        self.reordered_pkts += u64::from(order.is_overtaken(packet));
    }

    fn count_drop<H: Header>(&mut self, packet: &Packet<H>, reason: DropReason) {
        let segments = segments_of(packet);
        self.dropped_pkts += segments;
        self.dropped_bytes += u64::from(packet.wire_bytes);
        match reason {
            DropReason::Overflow => {}
            DropReason::Aqm => self.aqm_dropped_pkts += segments,
            DropReason::Impairment => self.random_loss_pkts += segments,
        }
    }
}

impl Meter {
    /// Writes down what the media of `network` offered since the books were opened: at `now_ns` they are
    /// closed.
    pub fn close<H: Header>(&mut self, network: &mut Network<H>, now_ns: u64) {
        for (index, meter) in self.links.iter_mut().enumerate() {
            let link = network.link_mut(index);
            meter.held_pkts = link.held_pkts();
            let opened = meter.medium.unwrap_or_default();
            meter.medium = link.account(now_ns).map(|account| Account {
                offered_bytes: account.offered_bytes - opened.offered_bytes,
                carried_bytes: account.carried_bytes - opened.carried_bytes,
            });
        }
    }

    /// Opens the books of the media of `network` at `now_ns`, if they were used before.
    pub fn open<H: Header>(&mut self, network: &mut Network<H>, now_ns: u64) {
        for (index, meter) in self.links.iter_mut().enumerate() {
            meter.medium = network.link_mut(index).account(now_ns);
        }
    }

    fn count_drop<H: Header>(&mut self, link: usize, packet: &Packet<H>, reason: DropReason) {
        self.links[link].count_drop(packet, reason);
        self.count_loss_of_flow(packet);
    }

    /// A packet goes on the wire, and counts for the flow `account`: that of the application whose connection it
    /// is of.
    #[inline(always)]
    pub fn count_departure<H: Header>(
        &mut self,
        now_ns: u64,
        link: usize,
        packet: &Packet<H>,
        done_ns: u64,
        account: u32,
    ) {
        let meter = &mut self.links[link];
        let sojourn_ns = now_ns - packet.arrived_ns;
        let sojourn_us = sojourn_ns / 1000;
        meter.last_sojourn_us = Some(sojourn_us as u32);
        meter.sojourn_max_us = meter.sojourn_max_us.max(sojourn_us);
        meter.sojourn_sum_ns += u128::from(sojourn_ns);
        meter.sojourn_us.record(sojourn_us);
        meter.last_wire_bytes = u64::from(packet.wire_bytes);
        meter.last_segments = segments_of(packet);
        meter.last_done_ns = done_ns;
        if packet.arrived_ns < meter.latest_arrived_ns {
            meter.check_order(packet);
        } else {
            meter.latest_arrived_ns = packet.arrived_ns;
        }
        meter.taken_pkts += meter.last_segments;
        meter.taken_bytes += u64::from(packet.wire_bytes);
        if let Some(end) = self.last_link_of[packet.hop as usize]
            && let Some(flow) = self.flows.get_mut(account as usize)
        {
            let count = match end {
                End::Receiver => &mut flow.forwarded_bytes,
                End::Sender => &mut flow.requests_forwarded_bytes,
            };
            *count += u64::from(packet.wire_bytes);
        }
    }

    fn count_loss_of_flow<H: Header>(&mut self, packet: &Packet<H>) {
        if let Some(flow) = self.flows.get_mut(packet.flow as usize) {
            let count = match (packet.header.is_data(), packet.header.is_forward()) {
                (true, true) => &mut flow.dropped_pkts,
                (true, false) => &mut flow.requests_dropped,
                (false, false) => &mut flow.acks_dropped,
                (false, true) => return,
            };
            *count += segments_of(packet);
        }
    }
}

#[inline(always)]
fn segments_of<H: Header>(packet: &Packet<H>) -> u64 {
    u64::from(packet.header.segments())
}

impl<H: Header> Observer<H> for Meter {
    #[inline(always)]
    fn changes(&mut self, now_ns: u64, link: usize, state: &Link<H>) {
        self.links[link].charge(now_ns, state);
    }

    fn rate_changes(&mut self, at_ns: u64, link: usize, state: &Link<H>, link_rate_bps: u64) {
        let meter = &mut self.links[link];
        meter.charge(at_ns.max(meter.since_ns), state);
        meter.busy_before = (meter.busy_ns, meter.busy_capacity_nanobits());
        meter.link_rate_bps = link_rate_bps;
    }

    #[inline(always)]
    fn arrives(&mut self, _now_ns: u64, link: usize, packet: &Packet<H>) {
        self.links[link].offered_pkts += segments_of(packet);
    }

    fn refused(&mut self, _now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        self.count_drop(link, packet, reason);
    }

    #[inline(always)]
    fn enqueued(&mut self, _now_ns: u64, link: usize, state: &Link<H>) {
        let meter = &mut self.links[link];
        meter.backlog_max_bytes = meter.backlog_max_bytes.max(state.backlog_bytes());
    }

    fn dropped(&mut self, _now_ns: u64, link: usize, packet: &Packet<H>, reason: DropReason) {
        self.count_drop(link, packet, reason);
    }

    fn marked(&mut self, _now_ns: u64, link: usize, packet: &Packet<H>) {
        self.links[link].marked_pkts += segments_of(packet);
        if packet.header.is_data()
            && packet.header.is_forward()
            && let Some(flow) = self.flows.get_mut(packet.flow as usize)
        {
            flow.marked_pkts += segments_of(packet);
        }
    }

    fn duplicated(&mut self, _now_ns: u64, link: usize, copy: &Packet<H>) {
        self.links[link].duplicated_pkts += segments_of(copy);
        if copy.header.is_data()
            && let Some(flow) = self.flows.get_mut(copy.flow as usize)
        {
            if copy.header.is_forward() {
                flow.duplicated_pkts += segments_of(copy);
            } else {
                flow.requests_duplicated += segments_of(copy);
            }
        }
    }

    fn lost(&mut self, _done_ns: u64, link: usize, packet: &Packet<H>) {
        self.links[link].lost_behind_pkts += segments_of(packet);
        self.count_loss_of_flow(packet);
    }

    #[inline(always)]
    fn departs(&mut self, now_ns: u64, link: usize, packet: &Packet<H>, done_ns: u64) {
        self.count_departure(now_ns, link, packet, done_ns, packet.flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    /// Whether the packet is on its way from the sender, with data.
    #[derive(Clone, Copy, Debug)]
    struct Forward(bool);

    impl Header for Forward {
        fn is_data(&self) -> bool {
            self.0
        }

        fn is_forward(&self) -> bool {
            self.0
        }
    }

    fn packet(is_forward: bool, ecn: Ecn) -> Packet<Forward> {
        Packet {
            flow: 0,
            wire_bytes: 1000,
            ecn,
            hop: 0,
            arrived_ns: 0,
            header: Forward(is_forward),
        }
    }

    fn meter() -> Meter {
        Meter {
            links: vec![LinkMeter::new(8_000_000, 0); 2],
            flows: vec![FlowMeter::default()],
            last_link_of: vec![Some(End::Receiver)],
        }
    }

    #[test]
    fn wire_bytes_count_at_the_last_link_of_either_way_and_at_no_other() {
        let mut meter = Meter {
            last_link_of: vec![None, Some(End::Receiver), Some(End::Sender)],
            ..meter()
        };
        for (hop, packets) in [(0, 5), (1, 2), (2, 3)] {
            for _ in 0..packets {
                let packet = Packet {
                    hop,
                    ..packet(hop < 2, Ecn::NotEct)
                };
                meter.departs(1000, 0, &packet, 1_000_000);
            }
        }
        let flow = &meter.flows[0];
        let counted = (flow.forwarded_bytes, flow.requests_forwarded_bytes);
        assert_eq!(counted, (2_000, 3_000));
    }

    #[test]
    fn a_packet_that_leaves_after_a_later_one_of_its_flow_counts_and_one_of_another_does_not() {
        let mut meter = meter();
        let mut leaves = |flow, arrived_ns| {
            let packet = Packet {
                flow,
                arrived_ns,
                ..packet(true, Ecn::NotEct)
            };
            meter.departs(1000, 0, &packet, 1_000_000);
            meter.links[0].reordered_pkts
        };
        assert_eq!([leaves(1, 10), leaves(2, 30), leaves(1, 20)], [0; 3]);
        assert_eq!([leaves(2, 40), leaves(1, 50), leaves(1, 45)], [0, 0, 1]);
    }

    #[test]
    fn a_mark_counts_where_it_is_made() {
        let mut meter = meter();
        meter.marked(5, 0, &packet(true, Ecn::Ce));
        for link in 0..2 {
            meter.departs(10, link, &packet(true, Ecn::Ce), 1_000_010);
        }
        assert_eq!(
            [meter.links[0].marked_pkts, meter.links[1].marked_pkts],
            [1, 0]
        );
        assert_eq!(meter.flows[0].marked_pkts, 1);
        // An ACK's mark is the link's, and not one of the flow's data packets.
        meter.marked(20, 1, &packet(false, Ecn::Ce));
        assert_eq!(meter.links[1].marked_pkts, 1);
        assert_eq!(meter.flows[0].marked_pkts, 1);
    }

    #[test]
    fn drops_count_by_reason_and_by_direction() {
        let mut meter = meter();
        let (data, ack) = (packet(true, Ecn::NotEct), packet(false, Ecn::NotEct));
        meter.refused(1, 0, &data, DropReason::Overflow);
        meter.dropped(2, 0, &data, DropReason::Aqm);
        meter.refused(3, 0, &ack, DropReason::Impairment);
        let link = &meter.links[0];
        assert_eq!((link.dropped_pkts, link.dropped_bytes), (3, 3000));
        assert_eq!((link.aqm_dropped_pkts, link.random_loss_pkts), (1, 1));
        let flow = &meter.flows[0];
        assert_eq!((flow.dropped_pkts, flow.acks_dropped), (2, 1));
        assert_eq!(meter.links[1].dropped_pkts, 0);
    }
}
