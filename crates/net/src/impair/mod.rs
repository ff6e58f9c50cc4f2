//! Impairments: what happens to packets on their way to a link's queue, or behind the link.
//!
//! An impairment is a file here: it declares its parameters (`settings!`) and what it does with
//! packets ([`Impair`]). Its name in `catalog!` below makes it known.
//!
//! `Impair::fate` decides of each packet whether it passes, is lost, is duplicated or is delayed; it may change the ECN
//! field. `ImpairmentSettings::place` is before the queue or behind the link. Behind the link an impairment is asked
//! when the packet goes on the wire, for the time at which its last bit will be through. Delayed packets are sorted
//! into the propagation line by their due times (`DelayLine::insert`), so reordering needs no heap and no event of its
//! own. An impairment that keeps order (`Order::Kept`) cannot follow one that changes it, because it would have to know
//! what overtakes a packet further on; `check_order` refuses such lists.
//!
//! A copy passes the impairments of its place by itself and is not copied again; before the queue it arrives by itself.
//! `Header::copy` gives it what a clone need not have: a frame's bytes. Observers learn of the copy (`duplicated`)
//! before they learn what became of the packet, so that what is shared (a SACK slot, a connection's count) is counted
//! before it may be released. A packet lost behind the link was forwarded by it.
//!
//! One that may be on either side of the queue has a parameter `place: Side`. One that holds packets back is behind
//! the link and says its `order()` and `most_late_ns()`.

use dumbbell_declare::{Parameter, Settings, catalog, choices};
use serde::Serialize;

use crate::{Header, Packet};

mod jitter_tables;
#[cfg(test)]
mod runs;

pub use policer::Policer;
pub use random_loss::RandomLoss;

/// The settings of an impairment.
pub trait ImpairmentSettings: Settings {
    /// The element that they make.
    type Element: Impair;

    /// Where packets pass it.
    fn place(&self) -> Place {
        Place::BeforeQueue
    }

    /// What it does to the order of packets.
    fn order(&self) -> Order {
        Order::Untouched
    }

    /// How long it holds a packet back at most, ns.
    fn most_late_ns(&self) -> u64 {
        0
    }

    /// Refuses settings that are each in their range and do not go together.
    fn check_together(&self) -> Result<(), String> {
        Ok(())
    }

    /// The element, with random numbers of its own, in a run that starts at `start_ns` of the engine's clock.
    fn build(&self, seed: u64, start_ns: u64) -> Self::Element;
}

/// Where on a link packets pass an impairment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before they join the queue: what is lost takes no time of the link.
    BeforeQueue,
    /// When their last bit is on the wire.
    BehindLink,
}

choices! {
    /// Where on a link packets pass an impairment that may be on either side of the queue.
    pub enum Side {
        /// Before they join the queue: what is lost takes no time of the link.
        before,
        /// Behind the link, when their last bit is on the wire.
        behind,
    }
}

impl From<Side> for Place {
    fn from(side: Side) -> Self {
        match side {
            Side::before => Self::BeforeQueue,
            Side::behind => Self::BehindLink,
        }
    }
}

/// What an impairment does to the order of the packets that pass it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It holds nothing back.
    Untouched,
    /// It holds packets back, and those behind them too, as one queue does.
    Kept,
    /// Packets may overtake others.
    Changed,
}

/// Refuses impairments of a link, in their order, of which one would keep packets in the order in which they
/// came to the link where another has changed it before: an element is asked when a packet leaves the link, before
/// it is known which packets overtake it further on.
pub fn check_order(impairments: &[ImpairmentConfig]) -> Result<(), String> {
    let is = |order| move |config: &&ImpairmentConfig| config.order() == order;
    let Some(first) = impairments
        .iter()
        .position(|config| config.order() == Order::Changed)
    else {
        return Ok(());
    };
    let mut after = impairments[first..].iter();
    let Some(keeps) = after.find(is(Order::Kept)) else {
        return Ok(());
    };
    let (changes, keeps) = (impairments[first].name(), keeps.name());
    Err(format!(
        "`{keeps}` keeps packets in order and comes after `{changes}`, which reorders them; put \
         `{keeps}` first"
    ))
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Passes,
    /// It is lost.
    Lost,
    /// It goes on, and a copy of it too, which passes all impairments of the place by itself but is
    /// not copied again.
    Twice,
    /// It goes on later by this time, ns: only behind a link. Packets that were not held back, or less,
    /// overtake it; an element that keeps their order says for each how late it must be for that.
    Late(u64),
}

