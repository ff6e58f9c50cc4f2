//! The queue that a packet joins, and the hosts between which it counts.

use dumbbell_declare::choices;

use super::QUEUES;
use crate::random::finalize;

/// Queues of a set: a flow whose place is taken finds another in its set.
const WAYS: usize = 8;

choices! {
    /// Between whom the link is shared fairly.
    pub enum Isolation {
        /// All packets are in one queue.
        flowblind,
        /// Hosts that send.
        srchost,
        /// Hosts that receive.
        dsthost,
        /// Pairs of hosts.
        hosts,
        /// Flows.
        flows,
        /// Hosts that send, and then their flows.
        dual_srchost,
        /// Hosts that receive, and then their flows.
        dual_dsthost,
        /// Hosts of either side, and then their flows.
        triple_isolate,
    }
}

impl Isolation {
    /// Whether flows share what their sending host has.
    #[inline]
    fn counts_sources(self) -> bool {
        matches!(self, Self::dual_srchost | Self::triple_isolate)
    }

    /// Whether flows share what their receiving host has.
    #[inline]
    fn counts_destinations(self) -> bool {
        matches!(self, Self::dual_dsthost | Self::triple_isolate)
    }
}

/// What a packet's queue is found by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys {
    /// Hash of what has a queue of its own.
    flow: u32,
    hosts: (u32, u32),
    salt: u64,
}

impl Keys {
    /// Salted hashes of a flow's number and its hosts. Both directions of a connection have one hash, as in
    /// Linux; hosts have one for each role, which most packets do without.
    #[inline]
    pub(super) fn new(salt: u64, isolation: Isolation, flow: u32, hosts: (u32, u32)) -> Self {
        let keys = Self {
            flow: 0,
            hosts,
            salt,
        };
        let flow = match isolation {
            Isolation::flowblind => 0,
            Isolation::srchost => keys.source(),
            Isolation::dsthost => keys.destination(),
            Isolation::hosts => keys.source() ^ keys.destination(),
            _ => hash(salt, flow),
        };
        Self { flow, ..keys }
    }

    fn source(&self) -> u32 {
        hash(self.salt.rotate_left(21), self.hosts.0)
    }

    fn destination(&self) -> u32 {
        hash(self.salt.rotate_left(42), self.hosts.1)
    }
}

#[inline]
fn hash(salt: u64, number: u32) -> u32 {
    let z = salt ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (finalize(z) >> 32) as u32
}

/// The flow of each queue, and which hosts have how many flows with a standing queue.
#[derive(Clone, Debug)]
pub(super) struct Isolator {
    isolation: Isolation,
    /// Hash of the flow that last had each queue.
    tags: Box<[u32]>,
    /// Hosts of the flow in each queue, by their places.
    hosts_of: Box<[HostPair]>,
    sources: Hosts,
    destinations: Hosts,
    pub(super) counts: WayCounts,
}

/// Places of a flow's hosts.
#[derive(Clone, Copy, Debug, Default)]
struct HostPair {
    source: u16,
    destination: u16,
}

/// How queues were found.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WayCounts {
    /// In another way of the set.
    pub(super) indirect: u64,
    /// A queue that no other flow used.
    pub(super) misses: u64,
    /// Shared with another flow: all ways were taken.
    pub(super) collisions: u64,
}

/// The hosts of one role.
#[derive(Clone, Debug)]
struct Hosts {
    tags: Box<[u32]>,
    bulk_flows: Box<[u16]>,
}

impl Hosts {
    fn new() -> Self {
        Self {
            tags: vec![0; QUEUES].into(),
            bulk_flows: vec![0; QUEUES].into(),
        }
    }

    /// The place of a host: its own, else one without flows, else the first of its set.
    fn place(&mut self, hash: u32) -> u16 {
        let same = ways(hash).find(|&place| self.tags[place] == hash);
        let place = same.unwrap_or_else(|| {
            let idle = ways(hash).find(|&place| self.bulk_flows[place] == 0);
            idle.unwrap_or(hash as usize % QUEUES)
        });
        self.tags[place] = hash;
        place as u16
    }
}

