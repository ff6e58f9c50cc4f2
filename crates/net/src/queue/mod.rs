//! Queue disciplines: their contract, and the list of them.
//!
//! A discipline is a file here: it declares its parameters (`settings!`), its facts ([`Discipline`])
//! and what it does with packets ([`Queue`]). Its name in `catalog!` below makes it known to
//! scenarios, the engines and Python.
//!
//! From the list `catalog!` makes the scenario's enum and its JSON, the running enum (not a trait object, because
//! it is called several times per packet), and the table that Python gets from `_core.queue_disciplines()`. Python has
//! no discipline's name anywhere: the grammar of `queue`, errors, `dumbbell list queues`, completion and the guide's
//! pages come from the table. The verdict uses facts (`is_fifo`), not names. Impairments, media, applications and
//! distributions work in the same way. rustfmt does not see modules that a macro declares, so the Makefile names these
//! files to it.
//!
//! A link's transmitter is due when something waits and the wire is free. A discipline that holds packets back says
//! when it wants to be asked (`has_clock`, `next_event`); an arrival may move that earlier. `dequeue` may return
//! nothing while packets wait.
//!
//! What a discipline drops or marks goes through [`Effects`], with the reason. It allocates nothing per packet. Random
//! numbers come from `Site::seed`. One that lets packets of a flow overtake one another overrides `keeps_order`.

mod effects;
mod fifo;
mod flow_hash;
mod flow_queues;

use dumbbell_declare::{Amount, Changed, Parameter, Settings, catalog};
use serde::Serialize;

use crate::{FactsByHop, Header, Packet};

pub use self::kernel::KernelQueue;
pub use effects::{DropReason, Effect, Effects};
pub use fifo::{Fifo, Limit};

/// What a discipline is, with any parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Whether packets leave in the order in which they came, so that none waits longer than a full
    /// queue takes.
    pub is_fifo: bool,
    /// Whether it can mark packets.
    pub can_mark: bool,
    /// Whether packets may wait while the link is idle: a shaper's.
    pub holds_back: bool,
    /// Those of its statistics ([`Queue::statistics`]) that change all the time and that a time series shows.
    pub series: &'static [&'static str],
}

/// What a queue is given by its place in a network.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// Seed of its random numbers.
    pub seed: u64,
    /// The link's first rate, bit/s.
    pub link_rate_bps: u64,
    /// Hosts and DSCP of packets whose headers do not have them.
    pub facts: FactsByHop,
}

/// What the settings of a discipline say of it.
pub trait Discipline: Settings {
    /// What holds for all settings.
    const FACTS: Facts;

    /// The queue that they make.
    type Queue<H>;

    /// How much may wait.
    fn limit(&self) -> Limit;

    /// Whether it marks packets with these settings.
    fn marks(&self) -> bool;

    /// Whether packets of a flow leave in the order in which they came.
    fn keeps_order(&self) -> bool {
        true
    }

    /// Whether [`Queue::head`] says which packet leaves next.
    fn shows_head(&self) -> bool {
        false
    }

    /// Wire bytes up to which it takes a super-packet whole; larger ones it cuts into their segments. `None`:
    /// it takes all whole, as most do.
    fn uncut_bytes(&self) -> Option<u64> {
        None
    }

    /// Refuses settings that are each in their range and do not go together.
    fn check_together(&self) -> Result<(), String> {
        Ok(())
    }

    /// Refuses settings with which no packet of `wire_bytes` ever passes, other than too small a limit.
    fn check_passes(&self, _wire_bytes: u64) -> Result<(), String> {
        Ok(())
    }

    /// An empty queue.
    fn build<H: Header>(&self, site: &Site) -> Self::Queue<H>;
}

/// A discipline's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct DisciplineDeclaration {
    /// Its Linux name.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// What it is.
    pub facts: Facts,
    /// Parameters that it declares.
    pub parameters: Vec<Parameter>,
}

