//! Where a scenario's packets go and how long they are on their way: links in the order of the
//! network, and each group's path over them.
//!
//! A group's base RTT is the sum of its links' propagation and of two delay lines, there and back. Half of the RTT lies
//! before the receiver, as far as the links allow; the way back has the rest. If a scenario's only link has no `delay`,
//! it has half of the shortest base RTT, so the flows with that RTT have no access delay. A group's `rtt_steps` change
//! only its line on the way back. The smallest RTT of the run decides the other delays, so none falls below zero. A
//! delay line steps when a packet enters it, and holds back packets that would overtake others.
//!
//! Links are numbered downstream first, and by name where that does not decide (`downstream_first`). Random numbers,
//! ties between events and the order of results follow these numbers, so the order of `[[link]]` in a file changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};

use dumbbell_net::medium::Channel;
use dumbbell_net::{
    DelayLine, DelayStep, FactsByHop, Header, Hop, MediumConfig, Network, RouteFacts,
};

use crate::group::Group;
use crate::link::Link;
use crate::scenario::Scenario;

/// The network of a scenario. The same for every order in which the scenario lists its links.
///
/// Links come downstream first: a link has a higher number than all links that its packets can
/// reach. Links that reach each other (A before B on one route, B before A on another) and links
/// that have as many links downstream are in the order of their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topology {
    /// The links, downstream first.
    pub links: Vec<PlacedLink>,
    /// The groups' paths, in the scenario's order.
    pub paths: Vec<Path>,
}

/// A link in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedLink {
    /// Its index in [`Scenario::links`].
    pub index: usize,
    /// Its propagation delay, ns, which may pass in its queue (a medium's `holds_delay`) or behind it.
    pub delay_ns: u64,
}

/// Where a group's packets go. Its delays and those of its links add up to its base RTT: half of it
/// lies before the receiver, as far as the links' delays allow. Where a base RTT changes, its
/// smallest value counts for that, and the way back has the rest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// From the sender to the first link, ns.
    pub access_ns: u64,
    /// Links that data cross, in order: indices into [`Topology::links`].
    pub route: Vec<usize>,
    /// Links that ACKs cross, in order, from the receiver.
    pub back: Vec<usize>,
    /// From the last of them, or the receiver, to the sender, ns.
    pub back_ns: u64,
    /// Later delays there, in order of time from the start of the run.
    pub back_steps: Vec<DelayStep>,
}

impl Topology {
    /// The network of a scenario that [`Scenario::check`] has passed.
    pub fn new(scenario: &Scenario) -> Self {
        let order = downstream_first(scenario);
        let place_of: BTreeMap<&str, usize> = order
            .iter()
            .enumerate()
            .map(|(place, &index)| (&*scenario.links[index].name, place))
            .collect();
        let placed = order.iter().map(|&index| PlacedLink {
            index,
            delay_ns: delay_ns(scenario, &scenario.links[index]),
        });
        let path_of = |group: &Group| {
            let delays = Delays::of(scenario, group);
            Path {
                access_ns: delays.access_ns,
                route: scenario
                    .links_of(group)
                    .map(|link| place_of[&*link.name])
                    .collect(),
                back: scenario
                    .links_back_of(group)
                    .map(|link| place_of[&*link.name])
                    .collect(),
                back_ns: delays.back_ns(group.base_rtt_ns),
                back_steps: group
                    .rtt_steps_before(scenario.duration_ns)
                    .map(|step| DelayStep {
                        at_ns: step.at_ns,
                        delay_ns: delays.back_ns(step.base_rtt_ns),
                    })
                    .collect(),
            }
        };
        Self {
            links: placed.collect(),
            paths: scenario.groups.iter().map(path_of).collect(),
        }
    }

    /// The groups' paths, each once and in the order in which a network makes their delay lines.
    pub(crate) fn distinct_paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = self.paths.iter().collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    }

    /// Propagation delays of all links that a group's packets cross, there and back, ns.
    pub(crate) fn delay_of_links_ns(scenario: &Scenario, group: &Group) -> u64 {
        let delays = Delays::of(scenario, group);
        delays.route_ns.saturating_add(delays.back_links_ns)
    }
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    There,
    /// From the receiver to the sender.
    Back,
}

/// The number of a group's route in its network.
#[inline]
pub fn route(group: usize, way: Way) -> usize {
    2 * group + usize::from(way == Way::Back)
}

