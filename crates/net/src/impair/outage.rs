//! Outages: times in which everything is lost.

use dumbbell_declare::settings;

use crate::fixed_point::{ONE, minus_ln_above};
use crate::impair::{Fate, Impair, ImpairmentSettings, Place, Side};
use crate::random::Random;
use crate::{Header, Packet};

/// The shortest time that a part of an outage's cycle may last, or the mean of that: turns are drawn one by one.
const LEAST_NS: u64 = 1_000;

/// The longest time that a part of an outage's cycle may last: a thousand days.
const MOST_NS: u64 = 86_400_000_000_000_000;

settings! {
    /// Times in which everything is lost: once, in turns of fixed lengths, or in exponential ones (mahimahi's `mm-onoff`).
    pub struct Config {
        /// How long everything is lost, or the mean of that.
        off_ns: u64 = 0, in LEAST_NS..=MOST_NS;
        /// How long packets pass between outages, or the mean of that; off: there is one outage only.
        on_ns: Option<u64> = None, in LEAST_NS..=MOST_NS;
        /// When the first outage begins, from the start of the run.
        at_ns: u64 = 0, in 0..=MOST_NS;
        /// How many outages there are where `on` is set; off: they do not end.
        times: Option<u64> = None, in 1..=1_000_000_000_000;
        /// Whether times on and off are drawn from exponential distributions.
        exponential: bool = false;
        /// Before the queue, where a lost packet takes no time of the link, or behind the link.
        place: Side = Side::before;
    }
}

impl ImpairmentSettings for Config {
    type Element = Outage;

    fn place(&self) -> Place {
        self.place.into()
    }

    fn build(&self, seed: u64, start_ns: u64) -> Outage {
        Outage {
            off_ns: self.off_ns,
            on_ns: self.on_ns,
            is_drawn: self.exponential,
            is_off: false,
            left: self.times.unwrap_or(u64::MAX),
            next_ns: start_ns.saturating_add(self.at_ns),
            random: Random::new(seed),
        }
    }
}

/// Passes and loses in turns.
#[derive(Clone, Debug)]
pub struct Outage {
    off_ns: u64,
    on_ns: Option<u64>,
    is_drawn: bool,
    is_off: bool,
    /// Outages to come.
    left: u64,
    /// When the next turn is; `u64::MAX`: never.
    next_ns: u64,
    random: Random,
}

impl Outage {
    /// Whether a packet at `now_ns` is lost. Times that go back count as the latest turn.
    #[inline]
    pub fn loses(&mut self, now_ns: u64) -> bool {
        if self.next_ns <= now_ns {
            self.skip(now_ns);
        }
        while self.next_ns <= now_ns {
            self.turn();
        }
        self.is_off
    }

    /// Leaves out whole cycles of fixed lengths before `now_ns`.
    #[cold]
    fn skip(&mut self, now_ns: u64) {
        if let (false, Some(on_ns)) = (self.is_drawn, self.on_ns) {
            let cycle_ns = self.off_ns + on_ns;
            // With outages that end, no more than those: the last turn is never left out.
            let cycles = ((now_ns - self.next_ns) / cycle_ns).min(self.left.saturating_sub(1));
            self.left -= cycles;
            self.next_ns += cycles * cycle_ns;
        }
    }

    #[cold]
    fn turn(&mut self) {
        self.is_off = !self.is_off;
        if self.is_off {
            self.left = self.left.saturating_sub(1);
        } else if self.left == 0 {
            self.next_ns = u64::MAX;
            return;
        }
        let mean_ns = if self.is_off {
            Some(self.off_ns)
        } else {
            self.on_ns
        };
        self.next_ns = mean_ns.map_or(u64::MAX, |mean_ns| {
            self.next_ns.saturating_add(self.length_ns(mean_ns))
        });
    }

    /// How long the time that begins lasts, ns; never nothing, so that turns end.
    fn length_ns(&mut self, mean_ns: u64) -> u64 {
        if !self.is_drawn {
            return mean_ns;
        }
        let means = minus_ln_above(self.random.bits());
        // At most 45 means: 2⁵⁷ · 2⁵⁴ fit.
        ((i128::from(mean_ns) * means / ONE) as u64).max(1)
    }
}

impl Impair for Outage {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        Fate::lost_if(self.loses(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn lost_ms(config: &Config, start_ns: u64, until_ms: u64) -> Vec<u64> {
        let mut element = config.build(1, start_ns);
        (0..until_ms)
            .filter(|ms| element.loses(start_ns + ms * MS))
            .collect()
    }

    #[test]
    fn one_outage_is_at_its_time_on_the_engine_s_clock() {
        let config = Config {
            at_ns: 10 * MS,
            off_ns: 5 * MS,
            ..Config::default()
        };
        for start_ns in [0, 12_345 * MS] {
            assert_eq!(lost_ms(&config, start_ns, 1000), [10, 11, 12, 13, 14]);
        }
    }

    #[test]
    fn fixed_turns_are_exact() {
        let config = Config {
            off_ns: 2 * MS,
            on_ns: Some(3 * MS),
            ..Config::default()
        };
        assert_eq!(lost_ms(&config, 0, 12), [0, 1, 5, 6, 10, 11]);
    }

    #[test]
    fn as_many_outages_as_are_asked_for() {
        let config = |times, at_ms| Config {
            off_ns: 2 * MS,
            on_ns: Some(3 * MS),
            at_ns: at_ms * MS,
            times: Some(times),
            ..Config::default()
        };
        assert_eq!(lost_ms(&config(1, 4), 0, 100), [4, 5]);
        assert_eq!(lost_ms(&config(3, 0), 7 * MS, 100), [0, 1, 5, 6, 10, 11]);
        // Looked at late, in the second outage, or after all of them.
        let mut element = config(2, 4).build(1, 0);
        assert!(element.loses(10 * MS));
        assert!(!element.loses(11 * MS) && !element.loses(14 * MS));
        let mut element = config(2, 4).build(1, 0);
        assert!(!element.loses(1000 * MS) && !element.loses(1004 * MS));
    }

    #[test]
    fn short_turns_cost_nothing_after_a_long_time() {
        let config = Config {
            off_ns: 1_000,
            on_ns: Some(1_001),
            ..Config::default()
        };
        let mut element = config.build(1, 7);
        for cycle in [0, 1, 1 << 50] {
            let start_ns = 7 + cycle * 2_001;
            assert!(element.loses(start_ns) && element.loses(start_ns + 999));
            assert!(!element.loses(start_ns + 1_000) && !element.loses(start_ns + 2_000));
        }
    }

    /// A share of off/(on + off) is lost; of n cycles it has a relative error of about √(2/n).
    #[test]
    fn exponential_turns_have_their_means() {
        let config = Config {
            off_ns: 20 * MS,
            on_ns: Some(80 * MS),
            exponential: true,
            ..Config::default()
        };
        let lost = lost_ms(&config, 0, 1_000_000);
        let share = lost.len() as f64 / 1e6;
        assert!(
            (share / 0.2 - 1.0).abs() < 4.0 * (2.0_f64 / 10_000.0).sqrt(),
            "{share}"
        );
        let outages = lost.windows(2).filter(|pair| pair[1] > pair[0] + 1).count() + 1;
        // Outages between two looks of a millisecond are not seen, and gaps that short join two.
        assert!((8_800..=10_400).contains(&outages), "{outages}");
    }
}
