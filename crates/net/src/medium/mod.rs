//! Media: what carries a link's packets.
//!
//! Most links are a wire, [`Transmitter`], which serialises one packet after the other. Any other medium
//! is a file here: it declares its parameters (`settings!`) and what it does with packets ([`Carry`]).
//! Its name in `catalog!` below makes it known.
//!
//! A medium may hold its link's propagation delay (`holds_delay`; see `tclink_htb`). The propagation line of the link
//! is then 0, and `Carry::ready_ns` says when the queue's head may be taken. Only few disciplines know their head
//! (`Queue::head`); a scenario with another is refused. A packet's wait counts from the end of its delay
//! (`LinkPort::take`); the backlog includes packets still delayed.

use dumbbell_declare::{Parameter, Settings, catalog};
use serde::Serialize;

use crate::Head;
pub use channel::Channel;
pub use constant::{RateChange, Transmitter};
use opportunities::{Opportunities, Opportunity, OpportunitySource};

#[cfg(test)]
mod bench;
mod channel;
mod constant;
mod opportunities;
mod rate_process;

/// What a medium is built for.
#[derive(Clone, Copy, Debug, Default)]
pub struct MediumSite {
    /// Seed of its random numbers.
    pub seed: u64,
    /// When the run starts, ns of the engine's clock.
    pub start_ns: u64,
    /// The link's rate, bit/s: what the medium carries on average, if nothing else is said of it.
    pub link_rate_bps: u64,
    /// The link's propagation delay, ns: for a medium that holds it ([`MediumSettings::holds_delay`]).
    pub delay_ns: u64,
}

/// What a medium could have carried, and what it did, bytes as the medium counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// What it offered, used or not.
    pub offered_bytes: u64,
    /// Bytes of those that carried packets.
    pub carried_bytes: u64,
}

/// A link as its medium sees it.
pub trait Port {
    /// Packets that wait in the queue.
    fn backlog_pkts(&self) -> u64;

    /// Their wire bytes.
    fn backlog_bytes(&self) -> u64;

    /// Takes the next packet out of the queue and in hand, behind those in hand; its wire bytes.
    fn take(&mut self) -> Option<u32>;

    /// The first packet in hand is through at `done_ns`, and comes out `late_ns` after that and after
    /// the link's propagation. Neither time goes back from packet to packet.
    fn deliver(&mut self, done_ns: u64, late_ns: u64);

    /// The first packet in hand is lost at `done_ns`.
    fn lose(&mut self, done_ns: u64);
}

/// A medium. It is asked when it next has something to do after each event at its link, and after
/// each at a link with which it shares the channel.
pub trait Carry {
    /// When something happens next, ns, at `now_ns` or later; `u64::MAX`: nothing. A packet can be
    /// taken from `waiting_ns` on, if one waits.
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, channel: &mut Channel)
    -> u64;

    /// It happens: packets are taken and delivered.
    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, channel: &mut Channel);

    /// When the packet at the queue's head may be taken at the earliest, ns, where the discipline says which
    /// it is.
    fn ready_ns(&self, _head: &Head) -> u64 {
        0
    }

    /// How much of each packet's time in the queue is propagation delay and no waiting, ns.
    fn held_ns(&self) -> u64 {
        0
    }

    /// Until when the medium carries what was taken, ns.
    fn busy_until_ns(&self) -> u64;

    /// What it offered until `now_ns`; `None`: its rate, all the time.
    fn account(&mut self, _now_ns: u64) -> Option<Account> {
        None
    }
}

/// The settings of a medium.
pub trait MediumSettings: Settings {
    /// The element that they make.
    type Element: Carry;

    /// The medium of a link.
    fn build(&self, site: &MediumSite) -> Self::Element;

    /// Refuses settings that do not go together.
    fn check_together(&self) -> Result<(), String> {
        Ok(())
    }

