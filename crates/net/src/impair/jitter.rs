//! Delay variation: each packet is held back by a draw of its own.

use dumbbell_declare::settings;

use crate::impair::jitter_tables::{ENTRIES, SCALE, Shape, table};
use crate::impair::{Fate, Impair, ImpairmentSettings, Order, Place};
use crate::random::{CERTAIN_PPB, Random};
use crate::{Header, Packet};

/// The most that a draw's scale may be: a thousand seconds.
const MOST_NS: u64 = 1_000_000_000_000;

settings! {
    /// Packets are held back behind the link, each by a draw of its own, in their order as by one queue, or overtaking each other. Exactly one of the distributions is set.
    pub struct Config {
        /// What is added to each draw; what is below 0 then is 0.
        delay_ns: u64 = 0, in 0..=MOST_NS;
        /// Standard deviation of a normal distribution around `delay` (netem's table, cut off at 4 of them).
        normal_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Half the width of a uniform distribution around `delay`.
        uniform_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Scale of netem's Pareto distribution of shape 3: from -0.67 to 4 of it, 0 in the mean.
        pareto_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Scale of netem's mixture of a quarter normal and three quarters Pareto.
        paretonormal_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Mean of a normal distribution with a third of it as deviation, cut off at 0 and twice the mean (picoquic's).
        clipped_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Mean, roughly, of bad Wi-Fi as picoquic fitted it to measurements: steps of a millisecond, and above 1ms rare long ones of 90ms.
        wifi_ns: Option<u64> = None, in 1..=MOST_NS;
        /// Measured delays, each as likely as the others: `1ms;1ms;8ms`.
        table_ns: Option<Vec<u64>> = None, in 0..=MOST_NS;
        /// Whether packets overtake those that are held back longer; otherwise they wait behind them.
        reorder: bool = false;
    }
}

impl Config {
    fn measured(&self) -> Option<&[u64]> {
        self.table_ns.as_deref().filter(|table| !table.is_empty())
    }

    /// The scale of a distribution that has one number, and its shape.
    fn shapes(&self) -> impl Iterator<Item = Draw> {
        let of_table = |scale_ns: Option<u64>, shape| {
            scale_ns.map(|scale_ns| Draw::Table(scale_ns, table(shape)))
        };
        [
            of_table(self.normal_ns, Shape::Normal),
            of_table(self.pareto_ns, Shape::Pareto),
            of_table(self.paretonormal_ns, Shape::ParetoNormal),
            self.uniform_ns.map(Draw::Uniform),
            self.clipped_ns
                .map(|mean_ns| Draw::Clipped(mean_ns, table(Shape::Normal))),
            self.wifi_ns.map(|mean_ns| Draw::Wifi(Wifi::new(mean_ns))),
            self.measured()
                .map(|delays_ns| Draw::Measured(delays_ns.into())),
        ]
        .into_iter()
        .flatten()
    }
}

impl ImpairmentSettings for Config {
    type Element = Jitter;

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
        let most_ns = self.shapes().map(|draw| draw.most_ns()).max();
        self.delay_ns.saturating_add(most_ns.unwrap_or(0))
    }

    fn check_together(&self) -> Result<(), String> {
        let scales = [
            self.normal_ns,
            self.pareto_ns,
            self.paretonormal_ns,
            self.uniform_ns,
            self.clipped_ns,
            self.wifi_ns,
            self.measured().map(|table| table.len() as u64),
        ];
        match scales.iter().flatten().count() {
            1 => Ok(()),
            0 => Err("no distribution is set; use e.g. `normal_ns`".to_owned()),
            _ => Err("several distributions are set; use one".to_owned()),
        }
    }

    fn build(&self, seed: u64, _start_ns: u64) -> Jitter {
        Jitter {
            delay_ns: self.delay_ns as i64,
            draw: self.shapes().next().unwrap_or(Draw::Uniform(0)),
            keeps_order: !self.reorder,
            last_due_ns: 0,
            random: Random::new(seed),
        }
    }
}

