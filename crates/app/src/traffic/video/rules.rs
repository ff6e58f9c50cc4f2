//! How a player chooses the rate of its next chunk.

use super::{Config, Rule};
use crate::fixed_point::{ONE, log2, ratio, times};

/// What a player knows when it chooses.
pub(super) struct Outlook<'a> {
    pub(super) config: &'a Config,
    /// What the buffer holds, ns.
    pub(super) buffer_ns: u64,
    /// Throughputs of the last chunks, at least one, bit/s.
    pub(super) throughputs_bps: &'a [u64],
    /// How far the last predictions were off, in parts per million of what came.
    pub(super) errors_ppm: &'a [u64],
    /// Place of the last chunk's rate in the ladder.
    pub(super) last_rung: usize,
}

impl Outlook<'_> {
    fn ladder_bps(&self) -> &[u64] {
        &self.config.ladder_bps
    }

    /// The highest rate that is not above `bps`; else the lowest.
    fn rung_up_to(&self, bps: u64) -> usize {
        let above = self
            .ladder_bps()
            .partition_point(|&rate_bps| rate_bps <= bps);
        above.saturating_sub(1)
    }

    /// Harmonic mean of the last throughputs, bit/s: times add up, not rates.
    pub(super) fn mean_bps(&self) -> Option<u64> {
        let parts = 1_u128 << 64;
        let inverses = self
            .throughputs_bps
            .iter()
            .map(|&bps| parts / u128::from(bps.max(1)));
        let sum: u128 = inverses.sum();
        let mean_bps = (self.throughputs_bps.len() as u128 * parts).checked_div(sum)?;
        Some(u64::try_from(mean_bps).unwrap_or(u64::MAX))
    }
}

/// Place in the ladder of the next chunk's rate.
pub(super) fn choose(outlook: &Outlook<'_>) -> usize {
    match outlook.config.rule {
        Rule::bba => by_buffer(outlook),
        Rule::rate => {
            let mean_bps = outlook.mean_bps().unwrap_or(0);
            outlook.rung_up_to((u128::from(mean_bps) * 85 / 100) as u64)
        }
        Rule::mpc => by_plan(outlook),
        Rule::bola => by_utility(outlook),
    }
}

/// BBA-0 (Huang et al. 2014, Algorithm 1): a line from the lowest rate to the highest; the rate changes
/// only where the line reaches the next one.
fn by_buffer(outlook: &Outlook<'_>) -> usize {
    let (config, ladder_bps) = (outlook.config, outlook.ladder_bps());
    let highest = ladder_bps.len() - 1;
    let Some(above_ns) = outlook
        .buffer_ns
        .checked_sub(config.reservoir_ns)
        .filter(|&ns| ns > 0)
    else {
        return 0;
    };
    if above_ns >= config.cushion_ns {
        return highest;
    }
    let rise_bps = u128::from(ladder_bps[highest] - ladder_bps[0]);
    let risen_bps = rise_bps * u128::from(above_ns) / u128::from(config.cushion_ns);
    let line_bps = ladder_bps[0] + risen_bps as u64;
    let last = outlook.last_rung;
    if last < highest && line_bps >= ladder_bps[last + 1] {
        outlook.rung_up_to(line_bps)
    } else if last > 0 && line_bps <= ladder_bps[last - 1] {
        let below = ladder_bps.partition_point(|&rate_bps| rate_bps <= line_bps);
        below.min(highest)
    } else {
        last
    }
}

/// Chunks that MPC plans.
const HORIZON: u32 = 5;

/// RobustMPC (Yin et al. 2015): the first rate of the plan for five chunks that has the best QoE_lin with
/// the harmonic mean of the last throughputs, less what predictions were off at most.
fn by_plan(outlook: &Outlook<'_>) -> usize {
    let worst_ppm = outlook.errors_ppm.iter().copied().max().unwrap_or(0);
    let mean_bps = u128::from(outlook.mean_bps().unwrap_or(1));
    let robust_bps = mean_bps * 1_000_000 / (1_000_000 + u128::from(worst_ppm));
    let chunk_us = u128::from(outlook.config.chunk_ns / 1000);
    let fetch_us = |&rate_bps: &u64| {
        let fetch_us = u128::from(rate_bps) * chunk_us / robust_bps.max(1);
        // 30 years: long enough to be never, and short enough to add up.
        fetch_us.min(1_000_000_000_000_000) as i64
    };
    let plan = Plan {
        rates_bps: outlook.ladder_bps(),
        fetches_us: outlook.ladder_bps().iter().map(fetch_us).collect(),
        chunk_us: chunk_us as i64,
        buffer_us: (outlook.config.buffer_ns / 1000).cast_signed(),
    };
    let buffer_us = (outlook.buffer_ns / 1000).cast_signed();
    plan.best(outlook.last_rung, buffer_us, HORIZON).1
}

struct Plan<'a> {
    rates_bps: &'a [u64],
    /// How long a chunk of each rate takes to fetch.
    fetches_us: Vec<i64>,
    chunk_us: i64,
    /// What the buffer holds at most.
    buffer_us: i64,
}

