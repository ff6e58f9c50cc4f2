//! Whether the groups' routes lead over the scenario's links.

use std::collections::BTreeSet;

use crate::group::Group;
use crate::link::Link;
use crate::scenario::Scenario;
use crate::topology::Topology;

/// The largest pure ACK on the wire, bytes: Ethernet 14, IP 20, and a TCP header of 60 (RFC 9293 §3.1).
const MAX_ACK_BYTES: u64 = 94;

/// The smallest: without options.
const MIN_ACK_BYTES: u64 = 54;

/// A way of a group's packets, as the scenario calls it.
#[derive(Clone, Copy)]
enum Way {
    Route,
    Back,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Route => "route",
            Self::Back => "back",
        }
    }
}

fn saturated(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Scenario {
    /// The link of a name.
    pub fn link(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| link.name == name)
    }

    /// The links that a group's data cross, in order; those without a link of that name left out.
    pub fn links_of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Link> {
        let only = if group.route.is_empty() {
            self.links.iter().take(1)
        } else {
            self.links.iter().take(0)
        };
        only.chain(group.route.iter().filter_map(|name| self.link(name)))
    }

    /// The links that a group's ACKs cross, in order.
    pub fn links_back_of<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = &'a Link> {
        group.back.iter().filter_map(|name| self.link(name))
    }

    /// What the path of a group and the buffers on it hold when all are full, wire bytes of full segments: the
    /// rate of the slowest link on the way there times the RTT, both at their largest in the run and with the most that
    /// impairments add; the limits of the queues there; and what arrives while an ACK waits in the queues on the way back, at
    /// their links' first rates, but at most a segment for each ACK in them. An estimate: a fast link before a slow one may hold more for a moment.
    pub fn path_bytes(&self, group: &Group) -> u64 {
        let packet_bytes = group.host.packet_bytes();
        let rates_bps = self
            .links_of(group)
            .map(|link| link.highest_rate_bps(self.duration_ns));
        let rate_bps = rates_bps.min().unwrap_or(0);
        let bdp_bytes =
            u128::from(rate_bps) * u128::from(self.longest_rtt_ns(group)) / 8_000_000_000;
        let there = self
            .links_of(group)
            .map(|link| link.queue.limit().bytes(packet_bytes));
        let back = self.links_back_of(group).map(|link| {
            let limit = link.queue.limit();
            let (acks, bytes) = (limit.packets(MIN_ACK_BYTES), limit.bytes(packet_bytes));
            let meanwhile_bytes =
                u128::from(bytes) * u128::from(rate_bps) / u128::from(link.link_rate_bps.max(1));
            acks.saturating_mul(packet_bytes)
                .min(saturated(meanwhile_bytes))
        });
        let queues = there.chain(back);
        queues.fold(saturated(bdp_bytes), u64::saturating_add)
    }

    /// [`Self::path_bytes`], full segments.
    pub fn path_pkts(&self, group: &Group) -> u64 {
        self.path_bytes(group) / group.host.packet_bytes()
    }

    /// The largest RTT of a group's packets that wait nowhere, ns.
    fn longest_rtt_ns(&self, group: &Group) -> u64 {
        let base_ns = group.base_rtts_ns(self.duration_ns).max().unwrap_or(0);
        let links = self.links_of(group).chain(self.links_back_of(group));
        let late_ns = links
            .flat_map(|link| &link.impairments)
            .map(|config| config.most_late_ns());
        late_ns.fold(base_ns, u64::saturating_add)
    }

    /// Smallest base RTT, ns, that any group ever has whose data or ACKs cross `link`.
    pub fn shortest_base_rtt_over_ns(&self, link: &Link) -> u64 {
        let crosses = |group: &&Group| {
            let is_only = group.route.is_empty() && self.links[0].name == link.name;
            is_only || group.route.contains(&link.name) || group.back.contains(&link.name)
        };
        let groups = self.groups.iter().filter(crosses);
        groups
            .map(|group| group.shortest_base_rtt_ns(self.duration_ns))
            .min()
            .unwrap_or(0)
    }

    /// Refuses links and routes that make no network.
    pub(crate) fn check_routes(&self) -> Result<(), String> {
        if self.links.is_empty() {
            return Err("there are no links; add at least one".to_owned());
        }
        let mut names = BTreeSet::new();
        if let Some(link) = self.links.iter().find(|link| !names.insert(&*link.name)) {
            return Err(format!(
                "two links are named `{}`; give each a name of its own",
                link.name
            ));
        }
        for (index, group) in self.groups.iter().enumerate() {
            self.check_group(group)
                .map_err(|message| format!("group {index} (`{}`): {message}", group.cc.name))?;
        }
        self.check_all_used()
    }

    fn check_group(&self, group: &Group) -> Result<(), String> {
        if group.route.is_empty() && self.links.len() > 1 {
            return Err(format!(
                "no `route` over the {} links; use some of {}",
                self.links.len(),
                self.listed_links()
            ));
        }
        self.check_way(Way::Route, &group.route)?;
        self.check_way(Way::Back, &group.back)?;
        for link in self.links_of(group) {
            link.check_holds(group.host.packet_bytes())?;
        }
        for link in self.links_back_of(group) {
            link.check_holds(MAX_ACK_BYTES)?;
        }
        let base_rtt_ns = group.shortest_base_rtt_ns(self.duration_ns);
        let path_ns = Topology::delay_of_links_ns(self, group);
        if base_rtt_ns < path_ns {
            return Err(format!(
                "the base RTT of {base_rtt_ns} ns is shorter than its links' delays, {path_ns} ns; \
                 use a base RTT of at least {path_ns} ns"
            ));
        }
        Ok(())
    }

    fn check_way(&self, way: Way, names: &[String]) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for name in names {
            if self.link(name).is_none() {
                return Err(format!(
                    "`{}` has no link `{name}` to go over; the links are {}",
                    way.name(),
                    self.listed_links()
                ));
            }
            if !seen.insert(name) {
                return Err(format!(
                    "`{}` goes over `{name}` twice; a link can be in it once",
                    way.name()
                ));
            }
        }
        Ok(())
    }

    fn check_all_used(&self) -> Result<(), String> {
        let used: BTreeSet<&str> = self
            .groups
            .iter()
            .flat_map(|group| self.links_of(group).chain(self.links_back_of(group)))
            .map(|link| &*link.name)
            .collect();
        match self.links.iter().find(|link| !used.contains(&*link.name)) {
            Some(link) => Err(format!(
                "no group uses the link `{}`; add it to a `route` or `back`, or remove it",
                link.name
            )),
            None => Ok(()),
        }
    }

    fn listed_links(&self) -> String {
        let names: Vec<String> = self
            .links
            .iter()
            .map(|link| format!("`{}`", link.name))
            .collect();
        names.join(", ")
    }
}
