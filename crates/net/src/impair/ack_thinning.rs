//! ACK thinning: only every n-th pure ACK of a flow passes.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::{Header, Packet};

/// Flows that are distinguished; those of one place share a count.
const PLACES: u32 = 1024;

settings! {
    /// Only every n-th pure ACK of a flow passes, as middleboxes of slow or aggregating uplinks do (RFC 3449, section 5.2.1).
    pub struct Config {
        /// n: every n-th ACK passes.
        every: u64 = 0, in 2..=1_000;
        /// Whether ACKs with SACK blocks, and those whose ECN flags differ from the latest one's, always pass.
        keep_news: bool = true;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = AckThinning;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, _seed: u64, _start_ns: u64) -> AckThinning {
        AckThinning {
            every: self.every as u32,
            keep_news: self.keep_news,
            flows: vec![(0, 0); PLACES as usize].into(),
        }
    }
}

/// Counts ACKs by flow.
#[derive(Clone, Debug)]
pub struct AckThinning {
    every: u32,
    keep_news: bool,
    /// ACKs since one passed, and the latest one's ECN flags.
    flows: Box<[(u32, u8)]>,
}

impl Impair for AckThinning {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, packet: &mut Packet<H>) -> Fate {
        let Some(ack) = packet.header.pure_ack() else {
            return Fate::Passes;
        };
        let (since_pkts, ecn_flags) = &mut self.flows[(packet.flow % PLACES) as usize];
        let before = std::mem::replace(ecn_flags, ack.ecn_flags);
        let is_news = self.keep_news && (ack.has_sack || before != ack.ecn_flags);
        *since_pkts += 1;
        let passes = is_news || *since_pkts >= self.every;
        if passes {
            *since_pkts = 0;
        }
        Fate::lost_if(!passes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ecn, PureAck};

    #[derive(Clone, Debug)]
    struct Ack(Option<PureAck>);

    impl Header for Ack {
        fn is_data(&self) -> bool {
            self.0.is_none()
        }

        fn is_forward(&self) -> bool {
            false
        }

        fn pure_ack(&self) -> Option<PureAck> {
            self.0
        }
    }

    fn packet(flow: u32, ack: Option<PureAck>) -> Packet<Ack> {
        Packet {
            flow,
            wire_bytes: 66,
            ecn: Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Ack(ack),
        }
    }

    fn ack(has_sack: bool, ecn_flags: u8) -> Option<PureAck> {
        Some(PureAck {
            number: 1448,
            ts_val: 0,
            ts_ecr: 0,
            ecn_flags,
            has_sack,
            says_more: false,
        })
    }

    fn element(keep_news: bool) -> AckThinning {
        let config = Config {
            every: 4,
            keep_news,
            ..Config::default()
        };
        config.build(1, 0)
    }

    #[test]
    fn every_fourth_ack_of_each_flow_passes() {
        let mut element = element(true);
        for number in 1..=100 {
            for flow in 0..3 {
                let fate = element.fate(0, &mut packet(flow, ack(false, 0)));
                assert_eq!(fate, Fate::lost_if(number % 4 != 0));
            }
        }
    }

    #[test]
    fn what_is_no_pure_ack_passes_and_does_not_count() {
        let mut element = element(true);
        for number in 1..=12 {
            assert_eq!(element.fate(0, &mut packet(0, None)), Fate::Passes);
            let fate = element.fate(0, &mut packet(0, ack(false, 0)));
            assert_eq!(fate, Fate::lost_if(number % 4 != 0));
        }
    }

    #[test]
    fn news_pass_if_they_are_to() {
        for keep_news in [true, false] {
            let mut element = element(keep_news);
            let mut fates = [ack(true, 0), ack(false, 1), ack(false, 1)]
                .map(|ack| element.fate(0, &mut packet(0, ack)));
            let passes = [keep_news, keep_news, false].map(|passes| Fate::lost_if(!passes));
            assert_eq!(fates, passes);
            fates[0] = element.fate(0, &mut packet(0, ack(false, 1)));
            assert_eq!(
                fates[0],
                Fate::lost_if(keep_news),
                "the fourth since one passed"
            );
        }
    }
}
