//! A link of a scenario: its rate, its propagation delay, its queue, what is lost on it.

use serde::{Deserialize, Serialize};

pub use dumbbell_net::QueueConfig as Queue;
use dumbbell_net::impair::check_order as check_order_of_impairments;
use dumbbell_net::{
    FactsByHop, Header, Impairment, ImpairmentConfig, Limit, MediumConfig, MediumSite, Place,
    RandomLoss, RateChange, Site, Transmitter,
};

use crate::order::check_order;
use crate::random::element_seed;

/// Name of the only link of a dumbbell.
pub const BOTTLENECK: &str = "bottleneck";

/// A link in one direction and its queue. A default has no name, no rate and no buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What routes and results call it.
    pub name: String,
    /// Capacity on the wire, bit/s: Ethernet, IP and TCP headers count.
    pub link_rate_bps: u64,
    /// Later capacities, in order of time; usually none. One after the end of the run changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_steps: Vec<RateStep>,
    /// Propagation delay, ns. `None`: for a scenario's only link half the shortest base RTT, with
    /// several links 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// What happens to packets that find the link busy.
    pub queue: Queue,
    /// Packets that are lost at random on their way to the queue, parts per billion.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub random_loss_ppb: u32,
    /// What else happens to packets on their way to the queue, or behind the link, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impairments: Vec<ImpairmentConfig>,
    /// What carries its packets; `None`: a wire of its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumConfig>,
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

/// A change of the link's capacity. The packet that is on the wire then keeps the time it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When, ns from the start of the run.
    pub at_ns: u64,
    /// Capacity from then on, bit/s.
    pub link_rate_bps: u64,
}

impl Link {
    /// The link, idle, as number `place` of the network, in a run of `seed` that starts at `start_ns`
    /// of the engine's clock, with a propagation of `delay_ns`, whose packets have the `facts` that their headers do not say.
    pub(crate) fn build<H: Header>(
        &self,
        seed: u64,
        place: u64,
        start_ns: u64,
        delay_ns: u64,
        facts: &FactsByHop,
    ) -> dumbbell_net::Link<H> {
        let changes = self.rate_steps.iter().map(|step| RateChange {
            at_ns: start_ns.saturating_add(step.at_ns),
            link_rate_bps: step.link_rate_bps,
        });
        let site = Site {
            seed: element_seed(seed, "queue", place),
            link_rate_bps: self.link_rate_bps,
            facts: facts.clone(),
        };
        let mut link = dumbbell_net::Link::new(
            Vec::new(),
            self.queue.build(&site),
            Transmitter::new(self.link_rate_bps, changes.collect()),
        );
        self.impair(&mut link, seed, place, start_ns);
        if let Some(medium) = &self.medium {
            link.set_medium(medium.build(&MediumSite {
                seed: element_seed(seed, "medium", place),
                start_ns,
                link_rate_bps: self.link_rate_bps,
                delay_ns,
            }));
        }
        link
    }

    /// Adds its impairments, each with random numbers of its own, which depend on its number among those of
    /// its name only.
    fn impair<H: Header>(
        &self,
        link: &mut dumbbell_net::Link<H>,
        seed: u64,
        place: u64,
        start_ns: u64,
    ) {
        if self.random_loss_ppb > 0 {
            let seed = element_seed(seed, "loss", place);
            link.add_impairment(Impairment::random_loss(RandomLoss::new(
                self.random_loss_ppb,
                seed,
            )));
        }
        let seed = element_seed(seed, "impairment", place);
        for (index, config) in self.impairments.iter().enumerate() {
            let others = self.impairments[..index].iter();
            let number = others.filter(|other| other.name() == config.name()).count();
            let seed = element_seed(seed, config.name(), number as u64);
            let impairment = config.build(seed, start_ns);
            match config.place() {
                Place::BeforeQueue => link.add_impairment(impairment),
                Place::BehindLink => link.add_impairment_behind(impairment),
            }
        }
    }

    /// Whether packets may be lost, before its queue or behind it.
    pub fn impairs(&self) -> bool {
        self.random_loss_ppb > 0 || !self.impairments.is_empty()
    }

    /// Refuses settings of its medium that are out of range, have no effect, or do not fit its queue.
    pub fn check_medium(&self) -> Result<(), String> {
        let Some(medium) = &self.medium else {
            return Ok(());
        };
        if !self.rate_steps.is_empty() {
            return Err(format!(
                "`{}` of `{}` cannot be combined with rate steps; remove one of them",
                medium.name(),
                self.name
            ));
        }
        let checked = medium.check();
        checked.map_err(|what| format!("medium `{}`: {what}", medium.name()))?;
        if medium.needs_head() && !self.queue.shows_head() {
            return Err(format!(
                "the queue `{}` of `{}` chooses the next packet only when it dequeues, and `{}` has to know it before; use \
                 `pfifo`, `bfifo` or `dummynet`",
                self.queue.name(),
                self.name,
                medium.name()
            ));
        }
        Ok(())
    }

