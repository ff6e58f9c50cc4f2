//! The network: links, delay lines and routes over them. It processes events in order of time.
//!
//! # Order of events
//!
//! There are few sources of events: the transmitter and the propagation line of each link, the driver's timer, the
//! delay lines (FIFO), and packets scheduled to enter. Each source orders its own events. The source with the earliest
//! event is next. At equal times, the source with the lower number is next. This order is total, without a heap of
//! packets and without a sequence number in each packet. Sources are numbered downstream first: if a queue sends a
//! packet and a packet from upstream arrives in it at the same time, the queue sends first.
//!
//! A tournament tree finds the next source ([`Tournament`]). What runs the network, its driver, has one timer
//! among the sources. The simulator sets it to the earliest deadline of its endpoints, which have a tournament of their
//! own. The kernel engine's relay sets it to its next sample.
//!
//! A link's propagation line belongs to the network, not to the link. The lines are indexed by source number, so the line
//! of the source that is due is found without a search.
//!
//! `advance()` finds the next event and processes it. The simulator takes samples between the two: it calls `next()`, which
//! only finds the event, and then `happen()`, which processes it.
//!
//! # Speed
//!
//! Links that can do without have no events of their own ([`Network::foresee`]): the simulator's drop-tail links, unless
//! packets are captured.
//!
//! All code that every packet passes is inlined, here and in `link`, `meter` and the queues. Inlining and finding lines
//! by source number together reduced the run time of two flows with a deep buffer by 9 %.
//!
//! A source's state is found by its number, which the tournament must produce first. The simulator first tests for the
//! numbers that a dumbbell's sources have, and calls `happen()` in a branch for each. There the number is a constant, so
//! the processor predicts the branch and goes on without waiting. That reduced the run time of two flows by 4 %.

mod changes;
mod channels;
mod components;
mod foresight;
mod outlook;

pub use changes::NetworkChange;
pub use outlook::Outlook;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::channels::Channels;
use crate::medium::Channel;
use crate::meter::End;
use crate::{DelayLine, Departure, Effects, Header, Link, Meter, Observer, Packet, Tournament};

/// An element of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A link, by its number.
    Link(usize),
    /// A delay line, by its number.
    Line(usize),
}

/// Where a packet goes; the last entry of a route is `End`. A line is named by its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Link(u32),
    Line(u32),
    End,
}

/// A source of events, as [`Network::next`] names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceId(u32);

impl SourceId {
    /// The transmitter of the first link.
    pub const FIRST_TRANSMITTER: Self = Self(0);
    /// The propagation of the first link.
    pub const FIRST_PROPAGATION: Self = Self(1);
    /// The first delay line, if there is one link.
    pub const FIRST_LINE_BEHIND_ONE_LINK: Self = Self(3);
}

/// What an event was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a, H> {
    /// Something inside the network.
    Inside,
    /// A packet is at the end of its route, and no longer in the network. Until something else happens
    /// [`Network::take_delivery`] gives it away.
    Delivery(Exit, &'a Packet<H>),
    /// The time that [`Network::set_timer`] was given.
    Timer,
}

/// The element by which a packet leaves the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(u32);

/// Links, delay lines and routes. Sans-IO: packets enter, time is an argument, events happen when
/// they are asked to.
///
/// Each element is a source of events in order of time by itself: a link's transmitter, its
/// propagation, a delay line. The earliest is next; at equal times the one with the lower number:
/// links in their order, each its transmitter before its propagation, then the driver's own timer,
/// then the delay lines, then what was to enter later. So the order of events is total.
#[derive(Debug)]
pub struct Network<H> {
    links: Vec<Link<H>>,
    /// What the links' media share.
    channels: Channels,
    /// One for each source: the links' propagation and the delay lines; sources of other kinds have one that
    /// stays empty, so that a source's line is found without asking what kind it is.
    lines: Vec<DelayLine<Packet<H>>>,
    /// All routes, one after the other.
    hops: Vec<Next>,
    /// Where each route starts.
    routes: Vec<u32>,
    /// What enters later: by time, then in the order of the calls; with its route.
    to_enter: BTreeMap<(u64, u64), (usize, Packet<H>)>,
    entrances: u64,
    /// When each source has its next event, but for the driver's timer.
    due: Tournament,
    /// The source that is the driver's timer.
    timer: usize,
    /// That source's entry in the tournament, though it takes no part.
    timer_due: u64,
    /// The source that is what enters later, the last one.
    entrance: usize,
    /// The number of the event that happens, and its source.
    event: (u64, usize),
    effects: Effects<H>,
}

