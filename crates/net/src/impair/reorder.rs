//! Reordering by displacement: some packets come later than those behind them, or earlier than those before them.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Order, Place};
use crate::random::{CERTAIN_PPB, Random};
use crate::{Header, Packet};

/// The longest displacement: a thousand seconds.
const MOST_NS: u64 = 1_000_000_000_000;

settings! {
    /// Some packets overtake others behind the link: those that are drawn come `late`, or all others are held back and they come `early`, as netem's `reorder`. `gap=2` alone is a path that splits in two.
    pub struct Config {
        /// Probability that a packet is displaced.
        probability_ppb: u64 = CERTAIN_PPB, in 1..=CERTAIN_PPB;
        /// The least number of packets from one that is displaced to the next: with a probability of 100 % it is exact.
        gap: u64 = 1, in 1..=1_000_000_000;
        /// How much later a displaced packet comes.
        late_ns: Option<u64> = None, in 1..=MOST_NS;
        /// How much later all others come.
        early_ns: Option<u64> = None, in 1..=MOST_NS;
    }
}

impl ImpairmentSettings for Config {
    type Element = Reorder;

    fn place(&self) -> Place {
        Place::BehindLink
    }

    fn order(&self) -> Order {
        Order::Changed
    }

    fn most_late_ns(&self) -> u64 {
        self.late_ns.or(self.early_ns).unwrap_or(0)
    }

    fn check_together(&self) -> Result<(), String> {
        if self.late_ns.is_some() == self.early_ns.is_some() {
            return Err("use `late_ns` or `early_ns`, one of them".to_owned());
        }
        if self.probability_ppb == CERTAIN_PPB && self.gap == 1 {
            return Err(
                "every packet is displaced by as much, so none overtakes another; use a lower \
                 `probability_ppb`, or a larger `gap`"
                    .to_owned(),
            );
        }
        Ok(())
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Reorder {
        Reorder {
            probability_ppb: self.probability_ppb,
            gap: self.gap,
            displaced_ns: self.late_ns.unwrap_or(0),
            others_ns: self.early_ns.unwrap_or(0),
            since_pkts: 0,
            random: Random::new(seed),
        }
    }
}

/// What [`Config`] builds: it displaces packets.
#[derive(Clone, Debug)]
pub struct Reorder {
    probability_ppb: u64,
    gap: u64,
    /// How much later displaced packets come, and the others.
    displaced_ns: u64,
    others_ns: u64,
    /// Packets since the last one that was displaced.
    since_pkts: u64,
    random: Random,
}

impl Impair for Reorder {
    /// Like netem: the first `gap` − 1 packets after a displaced one draw nothing.
    #[inline]
    fn fate<H: Header>(&mut self, _now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        self.since_pkts += 1;
        if self.since_pkts >= self.gap && self.random.happens(self.probability_ppb) {
            self.since_pkts = 0;
            return Fate::Late(self.displaced_ns);
        }
        Fate::Late(self.others_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::sample_packet;

    const MS: u64 = 1_000_000;

    /// The numbers of packets sent a millisecond apart, in the order in which they come; of one time the one that
    /// was sent first.
    fn arrivals(config: &Config, seed: u64, packets: u64) -> Vec<u64> {
        assert_eq!(config.check_together(), Ok(()));
        let mut element = config.build(seed, 0);
        let mut due: Vec<(u64, u64)> = (0..packets)
            .map(|number| {
                let now_ns = number * MS;
                match element.fate(now_ns, &mut sample_packet(0)) {
                    Fate::Late(late_ns) => (now_ns + late_ns, number),
                    fate => panic!("{fate:?}"),
                }
            })
            .collect();
        due.sort_unstable();
        due.into_iter().map(|(_, number)| number).collect()
    }

    /// RFC 4737 §4.2.1: the extent of a packet that comes after ones sent later is its place less the
    /// place of the first of them.
    fn extents(arrivals: &[u64]) -> Vec<usize> {
        let mut highest: Vec<u64> = Vec::new();
        let mut extents = Vec::new();
        for (place, &number) in arrivals.iter().enumerate() {
            let first = highest.partition_point(|&high| high < number);
            if first < place {
                extents.push(place - first);
            }
            highest.push(number.max(highest.last().copied().unwrap_or(0)));
        }
        extents
    }

    /// netem's `reorder 25% gap 1 delay 10ms` with packets a millisecond apart: a quarter skips the
    /// delay and comes ten packets early.
    #[test]
    fn a_quarter_comes_ten_packets_early() {
        let config = Config {
            probability_ppb: 250_000_000,
            early_ns: Some(10 * MS),
            ..Config::default()
        };
        let packets = 20_000;
        for seed in 0..5 {
            let mut element = config.build(seed, 0);
            let is_early: Vec<bool> = (0..packets)
                .map(|_| element.fate(0, &mut sample_packet(0)) == Fate::Late(0))
                .collect();
            let early = is_early.iter().filter(|&&is_early| is_early).count() as f64;
            // 4 standard deviations of √(n·¼·¾).
            assert!((early - 5_000.0).abs() < 4.0 * 61.3, "{early}");
            let mut sent = arrivals(&config, seed, packets);
            let mut place = vec![0; sent.len()];
            for (at, &number) in sent.iter().enumerate() {
                place[number as usize] = at;
            }
            // One that is early overtakes those of the nine before it that are not; the tenth comes at the same time.
            for number in 10..sent.len() {
                for before in number - 10..number {
                    let overtakes = place[number] < place[before];
                    let expected = is_early[number] && !is_early[before] && before + 10 > number;
                    assert_eq!(overtakes, expected, "{number}, {before}");
                }
            }
            sent.sort_unstable();
            assert!(sent.into_iter().eq(0..packets), "none is lost or doubled");
        }
    }

    #[test]
    fn a_gap_alone_displaces_exactly_every_so_many() {
        let config = Config {
            gap: 5,
            late_ns: Some(5 * MS / 2),
            ..Config::default()
        };
        // Packets 4, 9, … come two and a half milliseconds late: behind two others.
        assert_eq!(arrivals(&config, 1, 11), [0, 1, 2, 3, 5, 6, 4, 7, 8, 10, 9]);
        let extents = extents(&arrivals(&config, 1, 1_000));
        // The last one has none behind it.
        assert_eq!(extents, [2; 199]);
    }

    /// Packets that take two paths in turns: half of them are overtaken, each by the packets of half the
    /// difference.
    #[test]
    fn a_gap_of_two_is_a_path_that_splits() {
        let config = Config {
            gap: 2,
            late_ns: Some(10 * MS + MS / 2),
            ..Config::default()
        };
        let extents = extents(&arrivals(&config, 1, 1_000));
        assert!((490..=500).contains(&extents.len()), "{}", extents.len());
        // Of the ten packets behind it five took the shorter path.
        assert!(
            extents
                .iter()
                .skip(10)
                .rev()
                .skip(10)
                .all(|&extent| (5..=10).contains(&extent))
        );
    }

    #[test]
    fn what_does_nothing_is_refused() {
        let late = Config {
            late_ns: Some(MS),
            ..Config::default()
        };
        let both = Config {
            gap: 2,
            early_ns: Some(MS),
            ..late.clone()
        };
        for config in [Config::default(), late, both] {
            assert!(config.check_together().is_err(), "{config:?}");
        }
    }
}