/// The places of a hash's set, its own first.
fn ways(hash: u32) -> impl Iterator<Item = usize> {
    let own = hash as usize % QUEUES;
    let (first, way) = (own - own % WAYS, own % WAYS);
    (0..WAYS).map(move |step| first + (way + step) % WAYS)
}

impl Isolator {
    pub(super) fn new(isolation: Isolation) -> Self {
        Self {
            isolation,
            tags: vec![0; QUEUES].into(),
            hosts_of: vec![HostPair::default(); QUEUES].into(),
            sources: Hosts::new(),
            destinations: Hosts::new(),
            counts: WayCounts::default(),
        }
    }

    /// The queue of a flow; `state` says of a queue whether it is in use and whether it is a standing one.
    #[inline]
    pub(super) fn queue(&mut self, keys: Keys, state: impl Fn(usize) -> (bool, bool)) -> usize {
        if self.isolation == Isolation::flowblind {
            return 0;
        }
        let direct = keys.flow as usize % QUEUES;
        if self.tags[direct] == keys.flow && state(direct).0 {
            return direct;
        }
        self.search(keys, state)
    }

    #[inline(never)]
    fn search(&mut self, keys: Keys, state: impl Fn(usize) -> (bool, bool)) -> usize {
        let direct = keys.flow as usize % QUEUES;
        if let Some(queue) = ways(keys.flow).find(|&queue| self.tags[queue] == keys.flow) {
            self.counts.indirect += u64::from(queue != direct);
            if !state(queue).0 {
                self.place_hosts(queue, keys, false);
            }
            return queue;
        }
        let idle = ways(keys.flow).find(|&queue| !state(queue).0);
        let queue = idle.unwrap_or(direct);
        self.tags[queue] = keys.flow;
        let is_standing = idle.is_none() && state(queue).1;
        if idle.is_some() {
            self.counts.misses += 1;
        } else {
            self.counts.collisions += 1;
        }
        if is_standing {
            self.remove_bulk(queue);
        }
        self.place_hosts(queue, keys, is_standing);
        queue
    }

    /// Notes the hosts of the flow that a queue now has.
    fn place_hosts(&mut self, queue: usize, keys: Keys, is_standing: bool) {
        if self.isolation.counts_sources() {
            self.hosts_of[queue].source = self.sources.place(keys.source());
        }
        if self.isolation.counts_destinations() {
            self.hosts_of[queue].destination = self.destinations.place(keys.destination());
        }
        if is_standing {
            self.add_bulk(queue);
        }
    }

    /// A queue has become a standing one.
    pub(super) fn add_bulk(&mut self, queue: usize) {
        let hosts = self.hosts_of[queue];
        if self.isolation.counts_sources() {
            self.sources.bulk_flows[usize::from(hosts.source)] += 1;
        }
        if self.isolation.counts_destinations() {
            self.destinations.bulk_flows[usize::from(hosts.destination)] += 1;
        }
    }

    /// A queue is a standing one no longer.
    pub(super) fn remove_bulk(&mut self, queue: usize) {
        let hosts = self.hosts_of[queue];
        if self.isolation.counts_sources() {
            self.sources.bulk_flows[usize::from(hosts.source)] -= 1;
        }
        if self.isolation.counts_destinations() {
            self.destinations.bulk_flows[usize::from(hosts.destination)] -= 1;
        }
    }