    /// The largest rate at which packets of a link of `link_rate_bps` come out over some time, bit/s.
    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        link_rate_bps
    }

    /// What it offers from the start of a run to `duration_ns`, bytes, where that is known before.
    fn offered_bytes(&self, _duration_ns: u64) -> Option<u64> {
        None
    }

    /// Bytes of each packet that it does not count: link-layer headers that are not its own.
    fn uncounted_bytes(&self) -> u64 {
        0
    }

    /// Bytes that a link of `link_rate_bps` may carry above that in the long run: what it has saved up.
    fn saved_up_bytes(&self, _link_rate_bps: u64) -> u64 {
        0
    }

    /// Whether the link's propagation delay passes in its queue, before the medium takes a packet, and none
    /// is left behind the link.
    fn holds_delay(&self) -> bool {
        false
    }

    /// Whether it has to know which packet leaves the queue next: few disciplines say that.
    fn needs_head(&self) -> bool {
        false
    }

    /// Wire bytes up to which it takes a super-packet whole; larger ones are cut into their segments. `None`: it
    /// takes all whole.
    fn uncut_bytes(&self) -> Option<u64> {
        None
    }

    /// Wire bytes of the largest packet that it carries; `None`: any.
    fn largest_bytes(&self) -> Option<u64> {
        None
    }

    /// The channel that it shares with other links, if it does.
    fn channel(&self) -> Option<(u64, Channel)> {
        None
    }
}

/// A medium's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct MediumDeclaration {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Parameters that it declares.
    pub parameters: Vec<Parameter>,
}

catalog! { ($)
    /// A medium as a scenario names it, with its settings.
    pub enum MediumConfig, tag "kind", each_medium:
    trace, slot, wifi, docsis, cellular, mmwave, starlink, tclink_htb, tclink_tbf, dummynet_pipe
}

impl MediumConfig {
    /// Refuses settings that are out of range or do not go together.
    pub fn check(&self) -> Result<(), String> {
        each_medium!(self, config => config.check().and_then(|()| config.check_together()))
    }

    /// The medium of a link.
    pub fn build(&self, site: &MediumSite) -> Medium {
        each_medium!(self as Medium, config => config.build(site))
    }

    /// The largest rate at which packets of a link of `link_rate_bps` come out over some
    /// time, bit/s.
    pub fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        each_medium!(self, config => config.peak_bps(link_rate_bps))
    }

    /// What it offers from the start of a run to `duration_ns`, bytes, where that is known
    /// before.
    pub fn offered_bytes(&self, duration_ns: u64) -> Option<u64> {
        each_medium!(self, config => config.offered_bytes(duration_ns))
    }

    /// Bytes of each packet that it does not count.
    pub fn uncounted_bytes(&self) -> u64 {
        each_medium!(self, config => config.uncounted_bytes())
    }

    /// Bytes that a link of `link_rate_bps` may carry above that in the long run.
    pub fn saved_up_bytes(&self, link_rate_bps: u64) -> u64 {
        each_medium!(self, config => config.saved_up_bytes(link_rate_bps))
    }

    /// Whether the link's propagation delay passes in its queue.
    pub fn holds_delay(&self) -> bool {
        each_medium!(self, config => config.holds_delay())
    }

    /// Whether it has to know which packet leaves the queue next.
    pub fn needs_head(&self) -> bool {
        each_medium!(self, config => config.needs_head())
    }

    /// Wire bytes up to which it takes a super-packet whole; `None`: any.
    pub fn uncut_bytes(&self) -> Option<u64> {
        each_medium!(self, config => config.uncut_bytes())
    }

    /// Wire bytes of the largest packet that it carries; `None`: any.
    pub fn largest_bytes(&self) -> Option<u64> {
        each_medium!(self, config => config.largest_bytes())
    }

    /// The channel that it shares with other links of the same number, if it does.
    pub fn channel(&self) -> Option<(u64, Channel)> {
        each_medium!(self, config => config.channel())
    }
}

each_medium! {
    /// A medium that carries packets.
    pub enum Medium: MediumSettings::Element
}

impl Carry for Medium {
    fn next_event_ns(
        &mut self,
        now_ns: u64,
        waiting_ns: Option<u64>,
        channel: &mut Channel,
    ) -> u64 {
        each_medium!(self, element => element.next_event_ns(now_ns, waiting_ns, channel))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, channel: &mut Channel) {
        each_medium!(self, element => element.happen(now_ns, port, channel))
    }

    fn ready_ns(&self, head: &Head) -> u64 {
        each_medium!(self, element => element.ready_ns(head))
    }

    fn held_ns(&self) -> u64 {
        each_medium!(self, element => element.held_ns())
    }

    fn busy_until_ns(&self) -> u64 {
        each_medium!(self, element => element.busy_until_ns())
    }

    fn account(&mut self, now_ns: u64) -> Option<Account> {
        each_medium!(self, element => element.account(now_ns))
    }
}

/// Every medium but the wire.
pub fn media() -> Vec<MediumDeclaration> {
    each_medium!(all Config, name => MediumDeclaration {
        name,
        doc: <Config as Settings>::doc(),
        parameters: <Config as Settings>::parameters(),
    })
}