/// Whether that route leads from the sender to the receiver.
pub fn leads_there(route: usize) -> bool {
    route.is_multiple_of(2)
}

impl Scenario {
    /// The links in the order of the network, which is that of results.
    pub fn network_links(&self) -> Vec<&Link> {
        let order = downstream_first(self).into_iter();
        order.map(|index| &self.links[index]).collect()
    }

    /// Their names.
    pub fn link_names(&self) -> Vec<String> {
        let links = self.network_links().into_iter();
        links.map(|link| link.name.clone()).collect()
    }

    /// Whether the time series have what waits by group: of one group it is all that waits.
    pub fn samples_backlog_by_group(&self) -> bool {
        self.groups.len() > 1 && self.sample_interval_ns > 0
    }

    /// What packets have in common, by the number of their [`route`]. Hosts are those of
    /// [`host_addresses`](crate::address_plan::host_addresses): two of each group's own.
    fn route_facts(&self) -> Vec<RouteFacts> {
        let facts = (0..).zip(&self.groups).flat_map(|(index, group)| {
            let (sender, receiver) = (2 * index, 2 * index + 1);
            [(sender, receiver), (receiver, sender)].map(|hosts| RouteFacts {
                hosts,
                dscp: group.dscp,
            })
        });
        facts.collect()
    }

    /// The network of this scenario, idle, in a run that starts at `start_ns` of the engine's clock.
    ///
    /// Groups of the same path share their delay lines. These are in order of the paths, the way
    /// back first, so that the order of the groups does not decide whose packet goes first.
    pub fn network<H: Header>(&self, start_ns: u64) -> Network<H> {
        let topology = Topology::new(self);
        let paths = topology.distinct_paths();
        let mut lines = Vec::new();
        let routes_of_paths: Vec<[Vec<Hop>; 2]> = paths
            .iter()
            .map(|path| path.routes(start_ns, &mut lines))
            .collect();
        let routes: Vec<Vec<Hop>> = topology
            .paths
            .iter()
            .flat_map(|path| {
                let place = paths.binary_search(&path);
                routes_of_paths[place.expect("every path is one of them")].clone()
            })
            .collect();
        let facts = FactsByHop::new(&routes, &self.route_facts());
        let has_super_packets = self.groups.iter().any(|group| group.host.gso);
        let links = (0..).zip(&topology.links).map(|(place, placed)| {
            let config = &self.links[placed.index];
            let mut link = config.build(self.seed, place, start_ns, placed.delay_ns, &facts);
            if let Some(uncut_bytes) = config.uncut_bytes().filter(|_| has_super_packets) {
                link.cut_above(uncut_bytes);
            }
            // What passed in the queue does not pass again.
            let behind_ns = if config.holds_delay() {
                0
            } else {
                placed.delay_ns
            };
            (link, DelayLine::new(behind_ns))
        });
        let mut network = Network::new(links.collect(), lines, &routes);
        if self.samples_backlog_by_group() {
            network.count_by_route();
        }
        self.share_channels(&topology, &mut network);
        network
    }

    /// Links of one radio channel share its airtime.
    fn share_channels<H: Header>(&self, topology: &Topology, network: &mut Network<H>) {
        let mut channels: BTreeMap<u64, (Vec<usize>, Channel)> = BTreeMap::new();
        for (place, placed) in topology.links.iter().enumerate() {
            let medium = self.links[placed.index].medium.as_ref();
            if let Some((number, channel)) = medium.and_then(MediumConfig::channel) {
                let shared = channels.entry(number).or_default();
                shared.0.push(place);
                shared.1.widen(&channel);
            }
        }
        for (members, channel) in channels.into_values() {
            network.share_channel(&members, channel);
        }
    }
}

impl Path {
    /// Whether a delay line is on the way back.
    pub(crate) fn has_back_line(&self) -> bool {
        self.back.is_empty() || self.back_ns > 0 || !self.back_steps.is_empty()
    }

    /// Whether a delay line is before the first link.
    pub(crate) fn has_access_line(&self) -> bool {
        self.access_ns > 0
    }

