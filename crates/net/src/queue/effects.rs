//! What a call of a queue discipline did to packets other than taking one in or giving one out.

use crate::{Ecn, Header, Packet};

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// The queue was full.
    Overflow,
    /// Active queue management decided so, with room left.
    Aqm,
    /// An impairment of the link, before the queue.
    Impairment,
}

impl DropReason {
    /// The reason as a capture notes it; nothing for a full queue, which is the usual one.
    pub fn note(self) -> &'static str {
        match self {
            Self::Overflow => "",
            Self::Aqm => "active queue management",
            Self::Impairment => "impairment",
        }
    }
}

/// Something that happened to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<H> {
    /// The packet that arrived was dropped; it never waited.
    Refused(Packet<H>, DropReason),
    /// A packet that had waited was dropped.
    Dropped(Packet<H>, DropReason),
    /// A packet was marked CE.
    Marked(Packet<H>),
}

/// What the last call did, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects<H> {
    effects: Vec<Effect<H>>,
}

impl<H> Effects<H> {
    /// Effects of which nothing has happened yet.
    pub fn new() -> Self {
        Self {
            effects: Vec::new(),
        }
    }

    /// The packet that arrived is dropped.
    #[inline]
    pub fn refuse(&mut self, packet: Packet<H>, reason: DropReason) {
        self.effects.push(Effect::Refused(packet, reason));
    }

    /// A packet that waited is dropped.
    #[inline]
    pub fn drop(&mut self, packet: Packet<H>, reason: DropReason) {
        self.effects.push(Effect::Dropped(packet, reason));
    }

    /// Marks `packet` CE; one that is marked already stays so, and is not reported again.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet<H>)
    where
        H: Header,
    {
        if packet.ecn != Ecn::Ce {
            packet.ecn = Ecn::Ce;
            self.effects.push(Effect::Marked(packet.clone()));
        }
    }

    /// Whether nothing happened.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }

    /// Takes all of it out.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Effect<H>> {
        self.effects.drain(..)
    }

    /// The packets that were dropped, to be looked at in tests.
    pub fn drops(&self) -> impl Iterator<Item = &Packet<H>> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Refused(packet, _) | Effect::Dropped(packet, _) => Some(packet),
            Effect::Marked(_) => None,
        })
    }
}

impl<H> Default for Effects<H> {
    fn default() -> Self {
        Self::new()
    }
}
