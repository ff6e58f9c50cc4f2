//! `fq`, the discipline of hosts that pace, as Linux's `sch_fq` has it (6.18). Packets have no time to send
//! of their own here, because a sender has paced them before they come to a link.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use dumbbell_declare::settings;

use crate::queue::codel::MTU_BYTES;
use crate::queue::flow_hash::FlowHash;
use crate::queue::{Discipline, DropReason, Effects, Facts, Limit, Queue, Site};
use crate::{FactsByHop, Header, Packet};

settings! {
    /// Fair queueing of hosts: flows take turns in three bands by DSCP, and none exceeds `maxrate`.
    pub struct Config {
        /// Most packets of a band that may wait.
        limit_pkts: u64 = 10_000, in 1..=u32::MAX as u64;
        /// Most packets of a flow that may wait.
        flow_limit_pkts: u64 = 100, in 1..=u32::MAX as u64;
        /// Bytes that a flow may send in its turn.
        quantum_bytes: u64 = 2 * MTU_BYTES, in 1..=1 << 20;
        /// Bytes that a flow may send in its first turn.
        initial_quantum_bytes: u64 = 10 * MTU_BYTES, in 0..=i32::MAX as u64;
        /// How long a flow must be idle to have a whole quantum again.
        refill_delay_ns: u64 = 40_000_000, in 0..=MAX_TIME_NS;
        /// Highest rate of a flow; off: none.
        maxrate_bps: Option<u64> = None, in 1..=1 << 50;
        /// Highest `maxrate` that is kept packet by packet; a higher one is kept quantum by quantum.
        low_rate_threshold_bps: u64 = 550_000, in 0..=1 << 50;
        /// How much later than it is due a packet may leave before it is marked.
        ce_threshold_ns: Option<u64> = None, in 0..=MAX_TIME_NS;
        /// Shares of the three bands, from the one for interactive traffic to the one for bulk.
        weights: Vec<u64> = vec![9 << 16, 3 << 16, 1 << 16], in MIN_WEIGHT..=1 << 30;
        /// Queues of flows.
        flows: u64 = 1024, in 1..=65_536;
        /// Whether each flow has a queue of its own, as a host's sockets have, as long as there are no
        /// more flows than queues; off: flows are hashed, as packets of no socket are.
        perfect_hash: bool = true;
    }
}

const MAX_TIME_NS: u64 = 100_000_000_000;
/// Smallest weight of a band (Linux's `FQ_MIN_WEIGHT`).
const MIN_WEIGHT: u64 = 1 << 14;
const BANDS: usize = 3;
const NS_PER_S: u64 = 1_000_000_000;
/// The names of what `tc -s` says of each band.
const BAND_PKTS: [&str; BANDS] = ["band0_pkts", "band1_pkts", "band2_pkts"];
const BAND_DROPS: [&str; BANDS] = ["band0_drops_pkts", "band1_drops_pkts", "band2_drops_pkts"];

impl Discipline for Config {
    const FACTS: Facts = Facts {
        is_fifo: false,
        can_mark: true,
        holds_back: true,
        series: &["throttled_flows", "band0_pkts", "band1_pkts", "band2_pkts"],
    };
    type Queue<H> = Fq<H>;

    fn limit(&self) -> Limit {
        Limit::Packets(self.limit_pkts * BANDS as u64)
    }

    fn marks(&self) -> bool {
        self.ce_threshold_ns.is_some()
    }

    fn check_together(&self) -> Result<(), String> {
        if self.weights.len() != BANDS {
            return Err(format!(
                "`weights` of `fq` has {} values; use three, e.g. `weights=589824;196608;65536`",
                self.weights.len()
            ));
        }
        Ok(())
    }

    fn build<H: Header>(&self, site: &Site) -> Fq<H> {
        Fq::new(self, site)
    }
}

/// The band of a DSCP: Linux's `rt_tos2priority()` takes what were the bits for low delay and high
/// throughput of the type of service, and its default `priomap` puts interactive packets into band 0,
/// bulk into band 2 and all others into band 1.
fn band_of(dscp: u8) -> usize {
    match (dscp >> 1) & 0b11 {
        0b10 => 0,
        0b01 => 2,
        _ => 1,
    }
}

/// Where a flow is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing waits; since when, ns.
    Idle(u64),
    /// It takes turns.
    Listed,
    /// It waits for its time.
    Throttled,
}