impl Plan<'_> {
    /// QoE_lin in millionths of the best plan for the next `chunks`, and its first rung; of plans that are
    /// as good the lowest.
    fn best(&self, last_rung: usize, buffer_us: i64, chunks: u32) -> (i64, usize) {
        let mut best = (i64::MIN, 0);
        for (rung, &rate_bps) in self.rates_bps.iter().enumerate() {
            let stall_us = (self.fetches_us[rung] - buffer_us).max(0);
            let left_us = (buffer_us - self.fetches_us[rung]).max(0) + self.chunk_us;
            let change_bps = rate_bps.abs_diff(self.rates_bps[last_rung]);
            let gain = rate_bps.cast_signed() - stall_us * 43 / 10 - change_bps.cast_signed();
            let later = match chunks {
                1 => 0,
                _ => self.best(rung, left_us.min(self.buffer_us), chunks - 1).0,
            };
            if gain + later > best.0 {
                best = (gain + later, rung);
            }
        }
        best
    }
}

/// BOLA-BASIC (Spiteri et al. 2016): the rate with the largest (V(υ + γp) − Q)/S, with the utility
/// υ = ln(S/S₁), the buffer Q in chunks, γp = 5 and V such that the highest rate is taken up to a full
/// buffer.
fn by_utility(outlook: &Outlook<'_>) -> usize {
    let ladder_bps = outlook.ladder_bps();
    let gamma = 5 * ONE;
    let in_chunks = |ns: u64| ratio(i128::from(ns), i128::from(outlook.config.chunk_ns));
    let log2_of_lowest = log2(u128::from(ladder_bps[0]));
    // ln 2 with 48 places.
    let ln_2 = ONE * 6_931_471_805_599_453 / 10_000_000_000_000_000;
    let utility = |rate_bps: u64| times(log2(u128::from(rate_bps)) - log2_of_lowest, ln_2);
    let full = in_chunks(outlook.config.buffer_ns) - ONE;
    let highest = utility(ladder_bps[ladder_bps.len() - 1]);
    let v = ratio(full, highest + gamma);
    let mut best = 0;
    let score =
        |rung: usize| times(v, utility(ladder_bps[rung]) + gamma) - in_chunks(outlook.buffer_ns);
    for rung in 1..ladder_bps.len() {
        // Of fractions with positive denominators, without dividing.
        let here = score(rung) * i128::from(ladder_bps[best]);
        let there = score(best) * i128::from(ladder_bps[rung]);
        if here >= there {
            best = rung;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn rung(rule: Rule, buffer_s: u64, throughputs_bps: &[u64], last_rung: usize) -> usize {
        let config = Config {
            rule,
            ..Config::default()
        };
        choose(&Outlook {
            config: &config,
            buffer_ns: buffer_s * S,
            throughputs_bps,
            errors_ppm: &[],
            last_rung,
        })
    }

    /// Reservoir 5 s, cushion 10 s, 300 to 4300 kbit/s: 400 kbit/s for each second.
    #[test]
    fn bba_follows_its_line_with_a_memory() {
        let by_buffer = |buffer_s, last| rung(Rule::bba, buffer_s, &[1], last);
        assert_eq!(by_buffer(5, 3), 0);
        assert_eq!(by_buffer(15, 0), 5);
        // 700 kbit/s: not yet 750.
        assert_eq!(by_buffer(6, 0), 0);
        // 1100: above 750, and below 1200.
        assert_eq!(by_buffer(7, 0), 1);
        assert_eq!(by_buffer(7, 2), 2, "it has not fallen to 750");
        assert_eq!(by_buffer(7, 3), 2, "it has fallen below 1200");
        assert_eq!(by_buffer(12, 2), 4);
    }

    #[test]
    fn the_harmonic_mean_is_that_of_times() {
        // (1/1 + 1/3)/2 = 2/3: 1.5 Mbit/s, of which 85 % are 1.275.
        assert_eq!(rung(Rule::rate, 0, &[1_000_000, 3_000_000], 0), 2);
        assert_eq!(rung(Rule::rate, 0, &[1], 3), 0);
        assert_eq!(rung(Rule::rate, 0, &[u64::MAX; 5], 0), 5);
    }

    #[test]
    fn mpc_takes_what_the_link_carries_and_no_stall() {
        assert_eq!(rung(Rule::mpc, 5, &[3_000_000], 4), 4);
        assert_eq!(
            rung(Rule::mpc, 30, &[3_000_000], 4),
            5,
            "it spends what is in the buffer"
        );
        assert_eq!(rung(Rule::mpc, 1, &[350_000], 0), 0);
        assert_eq!(rung(Rule::mpc, 50, &[100_000_000], 5), 5);
        assert_eq!(rung(Rule::mpc, 0, &[1], 5), 0);
    }

    #[test]
    fn mpc_is_careful_after_wrong_predictions() {
        let config = Config {
            rule: Rule::mpc,
            ..Config::default()
        };
        let with_errors = |errors_ppm: &[u64]| {
            choose(&Outlook {
                config: &config,
                buffer_ns: 6 * S,
                throughputs_bps: &[3_000_000],
                errors_ppm,
                last_rung: 4,
            })
        };
        assert!(with_errors(&[2_000_000]) < with_errors(&[]));
    }

    #[test]
    fn bola_rises_with_the_buffer_to_the_highest_rate() {
        let rungs: Vec<usize> = (0..=56)
            .map(|buffer_s| rung(Rule::bola, buffer_s, &[1], 0))
            .collect();
        assert!(rungs.is_sorted(), "{rungs:?}");
        assert_eq!((rungs[0], rungs[56]), (0, 5));
    }
}