    /// The routes there and back, with delay lines that are added to `lines`.
    fn routes<T>(&self, start_ns: u64, lines: &mut Vec<DelayLine<T>>) -> [Vec<Hop>; 2] {
        let mut add = |line| {
            lines.push(line);
            Hop::Line(lines.len() - 1)
        };
        let mut back: Vec<Hop> = self.back.iter().map(|&link| Hop::Link(link)).collect();
        if self.has_back_line() {
            back.push(add(self.back_line(start_ns)));
        }
        let access = self
            .has_access_line()
            .then(|| add(DelayLine::new(self.access_ns)));
        let links = self.route.iter().map(|&link| Hop::Link(link));
        [access.into_iter().chain(links).collect(), back]
    }

    /// The delay between the way back's last link and the sender, in a run that starts at
    /// `start_ns` of the engine's clock.
    pub fn back_line<T>(&self, start_ns: u64) -> DelayLine<T> {
        let on_clock = |step: &DelayStep| DelayStep {
            at_ns: start_ns.saturating_add(step.at_ns),
            ..*step
        };
        DelayLine::with_steps(self.back_ns, self.back_steps.iter().map(on_clock).collect())
    }
}

/// The propagation delays of a group's path.
struct Delays {
    access_ns: u64,
    route_ns: u64,
    back_links_ns: u64,
}

impl Delays {
    fn of(scenario: &Scenario, group: &Group) -> Self {
        let sum_ns = |links: &mut dyn Iterator<Item = &Link>| {
            links.fold(0, |sum: u64, link| {
                sum.saturating_add(delay_ns(scenario, link))
            })
        };
        let route_ns = sum_ns(&mut scenario.links_of(group));
        let back_links_ns = sum_ns(&mut scenario.links_back_of(group));
        let base_rtt_ns = group.shortest_base_rtt_ns(scenario.duration_ns);
        // The delay that the only link has by default is half an RTT: of an odd one, the
        // nanosecond that is left belongs to the way back and not to the access.
        let route_rtt_ns = if has_default_delay(scenario) {
            scenario.shortest_base_rtt_ns()
        } else {
            route_ns.saturating_mul(2)
        };
        let rest_ns = base_rtt_ns
            .saturating_sub(route_ns)
            .saturating_sub(back_links_ns);
        Self {
            access_ns: (base_rtt_ns.saturating_sub(route_rtt_ns) / 2).min(rest_ns),
            route_ns,
            back_links_ns,
        }
    }

    fn back_ns(&self, base_rtt_ns: u64) -> u64 {
        base_rtt_ns - self.access_ns - self.route_ns - self.back_links_ns
    }
}

/// Whether the only link has the delay that is its default.
pub(crate) fn has_default_delay(scenario: &Scenario) -> bool {
    matches!(&*scenario.links, [link] if link.delay_ns.is_none())
}

/// Propagation delay of a link, ns.
fn delay_ns(scenario: &Scenario, link: &Link) -> u64 {
    if has_default_delay(scenario) {
        return scenario.shortest_base_rtt_ns() / 2;
    }
    link.delay_ns.unwrap_or(0)
}