#[derive(Clone, Debug)]
struct Flow<H> {
    /// With their bands.
    packets: VecDeque<(Packet<H>, usize)>,
    /// Bytes that it may still send in its turn.
    credit_bytes: i64,
    /// When its next packet may leave, ns.
    time_next_ns: u64,
    state: State,
    /// That of its last packet.
    band: usize,
    is_known: bool,
}

#[derive(Clone, Debug)]
struct Band {
    /// Flows that have just begun to send, and those that went on; the first is served next.
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
    quantum: i64,
    credit: i64,
    pkts: u64,
    dropped_pkts: u64,
}

/// Flows that take turns in bands.
#[derive(Clone, Debug)]
pub struct Fq<H> {
    config: Config,
    hash: FlowHash,
    facts: FactsByHop,
    flows: Box<[Flow<H>]>,
    /// Apart, so that a link with another discipline does not have the room for them.
    bands: Box<[Band; BANDS]>,
    band: usize,
    /// Flows that wait for their time, of equal times in the order in which they began to.
    throttled: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// How often a flow had to wait for its time.
    throttled_count: u64,
    known_flows: u64,
    idle_flows: u64,
    flows_plimit_pkts: u64,
    ce_mark_pkts: u64,
    pkts_too_long: u64,
    backlog_pkts: u64,
    backlog_bytes: u64,
}

impl<H> Fq<H> {
    /// An empty queue.
    pub fn new(config: &Config, site: &Site) -> Self {
        let flow = |_| Flow {
            packets: VecDeque::new(),
            credit_bytes: 0,
            time_next_ns: 0,
            state: State::Idle(0),
            band: 0,
            is_known: false,
        };
        let band = |number: usize| Band {
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            quantum: config.weights.get(number).copied().unwrap_or(1 << 16) as i64,
            credit: 0,
            pkts: 0,
            dropped_pkts: 0,
        };
        Self {
            hash: FlowHash::new(site.seed, config.flows as u32),
            facts: site.facts.clone(),
            flows: (0..config.flows).map(flow).collect(),
            bands: Box::new(std::array::from_fn(band)),
            band: 0,
            throttled: BinaryHeap::new(),
            throttled_count: 0,
            known_flows: 0,
            idle_flows: 0,
            flows_plimit_pkts: 0,
            ce_mark_pkts: 0,
            pkts_too_long: 0,
            backlog_pkts: 0,
            backlog_bytes: 0,
            config: config.clone(),
        }
    }

    fn number(&self, flow: u32) -> u32 {
        if self.config.perfect_hash {
            flow % self.flows.len() as u32
        } else {
            self.hash.bucket(flow)
        }
    }

    fn list_as_old(&mut self, number: u32) {
        let flow = &mut self.flows[number as usize];
        flow.state = State::Listed;
        self.bands[flow.band].old_flows.push_back(number);
    }

    /// Flows whose time has come take turns again.
    fn release(&mut self, now_ns: u64) {
        while let Some(&Reverse((due_ns, _, number))) = self.throttled.peek()
            && due_ns <= now_ns
        {
            self.throttled.pop();
            self.list_as_old(number);
        }
    }

    /// The band whose turn it is: it has credit and flows. Bands have their credit one after the other.
    fn next_band(&mut self) -> Option<usize> {
        let mut tried = 0;
        loop {
            let band = &self.bands[self.band];
            let has_flows = !band.new_flows.is_empty() || !band.old_flows.is_empty();
            if band.credit > 0 && has_flows {
                return Some(self.band);
            }
            loop {
                tried += 1;
                if tried > BANDS {
                    return None;
                }
                self.band = (self.band + 1) % BANDS;
                let band = &mut self.bands[self.band];
                band.credit = (band.credit + band.quantum).min(band.quantum);
                if band.credit > 0 {
                    break;
                }
                tried = 0;
            }
        }
    }

    /// When a flow may send again after `wire_bytes`, by `maxrate`.
    fn pace(&mut self, number: u32, now_ns: u64, wire_bytes: u64) {
        let Some(rate_bps) = self.config.maxrate_bps else {
            return;
        };
        let flow = &mut self.flows[number as usize];
        let mut bytes = wire_bytes;
        if rate_bps <= self.config.low_rate_threshold_bps {
            flow.credit_bytes = 0;
        } else {
            bytes = bytes.max(self.config.quantum_bytes);
            if flow.credit_bytes > 0 {
                return;
            }
        }
        let mut gap_ns = bytes * 8 * NS_PER_S / rate_bps;
        if gap_ns > NS_PER_S {
            gap_ns = NS_PER_S;
            self.pkts_too_long += 1;
        }
        if flow.time_next_ns > 0 {
            // What it was late by is made up for, up to half.
            gap_ns -= (gap_ns / 2).min(now_ns - flow.time_next_ns);
        }
        flow.time_next_ns = now_ns + gap_ns;
    }
}