catalog! { ($)
    /// A queue discipline as a scenario names it, by its Linux name, with its settings.
    pub enum QueueConfig, tag "kind", each_discipline:
    bfifo, pfifo, step, dummynet, fq, sfq, drr, tbf, codel, fq_codel, pie, fq_pie, red, dualpi2,
    cake, kernel
}

impl QueueConfig {
    /// What it is.
    pub fn facts(&self) -> Facts {
        each_discipline!(self, config => facts_of(config))
    }

    /// How much may wait.
    pub fn limit(&self) -> Limit {
        each_discipline!(self, config => config.limit())
    }

    /// Whether it marks packets.
    pub fn marks(&self) -> bool {
        each_discipline!(self, config => config.marks())
    }

    /// Whether packets of a flow leave in the order in which they came.
    pub fn keeps_order(&self) -> bool {
        each_discipline!(self, config => config.keeps_order())
    }

    /// Whether [`Queue::head`] says which packet leaves next.
    pub fn shows_head(&self) -> bool {
        each_discipline!(self, config => config.shows_head())
    }

    /// Wire bytes up to which it takes a super-packet whole; `None`: any.
    pub fn uncut_bytes(&self) -> Option<u64> {
        each_discipline!(self, config => config.uncut_bytes())
    }

    /// Refuses settings out of their ranges.
    pub fn check(&self) -> Result<(), String> {
        each_discipline!(self, config => config.check().and_then(|()| config.check_together()))
    }

    /// The parameters that are not at their defaults.
    pub fn changed(&self) -> Vec<Changed> {
        each_discipline!(self, config => config.changed())
    }

    /// Refuses settings with which no packet of `wire_bytes` ever passes, other than too small a
    /// limit.
    pub fn check_passes(&self, wire_bytes: u64) -> Result<(), String> {
        each_discipline!(self, config => config.check_passes(wire_bytes))
    }

    /// An empty queue.
    pub fn build<H: Header>(&self, site: &Site) -> QueueDiscipline<H> {
        each_discipline!(self as QueueDiscipline, config => config.build(site))
    }
}

each_discipline! {
    /// A running discipline. An enumeration and not a trait object, because a link asks its
    /// queue several times per packet.
    pub enum QueueDiscipline<H>: Discipline::Queue
}

impl<H: Header> Queue<H> for QueueDiscipline<H> {
    #[inline(always)]
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>) {
        each_discipline!(self, queue => queue.enqueue(now_ns, packet, effects))
    }

    #[inline(always)]
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>> {
        each_discipline!(self, queue => queue.dequeue(now_ns, effects))
    }

    #[inline]
    fn has_clock(&self) -> bool {
        each_discipline!(self, queue => Queue::<H>::has_clock(queue))
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        each_discipline!(self, queue => Queue::<H>::next_event(queue))
    }

    #[inline]
    fn backlog_pkts(&self) -> u64 {
        each_discipline!(self, queue => Queue::<H>::backlog_pkts(queue))
    }

    #[inline]
    fn backlog_bytes(&self) -> u64 {
        each_discipline!(self, queue => Queue::<H>::backlog_bytes(queue))
    }

    fn drop_tail_limit(&self) -> Option<Limit> {
        each_discipline!(self, queue => Queue::<H>::drop_tail_limit(queue))
    }

    fn head(&self) -> Option<Head> {
        each_discipline!(self, queue => Queue::<H>::head(queue))
    }

    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>)) {
        each_discipline!(self, queue => queue.for_each(look))
    }

    fn statistics(&self, tell: &mut dyn FnMut(&'static str, u64)) {
        each_discipline!(self, queue => Queue::<H>::statistics(queue, tell))
    }
}

/// Every discipline of ours. A kernel's are named like them.
pub fn disciplines() -> Vec<DisciplineDeclaration> {
    let mut all = each_discipline!(all Config, name => DisciplineDeclaration {
        name,
        doc: <Config as Settings>::doc(),
        facts: <Config as Discipline>::FACTS,
        parameters: <Config as Settings>::parameters(),
    });
    all.retain(|discipline| discipline.name != kernel::NAME);
    all
}

