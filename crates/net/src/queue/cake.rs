//! CAKE, "Common Applications Kept Enhanced" (Høiland-Jørgensen, Täht, Morton 2018): a shaper, tins by
//! DSCP, fairness among hosts and then among their flows, COBALT for each flow, and an ACK filter.
//!
//! Behaviour as Linux's `sch_cake` of 6.18 has it. Super-packets, which it splits, do not exist here; what
//! it gets from outside the packet (NAT, firewall marks, filters) neither.

mod ack_filter;
mod cobalt;
mod diffserv;
mod isolation;
mod lists;
mod overhead;
mod shaper;
mod tin;
mod tin_statistics;

#[cfg(test)]
mod tests;

use dumbbell_declare::{Value, choices, settings};

use crate::queue::flow_queues::{SKB_BYTES, check_memory};
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::random::Random;
use crate::{Ecn, FactsByHop, Header, Packet};

pub use diffserv::Tins;
pub use isolation::Isolation;
pub use overhead::{Framing, LinkLayer};

use isolation::Keys;
use lists::List;
use overhead::Overhead;
use shaper::{ByteTime, Shaper};
use tin::{Tin, TinConfig};

/// Queues of each tin.
const QUEUES: usize = 1024;

/// What a device's queue holds if nothing else is said, in full packets (`sch->limit`).
const DEVICE_LIMIT_PKTS: u64 = 10_240;

/// Least memory that a shaped queue has by default.
const MIN_MEMORY_BYTES: u64 = 4 << 20;

/// RTTs at the link's rate that a shaped queue has memory for by default.
const MEMORY_RTTS: u128 = 4;

/// Largest RTT: what the kernel calls interplanetary.
const MAX_RTT_NS: u64 = 1_000_000_000_000;

choices! {
    /// Which ACKs the filter drops.
    pub enum AckFilter {
        /// None.
        off,
        /// Those that the new ACK and another waiting one make superfluous: at least two wait.
        normal,
        /// Also those that the new one alone makes superfluous.
        aggressive,
    }
}

/// A usual RTT of the traffic, ns; `tc` has words for some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Rtt(pub u64);

impl Value for Rtt {
    const NAMES: &'static [(&'static str, u64)] = &[
        ("datacentre", 100_000),
        ("lan", 1_000_000),
        ("metro", 10_000_000),
        ("regional", 30_000_000),
        ("internet", 100_000_000),
        ("oceanic", 300_000_000),
        ("satellite", 1_000_000_000),
        ("interplanetary", MAX_RTT_NS),
    ];

    fn number(&self) -> Option<u64> {
        Some(self.0)
    }
}

settings! {
    /// Common Applications Kept Enhanced: a shaper, priorities by DSCP, fairness among hosts and then among
    /// their flows, and an active queue management of each flow that holds unresponsive ones too.
    pub struct Config {
        /// Memory that waiting packets may take, as the kernel counts it, 576 bytes more than each has on
        /// the wire (`memlimit` of `tc`); beyond it the longest queue loses its head. Off: four RTTs at
        /// the rate, at least 4 MiB, at most 10,240 full packets.
        limit_bytes: Option<u64> = None, in 1..=1 << 31;
        /// Rate to which packets are shaped, or a share of the link's: with less than the link's rate the
        /// queue is here and not before another device. Off: unlimited.
        rate_bps: Option<u64> = None, in 1_000..=1_000_000_000_000;
        /// RTT that most flows have: the time that the AQM gives them to respond. A 20th of it is the
        /// delay that is accepted.
        rtt_ns: Rtt = Rtt(100_000_000), in 20..=MAX_RTT_NS;
        /// Priorities: how many tins there are, and which DSCP leads to which.
        tins: Tins = Tins::diffserv3;
        /// Between whom the rate is shared fairly.
        isolation: Isolation = Isolation::triple_isolate;
        /// Which ACKs are dropped that a later one makes superfluous.
        ack_filter: AckFilter = AckFilter::off;
        /// Whether the link was crossed before the queue: the shaper counts what is dropped too.
        ingress: bool = false;
        /// What the layers of the shaped link add to each packet.
        link_layer: LinkLayer = LinkLayer::raw;
        /// Bytes that it adds to an IP packet instead.
        overhead_bytes: Option<u64> = None, in 0..=256;
        /// Fewest bytes of a packet on it instead.
        mpu_bytes: Option<u64> = None, in 0..=256;
        /// Cells or blocks in which it puts packets.
        framing: Framing = Framing::auto;
        /// Largest packet of the device, Ethernet header included: what the delay that is accepted has to
        /// have room for at a low rate.
        mtu_bytes: u64 = 1514, in 64..=65_550;
    }
}

