//! Changes of a path while a run goes on.

use dumbbell_net::NetworkChange;
use serde::{Deserialize, Serialize};

use crate::group::RttStep;
use crate::link::{Link, RateStep};
use crate::random::element_seed;
use crate::refusal::Refusal;
use crate::scenario::Scenario;
use crate::topology::{Path, Topology, has_default_delay};

/// A change that somebody asks for during a run on the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// The rate of a link. The packet on the wire keeps its time.
    Rate {
        /// The link's name.
        link: String,
        /// Its rate from now on, bit/s.
        link_rate_bps: u64,
    },
    /// The propagation delay of a link, with which the base RTTs over it change.
    Delay {
        /// The link's name.
        link: String,
        /// Its delay from now on, ns.
        delay_ns: u64,
    },
    /// Random loss before the queue of a link.
    Loss {
        /// The link's name.
        link: String,
        /// Packets that are lost from now on, parts per billion.
        loss_ppb: u32,
    },
    /// The base RTT of a group, and of those that have the same path and RTT; `None`: of all groups.
    BaseRtt {
        /// Number of the group.
        group: Option<u16>,
        /// Its base RTT from now on, ns.
        base_rtt_ns: u64,
    },
}

/// A link as changes have left it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LinkState {
    name: String,
    delay_ns: u64,
    /// The medium that carries its packets, if it is no wire, and whether that holds the delay.
    medium: Option<(&'static str, bool)>,
}

/// A path of groups as changes have left it. Lines are numbers of delay lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PathState {
    base_rtt_ns: u64,
    route: Vec<usize>,
    back: Vec<usize>,
    access_line: Option<usize>,
    access_ns: u64,
    back_line: Option<usize>,
    back_ns: u64,
}

/// The delays of a scenario's network as changes have left them. RTT steps that the scenario plans are not known here.
#[derive(Clone, Debug)]
pub struct ChangingPath {
    seed: u64,
    links: Vec<LinkState>,
    paths: Vec<PathState>,
    /// The path of each group.
    path_of: Vec<usize>,
    /// The only link has half of the shortest base RTT, because no delay was given.
    link_follows_rtt: bool,
}

impl ChangingPath {
    /// That of a scenario that [`Scenario::check`] has passed, before any change.
    pub fn new(scenario: &Scenario) -> Self {
        let topology = Topology::new(scenario);
        let paths = topology.distinct_paths();
        let path_of = topology.paths.iter().map(|path| {
            let place = paths.binary_search(&path);
            place.expect("every path is one of them")
        });
        let path_of: Vec<usize> = path_of.collect();
        let mut lines = 0..;
        let mut state_of = |path: &Path| {
            let mut line = |is_there: bool| is_there.then(|| lines.next()).flatten();
            // In the order in which the network makes them.
            let (back_line, access_line) =
                (line(path.has_back_line()), line(path.has_access_line()));
            let links = path.route.iter().chain(&path.back);
            let on_links_ns: u64 = links.map(|&link| topology.links[link].delay_ns).sum();
            PathState {
                base_rtt_ns: on_links_ns + path.access_ns + path.back_ns,
                route: path.route.clone(),
                back: path.back.clone(),
                access_line,
                access_ns: path.access_ns,
                back_line,
                back_ns: path.back_ns,
            }
        };
        let paths = paths.into_iter().map(&mut state_of).collect();
        let links = topology.links.iter().map(|placed| {
            let link = &scenario.links[placed.index];
            let medium = link.medium.as_ref();
            LinkState {
                name: link.name.clone(),
                delay_ns: placed.delay_ns,
                medium: medium.map(|medium| (medium.name(), medium.holds_delay())),
            }
        });
        Self {
            seed: scenario.seed,
            links: links.collect(),
            paths,
            path_of,
            link_follows_rtt: has_default_delay(scenario),
        }
    }

