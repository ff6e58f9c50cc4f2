//! A link: impairments, a queue, and a transmitter or another medium. The network owns the link's propagation line.

mod arrival;
mod backlog_by_route;
mod foresight;
mod port;

use std::collections::VecDeque;
use std::sync::Arc;

use self::backlog_by_route::BacklogByRoute;
pub(crate) use self::foresight::Arrival;
use self::foresight::Foresight;
use self::port::LinkPort;
use crate::impair::pass;
use crate::medium::{Account, Carry, Channel, Medium};
use crate::{
    DelayLine, Effect, Effects, Header, Impairment, KernelQueue, Observer, Packet, Queue,
    QueueDiscipline, RandomLoss, Transmitter,
};

/// A link. Packets pass the impairments before its queue, join it, are serialised at its rate or carried
/// by another medium, and pass the impairments behind it.
#[derive(Clone, Debug)]
pub struct Link<H> {
    before: Vec<Impairment>,
    behind: Vec<Impairment>,
    queue: QueueDiscipline<H>,
    transmitter: Transmitter,
    /// What carries packets instead of the transmitter.
    carrier: Option<Box<Carrier<H>>>,
    /// Whether an arriving packet may change the time of the link's next event.
    has_clock: bool,
    /// Whether a packet that arrives joins the queue: nothing is before it and nothing cuts the packet.
    is_direct: bool,
    /// Super-packets larger than this are cut into their segments when they arrive.
    uncut_bytes: u64,
    /// Whether packets go from the queue over the transmitter to the end of the link and nowhere else.
    is_plain: bool,
    /// Waiting packets, the same as the queue's own count. Kept here so that the queue is not called for every packet.
    backlog_pkts: u64,
    backlog_bytes: u64,
    /// The backlog of each route, if it is counted.
    by_route: Option<Box<BacklogByRoute>>,
    /// When the last departed packet is fully sent, ns.
    busy_until_ns: u64,
    /// What a link without events knows ahead.
    foresight: Foresight,
}

/// A medium, and what it has in hand.
#[derive(Clone, Debug)]
struct Carrier<H> {
    medium: Medium,
    /// When each packet was taken out of the queue, ns; the first one is the first to be delivered.
    in_hand: VecDeque<(u64, Packet<H>)>,
}

/// A packet that goes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure<H> {
    /// The packet; `arrived_ns` says when it joined the queue.
    pub packet: Packet<H>,
    /// When its last bit is on the wire, ns.
    pub done_ns: u64,
}

impl<H: Header> Link<H> {
    /// An idle link with impairments before its queue.
    pub fn new(
        before: Vec<Impairment>,
        queue: QueueDiscipline<H>,
        transmitter: Transmitter,
    ) -> Self {
        let before_is_empty = before.is_empty();
        Self {
            has_clock: queue.has_clock(),
            before,
            behind: Vec::new(),
            queue,
            transmitter,
            carrier: None,
            is_direct: before_is_empty,
            uncut_bytes: u64::MAX,
            is_plain: true,
            backlog_pkts: 0,
            backlog_bytes: 0,
            by_route: None,
            busy_until_ns: 0,
            foresight: Foresight::none(),
        }
    }

    /// Waiting packets; the one on the wire does not count.
    #[inline(always)]
    pub fn backlog_pkts(&self) -> u64 {
        self.backlog_pkts
    }

    /// Waiting wire bytes; the packet on the wire does not count.
    #[inline(always)]
    pub fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    /// Waiting bytes on a route; 0 unless it is counted ([`Network::count_by_route`](crate::Network::count_by_route)).
    pub fn backlog_of_route_bytes(&self, route: usize) -> u64 {
        let by_route = self.by_route.as_ref();
        by_route.map_or(0, |by_route| by_route.of_route(route))
    }

    /// Starts to count the backlog of each route. The queue must be empty.
    pub(crate) fn count_by_route(&mut self, route_of_hop: Arc<[u32]>, routes: usize) {
        self.by_route = Some(Box::new(BacklogByRoute::new(route_of_hop, routes)));
    }

