//! What to run: the resolved scenario, in integers and base units.
//!
//! Python's `dumbbell.Scenario` is the user's form (quantities with units, BDP);
//! this is what it resolves to, and the only thing besides the congestion
//! controls' builds that a run depends on.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::group::Group;
use crate::link::{BOTTLENECK, Link, Queue};
use crate::random::{element_generator, up_to};
use crate::refusal::Refusal;

/// Groups of flows over links.
///
/// A default has neither links nor flows, which [`Scenario::check`] refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Seed of every random generator of the run.
    pub seed: u64,
    /// How long it lasts, ns.
    pub duration_ns: u64,
    /// Interval of the time series, ns; 0 records none.
    pub sample_interval_ns: u64,
    /// Memory of all sockets above which they are under pressure, bytes; `None`: there is enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp_mem_bytes: Option<u64>,
    /// The links, by whose names groups have their routes. Their order changes nothing.
    pub links: Vec<Link>,
    /// The flows, in groups that are alike. Flows are numbered through the groups in order.
    pub groups: Vec<Group>,
}

/// Largest number of rows of a run's time series; more do not fit in the memory of most machines.
pub const MAX_ROWS: u64 = 100_000_000;

impl Scenario {
    /// A dumbbell, still without flows and time: its only link is the bottleneck.
    pub fn dumbbell(link_rate_bps: u64, queue: Queue) -> Self {
        let bottleneck = Link {
            name: BOTTLENECK.to_owned(),
            link_rate_bps,
            queue,
            ..Link::default()
        };
        Self {
            links: vec![bottleneck],
            ..Self::default()
        }
    }

    /// Refuses queues of a kernel, for engines in which no kernel has any.
    pub fn check_queues_are_ours(&self) -> Result<(), Refusal> {
        let of_kernel = |link: &Link| Some((link.name.clone(), link.queue.of_kernel()?.name()));
        match self.links.iter().find_map(of_kernel) {
            Some((link, queue)) => Err(Refusal(format!(
                "queue `kernel:{queue}` of `{link}` is of a guest's kernel; use `{queue}`, or `--engine uml`"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses what no engine can run; each message names the value and the remedy.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |message: String| Err(Refusal(message));
        for link in &self.links {
            link.check().or_else(refuse)?;
        }
        if self.duration_ns == 0 {
            return refuse("the time is 0; use a time above 0, like `120s`".to_owned());
        }
        if self.groups.iter().all(|group| group.flows == 0) {
            return refuse(
                "there are no flows; use at least one congestion control algorithm".to_owned(),
            );
        }
        let samples = self
            .duration_ns
            .checked_div(self.sample_interval_ns)
            .unwrap_or(0);
        let flows: u64 = self.groups.iter().map(|group| u64::from(group.flows)).sum();
        let links = self.links.len() as u64;
        for (count, what) in [
            (flows, "flows"),
            (links, "links"),
            (self.crossings(), "link crossings"),
        ] {
            if samples.saturating_mul(count) > MAX_ROWS {
                return refuse(format!(
                    "{count} {what} sampled every {} ns make more than {MAX_ROWS} rows; sample less often",
                    self.sample_interval_ns
                ));
            }
        }
        for group in &self.groups {
            group.check(self.duration_ns).or_else(refuse)?;
        }
        self.check_routes().or_else(refuse)
    }
}

impl Scenario {
    /// Links that the groups' data and ACKs cross, at most; what waits of a group is sampled at each.
    fn crossings(&self) -> u64 {
        let of_group = |group: &Group| (group.route.len().max(1) + group.back.len()) as u64;
        self.groups.iter().map(of_group).sum()
    }

    /// The same with each group's dither drawn from the seed and added to its base RTTs.
    ///
    /// What arrives in step with a link's departures gets each place that becomes free in a full
    /// queue, or none: which, a fraction of a packet's time in the RTT decides (Floyd and Jacobson,
    /// "On traffic phase effects in packet-switched gateways", 1992). With a dither of a packet's
    /// time, repetitions average over it.
    #[must_use]
    pub fn with_drawn_rtts(&self) -> Cow<'_, Self> {
        if self.groups.iter().all(|group| group.rtt_dither_ns == 0) {
            return Cow::Borrowed(self);
        }
        let mut drawn = self.clone();
        for (index, group) in (0..).zip(&mut drawn.groups) {
            let mut generator = element_generator(self.seed, "rtt_dither", index);
            let dither_ns = up_to(&mut generator, std::mem::take(&mut group.rtt_dither_ns));
            group.base_rtt_ns = group.base_rtt_ns.saturating_add(dither_ns);
            for step in &mut group.rtt_steps {
                step.base_rtt_ns = step.base_rtt_ns.saturating_add(dither_ns);
            }
        }
        Cow::Owned(drawn)
    }

    /// Smallest base RTT that any group ever has, ns.
    pub fn shortest_base_rtt_ns(&self) -> u64 {
        let base_rtts_ns = self.groups.iter();
        base_rtts_ns
            .map(|group| group.shortest_base_rtt_ns(self.duration_ns))
            .min()
            .unwrap_or(0)
    }

    /// Largest base RTT that any group ever has, ns.
    pub fn longest_base_rtt_ns(&self) -> u64 {
        let base_rtts_ns = self.groups.iter();
        base_rtts_ns
            .flat_map(|group| group.base_rtts_ns(self.duration_ns))
            .max()
            .unwrap_or(0)
    }

    /// Flows of all groups together.
    pub fn flow_count(&self) -> usize {
        self.groups.iter().map(|group| group.flows as usize).sum()
    }
}