fn facts_of<C: Discipline>(_config: &C) -> Facts {
    C::FACTS
}

impl QueueConfig {
    /// Drop-tail: `bfifo` or `pfifo`, by what its limit counts.
    pub fn drop_tail(limit: Limit) -> Self {
        match limit {
            Limit::Bytes(limit_bytes) => bfifo::Config { limit_bytes }.into(),
            Limit::Packets(limit_pkts) => pfifo::Config { limit_pkts }.into(),
        }
    }

    /// Drop-tail with the same limit that marks above `threshold`.
    pub fn marking_above(&self, threshold: Amount) -> Self {
        let limit = match self.limit() {
            Limit::Bytes(bytes) => Amount::Bytes(bytes),
            Limit::Packets(packets) => Amount::Pkts(packets),
        };
        step::Config { limit, threshold }.into()
    }

    /// The settings of the kernel's discipline, if it is one.
    pub fn of_kernel(&self) -> Option<&Self> {
        match self {
            Self::kernel(config) => Some(&config.like),
            _ => None,
        }
    }

    /// Whether it is `bfifo` or `pfifo`.
    pub fn is_drop_tail(&self) -> bool {
        *self == Self::drop_tail(self.limit())
    }
}

impl Default for QueueConfig {
    /// A drop-tail queue of no size, which cannot be run.
    fn default() -> Self {
        Self::drop_tail(Limit::Bytes(0))
    }
}

/// What is known of the packet that leaves a queue next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// When it joined the queue, ns.
    pub arrived_ns: u64,
    /// Its wire bytes.
    pub wire_bytes: u32,
}

impl Head {
    pub(crate) fn of<H>(packet: &Packet<H>) -> Self {
        Self {
            arrived_ns: packet.arrived_ns,
            wire_bytes: packet.wire_bytes,
        }
    }
}

/// A queue discipline: decides which packet waits, which goes next and which is dropped or marked.
///
/// Drops may happen on either side (drop-tail at enqueue, CoDel at dequeue), so both calls are given
/// a place to put what they did. A discipline that holds packets back on a clock of its own (a
/// shaper) says so by [`Queue::has_clock`] and [`Queue::next_event`].
pub trait Queue<H> {
    /// Takes `packet` in at `now_ns`, or refuses it; others may be dropped for its sake.
    fn enqueue(&mut self, now_ns: u64, packet: Packet<H>, effects: &mut Effects<H>);

    /// The next packet to transmit, if any; `None` although something waited is legal.
    fn dequeue(&mut self, now_ns: u64, effects: &mut Effects<H>) -> Option<Packet<H>>;

    /// Whether [`Queue::next_event`] may say anything.
    fn has_clock(&self) -> bool {
        false
    }

    /// When the discipline wants [`Queue::dequeue`] called, ns, which an arrival may move earlier;
    /// `None` when a packet can be had at once or nothing waits.
    fn next_event(&self) -> Option<u64> {
        None
    }

    /// The packet that [`Queue::dequeue`] gives next, whenever it is called; `None` where nothing waits or
    /// the discipline decides it only then.
    fn head(&self) -> Option<Head> {
        None
    }

    /// How much may wait, of a queue that decides by nothing else: [`Fifo`].
    fn drop_tail_limit(&self) -> Option<Limit> {
        None
    }

    /// Waiting packets; a super-packet is one.
    fn backlog_pkts(&self) -> u64;

    /// Waiting wire bytes.
    fn backlog_bytes(&self) -> u64;

    /// Calls `look` with every waiting packet.
    fn for_each(&self, look: &mut dyn FnMut(&Packet<H>));

    /// Calls `show` with what the discipline counts and where it stands, apart from what every queue has: the
    /// names are those of `tc -s qdisc`, with the unit as suffix (`_pkts`, `_bytes`, `_ns`, `_ppb`, `_bps`).
    fn statistics(&self, _tell: &mut dyn FnMut(&'static str, u64)) {}
}
