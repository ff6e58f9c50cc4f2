//! A route change: for a time packets take a path that is longer.

use dumbbell_declare::settings;

use crate::impair::{Fate, Impair, ImpairmentSettings, Order, Place};
use crate::{Header, Packet};

/// The longest detour and the latest time: a thousand days.
const MOST_NS: u64 = 86_400_000_000_000_000;

settings! {
    /// From a time on packets take longer behind the link, as over another route; later they may take the first one again. What is on its way then arrives first, or is overtaken.
    pub struct Config {
        /// When the longer route begins, from the start of the run.
        at_ns: u64 = 0, in 0..=MOST_NS;
        /// How much longer it takes.
        late_ns: u64 = 0, in 1..=MOST_NS;
        /// When packets take the first route again, from the start of the run; off: never.
        until_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Whether packets of the first route then overtake those still on the longer one; otherwise they wait behind them.
        reorder: bool = false;
    }
}

impl ImpairmentSettings for Config {
    type Element = RouteChange;

    fn place(&self) -> Place {
        Place::BehindLink
    }

    fn order(&self) -> Order {
        if self.reorder {
            Order::Changed
        } else {
            Order::Kept
        }
    }

    fn most_late_ns(&self) -> u64 {
        self.late_ns
    }

    fn check_together(&self) -> Result<(), String> {
        match self.until_ns {
            Some(until_ns) if until_ns <= self.at_ns => Err(format!(
                "`until_ns` is {until_ns}, not after `at_ns`, {}; use a later one",
                self.at_ns
            )),
            _ => Ok(()),
        }
    }

    fn build(&self, _seed: u64, start_ns: u64) -> RouteChange {
        RouteChange {
            from_ns: start_ns.saturating_add(self.at_ns),
            until_ns: (self.until_ns).map_or(u64::MAX, |ns| start_ns.saturating_add(ns)),
            late_ns: self.late_ns,
            keeps_order: !self.reorder,
            last_due_ns: 0,
        }
    }
}

/// Holds packets back for a time.
#[derive(Clone, Debug)]
pub struct RouteChange {
    from_ns: u64,
    until_ns: u64,
    late_ns: u64,
    keeps_order: bool,
    /// Where order is kept: no packet goes on before, ns.
    last_due_ns: u64,
}

impl Impair for RouteChange {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        let is_longer = (self.from_ns..self.until_ns).contains(&now_ns);
        let due_ns = now_ns + if is_longer { self.late_ns } else { 0 };
        if !self.keeps_order {
            return Fate::Late(due_ns - now_ns);
        }
        self.last_due_ns = self.last_due_ns.max(due_ns);
        Fate::Late(self.last_due_ns - now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::sample_packet;

    const MS: u64 = 1_000_000;

    /// How late packets are that leave the link a millisecond apart, ms.
    fn late_ms(config: &Config, start_ns: u64) -> Vec<u64> {
        assert_eq!(config.check_together(), Ok(()));
        let mut element = config.build(1, start_ns);
        (0..12)
            .map(
                |ms| match element.fate(start_ns + ms * MS, &mut sample_packet(0)) {
                    Fate::Late(late_ns) => late_ns / MS,
                    fate => panic!("{fate:?}"),
                },
            )
            .collect()
    }

    #[test]
    fn the_longer_route_is_taken_for_its_time_on_the_engine_s_clock() {
        let config = Config {
            at_ns: 3 * MS,
            until_ns: Some(6 * MS),
            late_ns: 4 * MS,
            reorder: true,
        };
        for start_ns in [0, 777 * MS] {
            let expected = [0, 0, 0, 4, 4, 4, 0, 0, 0, 0, 0, 0];
            assert_eq!(late_ms(&config, start_ns), expected);
            // The last one on the longer route is through after 9 ms.
            let in_order = Config {
                reorder: false,
                ..config.clone()
            };
            let expected = [0, 0, 0, 4, 4, 4, 3, 2, 1, 0, 0, 0];
            assert_eq!(late_ms(&in_order, start_ns), expected);
        }
    }

    #[test]
    fn without_an_end_it_stays() {
        let config = Config {
            at_ns: 10 * MS,
            late_ns: MS,
            ..Config::default()
        };
        assert_eq!(late_ms(&config, 0)[9..], [0, 1, 1]);
        let never = Config {
            until_ns: Some(10 * MS),
            ..config
        };
        assert!(never.check_together().is_err());
    }
}
