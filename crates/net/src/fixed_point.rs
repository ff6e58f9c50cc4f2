//! Logarithms, powers and the normal distribution in integers: the same on every machine.
//!
//! A number x is held as x·2⁴⁸ ("Q48"), in `i128` where products need the room.

/// Number of binary places.
const PLACES: u32 = 48;
/// The number 1.
pub const ONE: i128 = 1 << PLACES;
/// The natural logarithm of 2.
const LN_2: i128 = decimal(6_931_471_805_599_453, 16);

/// `digits`·10^−`places`, rounded down.
const fn decimal(digits: i128, places: u32) -> i128 {
    digits * ONE / 10_i128.pow(places)
}

/// a·b, rounded down.
pub fn times(a: i128, b: i128) -> i128 {
    (a * b) >> PLACES
}

/// a/b, rounded towards 0.
pub fn ratio(a: i128, b: i128) -> i128 {
    (a << PLACES) / b
}

/// √a, rounded down; `a` is not negative.
pub fn square_root(a: i128) -> i128 {
    (a << PLACES).isqrt()
}

/// log₂ of a positive whole number, to within 2⁻⁴⁷: the binary places come one by one from squaring.
pub fn log2(number: u128) -> i128 {
    let places = number.ilog2();
    // In [1, 2), with 63 binary places.
    let mut mantissa = ((number << (127 - places)) >> 64) as u64;
    let mut fraction = 0_u64;
    for _ in 0..PLACES {
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 63;
        let is_two_or_more = square >> 64;
        mantissa = (square >> is_two_or_more) as u64;
        fraction = fraction << 1 | is_two_or_more as u64;
    }
    (i128::from(places) << PLACES) + i128::from(fraction)
}

/// 2^(2⁻¹), 2^(2⁻²), … with 63 binary places.
const ROOTS_OF_2: [u64; PLACES as usize] = {
    let mut roots = [0; PLACES as usize];
    let mut square = 1_u128 << 64;
    let mut place = 0;
    while place < roots.len() {
        square = (square << 63).isqrt();
        roots[place] = square as u64;
        place += 1;
    }
    roots
};