impl Config {
    /// Memory that may be used, as `sch_cake` decides it.
    fn memory_bytes(&self) -> u64 {
        if let Some(limit_bytes) = self.limit_bytes {
            return limit_bytes;
        }
        let of_device = DEVICE_LIMIT_PKTS * self.mtu_bytes;
        let Some(rate_bps) = self.rate_bps else {
            return of_device;
        };
        let of_rtts = u128::from(rate_bps / 8) * u128::from(self.rtt_ns.0) * MEMORY_RTTS;
        let of_rtts = (of_rtts / 1_000_000_000) as u64;
        of_rtts.max(MIN_MEMORY_BYTES).min(of_device)
    }
}

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: true,
        series: &[
            "tin0_pk_delay_ns",
            "tin0_av_delay_ns",
            "tin0_sp_delay_ns",
            "tin0_bk_flows",
            "memory_used_bytes",
        ],
    };
    type Queue<H> = Cake<H>;

    fn limit(&self) -> Limit {
        Limit::Bytes(self.memory_bytes())
    }

    fn marks(&self) -> bool {
        true
    }

    fn check_passes(&self, wire_bytes: u64) -> Result<(), String> {
        check_memory("limit", self.memory_bytes(), wire_bytes)
    }

    /// Where all queues of a set are taken, a new flow gets one with packets of another in it, which may
    /// then find a different one for its next packet, as in Linux.
    fn keeps_order(&self) -> bool {
        self.isolation == Isolation::flowblind
    }

    /// Linux's `split-gso`, which is on by default: every segment by itself.
    fn uncut_bytes(&self) -> Option<u64> {
        Some(0)
    }

    fn build<H: Header>(&self, site: &Site) -> Cake<H> {
        Cake::new(self, site)
    }
}

/// A running CAKE.
#[derive(Clone, Debug)]
pub struct Cake<H> {
    facts: FactsByHop,
    isolation: Isolation,
    salt: u64,
    random: Random,
    tin_of: [u8; 64],
    tins: Box<[Tin<H>]>,
    /// The tin that is served; without a rate its turn may go on.
    current: usize,
    shaper: Option<Shaper>,
    overhead: Overhead,
    ack_filter: AckFilter,
    is_ingress: bool,
    limit_bytes: u64,
    memory_bytes: u64,
    most_memory_bytes: u64,
    backlog_pkts: u64,
    backlog_bytes: u64,
}

impl<H: Header> Cake<H> {
    /// An empty queue at its place in a network.
    pub fn new(config: &Config, site: &Site) -> Self {
        let bytes_per_s = config.rate_bps.map_or(0, |rate_bps| rate_bps / 8);
        let tins = config.tins.shares(bytes_per_s).into_iter();
        let tins = tins.map(|(bytes_per_s, quantum_bytes)| {
            let of_tin = TinConfig {
                bytes_per_s,
                quantum_bytes,
                rtt_ns: config.rtt_ns.0,
                mtu_bytes: config.mtu_bytes as u32,
            };
            Tin::new(&of_tin, config.isolation)
        });
        let mut random = Random::new(site.seed);
        Self {
            facts: site.facts.clone(),
            isolation: config.isolation,
            salt: random.bits(),
            random,
            tin_of: config.tins.by_codepoint(),
            tins: tins.collect(),
            current: 0,
            shaper: (bytes_per_s > 0).then(|| Shaper::new(ByteTime::new(bytes_per_s))),
            overhead: Overhead::new(
                config.link_layer,
                config.overhead_bytes,
                config.mpu_bytes,
                config.framing,
            ),
            ack_filter: config.ack_filter,
            is_ingress: config.ingress,
            limit_bytes: config.memory_bytes(),
            memory_bytes: 0,
            most_memory_bytes: 0,
            backlog_pkts: 0,
            backlog_bytes: 0,
        }
    }

    /// The tin and the queue of a packet.
    #[inline]
    fn place(&mut self, packet: &Packet<H>) -> (usize, usize) {
        let facts = self.facts.of(packet);
        let tin = usize::from(self.tin_of[usize::from(facts.dscp & 63)]);
        let keys = Keys::new(self.salt, self.isolation, packet.flow, facts.hosts);
        let Tin {
            flows, isolator, ..
        } = &mut self.tins[tin];
        let queue = isolator.queue(keys, |queue| Tin::state(flows, queue));
        (tin, queue)
    }

    /// Charges a packet to its tin and to the shaper; the bytes that it takes on the link.
    #[inline]
    fn charge(&mut self, tin: usize, wire_bytes: u32, now: i64, is_drop: bool) -> i64 {
        let bytes = self.overhead.adjusted(wire_bytes);
        if let Some(shaper) = &mut self.shaper {
            shaper.charge(bytes, is_drop);
            if let Some(clock) = &mut self.tins[tin].clock {
                clock.charge(now, bytes);
            }
        }
        i64::from(bytes)
    }

