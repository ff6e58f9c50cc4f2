//! Corruption: packets with a wrong byte, which the receiver's checksum drops, or does not see.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, RandomLoss};
use crate::random::Random;
use crate::{Header, Packet};

settings! {
    /// Packets arrive with a wrong byte and are dropped by the receiver's checksum: random loss behind the link, which costs its time. Or they are delivered with it.
    pub struct Config {
        /// Probability that a packet is corrupted.
        probability_ppb: u64 = 0, in 1..=999_999_999;
        /// Most packets that are corrupted in a row: the one after them passes without a draw. Off: any number.
        max_run: Option<u64> = None, in 1..=4_294_967_295;
        /// Whether the receiver gets the packet, one of the first bytes of its UDP payload wrong and the checksum right: for programs and QUIC flows, whose protocol has to find out. Others' packets then pass as they are, and simulated ones without payload are lost.
        delivered: bool = false;
    }
}

impl ImpairmentSettings for Config {
    type Element = Corrupt;

    fn place(&self) -> Place {
        Place::BehindLink
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Corrupt {
        Corrupt {
            which: RandomLoss::new(self.probability_ppb as u32, seed).with_max_run(self.max_run),
            delivered: self.delivered,
            // Another use of the same seed: not the sequence that chooses the packets.
            bytes: Random::new(!seed),
        }
    }
}

/// What [`Config`] builds: it corrupts packets.
#[derive(Clone, Debug)]
pub struct Corrupt {
    which: RandomLoss,
    delivered: bool,
    bytes: Random,
}

impl Impair for Corrupt {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, packet: &mut Packet<H>) -> Fate {
        if !self.which.loses() {
            return Fate::Passes;
        }
        let is_delivered = self.delivered && packet.header.garble(self.bytes.bits());
        Fate::lost_if(!is_delivered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps what it was garbled with.
    #[derive(Clone, Debug, Default)]
    struct Payload(Option<u64>);

    impl Header for Payload {
        fn is_data(&self) -> bool {
            true
        }

        fn is_forward(&self) -> bool {
            true
        }

        fn garble(&mut self, draw: u64) -> bool {
            self.0 = Some(draw);
            true
        }
    }

    fn packet() -> Packet<Payload> {
        Packet {
            flow: 0,
            wire_bytes: 1514,
            ecn: crate::Ecn::NotEct,
            hop: 0,
            arrived_ns: 0,
            header: Payload::default(),
        }
    }

    #[test]
    fn the_same_packets_are_lost_or_delivered_with_a_wrong_byte() {
        let config = |delivered| Config {
            probability_ppb: 300_000_000,
            max_run: Some(3),
            delivered,
        };
        let (mut losing, mut garbling) = (config(false).build(5, 0), config(true).build(5, 0));
        let mut garbled = 0;
        for _ in 0..1000 {
            let (mut lost, mut delivered) = (packet(), packet());
            let is_lost = losing.fate(0, &mut lost) == Fate::Lost;
            assert_eq!(garbling.fate(0, &mut delivered), Fate::Passes);
            assert_eq!(is_lost, delivered.header.0.is_some());
            assert_eq!(lost.header.0, None);
            garbled += usize::from(is_lost);
        }
        // 0.3, a little less for the limit: 1000 of them, 290 ± 4 standard deviations of 14.
        assert!((234..=346).contains(&garbled), "{garbled}");
    }

    #[test]
    fn what_has_no_payload_is_lost() {
        let config = Config {
            probability_ppb: 999_999_999,
            delivered: true,
            ..Config::default()
        };
        let mut packet = crate::impair::sample_packet(0);
        assert_eq!(config.build(1, 0).fate(0, &mut packet), Fate::Lost);
    }
}
