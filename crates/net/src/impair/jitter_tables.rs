//! Tables of delay variation, as netem's: 4,096 equally likely values in units of σ/8192.

use crate::fixed_point::{ONE, log2, normal_quantile, times_power_of_2};

/// Entries of a table, and as a power of two.
pub(super) const ENTRIES: usize = 1 << ENTRIES_LOG2;
const ENTRIES_LOG2: u32 = 12;

/// σ in a table (netem's `NETEM_DIST_SCALE`).
pub(super) const SCALE: i64 = 8192;

/// What a table is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The standard normal distribution.
    Normal,
    /// (4/3)·(x^(−1/3) − 1.5) of a uniform x.
    Pareto,
    /// A quarter of the normal and three quarters of the Pareto value of one rank.
    ParetoNormal,
}

/// The values in rising order, each of the middle of its part of all ranks, within 16 bits: ±4 σ.
pub(super) fn table(shape: Shape) -> Box<[i16]> {
    let value = |entry: u64| match shape {
        Shape::Normal => normal(entry),
        Shape::Pareto => pareto(entry),
        Shape::ParetoNormal => (normal(entry) + 3 * pareto(entry)) / 4,
    };
    let range = i64::from(i16::MIN)..=i64::from(i16::MAX);
    (0..ENTRIES as u64)
        .map(|entry| value(entry).clamp(*range.start(), *range.end()) as i16)
        .collect()
}

fn normal(entry: u64) -> i64 {
    let rank = (2 * entry + 1) << (63 - ENTRIES_LOG2);
    let scaled = normal_quantile(rank) * i128::from(SCALE);
    ((scaled + ONE / 2).div_euclid(ONE)) as i64
}

fn pareto(entry: u64) -> i64 {
    // x is `above` of 2^places.
    let places = ENTRIES_LOG2 + 1;
    let above = (1_u128 << places) - u128::from(2 * entry + 1);
    let exponent = (i128::from(places) * ONE - log2(above)) / 3;
    let power = i128::from(times_power_of_2(1 << 32, exponent));
    let scaled = (power - (3 << 31)) * 4 * i128::from(SCALE);
    (scaled.div_euclid(3 << 32)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(shape: Shape) -> (f64, f64) {
        let values: Vec<f64> = (table(shape).iter())
            .map(|&value| f64::from(value) / SCALE as f64)
            .collect();
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
    fn the_normal_table_is_standard() {
        let (mean, deviation) = moments(Shape::Normal);
        assert!(mean.abs() < 0.001, "{mean}");
        assert!((deviation - 1.0).abs() < 0.01, "{deviation}");
    }

    /// The moments of netem's own table: from −0.67 to 4, with a mean of −0.03 and a deviation of 0.82. (That
    /// of the distribution that is not cut off at 4 is 0 and, of shape 3, (4/3)·√(3/4).)
    #[test]
    fn the_pareto_table_is_netem_s() {
        let (mean, deviation) = moments(Shape::Pareto);
        assert!((mean + 0.03).abs() < 0.01, "{mean}");
        assert!((deviation - 0.82).abs() < 0.01, "{deviation}");
        let table = table(Shape::Pareto);
        let least = f64::from(table[0]) / SCALE as f64;
        assert!((least + 2.0 / 3.0).abs() < 0.001, "{least}");
        assert_eq!(table[ENTRIES - 1], i16::MAX, "4 σ");
    }

    #[test]
    fn tables_rise_and_the_mixture_is_between_its_parts() {
        let [normal, pareto, both] = [Shape::Normal, Shape::Pareto, Shape::ParetoNormal].map(table);
        for table in [&normal, &pareto, &both] {
            assert!(table.is_sorted() && table.len() == ENTRIES);
        }
        for ((&normal, &pareto), &both) in normal.iter().zip(&pareto).zip(&both) {
            let (low, high) = (normal.min(pareto), normal.max(pareto));
            // Of 4 σ and more the mixture is made before it is cut off.
            assert!((low - 1..=high).contains(&both) || both == i16::MAX || pareto == i16::MAX);
        }
    }
}