/// Where draws come from.
#[derive(Clone, Debug)]
enum Draw {
    /// A scale, ns, and a table in units of it.
    Table(u64, Box<[i16]>),
    /// Half a width, ns.
    Uniform(u64),
    /// A mean, ns, and the normal table.
    Clipped(u64, Box<[i16]>),
    Wifi(Wifi),
    /// Delays that were measured, ns.
    Measured(Box<[u64]>),
}

impl Draw {
    /// The largest, ns.
    fn most_ns(&self) -> u64 {
        match self {
            Self::Table(scale_ns, table) => {
                let most = table.iter().copied().max().unwrap_or(0);
                of_entry(*scale_ns, most).max(0) as u64
            }
            Self::Uniform(half_ns) => *half_ns,
            Self::Clipped(mean_ns, _) => 2 * mean_ns,
            Self::Wifi(wifi) => wifi.most_ns(),
            Self::Measured(delays_ns) => delays_ns.iter().copied().max().unwrap_or(0),
        }
    }
}

/// Holds packets back.
#[derive(Clone, Debug)]
pub struct Jitter {
    delay_ns: i64,
    draw: Draw,
    keeps_order: bool,
    /// Where order is kept: no packet goes on before, ns.
    last_due_ns: u64,
    random: Random,
}

impl Jitter {
    /// How much a packet is held back for itself, ns.
    #[inline]
    fn late_ns(&mut self) -> u64 {
        let random = &mut self.random;
        let draw_ns = match &self.draw {
            Draw::Table(scale_ns, table) => of_table(*scale_ns, table, random),
            Draw::Uniform(half_ns) => random.below(2 * half_ns + 1) as i64 - *half_ns as i64,
            // Three deviations are the mean.
            Draw::Clipped(mean_ns, table) => {
                let mean_ns = *mean_ns as i64;
                let deviation_ns = of_table(mean_ns as u64, table, random) / 3;
                mean_ns + deviation_ns.clamp(-mean_ns, mean_ns)
            }
            Draw::Wifi(wifi) => wifi.draw_ns(random) as i64,
            Draw::Measured(delays_ns) => {
                delays_ns[random.below(delays_ns.len() as u64) as usize] as i64
            }
        };
        (self.delay_ns + draw_ns).max(0) as u64
    }
}

fn of_table(scale_ns: u64, table: &[i16], random: &mut Random) -> i64 {
    of_entry(scale_ns, table[random.below(ENTRIES as u64) as usize])
}

fn of_entry(scale_ns: u64, entry: i16) -> i64 {
    (i128::from(scale_ns) * i128::from(entry) / i128::from(SCALE)) as i64
}

impl Impair for Jitter {
    #[inline]
    fn fate<H: Header>(&mut self, now_ns: u64, _packet: &mut Packet<H>) -> Fate {
        let late_ns = self.late_ns();
        if !self.keeps_order {
            return Fate::Late(late_ns);
        }
        self.last_due_ns = self.last_due_ns.max(now_ns + late_ns);
        Fate::Late(self.last_due_ns - now_ns)
    }
}

/// Bad Wi-Fi as picoquic's simulated link has it: a Poisson number of milliseconds, 1 in the mean, and sometimes
/// one of 7.5 ms, 12 in the mean; both made continuous by a uniform part of a step.
#[derive(Clone, Debug)]
struct Wifi {
    /// Probability of a long one.
    long_ppb: u64,
    short: Box<[u64]>,
    long: Box<[u64]>,
}

const SHORT_STEP_NS: u64 = 1_000_000;
const LONG_STEP_NS: u64 = 7_500_000;
/// A mean above the short steps' makes long ones likelier, up to always at 85 ms.
const ALWAYS_LONG_NS: u64 = 84_000_000;

