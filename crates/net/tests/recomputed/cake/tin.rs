//! A tin: its rate, its flows' turns (DRR++) and the shares of its hosts.

use std::collections::{BTreeMap, VecDeque};

use super::cobalt::{Cobalt, Times};
use crate::recomputed::{Draws, Waiting};

/// Time on the wire by bytes, in ns, as fixed-point numbers of 34 bits have it.
#[derive(Clone, Copy)]
pub(super) struct Rate {
    per_byte: u128,
    shift: u32,
}

impl Rate {
    pub(super) fn new(bytes_per_s: u64) -> Self {
        let per_byte = (1_000_000_000_u128 << 34) / u128::from(bytes_per_s.max(64));
        let excess = (128 - per_byte.leading_zeros()).saturating_sub(34);
        Self {
            per_byte: per_byte >> excess,
            shift: 34 - excess,
        }
    }

    pub(super) fn time(&self, bytes: i64) -> i64 {
        ((bytes as u128 * self.per_byte) >> self.shift) as i64
    }
}

/// Where a flow stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Set {
    #[default]
    Idle,
    Sparse,
    /// Among the bulk flows in debt, and empty.
    SparseInDebt,
    Bulk,
    /// Empty, until its COBALT is at rest.
    Decaying,
}

#[derive(Default)]
pub(super) struct Flow {
    pub(super) queue: VecDeque<Waiting>,
    pub(super) deficit: i64,
    pub(super) set: Set,
    pub(super) cobalt: Cobalt,
    hosts: (u32, u32),
}

impl Flow {
    pub(super) fn bytes(&self) -> i64 {
        self.queue.iter().map(Waiting::len).sum()
    }
}

/// Whether shares are by source and by destination.
pub(super) type Isolation = (bool, bool);

pub(super) struct Tin {
    pub(super) rate: Option<Rate>,
    pub(super) times: Times,
    quantum: i64,
    pub(super) weight: i64,
    pub(super) deficit: i64,
    /// When its virtual clock lets the next packet go.
    pub(super) next: i64,
    pub(super) flows: BTreeMap<u32, Flow>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    decaying: VecDeque<u32>,
    isolation: Isolation,
}

impl Tin {
    pub(super) fn new(
        bytes_per_s: Option<u64>,
        weight: i64,
        rtt_ns: i64,
        isolation: Isolation,
    ) -> Self {
        let rate = bytes_per_s.map(Rate::new);
        let mtu = rate.map_or(0, |rate| rate.time(1514));
        let least = rtt_ns / 20;
        let target = least.max(mtu * 3 / 2);
        Self {
            rate,
            times: Times {
                target,
                interval: (rtt_ns + target - least).max(2 * target),
                mtu,
            },
            quantum: bytes_per_s.map_or(1514, |rate| (rate / 4096).clamp(300, 1514) as i64),
            weight,
            deficit: 0,
            next: 0,
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            isolation,
        }
    }

    pub(super) fn bytes(&self) -> i64 {
        self.flows.values().map(Flow::bytes).sum()
    }

    pub(super) fn count(&self, set: Set) -> i64 {
        self.flows.values().filter(|flow| flow.set == set).count() as i64
    }

    /// Whether it has flows that are not only decaying.
    pub(super) fn is_active(&self) -> bool {
        !self.new.is_empty()
            || self
                .flows
                .values()
                .any(|flow| flow.set == Set::Bulk || flow.set == Set::SparseInDebt)
    }

    /// What a flow may send in its turn: less, the more bulk flows one of its hosts has.
    fn share(&self, number: u32, draws: &mut Draws) -> i64 {
        let hosts = self.flows[&number].hosts;
        let bulk = || self.flows.values().filter(|flow| flow.set == Set::Bulk);
        let (by_source, by_destination) = self.isolation;
        let mut load = 1;
        if by_source {
            load = load.max(bulk().filter(|flow| flow.hosts.0 == hosts.0).count());
        }
        if by_destination {
            load = load.max(bulk().filter(|flow| flow.hosts.1 == hosts.1).count());
        }
        let dither = (draws.bits() >> 48) as i64;
        (self.quantum * (65_535 / load as i64) + dither) >> 16
    }

    /// The flow has a packet that it had not.
    pub(super) fn arrived(&mut self, packet: Waiting) {
        let flow = self.flows.entry(packet.flow).or_default();
        flow.hosts = packet.labels.hosts;
        flow.queue.push_back(packet);
    }

    /// The flow takes part in the turns.
    pub(super) fn joins(&mut self, number: u32, draws: &mut Draws) {
        let flow = self.flows.get_mut(&number).expect("it is known");
        match flow.set {
            Set::Idle | Set::Decaying => {
                flow.set = Set::Sparse;
                self.decaying.retain(|&other| other != number);
                self.new.push_back(number);
                let share = self.share(number, draws);
                self.flows.get_mut(&number).expect("it is known").deficit = share;
            }
            Set::SparseInDebt => flow.set = Set::Bulk,
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// The flow whose turn it is, decaying ones only if asked or if there are no others.
    pub(super) fn flow(&mut self, mut decaying_first: bool, draws: &mut Draws) -> Option<u32> {
        loop {
            let lists = if decaying_first {
                [&self.decaying, &self.new, &self.old]
            } else {
                [&self.new, &self.old, &self.decaying]
            };
            decaying_first = false;
            let number = *lists.into_iter().find_map(VecDeque::front)?;
            let flow = self.flows.get_mut(&number).expect("it is known");
            if flow.deficit > 0 {
                return Some(number);
            }
            if flow.set == Set::Sparse {
                flow.set = if flow.queue.is_empty() {
                    Set::SparseInDebt
                } else {
                    Set::Bulk
                };
            }
            let share = self.share(number, draws);
            self.flows.get_mut(&number).expect("it is known").deficit += share;
            self.unlist(number);
            self.old.push_back(number);
        }
    }

    fn unlist(&mut self, number: u32) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|&other| other != number);
        }
    }

    /// The flow had its turn and nothing to send.
    pub(super) fn was_empty(&mut self, number: u32, now: i64) {
        self.unlist(number);
        let flow = self.flows.get_mut(&number).expect("it is known");
        flow.cobalt.was_empty(now, &self.times);
        let is_at_rest = flow.cobalt.blue == 0 && flow.cobalt.count == 0;
        if is_at_rest && now >= flow.cobalt.drop_next {
            flow.set = Set::Idle;
        } else {
            flow.set = Set::Decaying;
            self.decaying.push_back(number);
        }
    }
}