impl<H: Header> Queue<H> for Fq<H> {
    #[inline(never)]
    fn enqueue(&mut self, now_ns: u64, mut packet: Packet<H>, effects: &mut Effects<H>) {
        let band = band_of(self.facts.of(&packet).dscp);
        if self.bands[band].pkts >= self.config.limit_pkts {
            self.bands[band].dropped_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        let number = self.number(packet.flow);
        let flow = &mut self.flows[number as usize];
        if flow.packets.len() as u64 >= self.config.flow_limit_pkts {
            self.flows_plimit_pkts += 1;
            effects.refuse(packet, DropReason::Overflow);
            return;
        }
        if !flow.is_known {
            flow.is_known = true;
            flow.credit_bytes = self.config.initial_quantum_bytes as i64;
            self.known_flows += 1;
            self.idle_flows += 1;
        }
        flow.band = band;
        if let State::Idle(since_ns) = flow.state {
            if now_ns > since_ns.saturating_add(self.config.refill_delay_ns) {
                let quantum_bytes = self.config.quantum_bytes as i64;
                flow.credit_bytes = flow.credit_bytes.max(quantum_bytes);
            }
            flow.state = State::Listed;
            self.bands[band].new_flows.push_back(number);
        }
        self.idle_flows -= u64::from(flow.packets.is_empty());
        self.bands[band].pkts += 1;
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(packet.wire_bytes);
        packet.arrived_ns = now_ns;
        flow.packets.push_back((packet, band));
    }

    #[inline(never)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        if self.backlog_pkts == 0 {
            return None;
        }
        self.release(now_ns);
        loop {
            let band = &mut self.bands[self.next_band()?];
            let is_new = !band.new_flows.is_empty();
            let list = if is_new {
                &mut band.new_flows
            } else {
                &mut band.old_flows
            };
            let number = *list.front()?;
            let flow = &mut self.flows[number as usize];
            if flow.credit_bytes <= 0 {
                flow.credit_bytes += self.config.quantum_bytes as i64;
                list.pop_front();
                self.list_as_old(number);
                continue;
            }
            let Some((first, _)) = flow.packets.front() else {
                list.pop_front();
                if is_new {
                    // A turn among the old ones before it can be new again.
                    self.list_as_old(number);
                } else {
                    flow.state = State::Idle(now_ns);
                }
                continue;
            };
            let due_ns = first.arrived_ns.max(flow.time_next_ns);
            if now_ns < due_ns {
                list.pop_front();
                flow.time_next_ns = due_ns;
                flow.state = State::Throttled;
                self.throttled
                    .push(Reverse((due_ns, self.throttled_count, number)));
                self.throttled_count += 1;
                continue;
            }
            let (mut packet, of_band) = flow.packets.pop_front()?;
            let wire_bytes = u64::from(packet.wire_bytes);
            flow.credit_bytes -= wire_bytes as i64;
            self.idle_flows += u64::from(flow.packets.is_empty());
            band.credit -= wire_bytes as i64;
            self.bands[of_band].pkts -= 1;
            self.backlog_pkts -= 1;
            self.backlog_bytes -= wire_bytes;
            if let Some(threshold_ns) = self.config.ce_threshold_ns
                && now_ns - due_ns > threshold_ns
            {
                // Linux counts packets that cannot be marked too.
                self.ce_mark_pkts += 1;
                if packet.ecn.is_capable() {
                    effects.mark(&mut packet);
                }
            }
            self.pace(number, now_ns, wire_bytes);
            return Some(packet);
        }
    }

    #[inline]
    fn has_clock(&self) -> bool {
        true
    }

    /// Flows that take turns may have a packet to send; those that wait for their time have none before.
    #[inline]
    fn next_event(&self) -> Option<u64> {
        let takes_turns = |band: &Band| !band.new_flows.is_empty() || !band.old_flows.is_empty();
        if self.bands.iter().any(takes_turns) {
            return None;
        }
        self.throttled.peek().map(|Reverse((due_ns, ..))| *due_ns)
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
        let packets = self.flows.iter().flat_map(|flow| &flow.packets);
        packets.for_each(|(packet, _)| look(packet));
    }

    fn statistics(&self, show: &mut dyn FnMut(&'static str, u64)) {
        show("flows", self.known_flows);
        show("inactive_flows", self.idle_flows);
        show("throttled_flows", self.throttled.len() as u64);
        for (number, band) in self.bands.iter().enumerate() {
            show(BAND_PKTS[number], band.pkts);
            show(BAND_DROPS[number], band.dropped_pkts);
        }
        show("throttled", self.throttled_count);
        show("ce_mark_pkts", self.ce_mark_pkts);
        show("flows_plimit_pkts", self.flows_plimit_pkts);
        show("pkts_too_long", self.pkts_too_long);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;

    const MS: u64 = 1_000_000;

    /// A DSCP of each band: `rt_tos2priority()` of low delay, of none, and of high throughput.
    const DSCPS: [u8; 3] = [0b100, 0, 0b010];

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Dscp(u8);

    impl Header for Dscp {
        fn is_data(&self) -> bool {
            true
        }

        fn is_forward(&self) -> bool {
            true
        }

        fn dscp(&self) -> Option<u8> {
            Some(self.0)
        }
    }

    fn packet(flow: u32, band: usize) -> Packet<Dscp> {
        Packet {
            flow,
            wire_bytes: 1514,
            ecn: Ecn::Ect0,
            hop: 0,
            arrived_ns: 0,
            header: Dscp(DSCPS[band]),
        }
    }

    fn fq(config: &Config) -> Fq<Dscp> {
        Fq::new(config, &Site::default())
    }

    /// How many of `count` packets are taken in.
    fn offer(queue: &mut Fq<Dscp>, now_ns: u64, flow: u32, band: usize, count: usize) -> usize {
        let mut effects = Effects::new();
        for _ in 0..count {
            queue.enqueue(now_ns, packet(flow, band), &mut effects);
        }
        count - effects.drops().count()
    }

    fn next(queue: &mut Fq<Dscp>, now_ns: u64) -> Option<u32> {
        let packet = queue.dequeue(now_ns, &mut Effects::new());
        packet.map(|packet| packet.flow)
    }

    /// The kernel's own test of the limit of a band (selftests/net/fq_band_pktlimit.sh): 10 of 20 and 20
    /// packets of one band, and 10 more of another.
    #[test]
    fn each_band_has_its_own_limit() {
        let config = Config {
            limit_pkts: 10,
            ..Config::default()
        };
        let mut queue = fq(&config);
        assert_eq!(offer(&mut queue, 0, 1, 1, 20), 10);
        assert_eq!(offer(&mut queue, 0, 2, 1, 20), 0);
        assert_eq!(offer(&mut queue, 0, 3, 0, 20), 10);
        let dropped = queue.bands.each_ref().map(|band| band.dropped_pkts);
        assert_eq!((dropped, queue.backlog_pkts), ([10, 30, 0], 20));
    }

    #[test]
    fn the_101st_packet_of_a_flow_is_dropped_and_other_flows_are_not() {
        let mut queue = fq(&Config::default());
        assert_eq!(offer(&mut queue, 0, 1, 1, 101), 100);
        assert_eq!(offer(&mut queue, 0, 2, 1, 50), 50);
        assert_eq!(queue.flows_plimit_pkts, 1);
    }

    #[test]
    fn backlogged_bands_share_nine_to_three_to_one() {
        let mut queue = fq(&Config::default());
        let mut sent = [0_u32; 3];
        for band in 0..3 {
            offer(&mut queue, 0, band as u32, band, 50);
        }
        // Rounds of 13 · 65,536 bytes.
        for _ in 0..56_300 {
            let flow = next(&mut queue, 0).expect("all wait");
            sent[flow as usize] += 1;
            offer(&mut queue, 0, flow, flow as usize, 1);
        }
        let share = |band: usize| f64::from(sent[band]) / 56_300.0;
        for (band, weight) in [9.0, 3.0, 1.0].into_iter().enumerate() {
            assert!((share(band) - weight / 13.0).abs() < 0.01, "{sent:?}");
        }
    }

    /// The initial quantum is 15,140 bytes: ten full packets before the round robin interrupts it.
    #[test]
    fn a_new_flow_may_send_ten_packets_and_one_back_from_a_short_idle_the_rest_of_its_credit() {
        let mut queue = fq(&Config::default());
        offer(&mut queue, 0, 1, 1, 100);
        for _ in 0..21 {
            next(&mut queue, 0); // half of a quantum is left
        }
        offer(&mut queue, 0, 2, 1, 15);
        let flows: Vec<_> = (0..14).filter_map(|_| next(&mut queue, 0)).collect();
        let expected = [&[2; 10][..], &[1, 2, 2, 1]].concat();
        assert_eq!(flows, expected);
        // A flow that sent four of its ten packets is back after 1 ms: six are left before the other's turn.
        let mut queue = fq(&Config::default());
        offer(&mut queue, 0, 3, 1, 4);
        while next(&mut queue, 0).is_some() {}
        offer(&mut queue, MS, 3, 1, 20);
        offer(&mut queue, MS, 4, 1, 1);
        let flows: Vec<_> = (0..7).filter_map(|_| next(&mut queue, MS)).collect();
        assert_eq!(flows, [3, 3, 3, 3, 3, 3, 4]);
    }

    #[test]
    fn a_flow_that_was_idle_for_long_has_a_quantum_again() {
        let mut queue = fq(&Config::default());
        for (idle_ms, expected) in [(39, 1), (41, 2 * 1514)] {
            queue.flows[5] = Flow {
                credit_bytes: 1,
                state: State::Idle(MS),
                is_known: true,
                ..queue.flows[5].clone()
            };
            queue.idle_flows = 1;
            offer(&mut queue, (1 + idle_ms) * MS, 5, 1, 1);
            assert_eq!(queue.flows[5].credit_bytes, expected);
            while next(&mut queue, (1 + idle_ms) * MS).is_some() {}
            queue = fq(&Config::default());
        }
    }

    /// When packets of the flows leave, if each may leave when it is due.
    fn departures(queue: &mut Fq<Dscp>, until_ns: u64) -> Vec<(u64, u32)> {
        let (mut now_ns, mut sent) = (0, Vec::new());
        while now_ns < until_ns {
            while let Some(flow) = next(queue, now_ns) {
                sent.push((now_ns, flow));
            }
            match queue.next_event() {
                Some(due_ns) => now_ns = due_ns,
                None => break,
            }
        }
        sent
    }

    /// At or below `low_rate_threshold` packet by packet: 1514 bytes at 400 kbit/s take 30.28 ms. A flow that
    /// waits for its time delays no other.
    #[test]
    fn a_flow_keeps_its_highest_rate_and_delays_no_other() {
        let config = Config {
            maxrate_bps: Some(400_000),
            ..Config::default()
        };
        let mut queue = fq(&config);
        offer(&mut queue, 0, 1, 1, 10);
        offer(&mut queue, 0, 2, 1, 3);
        let sent = departures(&mut queue, 1000 * MS);
        let of = |flow| {
            let own = sent.iter().filter(move |&&(_, of)| of == flow);
            own.map(|&(at_ns, _)| at_ns).collect::<Vec<_>>()
        };
        let times: Vec<_> = (0..10).map(|number| number * 30_280_000).collect();
        assert_eq!(of(1), times);
        assert_eq!(of(2), times[..3]);
        // No more than a second, however low the rate.
        let config = Config {
            maxrate_bps: Some(1000),
            ..config
        };
        let mut queue = fq(&config);
        offer(&mut queue, 0, 1, 1, 2);
        let sent = departures(&mut queue, u64::MAX);
        assert_eq!(sent, [(0, 1), (1000 * MS, 1)]);
        assert_eq!(queue.pkts_too_long, 2);
    }

    /// Above the threshold quantum by quantum: after the first ten packets two at a time, 3028 bytes at
    /// 10 Mbit/s in 2.4224 ms.
    #[test]
    fn a_high_rate_is_kept_quantum_by_quantum() {
        let config = Config {
            maxrate_bps: Some(10_000_000),
            ..Config::default()
        };
        let mut queue = fq(&config);
        offer(&mut queue, 0, 1, 1, 100);
        let sent = departures(&mut queue, u64::MAX);
        let at_once = sent.iter().filter(|&&(at_ns, _)| at_ns == 0).count();
        assert_eq!(at_once, 10);
        for (number, pair) in (1..).zip(sent[10..].chunks(2)) {
            assert!(pair.iter().all(|&(at_ns, _)| at_ns == number * 2_422_400));
        }
    }

    #[test]
    fn a_packet_that_leaves_later_than_it_is_due_is_marked() {
        let config = Config {
            ce_threshold_ns: Some(MS),
            ..Config::default()
        };
        let mut queue = fq(&config);
        offer(&mut queue, 0, 1, 1, 2);
        let mut effects = Effects::new();
        let mut marked = |now_ns| {
            let packet = queue.dequeue(now_ns, &mut effects);
            packet.map(|packet| packet.ecn == Ecn::Ce)
        };
        assert_eq!([marked(MS), marked(MS + 1)], [Some(false), Some(true)]);
    }
}