    /// A packet no longer waits: it was sent or dropped.
    #[inline]
    fn forget(&mut self, wire_bytes: u32) {
        self.memory_bytes -= u64::from(wire_bytes) + SKB_BYTES;
        self.backlog_bytes -= u64::from(wire_bytes);
        self.backlog_pkts -= 1;
    }

    /// Drops an ACK of a queue that the one that has just joined it makes superfluous.
    #[inline(never)]
    fn filter_acks(&mut self, tin: usize, queue: usize, now: i64, effects: &mut Effects<H>) {
        let is_aggressive = self.ack_filter == AckFilter::aggressive;
        let packets = &mut self.tins[tin].flows[queue].packets;
        let superfluous = ack_filter::superfluous(packets, is_aggressive);
        let Some(ack) = superfluous.and_then(|index| packets.remove(index)) else {
            return;
        };
        self.tins[tin].statistics.ack_drops += 1;
        self.tins[tin].forget(queue, ack.wire_bytes);
        self.forget(ack.wire_bytes);
        if self.is_ingress {
            self.charge(tin, ack.wire_bytes, now, true);
        }
        effects.drop(ack, DropReason::Aqm);
    }

    /// Drops the head of the longest queue of all tins, of equal ones the first.
    #[cold]
    fn drop_from_longest(&mut self, now: i64, effects: &mut Effects<H>) {
        let longest_of = |tin: &Tin<H>| tin.backlogs.iter().copied().max().unwrap_or(0);
        let mut longest = (0, 0);
        for (tin, bytes) in self.tins.iter().map(longest_of).enumerate() {
            if bytes > longest.1 {
                longest = (tin, bytes);
            }
        }
        let (number, bytes) = longest;
        let tin = &mut self.tins[number];
        let queue = tin.backlogs.iter().position(|&backlog| backlog == bytes);
        let Some((queue, packet)) = queue.and_then(|queue| Some((queue, tin.take(queue)?))) else {
            return; // nothing waits
        };
        let cobalt = &mut tin.flows[queue].cobalt;
        if cobalt.on_overflow(&tin.settings, now) {
            tin.counts.unresponsive += 1;
        }
        tin.statistics.drops += 1;
        self.forget(packet.wire_bytes);
        if self.is_ingress {
            self.charge(number, packet.wire_bytes, now, true);
        }
        effects.drop(packet, DropReason::Overflow);
    }

    /// Makes the tin current that is served next; whether there is one.
    #[inline]
    fn choose_tin(&mut self, now: i64) -> bool {
        if self.shaper.is_some() {
            self.choose_by_clock(now)
        } else {
            self.choose_by_turn()
        }
    }

    /// With a rate: the last tin with flows that is within its share, else the one that will be first.
    #[inline]
    fn choose_by_clock(&mut self, now: i64) -> bool {
        let mut best_ns = i64::MAX;
        let mut best = None;
        for (number, tin) in self.tins.iter().enumerate() {
            let Some(clock) = tin.clock.as_ref().filter(|_| tin.has_flows()) else {
                continue;
            };
            let ahead_ns = clock.ahead(now);
            if ahead_ns <= 0 || ahead_ns <= best_ns {
                (best_ns, best) = (ahead_ns, Some(number));
            }
        }
        self.current = best.unwrap_or(self.current);
        best.is_some()
    }