impl<H: Header> Network<H> {
    /// A network of idle elements: links with their propagation, and delay lines.
    ///
    /// # Panics
    ///
    /// If a route is empty or has an element that is not there.
    pub fn new(
        links: Vec<(Link<H>, DelayLine<Packet<H>>)>,
        lines: Vec<DelayLine<Packet<H>>>,
        routes: &[Vec<Hop>],
    ) -> Self {
        let mut hops = Vec::new();
        let mut starts = Vec::new();
        for route in routes {
            assert!(!route.is_empty(), "a route has at least one element");
            starts.push(hops.len() as u32);
            hops.extend(route.iter().map(|hop| match *hop {
                Hop::Link(link) if link < links.len() => Next::Link(link as u32),
                Hop::Line(line) if line < lines.len() => {
                    Next::Line((2 * links.len() + 1 + line) as u32)
                }
                _ => panic!("there is no {hop:?}"),
            }));
            hops.push(Next::End);
        }
        let mut lines_of_sources = Vec::new();
        let mut idle_links = Vec::new();
        for (link, propagation) in links {
            lines_of_sources.extend([DelayLine::new(0), propagation]);
            idle_links.push(link);
        }
        let (timer, entrance) = (2 * idle_links.len(), 2 * idle_links.len() + 1 + lines.len());
        lines_of_sources.push(DelayLine::new(0));
        lines_of_sources.extend(lines);
        lines_of_sources.push(DelayLine::new(0));
        Self {
            due: Tournament::new(entrance + 1),
            timer,
            timer_due: u64::MAX,
            entrance,
            channels: Channels::new(idle_links.len()),
            links: idle_links,
            lines: lines_of_sources,
            hops,
            routes: starts,
            to_enter: BTreeMap::new(),
            entrances: 0,
            event: (0, 0),
            effects: Effects::new(),
        }
    }

    /// The links of `members` share `channel` from now on. Each has a medium, and shares no other channel.
    pub fn share_channel(&mut self, members: &[usize], channel: Channel) {
        self.channels.share(members, channel);
    }

    /// Number of sources of events in a network of `links` and `lines`.
    pub fn source_count(links: usize, lines: usize) -> usize {
        2 * links + 1 + lines + 1
    }

    /// The links, in the order of their numbers.
    pub fn links(&self) -> &[Link<H>] {
        &self.links
    }

    /// A link, to change it.
    pub fn link_mut(&mut self, link: usize) -> &mut Link<H> {
        &mut self.links[link]
    }

    /// A delay line, to change it.
    pub fn line_mut(&mut self, line: usize) -> &mut DelayLine<Packet<H>> {
        let first = 2 * self.links.len() + 1;
        &mut self.lines[first + line]
    }

    /// From now on the links of this network, in which no packet is yet, also count what waits by route.
    pub fn count_by_route(&mut self) {
        let mut next_route = 0;
        let of_hop = self.hops.iter().map(|hop| {
            let route = next_route;
            next_route += u32::from(matches!(hop, Next::End));
            route
        });
        let route_of_hop: Arc<[u32]> = of_hop.collect();
        for link in &mut self.links {
            link.count_by_route(Arc::clone(&route_of_hop), self.routes.len());
        }
    }