/// The links' indices, downstream first.
///
/// What is downstream of a link that a packet reaches is downstream of all links before it too, so
/// the number of links downstream orders them: it is equal only where neither reaches the other or
/// both do.
fn downstream_first(scenario: &Scenario) -> Vec<usize> {
    let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for group in &scenario.groups {
        for way in [&group.route, &group.back] {
            for pair in way.windows(2) {
                next.entry(&pair[0]).or_default().insert(&pair[1]);
            }
        }
    }
    let downstream = |name| {
        let (mut seen, mut waiting) = (BTreeSet::from([name]), vec![name]);
        while let Some(link) = waiting.pop() {
            let after = next.get(link).into_iter().flatten();
            waiting.extend(after.filter(|&&link| seen.insert(link)));
        }
        seen.len()
    };
    let mut order: Vec<usize> = (0..scenario.links.len()).collect();
    order.sort_by_cached_key(|&index| {
        let name = &*scenario.links[index].name;
        (downstream(name), name)
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use dumbbell_net::Limit;

    use crate::group::RttStep;
    use crate::link::{Queue, RateStep};

    const MS: u64 = 1_000_000;

    fn link(name: &str, delay_ms: u64) -> Link {
        Link {
            name: name.to_owned(),
            link_rate_bps: 10_000_000,
            delay_ns: Some(delay_ms * MS),
            queue: Queue::drop_tail(Limit::Packets(100)),
            ..Link::default()
        }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn group(base_rtt_ns: u64, route: &[&str], back: &[&str]) -> Group {
        Group {
            cc: "reno".into(),
            base_rtt_ns,
            route: names(route),
            back: names(back),
            ..Group::default()
        }
    }

    fn scenario(links: Vec<Link>, groups: Vec<Group>) -> Scenario {
        Scenario {
            seed: 1,
            duration_ns: 1_000 * MS,
            links,
            groups,
            ..Scenario::default()
        }
    }

    fn order(scenario: &Scenario) -> Vec<&str> {
        let topology = Topology::new(scenario);
        let links = topology.links.iter();
        links
            .map(|link| &*scenario.links[link.index].name)
            .collect()
    }

    /// The link is half the shortest RTT; half of what a group has beyond that is its access.
    #[test]
    fn a_dumbbell_without_delay_is_split_at_the_shortest_rtt() {
        // Odd and even, near and far, with steps below and above.
        let rtts_ns = [3, 4, 5, 6, 7, 10, 1_000_001, 40 * MS, 40 * MS + 1];
        for &first in &rtts_ns {
            for &second in &rtts_ns {
                for &later in &rtts_ns {
                    let mut groups = vec![group(first, &[], &[]), group(second, &[], &[])];
                    groups[1].rtt_steps = vec![RttStep {
                        at_ns: 5,
                        base_rtt_ns: later,
                    }];
                    let mut dumbbell = scenario(Vec::new(), groups);
                    let queue = Queue::drop_tail(Limit::Packets(1));
                    dumbbell.links = Scenario::dumbbell(1_000, queue).links;
                    let topology = Topology::new(&dumbbell);
                    let shortest = first.min(second).min(later);
                    assert_eq!(topology.links[0].delay_ns, shortest / 2);
                    let access = [first - shortest, second.min(later) - shortest];
                    for (path, access) in topology.paths.iter().zip(access) {
                        assert_eq!(path.access_ns, access / 2);
                        assert_eq!((&*path.route, &*path.back), (&[0][..], &[][..]));
                    }
                    let rest = |rtt, path: &Path| rtt - shortest / 2 - path.access_ns;
                    let [near, far] = &*topology.paths else {
                        unreachable!("two groups have two paths")
                    };
                    assert_eq!(near.back_ns, rest(first, near));
                    assert_eq!(far.back_ns, rest(second, far));
                    assert_eq!(far.back_steps[0].delay_ns, rest(later, far));
                }
            }
        }
    }

    #[test]
    fn delays_add_up_to_the_base_rtt() {
        let links = || vec![link("a", 5), link("b", 7), link("up", 30)];
        for (rtt_ms, expected) in [
            // Half of the RTT before the receiver.
            (100, (38, 20)),
            // As much of it as the links of the way back leave.
            (50, (8, 0)),
            (42, (0, 0)),
        ] {
            let groups = vec![group(rtt_ms * MS, &["a", "b"], &["up"])];
            let path = Topology::new(&scenario(links(), groups)).paths.remove(0);
            assert_eq!((path.access_ns / MS, path.back_ns / MS), expected);
            assert_eq!(path.access_ns + path.back_ns + 42 * MS, rtt_ms * MS);
        }
    }

    #[test]
    fn a_link_alone_without_delay_is_half_the_shortest_rtt() {
        let mut only = scenario(vec![link("a", 3)], vec![group(40 * MS, &["a"], &[])]);
        assert_eq!(Topology::new(&only).links[0].delay_ns, 3 * MS);
        assert_eq!(Topology::new(&only).paths[0].access_ns, 17 * MS);
        only.links[0].delay_ns = None;
        assert_eq!(Topology::new(&only).links[0].delay_ns, 20 * MS);
        only.links.push(link("b", 2));
        only.groups[0].route.push("b".to_owned());
        let several = Topology::new(&only);
        let delays_ns: Vec<u64> = several.links.iter().map(|link| link.delay_ns).collect();
        assert_eq!(delays_ns, [2 * MS, 0]);
        assert_eq!(several.paths[0].route, [1, 0]);
    }

    #[test]
    fn links_are_ordered_downstream_first_whatever_order_they_are_listed_in() {
        let mut lot = scenario(
            ["z", "m", "a", "up"].map(|name| link(name, 0)).to_vec(),
            vec![
                group(40 * MS, &["a", "z", "m"], &["up"]),
                group(40 * MS, &["z"], &["up"]),
            ],
        );
        assert_eq!(order(&lot), ["m", "up", "z", "a"]);
        for _ in 0..4 {
            lot.links.rotate_left(1);
            assert_eq!(order(&lot), ["m", "up", "z", "a"]);
            lot.links.swap(0, 2);
            assert_eq!(order(&lot), ["m", "up", "z", "a"]);
        }
    }

    #[test]
    fn links_that_reach_each_other_are_ordered_by_name() {
        // b → c → b is a cycle, downstream of a, upstream of d.
        let mut cyclic = scenario(
            ["d", "c", "b", "a"].map(|name| link(name, 0)).to_vec(),
            vec![
                group(40 * MS, &["a", "b", "c"], &[]),
                group(40 * MS, &["c", "b", "d"], &[]),
            ],
        );
        assert_eq!(order(&cyclic), ["d", "b", "c", "a"]);
        cyclic.links.reverse();
        assert_eq!(order(&cyclic), ["d", "b", "c", "a"]);
    }

    #[test]
    fn a_path_holds_its_bdp_and_all_buffers() {
        // 10 Mbit/s x 100 ms are 82 packets of 1514 bytes; each buffer holds 100 packets.
        let links = vec![link("a", 5), link("b", 7), link("up", 30)];
        let groups = vec![group(100 * MS, &["a", "b"], &["up"])];
        let mut lot = scenario(links, groups);
        assert_eq!(lot.path_pkts(&lot.groups[0]), 82 + 300);
        // The slowest link decides, at its highest rate.
        lot.links[1].link_rate_bps = 1_000_000;
        assert_eq!(lot.path_pkts(&lot.groups[0]), 8 + 200 + 10);
        lot.links[1].rate_steps = vec![RateStep {
            at_ns: MS,
            link_rate_bps: 2_000_000,
        }];
        assert_eq!(lot.path_pkts(&lot.groups[0]), 16 + 200 + 20);
        // While ten ACKs of 54 bytes leave at 100 kbit/s, at most ten segments arrive.
        lot.links[2].queue = Queue::drop_tail(Limit::Bytes(540));
        lot.links[2].link_rate_bps = 100_000;
        assert_eq!(lot.path_pkts(&lot.groups[0]), 16 + 207);
    }

    #[test]
    fn networks_that_cannot_be_are_refused() {
        let check = |links: &[Link], groups: &[Group]| {
            scenario(links.to_vec(), groups.to_vec())
                .check()
                .map_err(|refusal| refusal.0)
        };
        let refused = |links: &[Link], groups: &[Group], message: &str| {
            assert_eq!(check(links, groups), Err(message.to_owned()));
        };
        let (a, b) = (link("a", 5), link("b", 6));
        let both = [a.clone(), b.clone()];
        let over = |route: &[&str], back: &[&str]| [group(20 * MS, route, back)];
        assert_eq!(check(&both, &over(&["a"], &["b"])), Ok(()));
        refused(&[], &over(&[], &[]), "there are no links; add at least one");
        refused(
            &[a.clone(), a.clone()],
            &over(&["a"], &[]),
            "two links are named `a`; give each a name of its own",
        );
        refused(
            &both,
            &over(&["a", "c"], &["b"]),
            "group 0 (`reno`): `route` has no link `c` to go over; the links are `a`, `b`",
        );
        refused(
            &both,
            &over(&["a"], &["b", "b"]),
            "group 0 (`reno`): `back` goes over `b` twice; a link can be in it once",
        );
        refused(
            &both,
            &over(&[], &["b"]),
            "group 0 (`reno`): no `route` over the 2 links; use some of `a`, `b`",
        );
        refused(
            &both,
            &over(&["a"], &[]),
            "no group uses the link `b`; add it to a `route` or `back`, or remove it",
        );
        refused(
            &both,
            &[group(10 * MS, &["a"], &["b"])],
            "group 0 (`reno`): the base RTT of 10000000 ns is shorter than its links' delays, \
             11000000 ns; use a base RTT of at least 11000000 ns",
        );
        let no_rate = Link {
            link_rate_bps: 0,
            ..a
        };
        refused(
            &[no_rate, b],
            &over(&["a"], &["b"]),
            "the link rate of `a` is 0; use a rate above 0, e.g. `50mbit`",
        );
    }
}
