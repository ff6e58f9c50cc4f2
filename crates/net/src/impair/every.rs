//! Every n-th packet is lost.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::{Header, Packet};

settings! {
    /// Every n-th packet is lost, exactly: the loss that response functions are about.
    pub struct Config {
        /// n: every n-th packet is lost.
        n: u64 = 0, in 1..=1_000_000_000_000;
        /// Packets that pass before counting begins.
        offset: u64 = 0, in 0..=1_000_000_000_000;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = Every;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, _seed: u64, _start_ns: u64) -> Every {
        Every {
            n: self.n,
            until_loss: self.offset + self.n,
        }
    }
}

/// What [`Config`] builds: it counts packets.
#[derive(Clone, Debug)]
pub struct Every {
    n: u64,
    /// Packets until the next loss, the lost one among them.
    until_loss: u64,
}

impl Impair for Every {
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        self.until_loss -= 1;
        let is_lost = self.until_loss == 0;
        if is_lost {
            self.until_loss = self.n;
        }
        Fate::lost_if(is_lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::sample_packet;

    #[test]
    fn one_of_n_is_lost_after_the_offset() {
        for (n, offset) in [(1, 0), (4, 0), (4, 3), (100, 1)] {
            let config = Config {
                n,
                offset,
                ..Config::default()
            };
            let mut element = config.build(1, 0);
            let lost: Vec<u64> = (1..=1000)
                .filter(|_| element.fate(0, &mut sample_packet(0)) == Fate::Lost)
                .collect();
            let expected: Vec<u64> = (1..)
                .map(|k| offset + k * n)
                .take_while(|&at| at <= 1000)
                .collect();
            assert_eq!(lost, expected);
        }
    }
}