impl Wifi {
    fn new(mean_ns: u64) -> Self {
        let above_ns = mean_ns.saturating_sub(SHORT_STEP_NS).min(ALWAYS_LONG_NS);
        Self {
            long_ppb: CERTAIN_PPB * above_ns / ALWAYS_LONG_NS,
            // e⁻¹ and e⁻¹² in 2⁻⁶⁴.
            short: poisson(1, 6_786_177_901_268_885_274),
            long: poisson(12, 113_340_712_816_370),
        }
    }

    /// The largest that its tables allow, ns.
    fn most_ns(&self) -> u64 {
        let long = if self.long_ppb > 0 {
            self.long.len()
        } else {
            0
        };
        self.short.len() as u64 * SHORT_STEP_NS + long as u64 * LONG_STEP_NS
    }

    fn draw_ns(&self, random: &mut Random) -> u64 {
        let short = rank_in(&self.short, random.bits());
        let mut drawn_ns = short * SHORT_STEP_NS;
        if short > 0 {
            drawn_ns -= random.below(SHORT_STEP_NS);
        }
        if random.happens(self.long_ppb) {
            let long = rank_in(&self.long, random.bits());
            drawn_ns += long * LONG_STEP_NS;
            if long > 1 {
                drawn_ns -= random.below(LONG_STEP_NS);
            }
        }
        drawn_ns
    }
}

/// The cumulative Poisson distribution with this mean, in 2⁻⁶⁴; `none` is the probability of 0.
fn poisson(mean: u64, none: u64) -> Box<[u64]> {
    let (mut sums, mut term, mut sum) = (Vec::new(), u128::from(none), 0_u128);
    for number in 1_u128.. {
        sum += term;
        sums.push(u64::try_from(sum).unwrap_or(u64::MAX));
        term = term * u128::from(mean) / number;
        if term == 0 {
            break;
        }
    }
    sums.into()
}