    /// What a change does to the elements of the network.
    ///
    /// # Errors
    ///
    /// A change that this path cannot have; then nothing has changed.
    pub fn change(&mut self, change: &Change) -> Result<Vec<NetworkChange>, Refusal> {
        let changes = match change {
            Change::Rate {
                link,
                link_rate_bps,
            } => self.change_rate(link, *link_rate_bps),
            Change::Delay { link, delay_ns } => self.change_delay(link, *delay_ns),
            Change::Loss { link, loss_ppb } => self.change_loss(link, *loss_ppb),
            Change::BaseRtt { group, base_rtt_ns } => self.change_base_rtt(*group, *base_rtt_ns),
        };
        changes.map_err(Refusal)
    }

    /// The present base RTT of a group, ns.
    pub fn base_rtt_ns(&self, group: usize) -> u64 {
        self.paths[self.path_of[group]].base_rtt_ns
    }

    fn number_of(&self, name: &str) -> Result<usize, String> {
        let number = self.links.iter().position(|link| link.name == name);
        number.ok_or_else(|| {
            let names = self.links.iter().map(|link| format!("`{}`", link.name));
            let names: Vec<String> = names.collect();
            format!(
                "there is no link `{name}`; the links are {}",
                names.join(", ")
            )
        })
    }

    fn change_rate(&self, name: &str, link_rate_bps: u64) -> Result<Vec<NetworkChange>, String> {
        let link = self.number_of(name)?;
        if link_rate_bps == 0 {
            return Err(format!(
                "the link rate of `{name}` is 0; use a rate above 0, e.g. `50mbit`"
            ));
        }
        match self.links[link].medium {
            Some((medium, _)) => Err(format!(
                "the rate of `{name}` is that of its medium, `{medium}`, and cannot be changed"
            )),
            None => Ok(vec![NetworkChange::Rate {
                link,
                link_rate_bps,
            }]),
        }
    }

    fn change_delay(&mut self, name: &str, delay_ns: u64) -> Result<Vec<NetworkChange>, String> {
        let link = self.number_of(name)?;
        if let Some((medium, true)) = self.links[link].medium {
            return Err(format!(
                "the delay of `{name}` passes in its medium, `{medium}`, and cannot be changed"
            ));
        }
        let before_ns = std::mem::replace(&mut self.links[link].delay_ns, delay_ns);
        self.link_follows_rtt = false;
        for path in &mut self.paths {
            let times = path.route.iter().chain(&path.back);
            let times = times.filter(|&&other| other == link).count() as u64;
            let rest_ns = path.base_rtt_ns - times * before_ns;
            path.base_rtt_ns = rest_ns.saturating_add(times.saturating_mul(delay_ns));
        }
        Ok(vec![NetworkChange::LinkDelay { link, delay_ns }])
    }

    fn change_loss(&self, name: &str, loss_ppb: u32) -> Result<Vec<NetworkChange>, String> {
        let link = self.number_of(name)?;
        if loss_ppb >= 1_000_000_000 {
            return Err(format!(
                "every packet is lost at random before `{name}`; use a loss below `100%`"
            ));
        }
        let seed = element_seed(self.seed, "loss", link as u64);
        Ok(vec![NetworkChange::Loss {
            link,
            loss_ppb,
            seed,
        }])
    }

    fn change_base_rtt(
        &mut self,
        group: Option<u16>,
        base_rtt_ns: u64,
    ) -> Result<Vec<NetworkChange>, String> {
        let only = group.map(|group| self.path_of.get(usize::from(group)).copied().ok_or(group));
        let only = only.transpose().map_err(|group| {
            let last = self.path_of.len() - 1;
            format!("there is no group {group}; the groups are 0 to {last}")
        })?;
        let mut changed = self.clone();
        let paths = changed.paths.iter_mut().enumerate();
        for (_, path) in paths.filter(|(number, _)| only.is_none_or(|only| only == *number)) {
            path.base_rtt_ns = base_rtt_ns;
        }
        if changed.link_follows_rtt {
            let shortest_ns = changed.paths.iter().map(|path| path.base_rtt_ns).min();
            changed.links[0].delay_ns = shortest_ns.unwrap_or(0) / 2;
        }
        for (number, path) in changed.paths.iter_mut().enumerate() {
            let is_changed = only.is_none_or(|only| only == number) || self.link_follows_rtt;
            if is_changed {
                path.divide(&changed.links)?;
            }
        }
        let changes = self.differences(&changed);
        *self = changed;
        Ok(changes)
    }