    /// Whether its queue marks packets.
    pub fn marks(&self) -> bool {
        self.queue.marks()
    }

    /// Wire bytes up to which it takes a super-packet whole; `None`: any.
    pub(crate) fn uncut_bytes(&self) -> Option<u64> {
        let medium = self.medium.as_ref().and_then(MediumConfig::uncut_bytes);
        [medium, self.queue.uncut_bytes()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Whether its propagation delay passes in its queue.
    pub(crate) fn holds_delay(&self) -> bool {
        self.medium.as_ref().is_some_and(MediumConfig::holds_delay)
    }

    /// Refuses settings of its queue that are out of range or do not go together.
    fn check_queue(&self) -> Result<(), String> {
        let name = self.queue.name();
        let checked = self.queue.check();
        checked.map_err(|what| format!("queue `{name}`: {what}"))
    }

    /// What the link can carry in the first `duration_ns`, bits; with a medium that is not known before,
    /// what its rate says.
    pub fn capacity_bits(&self, duration_ns: u64) -> f64 {
        let offered_bytes = self.medium.as_ref();
        if let Some(bytes) = offered_bytes.and_then(|medium| medium.offered_bytes(duration_ns)) {
            return bytes as f64 * 8.0;
        }
        let (mut bits, mut since_ns, mut rate_bps) = (0, 0, self.link_rate_bps);
        let end = RateStep {
            at_ns: duration_ns,
            link_rate_bps: 0,
        };
        for step in self.rate_steps_before(duration_ns).chain([&end]) {
            bits += u128::from(step.at_ns - since_ns) * u128::from(rate_bps);
            (since_ns, rate_bps) = (step.at_ns, step.link_rate_bps);
        }
        bits as f64 / 1e9
    }

    /// The largest capacity that it ever has in the first `duration_ns`, bit/s.
    pub fn highest_rate_bps(&self, duration_ns: u64) -> u64 {
        if let Some(medium) = &self.medium {
            return medium.peak_bps(self.link_rate_bps);
        }
        let later = self.rate_steps_before(duration_ns);
        later
            .map(|step| step.link_rate_bps)
            .fold(self.link_rate_bps, u64::max)
    }

    /// The steps before `end_ns`.
    fn rate_steps_before(&self, end_ns: u64) -> impl Iterator<Item = &RateStep> {
        let steps = self.rate_steps.iter();
        steps.take_while(move |step| step.at_ns < end_ns)
    }

    /// Refuses a link that carries nothing.
    pub(crate) fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if name.is_empty() {
            return Err("a link has no name; give it one, e.g. `access`".to_owned());
        }
        if self.link_rate_bps == 0 {
            return Err(format!(
                "the link rate of `{name}` is 0; use a rate above 0, e.g. `50mbit`"
            ));
        }
        check_order("rate", self.rate_steps.iter().map(|step| step.at_ns))?;
        if let Some(step) = self.rate_steps.iter().find(|step| step.link_rate_bps == 0) {
            return Err(format!(
                "the rate step at {} ns is to 0; use a rate above 0, e.g. `50mbit`",
                step.at_ns
            ));
        }
        if self.random_loss_ppb >= 1_000_000_000 {
            return Err(format!(
                "every packet is lost at random before `{name}`; use a loss below `100%`"
            ));
        }
        check_impairments(&self.impairments)?;
        self.check_medium()?;
        self.check_queue()
    }

    /// Refuses a queue that does not hold or never passes one packet of `wire_bytes`.
    pub(crate) fn check_holds(&self, wire_bytes: u64) -> Result<(), String> {
        let name = &self.name;
        if let Some(medium) = &self.medium
            && let Some(largest_bytes) = medium.largest_bytes()
            && largest_bytes < wire_bytes
        {
            return Err(format!(
                "`{}` of `{name}` passes packets of {largest_bytes} bytes at most, and those of {wire_bytes} \
                 bytes never; make its burst larger",
                medium.name()
            ));
        }
        match self.queue.limit() {
            Limit::Bytes(limit_bytes) if limit_bytes < wire_bytes => Err(format!(
                "the buffer of `{name}`, {limit_bytes} bytes, does not hold one packet of \
                 {wire_bytes} bytes; make it larger"
            )),
            _ => self.queue.check_passes(wire_bytes).map_err(|what| {
                let queue = self.queue.name();
                format!("queue `{queue}` of `{name}`: {what}")
            }),
        }
    }
}

/// Refuses impairments of a link, in their order, whose settings are out of range or do not fit together.
pub fn check_impairments(impairments: &[ImpairmentConfig]) -> Result<(), String> {
    impairments.iter().try_for_each(|config| {
        let checked = config.check();
        checked.map_err(|what| format!("impairment `{}`: {what}", config.name()))
    })?;
    check_order_of_impairments(impairments)
}