/// `factor`·2^`exponent`, rounded; `u64::MAX` where it is more. Relative error below 2⁻⁴⁷, besides
/// the rounding.
pub fn times_power_of_2(factor: u64, exponent: i128) -> u64 {
    let fraction = (exponent & (ONE - 1)) as u64;
    let mut power = 1_u64 << 63;
    for (place, &root) in ROOTS_OF_2.iter().enumerate() {
        if fraction >> (PLACES as usize - 1 - place) & 1 == 1 {
            power = ((u128::from(power) * u128::from(root)) >> 63) as u64;
        }
    }
    let product = u128::from(factor) * u128::from(power);
    // The product has 63 places too many.
    let excess = 63 - (exponent >> PLACES);
    let rounded = match u32::try_from(excess) {
        Ok(0) => product,
        Ok(excess @ 1..=127) => (product >> excess) + (product >> (excess - 1) & 1),
        Ok(_) => 0,
        Err(_) if product == 0 => 0,
        Err(_) => u128::MAX,
    };
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

/// A rank of 2⁶⁴ as the odd number of 2⁶⁵ in the middle of it: the probability is never 0 nor 1.
fn in_the_middle(rank: u64) -> u128 {
    u128::from(rank) << 1 | 1
}

/// −log₂ of what exceeds rank number `rank` of 2⁶⁴: of 1 − (rank + ½)·2⁻⁶⁴.
pub fn minus_log2_above(rank: u64) -> i128 {
    65 * ONE - log2(in_the_middle(!rank))
}

/// −ln of what exceeds rank number `rank` of 2⁶⁴.
pub fn minus_ln_above(rank: u64) -> i128 {
    times(minus_log2_above(rank), LN_2)
}

/// Returns x divided by ln 2.
pub fn per_ln_2(x: i128) -> i128 {
    ratio(x, LN_2)
}

/// c₀ + c₁x + c₂x² + …
fn polynomial(x: i128, coefficients: &[i128]) -> i128 {
    let highest_first = coefficients.iter().rev();
    highest_first.fold(0, |sum, &coefficient| times(sum, x) + coefficient)
}

/// A coefficient with ten decimal places.
const fn c(digits: i128) -> i128 {
    decimal(digits, 10)
}

/// The standard normal variate that (rank + ½)·2⁻⁶⁴ of all do not exceed: Wichura's algorithm AS 241,
/// PPND7 (Applied Statistics 37(3), 1988), exact to about 1 part in 10⁷.
pub fn normal_quantile(rank: u64) -> i128 {
    const A: [i128; 4] = [
        c(33_871_327_179),
        c(504_342_719_380),
        c(1_592_911_320_200),
        c(591_093_747_200),
    ];
    const B: [i128; 4] = [
        ONE,
        c(178_951_694_690),
        c(787_577_576_640),
        c(671_875_636_000),
    ];
    const C: [i128; 4] = [
        c(14_234_372_777),
        c(27_568_153_900),
        c(13_067_284_816),
        c(1_702_382_110),
    ];
    const D: [i128; 3] = [ONE, c(7_370_016_425), c(1_202_113_298)];
    const E: [i128; 4] = [
        c(66_579_051_150),
        c(30_812_263_860),
        c(4_286_829_434),
        c(173_372_040),
    ];
    const F: [i128; 3] = [ONE, c(2_419_789_423), c(122_582_026)];

    let from_half = (in_the_middle(rank) as i128 - (1 << 64)) >> (65 - PLACES);
    if from_half.abs() <= decimal(425, 3) {
        let r = decimal(180_625, 6) - times(from_half, from_half);
        return times(from_half, ratio(polynomial(r, &A), polynomial(r, &B)));
    }
    let rank_of_tail = rank.max(!rank);
    let r = square_root(minus_ln_above(rank_of_tail));
    let variate = if r <= 5 * ONE {
        let r = r - decimal(16, 1);
        ratio(polynomial(r, &C), polynomial(r, &D))
    } else {
        let r = r - 5 * ONE;
        ratio(polynomial(r, &E), polynomial(r, &F))
    };
    if from_half < 0 { -variate } else { variate }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(x: i128) -> f64 {
        x as f64 / ONE as f64
    }

    #[test]
    fn logarithms_are_right_to_47_places() {
        let bound = 2_f64.powi(-47) + 1e-14;
        for number in (0..2000_u128)
            .map(|n| 1 + n * n * 7919)
            .chain([u128::MAX, 1 << 100])
        {
            let error = real(log2(number)) - (number as f64).log2();
            assert!(error.abs() <= bound, "{number}: {error}");
        }
        assert_eq!(log2(1 << 77), 77 * ONE);
    }

    #[test]
    fn powers_are_right_to_47_places_and_saturate() {
        for step in -2000..2000 {
            let exponent = step * (ONE / 97) + step;
            let got = times_power_of_2(1 << 40, exponent) as f64;
            let expected = 2_f64.powf(40.0 + real(exponent));
            let error = (got - expected).abs();
            let bound = 0.5 + expected * (2_f64.powi(-47) + 1e-14);
            assert!(
                error <= bound || expected > 1.8e19,
                "{step}: {got}, {expected}"
            );
        }
        assert_eq!(times_power_of_2(3, 2 * ONE), 12);
        assert_eq!(times_power_of_2(3, 63 * ONE), u64::MAX);
        assert_eq!(times_power_of_2(3, 500 * ONE), u64::MAX);
        assert_eq!(times_power_of_2(0, 500 * ONE), 0);
        assert_eq!(times_power_of_2(3, -500 * ONE), 0);
    }

    #[test]
    fn a_logarithm_undoes_a_power() {
        for number in [1_u64, 2, 3, 10, 1448, 1_000_000_007, 1 << 50] {
            assert_eq!(times_power_of_2(1, log2(u128::from(number))), number);
        }
    }

    /// Φ⁻¹ of tables; the last of both tails is of 2⁻⁴⁰.
    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        let of_64 = 2_f64.powi(64);
        let known = [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196),
            (0.9, 1.281_551_565_545),
            (0.95, 1.644_853_626_951),
            (0.975, 1.959_963_984_540),
            (0.99, 2.326_347_874_041),
            (0.999, 3.090_232_306_168),
            (1.0 - 2_f64.powi(-40), 7.047_700_256_664),
        ];
        for (probability, variate) in known {
            let rank = (probability * of_64) as u64;
            for (rank, variate) in [(rank, variate), (!rank, -variate)] {
                let error = real(normal_quantile(rank)) - variate;
                assert!(
                    error.abs() <= 2e-7 * variate.abs() + 1e-9,
                    "{probability}: {error}"
                );
            }
        }
    }

    #[test]
    fn normal_quantiles_rise() {
        let ranks = (0..4096_u64).map(|n| n << 52);
        let variates: Vec<i128> = ranks.map(normal_quantile).collect();
        assert!(variates.is_sorted());
        assert!(normal_quantile(0) < -9 * ONE && normal_quantile(u64::MAX) > 9 * ONE);
    }
}