impl Fate {
    /// Whether it is lost, or passes.
    #[inline]
    pub(crate) fn lost_if(is_lost: bool) -> Self {
        if is_lost { Self::Lost } else { Self::Passes }
    }
}

/// An element that packets pass.
pub trait Impair {
    /// What becomes of the packet that comes at `now_ns`. Before a queue times never go back; behind
    /// a link they do where an element in front of this one reorders.
    /// It may change what the IP header says, not the size.
    fn fate<H: Header>(&mut self, now_ns: u64, packet: &mut Packet<H>) -> Fate;
}

/// Sends a packet through all of `elements`: how much later it goes on, ns, if it does, and whether a
/// copy does too.
pub(crate) fn pass<H: Header>(
    elements: &mut [Impairment],
    now_ns: u64,
    packet: &mut Packet<H>,
) -> (Option<u64>, bool) {
    let (mut late_ns, mut is_copied) = (0, false);
    for element in elements {
        match element.fate(now_ns + late_ns, packet) {
            Fate::Passes => {}
            Fate::Lost => return (None, is_copied),
            Fate::Twice => is_copied = true,
            Fate::Late(ns) => late_ns += ns,
        }
    }
    (Some(late_ns), is_copied)
}

/// An impairment's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct ImpairmentDeclaration {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// Parameters that it declares.
    pub parameters: Vec<Parameter>,
}

catalog! { ($)
    /// An impairment as a scenario names it, with its settings.
    pub enum ImpairmentConfig, tag "kind", each_impairment:
    random_loss, gilbert_elliott, loss_state, bursts, every, listed, outage, corrupt, policer,
    duplicate, jitter, reorder, route_change, ack_thinning, bleach,
}

impl ImpairmentConfig {
    /// Refuses settings out of their ranges.
    pub fn check(&self) -> Result<(), String> {
        each_impairment!(self, config => config.check().and_then(|()| config.check_together()))
    }

    /// What it does to the order of packets.
    pub fn order(&self) -> Order {
        each_impairment!(self, config => config.order())
    }

    /// How long it holds a packet back at most, ns.
    pub fn most_late_ns(&self) -> u64 {
        each_impairment!(self, config => config.most_late_ns())
    }

    /// Where packets pass it.
    pub fn place(&self) -> Place {
        each_impairment!(self, config => config.place())
    }

    /// The element, with random numbers of its own, in a run that starts at `start_ns` of
    /// the engine's clock.
    pub fn build(&self, seed: u64, start_ns: u64) -> Impairment {
        each_impairment!(self as Impairment, config => config.build(seed, start_ns))
    }
}

each_impairment! {
    /// An impairment of a link. A packet passes those of one place in their order.
    pub enum Impairment: ImpairmentSettings::Element
}

impl Impair for Impairment {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, packet: &mut Packet<H>) -> Fate {
        each_impairment!(self, element => element.fate(now_ns, packet))
    }
}

/// Every impairment.
pub fn impairments() -> Vec<ImpairmentDeclaration> {
    each_impairment!(all Config, name => ImpairmentDeclaration {
        name,
        doc: <Config as Settings>::doc(),
        parameters: <Config as Settings>::parameters(),
    })
}

/// A packet of a flow, for tests.
#[cfg(test)]
pub(crate) fn sample_packet(flow: u32) -> Packet<()> {
    Packet {
        flow,
        wire_bytes: 1514,
        ecn: crate::Ecn::Ect0,
        hop: 0,
        arrived_ns: 0,
        header: (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_names_them_by_their_modules() {
        let json = r#"{"kind":"policer","rate_bps":8000000,"burst_bytes":1250}"#;
        let config: ImpairmentConfig = serde_json::from_str(json).expect("it is declared");
        assert_eq!(config.name(), "policer");
        assert_eq!(serde_json::to_string(&config).expect("JSON"), json);
        assert_eq!(config.check(), Ok(()));
        assert!(matches!(config.build(1, 0), Impairment::policer(_)));
    }

    #[test]
    fn what_must_be_set_has_no_value_in_its_range() {
        for name in ["policer", "random_loss"] {
            let json = format!(r#"{{"kind":"{name}"}}"#);
            let config: ImpairmentConfig = serde_json::from_str(&json).expect("it is declared");
            assert!(config.check().is_err(), "{name}");
        }
        let unknown = r#"{"kind":"policer","rate":5}"#;
        assert!(serde_json::from_str::<ImpairmentConfig>(unknown).is_err());
    }
}