    /// When the last departed packet is fully sent, ns.
    #[inline(always)]
    pub fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }

    /// The present rate, bit/s.
    #[inline(always)]
    pub fn link_rate_bps(&self) -> u64 {
        self.transmitter.link_rate_bps()
    }

    /// Changes the rate to `link_rate_bps` bit/s (not zero); the packet on the wire keeps its time.
    /// Observers are not informed: a meter's capacity while busy is wrong from then on.
    pub fn set_rate(&mut self, link_rate_bps: u64) {
        self.transmitter.set_rate(link_rate_bps);
    }

    /// The same at `now_ns`, and observers are informed.
    pub(crate) fn change_rate<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        link_rate_bps: u64,
        observer: &mut O,
    ) {
        self.change(index, now_ns, observer);
        observer.rate_changes(now_ns, index, self, link_rate_bps);
        self.transmitter.set_rate(link_rate_bps);
    }

    /// Sets the random loss before all other impairments to `loss_ppb` of 10⁹ packets. `seed` is used only if the link
    /// had no random loss there before.
    pub(crate) fn set_random_loss(&mut self, loss_ppb: u32, seed: u64) {
        if let Some(Impairment::random_loss(loss)) = self.before.first_mut() {
            loss.set_loss(loss_ppb);
        } else if loss_ppb > 0 {
            self.before
                .insert(0, Impairment::random_loss(RandomLoss::new(loss_ppb, seed)));
            self.is_direct = false;
        }
    }

    /// Its queue is this one of a kernel, if it is to be one ([`QueueConfig::kernel`](crate::QueueConfig::kernel)).
    pub fn give_kernel(&mut self, kernel: Arc<dyn KernelQueue>) {
        if let QueueDiscipline::kernel(queue) = &mut self.queue {
            queue.give(kernel);
        }
    }

    /// The kernel that has its queue wants to be asked for a packet.
    pub(crate) fn wake(&mut self) {
        if let QueueDiscipline::kernel(queue) = &mut self.queue {
            queue.wake();
        }
    }

    /// Packets are carried by `medium` instead of the transmitter, whose rate stays the link's nominal one.
    pub fn set_medium(&mut self, medium: Medium) {
        let in_hand = VecDeque::new();
        self.carrier = Some(Box::new(Carrier { medium, in_hand }));
        self.has_clock = true;
        self.is_plain = false;
    }

    /// Whether it has another medium than a transmitter.
    #[inline(always)]
    pub(crate) fn has_medium(&self) -> bool {
        self.carrier.is_some()
    }

    /// Packets that its medium has in hand: taken out of the queue and not yet through. Each segment of a
    /// super-packet counts.
    pub fn held_pkts(&self) -> u64 {
        let in_hand = self.carrier.iter().flat_map(|carrier| &carrier.in_hand);
        in_hand
            .map(|(_, packet)| u64::from(packet.header.segments()))
            .sum()
    }

    /// Packets in the queue, counting each segment of a super-packet. A link without events keeps its waiting packets
    /// in its propagation line ([`Network::waiting_segments`](crate::Network::waiting_segments)).
    pub(crate) fn waiting_segments(&self) -> u64 {
        let mut segments = 0;
        self.queue
            .for_each(&mut |packet| segments += u64::from(packet.header.segments()));
        segments
    }

    /// Super-packets of more than `uncut_bytes` are cut into their segments when they arrive.
    pub fn cut_above(&mut self, uncut_bytes: u64) {
        self.uncut_bytes = uncut_bytes;
        self.is_direct = false;
    }

    /// Capacity that the medium offered until `now_ns`, and how much of it carried packets. `None`: the link rate
    /// applies.
    pub fn account(&mut self, now_ns: u64) -> Option<Account> {
        self.carrier.as_mut()?.medium.account(now_ns)
    }

    /// Another impairment before the queue, behind those there are.
    pub fn add_impairment(&mut self, impairment: Impairment) {
        self.before.push(impairment);
        self.is_direct = false;
    }

    /// Another impairment behind the link, behind those there are.
    pub fn add_impairment_behind(&mut self, impairment: Impairment) {
        self.behind.push(impairment);
        self.is_plain = false;
    }

    /// Whether there is an impairment behind it or another medium than a transmitter.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// What the queue discipline counts, by the names of `tc`.
    pub fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        self.queue.statistics(show);
    }

    /// Whether an arriving packet may change the time of the link's next event.
    #[inline(always)]
    pub(crate) fn has_clock(&self) -> bool {
        self.has_clock
    }

    /// Calls `look` with every packet that waits or is in its medium's hand.
    pub fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        self.queue.for_each(look);
        let in_hand = self.carrier.iter().flat_map(|carrier| &carrier.in_hand);
        in_hand.for_each(|(_, packet)| look(packet));
    }

    /// When [`Link::transmit`] has something to do, ns, at `now_ns` or later; `u64::MAX` while
    /// nothing waits.
    #[inline(always)]
    pub(crate) fn next_event_ns(&self, now_ns: u64) -> u64 {
        if self.backlog_pkts == 0 {
            return u64::MAX;
        }
        let free_ns = self.transmitter.busy_until_ns().max(now_ns);
        if self.has_clock {
            return self.queue.next_event().unwrap_or(0).max(free_ns);
        }
        free_ns
    }

    /// When its medium has something to do next, ns.
    #[cold]
    #[inline(never)]
    pub(crate) fn next_event_of_medium_ns(&mut self, now_ns: u64, channel: &mut Channel) -> u64 {
        let Some(carrier) = self.carrier.as_mut() else {
            return u64::MAX;
        };
        let medium = &mut carrier.medium;
        let waiting_ns = (self.backlog_pkts > 0).then(|| {
            let queue_ns = self.queue.next_event().unwrap_or(0);
            let head = self.queue.head();
            let ready_ns = head.map_or(0, |head| medium.ready_ns(&head));
            queue_ns.max(ready_ns).max(now_ns)
        });
        medium.next_event_ns(now_ns, waiting_ns, channel)
    }

    /// Its medium does what is due; `go_on` gets each packet that is through, and when it enters the
    /// propagation.
    #[cold]
    #[inline(never)]
    pub(crate) fn carry<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        channel: &mut Channel,
        effects: &mut Effects<H>,
        observer: &mut O,
        go_on: &mut dyn FnMut(Departure<H>),
    ) {
        self.change(index, now_ns, observer);
        if let Some(mut carrier) = self.carrier.take() {
            let mut port = LinkPort {
                held_ns: carrier.medium.held_ns(),
                link: self,
                in_hand: &mut carrier.in_hand,
                index,
                now_ns,
                effects,
                observer,
                go_on,
            };
            carrier.medium.happen(now_ns, &mut port, channel);
            let busy_until_ns = carrier.medium.busy_until_ns();
            self.transmitter.set_busy_until(busy_until_ns);
            self.busy_until_ns = busy_until_ns;
            self.carrier = Some(carrier);
        }
        self.report(index, now_ns, effects, observer);
    }

    /// A packet arrives.
    #[inline(always)]
    pub(crate) fn arrive<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        if !self.is_direct {
            return self.arrive_otherwise(index, now_ns, packet, effects, observer);
        }
        self.change(index, now_ns, observer);
        observer.arrives(now_ns, index, &packet);
        self.join(now_ns, packet, effects);
        self.report(index, now_ns, effects, observer);
        observer.enqueued(now_ns, index, self);
    }

    /// A packet joins the queue.
    #[inline(always)]
    fn join(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        self.count_in(&packet);
        self.queue.enqueue(now_ns, packet, effects);
    }

    /// A packet that departed passes the impairments behind the link; `go_on` gets what goes on, and when.
    #[inline(never)]
    pub(crate) fn pass_behind<O: Observer<H>>(
        &mut self,
        index: usize,
        departure: Departure<H>,
        observer: &mut O,
        go_on: &mut dyn FnMut(Departure<H>),
    ) {
        let Departure {
            mut packet,
            done_ns,
        } = departure;
        let (passes, is_copied) = pass(&mut self.behind, done_ns, &mut packet);
        let copy = is_copied.then(|| packet.copy());
        if let Some(copy) = &copy {
            observer.duplicated(done_ns, index, copy);
        }
        let mut each = |passes: Option<u64>, packet: Packet<H>, observer: &mut O| match passes {
            Some(late_ns) => go_on(Departure {
                packet,
                done_ns: done_ns + late_ns,
            }),
            None => observer.lost(done_ns, index, &packet),
        };
        each(passes, packet, observer);
        if let Some(mut copy) = copy {
            let (passes, _) = pass(&mut self.behind, done_ns, &mut copy);
            each(passes, copy, observer);
        }
    }

    /// Puts the next packet on the wire, if the queue has one.
    #[inline(always)]
    pub(crate) fn transmit<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) -> Option<Departure<H>> {
        self.change(index, now_ns, observer);
        let packet = self.dequeue(index, now_ns, effects, observer)?;
        let done_ns = self.transmitter.transmit(now_ns, packet.wire_bytes);
        self.busy_until_ns = done_ns;
        let departure = Departure { packet, done_ns };
        observer.departs(now_ns, index, &departure.packet, done_ns);
        Some(departure)
    }

    /// The same, and it goes into `propagation` from where the queue put it: each copy of a packet would wait for the one
    /// before. Returns when it leaves there, if nothing leaves before it.
    #[inline(always)]
    pub(crate) fn transmit_into<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
        propagation: &mut DelayLine<Packet<H>>,
    ) -> Option<u64> {
        self.change(index, now_ns, observer);
        let packet = self.dequeue(index, now_ns, effects, observer)?;
        let done_ns = self.transmitter.transmit(now_ns, packet.wire_bytes);
        self.busy_until_ns = done_ns;
        observer.departs(now_ns, index, &packet, done_ns);
        propagation.push_made(done_ns, move || packet).0
    }

    /// The next packet leaves the queue, if it gives one.
    #[inline(always)]
    fn dequeue<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) -> Option<Packet<H>> {
        let packet = self.queue.dequeue(now_ns, effects);
        if let Some(packet) = &packet {
            self.forget(packet);
        }
        self.report(index, now_ns, effects, observer);
        packet
    }

    /// Something is about to change at `now_ns`; the rate is the one of that time.
    #[inline(always)]
    pub(crate) fn change<O: Observer<H>>(&mut self, index: usize, now_ns: u64, observer: &mut O) {
        while let Some(change) = self.transmitter.due_change(now_ns) {
            observer.rate_changes(change.at_ns, index, self, change.link_rate_bps);
            self.transmitter.change_rate();
        }
        observer.changes(now_ns, index, self);
    }

    /// Counts and reports what the queue did other than taking a packet in or giving one out.
    #[inline(always)]
    fn report<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        if !effects.is_empty() {
            self.report_each(index, now_ns, effects, observer);
        }
        debug_assert_eq!(
            (self.backlog_pkts, self.backlog_bytes),
            (self.queue.backlog_pkts(), self.queue.backlog_bytes()),
            "packets are neither lost nor made"
        );
        debug_assert!(
            self.by_route
                .as_ref()
                .is_none_or(|by_route| by_route.sum() == self.backlog_bytes),
            "what waits is on the routes"
        );
    }

    #[cold]
    #[inline(never)]
    fn report_each<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        effects: &mut Effects<H>,
        observer: &mut O,
    ) {
        for effect in effects.drain() {
            match effect {
                Effect::Refused(packet, reason) => {
                    self.forget(&packet);
                    observer.refused(now_ns, index, &packet, reason);
                }
                Effect::Dropped(packet, reason) => {
                    self.forget(&packet);
                    observer.dropped(now_ns, index, &packet, reason);
                }
                Effect::Marked(packet) => observer.marked(now_ns, index, &packet),
            }
        }
    }

    /// A packet waits.
    #[inline(always)]
    fn count_in(&mut self, packet: &Packet<H>) {
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(packet.wire_bytes);
        if let Some(by_route) = &mut self.by_route {
            by_route.add(packet);
        }
    }

    /// A packet no longer waits.
    #[inline(always)]
    fn forget(&mut self, packet: &Packet<H>) {
        self.backlog_pkts -= 1;
        self.backlog_bytes -= u64::from(packet.wire_bytes);
        if let Some(by_route) = &mut self.by_route {
            by_route.remove(packet);
        }
    }
}