    /// What makes the delays of this path those of `other`.
    fn differences(&self, other: &Self) -> Vec<NetworkChange> {
        let mut changes = Vec::new();
        for (link, (before, after)) in self.links.iter().zip(&other.links).enumerate() {
            if before.delay_ns != after.delay_ns {
                let delay_ns = after.delay_ns;
                changes.push(NetworkChange::LinkDelay { link, delay_ns });
            }
        }
        for (before, after) in self.paths.iter().zip(&other.paths) {
            for (line, before_ns, delay_ns) in [
                (after.access_line, before.access_ns, after.access_ns),
                (after.back_line, before.back_ns, after.back_ns),
            ] {
                if let Some(line) = line.filter(|_| before_ns != delay_ns) {
                    changes.push(NetworkChange::LineDelay { line, delay_ns });
                }
            }
        }
        changes
    }
}

impl PathState {
    /// Divides what the links leave of the base RTT between its delay lines, as a scenario of that RTT has it.
    fn divide(&mut self, links: &[LinkState]) -> Result<(), String> {
        let sum_ns = |numbers: &[usize]| -> u64 {
            numbers.iter().map(|&number| links[number].delay_ns).sum()
        };
        let (route_ns, back_links_ns) = (sum_ns(&self.route), sum_ns(&self.back));
        let on_links_ns = route_ns + back_links_ns;
        let Some(rest_ns) = self.base_rtt_ns.checked_sub(on_links_ns) else {
            return Err(format!(
                "the base RTT of {} ns is shorter than its links' delays, {on_links_ns} ns; use a base RTT of at least {on_links_ns} ns, or change the delay of a link first",
                self.base_rtt_ns
            ));
        };
        let half_ns = (self.base_rtt_ns.saturating_sub(2 * route_ns) / 2).min(rest_ns);
        self.access_ns = match (self.access_line, self.back_line) {
            (None, _) => 0,
            (Some(_), Some(_)) => half_ns,
            (Some(_), None) => rest_ns,
        };
        self.back_ns = rest_ns - self.access_ns;
        if self.back_ns > 0 && self.back_line.is_none() {
            return Err(format!(
                "the base RTT cannot become {} ns, because links have all of it; change the delay of a link instead",
                self.base_rtt_ns
            ));
        }
        Ok(())
    }
}

impl Scenario {
    /// The same with changes that were made, at times in ns from the start of the run, as if they had been planned:
    /// rates and base RTTs. For what is read off the scenario after the run.
    #[must_use]
    pub fn with_changes(&self, changes: &[(u64, Change)]) -> Self {
        let mut changed = self.clone();
        for (at_ns, change) in changes {
            match change {
                Change::Rate {
                    link,
                    link_rate_bps,
                } => {
                    let is_it = |other: &&mut Link| other.name == *link;
                    for link in changed.links.iter_mut().filter(is_it) {
                        let step = RateStep {
                            at_ns: *at_ns,
                            link_rate_bps: *link_rate_bps,
                        };
                        let place = link.rate_steps.partition_point(|it| it.at_ns <= *at_ns);
                        link.rate_steps.insert(place, step);
                    }
                }
                Change::BaseRtt { group, base_rtt_ns } => {
                    let groups = changed.groups.iter_mut().enumerate();
                    let is_it = |index| group.is_none_or(|group| usize::from(group) == index);
                    for (_, group) in groups.filter(|(index, _)| is_it(*index)) {
                        let step = RttStep {
                            at_ns: *at_ns,
                            base_rtt_ns: *base_rtt_ns,
                        };
                        let place = group.rtt_steps.partition_point(|it| it.at_ns <= *at_ns);
                        group.rtt_steps.insert(place, step);
                    }
                }
                Change::Delay { .. } | Change::Loss { .. } => {}
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests;