    /// Flows with a standing queue of the host of this queue's flow that has more of them; at least 1.
    #[inline]
    pub(super) fn host_load(&self, queue: usize) -> u16 {
        let hosts = self.hosts_of[queue];
        let mut load = 1;
        if self.isolation.counts_sources() {
            load = load.max(self.sources.bulk_flows[usize::from(hosts.source)]);
        }
        if self.isolation.counts_destinations() {
            load = load.max(self.destinations.bulk_flows[usize::from(hosts.destination)]);
        }
        load
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight flows of one set, and more.
    fn same_set(count: u32) -> Vec<Keys> {
        let keys = |number: u32| Keys {
            flow: 16 + 3 + 1024 * number,
            hosts: (0, 0),
            salt: 0,
        };
        (1..=count).map(keys).collect()
    }

    #[test]
    fn eight_flows_of_one_set_have_queues_of_their_own_and_the_ninth_shares_one() {
        let mut isolator = Isolator::new(Isolation::flows);
        let mut used = vec![false; QUEUES];
        let flows = same_set(9);
        let queues: Vec<usize> = (flows.iter())
            .map(|&keys| {
                let queue = isolator.queue(keys, |queue| (used[queue], false));
                used[queue] = true;
                queue
            })
            .collect();
        assert_eq!(queues, [19, 20, 21, 22, 23, 16, 17, 18, 19]);
        let counts = isolator.counts;
        assert_eq!(
            (counts.misses, counts.collisions, counts.indirect),
            (8, 1, 0)
        );
        // The second is found where it is; the first has lost its queue's tag and takes it back.
        assert_eq!(isolator.queue(flows[1], |queue| (used[queue], false)), 20);
        assert_eq!(isolator.queue(flows[0], |queue| (used[queue], false)), 19);
        let counts = isolator.counts;
        assert_eq!(
            (counts.misses, counts.collisions, counts.indirect),
            (8, 2, 1)
        );
    }

    /// RFC 8290 §5.3: with 8 ways, 100 flows in 1024 queues practically never collide; without, one has a
    /// queue alone with 90.78 %.
    #[test]
    fn a_hundred_flows_do_not_collide() {
        for salt in 0..2000_u64 {
            let mut isolator = Isolator::new(Isolation::flows);
            let mut used = vec![false; QUEUES];
            for flow in 0..100 {
                let salt = finalize(salt);
                let keys = Keys::new(salt, Isolation::flows, flow, (0, 0));
                let queue = isolator.queue(keys, |queue| (used[queue], false));
                used[queue] = true;
            }
            assert_eq!(isolator.counts.collisions, 0, "salt {salt}");
            assert_eq!(used.iter().filter(|&&used| used).count(), 100);
        }
    }

    #[test]
    fn modes_tell_apart_what_they_are_named_after() {
        let queue = |isolation, flow, pair| {
            let mut isolator = Isolator::new(isolation);
            isolator.queue(Keys::new(7, isolation, flow, pair), |_| (false, false))
        };
        let differ = |isolation| {
            let from = |flow, pair| queue(isolation, flow, pair) != queue(isolation, 1, (1, 2));
            [from(2, (1, 2)), from(1, (3, 2)), from(1, (1, 3))]
        };
        use Isolation::*;
        assert_eq!(differ(flowblind), [false, false, false]);
        assert_eq!(differ(srchost), [false, true, false]);
        assert_eq!(differ(dsthost), [false, false, true]);
        assert_eq!(differ(hosts), [false, true, true]);
        for by_flow in [flows, dual_srchost, dual_dsthost, triple_isolate] {
            assert_eq!(differ(by_flow), [true, false, false]);
        }
    }

    #[test]
    fn a_host_that_loses_a_flow_to_a_collision_has_one_fewer() {
        let mut isolator = Isolator::new(Isolation::dual_srchost);
        let mut used = vec![false; QUEUES];
        for (number, keys) in (0..).zip(same_set(9)) {
            let keys = Keys {
                hosts: (u32::from(number == 8), 0),
                ..keys
            };
            let queue = isolator.queue(keys, |queue| (used[queue], used[queue]));
            if !used[queue] {
                used[queue] = true;
                isolator.add_bulk(queue);
            }
        }
        assert_eq!(isolator.host_load(19), 1, "the ninth flow's host");
        assert_eq!(isolator.host_load(20), 7, "the others'");
    }
}
