//! What middleboxes do to the IP header's ECN field.

use dumbbell_declare::{choices, settings};

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::{CERTAIN_PPB, Random};
use crate::{Ecn, Header, Packet};

choices! {
    /// What becomes of an ECN field.
    pub enum Becomes {
        /// Every packet is Not-ECT: the field is cleared, and congestion marks with it.
        not_ect,
        /// ECT(1) becomes ECT(0), as by equipment that knows only RFC 3168.
        ect0,
        /// Every ECN-capable packet is marked CE.
        ce,
    }
}

settings! {
    /// The IP header's ECN field is changed, as faulty middleboxes do: cleared, its ECT(1) lost, or set to CE.
    pub struct Config {
        /// What the field becomes: `not_ect` of all packets, `ect0` of those with ECT(1), `ce` of the ECN-capable.
        becomes: Becomes = Becomes::not_ect;
        /// Probability that a packet's field is changed.
        probability_ppb: u64 = CERTAIN_PPB, in 1..=CERTAIN_PPB;
        /// Before the queue, which then sees the new field, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = Bleach;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Bleach {
        Bleach {
            becomes: self.becomes,
            probability_ppb: self.probability_ppb,
            random: Random::new(seed),
        }
    }
}

/// Changes ECN fields.
#[derive(Clone, Debug)]
pub struct Bleach {
    becomes: Becomes,
    probability_ppb: u64,
    random: Random,
}

impl Impair for Bleach {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, packet: &mut Packet<H>) -> Fate {
        let changed = match (self.becomes, packet.ecn) {
            (Becomes::not_ect, _) => Ecn::NotEct,
            (Becomes::ect0, Ecn::Ect1) => Ecn::Ect0,
            (Becomes::ce, Ecn::Ect0 | Ecn::Ect1) => Ecn::Ce,
            (_, unchanged) => unchanged,
        };
        if self.random.happens(self.probability_ppb) {
            packet.ecn = changed;
        }
        Fate::Passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::sample_packet;

    const ALL: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

    fn fields(becomes: Becomes) -> [Ecn; 4] {
        let config = Config {
            becomes,
            ..Config::default()
        };
        let mut element = config.build(1, 0);
        ALL.map(|ecn| {
            let mut packet = Packet {
                ecn,
                ..sample_packet(0)
            };
            assert_eq!(element.fate(0, &mut packet), Fate::Passes);
            packet.ecn
        })
    }

    #[test]
    fn fields_become_what_was_asked_for() {
        assert_eq!(fields(Becomes::not_ect), [Ecn::NotEct; 4]);
        assert_eq!(
            fields(Becomes::ect0),
            [Ecn::NotEct, Ecn::Ect0, Ecn::Ect0, Ecn::Ce]
        );
        assert_eq!(
            fields(Becomes::ce),
            [Ecn::NotEct, Ecn::Ce, Ecn::Ce, Ecn::Ce]
        );
    }

    #[test]
    fn a_share_of_the_packets_is_changed() {
        let config = Config {
            probability_ppb: 300_000_000,
            ..Config::default()
        };
        let mut element = config.build(1, 0);
        let changed = (0..10_000)
            .filter(|_| {
                let mut packet = sample_packet(0);
                element.fate(0, &mut packet);
                packet.ecn == Ecn::NotEct
            })
            .count();
        // 3,000 ± 4·√2,100.
        assert!((2_817..=3_183).contains(&changed), "{changed}");
    }
}