    /// A meter of this network and `flows` flows, with nothing counted yet at `now_ns`; `is_forward`
    /// says of a route's number whether it leads from senders to receivers.
    pub fn meter(&self, flows: usize, now_ns: u64, is_forward: impl Fn(usize) -> bool) -> Meter {
        let mut last_link_of = vec![None; self.hops.len()];
        let mut links_follow = false;
        let mut route = self.routes.len();
        for (last_of, hop) in last_link_of.iter_mut().zip(&self.hops).rev() {
            match hop {
                Next::End => {
                    route -= 1;
                    links_follow = false;
                }
                Next::Line(_) => {}
                Next::Link(_) => {
                    let end = if is_forward(route) {
                        End::Receiver
                    } else {
                        End::Sender
                    };
                    let links_followed = std::mem::replace(&mut links_follow, true);
                    *last_of = (!links_followed).then_some(end);
                }
            }
        }
        Meter::new(&self.links, flows, last_link_of, now_ns)
    }

    /// Changes a link's propagation delay for what leaves it from now on, behind what has left.
    pub fn set_link_delay(&mut self, link: usize, delay_ns: u64) {
        self.lines[2 * link + 1].set_delay(delay_ns);
    }

    /// Calls `look` with every packet in the network.
    pub fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        for link in &self.links {
            link.for_each(look);
        }
        for line in &self.lines {
            line.iter().for_each(&mut *look);
        }
        for (_, packet) in self.to_enter.values() {
            look(packet);
        }
    }

    /// When the next event is, ns; from [`Tournament::never_ns`] on: never.
    #[inline(always)]
    pub fn next_event_ns(&self) -> u64 {
        self.next().1
    }

    /// The driver's own next event is at `due_ns` (`u64::MAX`: never).
    #[inline(always)]
    pub fn set_timer(&mut self, due_ns: u64) {
        self.timer_due = self.due.entry(self.timer, due_ns);
    }

    /// A packet enters on `route` at `now_ns`, which is not before the last event.
    #[inline(always)]
    pub fn enter<O: Observer<H>>(
        &mut self,
        now_ns: u64,
        route: usize,
        packet: Packet<H>,
        observer: &mut O,
    ) {
        self.go(now_ns, self.routes[route], packet, observer);
    }

    /// A packet enters on `route` at `due_ns`, by itself, independent of what enters before: what is held back
    /// so is overtaken, as on paths that reorder. Packets of one time enter in the order of the calls.
    pub fn enter_at(&mut self, due_ns: u64, route: usize, packet: Packet<H>) {
        self.to_enter
            .insert((due_ns, self.entrances), (route, packet));
        self.entrances += 1;
        self.set_entrance();
    }

    /// Packets enter on `route` at `now_ns`, one after the other.
    #[inline(always)]
    pub fn enter_all<O: Observer<H>>(
        &mut self,
        now_ns: u64,
        route: usize,
        packets: &[Packet<H>],
        observer: &mut O,
    ) {
        let hop = self.routes[route];
        if let Next::Link(link) = self.hops[hop as usize]
            && self.links[link as usize].is_foreseen()
        {
            return self.arrive_foreseen(link as usize, now_ns, hop, packets, observer);
        }
        for packet in packets {
            self.go(now_ns, hop, packet.clone(), observer);
        }
    }

    fn set_entrance(&mut self) {
        let next = self.to_enter.first_key_value();
        let due_ns = next.map_or(u64::MAX, |(&(due_ns, _), _)| due_ns);
        self.due.set(self.entrance, due_ns);
    }

    #[cold]
    #[inline(never)]
    fn enter_next<O: Observer<H>>(&mut self, now_ns: u64, observer: &mut O) {
        if let Some((_, (route, packet))) = self.to_enter.pop_first() {
            self.set_entrance();
            self.enter(now_ns, route, packet, observer);
        }
    }

    /// The source of the next event, and when it is, ns; from [`Tournament::never_ns`] on: no source's.
    #[inline(always)]
    pub fn next(&self) -> (SourceId, u64) {
        let (source, due_ns) = self.due.next_with(self.timer_due);
        (SourceId(source as u32), due_ns)
    }

    /// The event that [`Network::next`] announced happens, at the time it said.
    #[inline(always)]
    pub fn happen<O: Observer<H>>(
        &mut self,
        source: SourceId,
        now_ns: u64,
        observer: &mut O,
    ) -> Event<'_, H> {
        let source = source.0 as usize;
        self.event = (self.event.0 + 1, source);
        if source < self.timer {
            if source.is_multiple_of(2) {
                self.transmit(source / 2, now_ns, observer);
                return Event::Inside;
            }
            self.settle_link(source / 2, now_ns + 1, observer);
        } else if source == self.timer {
            return Event::Timer;
        } else if source == self.entrance {
            self.enter_next(now_ns, observer);
            return Event::Inside;
        }
        self.come_out(source, now_ns, observer)
    }

    /// The packet that comes out of a source `place` packets after the next.
    #[inline(always)]
    pub fn ahead(&self, source: SourceId, place: usize) -> Option<&Packet<H>> {
        self.lines[source.0 as usize].get(place)
    }

    /// Whether a source is the driver's timer.
    #[inline(always)]
    pub fn is_timer(&self, source: SourceId) -> bool {
        source.0 as usize == self.timer
    }

    /// Where it is, if there is one: nothing is read.
    #[inline(always)]
    pub fn slot_ahead(&self, source: SourceId, place: usize) -> &impl Sized {
        self.lines[source.0 as usize].slot(place)
    }

    /// The packet that goes on the wire of a link without events `place` packets after the next, where the source is the
    /// link's propagation.
    #[inline(always)]
    pub fn departing(&self, source: SourceId, place: usize) -> Option<&Packet<H>> {
        let source = source.0 as usize;
        self.links
            .get(source / 2)?
            .departing(place, &self.lines[source])
    }

    /// Lets the next event happen if it is at `until_ns` or before, and says when it was and what.
    #[inline(always)]
    pub fn advance<O: Observer<H>>(
        &mut self,
        until_ns: u64,
        observer: &mut O,
    ) -> Option<(u64, Event<'_, H>)> {
        let (source, now_ns) = self.next();
        if now_ns > until_ns {
            // What enters now comes after all that happened.
            self.event = (self.event.0 + 1, usize::MAX);
            return None;
        }
        Some((now_ns, self.happen(source, now_ns, observer)))
    }

    /// The element that a packet leaves by.
    pub fn element_of(&self, exit: Exit) -> Hop {
        let (source, first_line) = (exit.0 as usize, 2 * self.links.len() + 1);
        if source < first_line {
            Hop::Link(source / 2)
        } else {
            Hop::Line(source - first_line)
        }
    }

    /// The packet that was delivered.
    pub fn take_delivery(&mut self, exit: Exit) -> Packet<H> {
        let packet = self.lines[exit.0 as usize].take_out();
        packet.expect("a packet was delivered")
    }

    /// A packet comes out of a delay line, or of a link.
    #[inline(always)]
    fn come_out<O: Observer<H>>(
        &mut self,
        source: usize,
        now_ns: u64,
        observer: &mut O,
    ) -> Event<'_, H> {
        let next_ns = self.lines[source].let_out();
        self.due.set(source, next_ns);
        let hop = self.delivered(source).hop;
        if self.hops[hop as usize + 1] == Next::End {
            return Event::Delivery(Exit(source as u32), self.delivered(source));
        }
        self.pass_on(source, now_ns, hop + 1, observer);
        Event::Inside
    }

    /// What came out of a source goes to the element behind it. Apart: nothing does in a dumbbell.
    #[inline(never)]
    fn pass_on<O: Observer<H>>(&mut self, source: usize, now_ns: u64, hop: u32, observer: &mut O) {
        let packet = self.take_delivery(Exit(source as u32));
        self.go(now_ns, hop, packet, observer);
    }

    #[inline(always)]
    fn delivered(&self, source: usize) -> &Packet<H> {
        let packet = self.lines[source].out();
        packet.expect("a source that is due has a packet")
    }

    /// The packet comes to an element. It is built again: fields written into it here would
    /// have to reach memory before it can be copied.
    #[inline(always)]
    fn go<O: Observer<H>>(&mut self, now_ns: u64, hop: u32, packet: Packet<H>, observer: &mut O) {
        let packet = Packet {
            hop,
            arrived_ns: now_ns,
            ..packet
        };
        match self.hops[hop as usize] {
            Next::Link(link) => self.arrive(link as usize, now_ns, packet, observer),
            Next::Line(line) => {
                if let Some(due_ns) = self.lines[line as usize].push(now_ns, packet) {
                    self.due.set(line as usize, due_ns);
                }
            }
            Next::End => unreachable!("a packet at its end is delivered"),
        }
    }

    #[inline(always)]
    fn arrive<O: Observer<H>>(
        &mut self,
        index: usize,
        now_ns: u64,
        packet: Packet<H>,
        observer: &mut O,
    ) {
        let link = &mut self.links[index];
        if link.is_foreseen() {
            let hop = packet.hop;
            return self.arrive_foreseen(index, now_ns, hop, &[packet], observer);
        }
        link.arrive(index, now_ns, packet, &mut self.effects, observer);
        let transmitter = 2 * index;
        if link.has_clock() {
            if link.has_medium() {
                return self.ask_media(index, now_ns);
            }
            // The discipline may want to be asked earlier than before, or now.
            self.due.set(transmitter, link.next_event_ns(now_ns));
        } else if !self.due.is_due_ever(transmitter) {
            self.due.set(transmitter, link.next_event_ns(now_ns));
        }
    }

    #[inline(always)]
    fn transmit<O: Observer<H>>(&mut self, index: usize, now_ns: u64, observer: &mut O) {
        let link = &mut self.links[index];
        if !link.is_plain() {
            return self.transmit_otherwise(index, now_ns, observer);
        }
        let (effects, propagation) = (&mut self.effects, &mut self.lines[2 * index + 1]);
        if let Some(due_ns) = link.transmit_into(index, now_ns, effects, observer, propagation) {
            self.due.set(2 * index + 1, due_ns);
        }
        self.due.set(2 * index, link.next_event_ns(now_ns));
    }

    /// [`Network::transmit`] for links with impairments behind them or another medium.
    #[inline(never)]
    fn transmit_otherwise<O: Observer<H>>(&mut self, index: usize, now_ns: u64, observer: &mut O) {
        let link = &mut self.links[index];
        let propagation = &mut self.lines[2 * index + 1];
        let mut due_ns = None;
        let mut go_on = |departure: Departure<H>| {
            let first = propagation.insert(departure.done_ns, departure.packet);
            due_ns = first.or(due_ns);
        };
        let effects = &mut self.effects;
        let has_medium = link.has_medium();
        if has_medium {
            let channel = self.channels.of(index);
            link.carry(index, now_ns, channel, effects, observer, &mut go_on);
        } else if let Some(departure) = link.transmit(index, now_ns, effects, observer) {
            link.pass_behind(index, departure, observer, &mut go_on);
        }
        if let Some(due_ns) = due_ns {
            self.due.set(2 * index + 1, due_ns);
        }
        if has_medium {
            self.ask_media(index, now_ns);
        } else {
            let next_ns = self.links[index].next_event_ns(now_ns);
            self.due.set(2 * index, next_ns);
        }
    }

    /// Asks the media that share a link's channel when they have something to do next.
    #[cold]
    #[inline(never)]
    fn ask_media(&mut self, index: usize, now_ns: u64) {
        for place in 0..self.channels.members(index).len() {
            let member = self.channels.members(index)[place];
            let channel = self.channels.of(member);
            let next_ns = self.links[member].next_event_of_medium_ns(now_ns, channel);
            self.due.set(2 * member, next_ns);
        }
    }

    /// The kernel that has a link's queue wants to be asked for a packet at `now_ns`.
    pub fn wake(&mut self, link: usize, now_ns: u64) {
        self.links[link].wake();
        let due_ns = self.links[link].next_event_ns(now_ns);
        self.due.set(2 * link, due_ns);
    }

    /// Informs `observer` of every link as it stands at `now_ns`, for books that reach to the very end.
    pub fn close_books<O: Observer<H>>(&mut self, now_ns: u64, observer: &mut O) {
        for (index, link) in self.links.iter_mut().enumerate() {
            link.change(index, now_ns, observer);
        }
    }
}