    /// Without a rate: deficit round robin among the tins.
    #[inline]
    fn choose_by_turn(&mut self) -> bool {
        if self.tins.iter().all(|tin| !tin.has_flows()) {
            return false;
        }
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit_bytes >= 0 && tin.has_flows() {
                return true;
            }
            if tin.deficit_bytes <= 0 {
                tin.deficit_bytes += tin.quantum_bytes;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// The queue of the current tin whose head its AQM lets pass next; `Err` when an empty queue was found: then
    /// another tin may be next.
    #[inline]
    fn serve(
        &mut self,
        now: i64,
        is_first: &mut bool,
        effects: &mut Effects<H>,
    ) -> Result<usize, ()> {
        let number = self.current;
        loop {
            let tin = &mut self.tins[number];
            let (mut queue, list) = tin.next_flow(std::mem::take(is_first)).ok_or(())?;
            if tin.flows[queue].deficit_bytes <= 0 {
                if list != List::Old {
                    tin.end_turn(queue, &mut self.random);
                    continue;
                }
                queue = tin.end_turns(queue, &mut self.random);
            }
            loop {
                let tin = &mut self.tins[number];
                let flow = &mut tin.flows[queue];
                let Some(packet) = flow.packets.front_mut() else {
                    tin.leave(queue, now);
                    return Err(());
                };
                let (wire_bytes, arrived_ns) = (packet.wire_bytes, packet.arrived_ns);
                let signal = flow.cobalt.signal(
                    &tin.settings,
                    now,
                    now - arrived_ns as i64,
                    packet.ecn != Ecn::NotEct,
                    if self.is_ingress {
                        tin.counts.bulk as i64
                    } else {
                        0
                    },
                    &mut self.random,
                );
                let is_last = flow.packets.len() == 1;
                if !signal.drop || is_last {
                    // The last packet of a queue may be marked, but is not dropped.
                    if signal.mark {
                        tin.statistics.marks += 1;
                        effects.mark(&mut tin.flows[queue].packets[0]);
                    }
                    tin.statistics.note_delay((now - arrived_ns as i64) as u64);
                    return Ok(queue);
                }
                tin.statistics.drops += 1;
                if let Some(packet) = tin.take(queue) {
                    effects.drop(packet, DropReason::Aqm);
                }
                self.forget(wire_bytes);
                if self.is_ingress {
                    self.spend(number, queue, wire_bytes, now, true);
                    break;
                }
            }
        }
    }

    /// The head of a queue of the current tin goes on the wire.
    #[inline]
    fn send(&mut self, queue: usize, now: i64) -> Option<Packet<H>> {
        let number = self.current;
        let wire_bytes = self.tins[number].flows[queue].packets.front()?.wire_bytes;
        self.forget(wire_bytes);
        self.spend(number, queue, wire_bytes, now, false);
        self.tins[number].take(queue)
    }

    /// Charges a packet to its flow too.
    #[inline]
    fn spend(&mut self, tin: usize, queue: usize, wire_bytes: u32, now: i64, is_drop: bool) {
        let bytes = self.charge(tin, wire_bytes, now, is_drop);
        let tin = &mut self.tins[tin];
        tin.flows[queue].deficit_bytes -= bytes;
        tin.deficit_bytes -= bytes;
    }
}

impl<H: Header> Queue<H> for Cake<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        let now = now_ns as i64;
        let arrived_ns = now_ns;
        let (number, queue) = self.place(&packet);
        let tin = &mut self.tins[number];
        if tin.backlog_bytes == 0 {
            if let Some(clock) = &mut tin.clock {
                clock.wake(now);
            }
            if let Some(shaper) = self.shaper.as_mut().filter(|_| self.backlog_pkts == 0) {
                shaper.wake(now);
            }
        }
        let wire_bytes = packet.wire_bytes;
        tin.statistics.max_len_bytes = tin.statistics.max_len_bytes.max(u64::from(wire_bytes));
        tin.statistics.pkts += 1;
        tin.statistics.bytes += u64::from(wire_bytes);
        tin.backlogs[queue] += wire_bytes;
        tin.backlog_bytes += u64::from(wire_bytes);
        let packet = Packet {
            arrived_ns,
            ..packet
        };
        tin.flows[queue].packets.push_back(packet);
        self.memory_bytes += u64::from(wire_bytes) + SKB_BYTES;
        self.backlog_bytes += u64::from(wire_bytes);
        self.backlog_pkts += 1;
        if self.ack_filter != AckFilter::off {
            self.filter_acks(number, queue, now, effects);
        }
        self.tins[number].join(queue, &mut self.random);
        self.most_memory_bytes = self.most_memory_bytes.max(self.memory_bytes);
        while self.memory_bytes > self.limit_bytes {
            self.drop_from_longest(now, effects);
        }
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        let now = now_ns as i64;
        let mut is_first = true;
        while self.backlog_pkts > 0 {
            if self
                .shaper
                .as_ref()
                .is_some_and(|shaper| shaper.due() > now)
            {
                return None;
            }
            if !self.choose_tin(now) {
                return None;
            }
            if let Ok(queue) = self.serve(now, &mut is_first, effects) {
                return self.send(queue, now);
            }
        }
        None
    }

    #[inline]
    fn has_clock(&self) -> bool {
        self.shaper.is_some()
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        let shaper = self.shaper.as_ref()?;
        Some(shaper.due().max(0) as u64)
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        self.backlog_pkts
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        self.backlog_bytes
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        let flows = self.tins.iter().flat_map(|tin| &tin.flows);
        flows.flat_map(|flow| &flow.packets).for_each(look);
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("memory_used_bytes", self.most_memory_bytes);
        show("memory_limit_bytes", self.limit_bytes);
        for (number, tin) in self.tins.iter().enumerate() {
            tin.show(number, show);
        }
    }
}