/// How many of the sums a rank reaches.
fn rank_in(sums: &[u64], rank: u64) -> u64 {
    sums.partition_point(|&sum| sum <= rank) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::impair::sample_packet;

    const MS: u64 = 1_000_000;

    fn late_ms(config: &Config, packets: u64) -> Vec<f64> {
        assert_eq!(config.check_together(), Ok(()));
        let mut element = config.build(1, 0);
        (0..packets)
            .map(|_| element.late_ns() as f64 / MS as f64)
            .collect()
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
            / count;
        (mean, variance.sqrt())
    }

    #[test]
    fn no_draw_is_larger_than_the_most() {
        type Scale = fn(&mut Config) -> &mut Option<u64>;
        let scales: [(Scale, u64); 7] = [
            (|config| &mut config.normal_ns, MS),
            (|config| &mut config.uniform_ns, MS),
            (|config| &mut config.pareto_ns, MS),
            (|config| &mut config.paretonormal_ns, MS),
            (|config| &mut config.clipped_ns, MS),
            (|config| &mut config.wifi_ns, MS),
            (|config| &mut config.wifi_ns, 9 * MS),
        ];
        let late = Config {
            delay_ns: 20 * MS,
            ..Config::default()
        };
        let scaled = scales.map(|(scale, scale_ns)| {
            let mut config = late.clone();
            *scale(&mut config) = Some(scale_ns);
            config
        });
        let measured = Config {
            table_ns: Some(vec![MS, 7 * MS, 3 * MS]),
            ..late
        };
        for config in scaled.into_iter().chain([measured]) {
            let most_ms = config.most_late_ns() as f64 / MS as f64;
            let drawn_ms = late_ms(&config, 100_000).into_iter().fold(0.0, f64::max);
            assert!(drawn_ms <= most_ms, "{config:?}");
            // Its last values are rare, those of Wi-Fi very rare.
            let reached = if config.wifi_ns.is_some() { 0.3 } else { 0.99 };
            assert!(
                drawn_ms - 20.0 >= reached * (most_ms - 20.0),
                "{config:?}: {drawn_ms} of {most_ms}"
            );
        }
    }

    /// With a delay of 10 scales nothing is cut off at 0.
    #[test]
    fn draws_have_the_distributions_moments() {
        let base = Config {
            delay_ns: 20 * MS,
            ..Config::default()
        };
        let set = |set: fn(&mut Config)| {
            let mut config = base.clone();
            set(&mut config);
            mean_and_deviation(&late_ms(&config, 200_000))
        };
        for ((mean, deviation), expected) in [
            (set(|config| config.normal_ns = Some(2 * MS)), (20.0, 2.0)),
            // Uniform: half the width over √3.
            (
                set(|config| config.uniform_ns = Some(2 * MS)),
                (20.0, 1.1547),
            ),
            (set(|config| config.pareto_ns = Some(2 * MS)), (19.94, 1.64)),
            (
                set(|config| config.clipped_ns = Some(2 * MS)),
                (22.0, 0.6667),
            ),
            (
                set(|config| config.table_ns = Some(vec![0, 4 * MS])),
                (22.0, 2.0),
            ),
        ] {
            assert!((mean - expected.0).abs() < 0.02, "{mean}, {expected:?}");
            assert!(
                (deviation - expected.1).abs() < 0.02,
                "{deviation}, {expected:?}"
            );
        }
    }

    /// The short part is N − U where N > 0: 1 − (1 − e⁻¹)/2 = 0.684 ms; the long part, of one packet in 84/9 at
    /// 10 ms, 12·7.5 − 7.5/2 = 86.25 ms.
    #[test]
    fn bad_wifi_is_short_steps_and_rare_long_ones() {
        let config = |mean_ns| Config {
            wifi_ns: Some(mean_ns),
            ..Config::default()
        };
        let (mean, _) = mean_and_deviation(&late_ms(&config(MS), 200_000));
        assert!((mean - 0.684).abs() < 0.01, "{mean}");
        let late = late_ms(&config(10 * MS), 400_000);
        let (mean, _) = mean_and_deviation(&late);
        assert!((mean - 0.684 - 86.25 * 9.0 / 84.0).abs() < 0.2, "{mean}");
        let long = late.iter().filter(|&&late| late > 20.0).count() as f64;
        assert!((long / 4e5 - 9.0 / 84.0).abs() < 0.003, "{long}");
    }

    #[test]
    fn what_would_be_early_goes_on_at_once() {
        let config = Config {
            normal_ns: Some(2 * MS),
            ..Config::default()
        };
        let late = late_ms(&config, 100_000);
        let at_once = late.iter().filter(|&&late| late == 0.0).count();
        assert!((49_000..=51_000).contains(&at_once), "{at_once}");
    }

    #[test]
    fn one_distribution_is_set() {
        let several = Config {
            normal_ns: Some(MS),
            wifi_ns: Some(MS),
            ..Config::default()
        };
        let none = Config {
            table_ns: Some(Vec::new()),
            ..Config::default()
        };
        for config in [several, none, Config::default()] {
            assert!(config.check_together().is_err(), "{config:?}");
        }
    }

    proptest! {
        /// In order: no packet comes before one that came before it, none before its own draw, and each exactly
        /// then unless one in front of it is later.
        #[test]
        fn the_order_is_kept_and_no_packet_is_early(
            seed in any::<u64>(),
            scale_ns in 1..20 * MS,
            gaps_ns in prop::collection::vec(0..3 * MS, 1..300),
        ) {
            let config = Config { normal_ns: Some(scale_ns), delay_ns: scale_ns, ..Config::default() };
            let mut in_order = config.build(seed, 0);
            let mut free = Config { reorder: true, ..config }.build(seed, 0);
            let (mut now_ns, mut last_ns) = (0, 0);
            for gap_ns in gaps_ns {
                now_ns += gap_ns;
                let Fate::Late(own_ns) = free.fate(now_ns, &mut sample_packet(0)) else {
                    return Err(TestCaseError::fail("it is held back"));
                };
                let fate = in_order.fate(now_ns, &mut sample_packet(0));
                last_ns = last_ns.max(now_ns + own_ns);
                prop_assert_eq!(fate, Fate::Late(last_ns - now_ns));
            }
        }
    }
}
