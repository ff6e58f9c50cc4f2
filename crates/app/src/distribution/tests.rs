use dumbbell_declare::Unit;

use super::*;
use crate::random::Random;

fn of(json: &str) -> Distribution {
    let distribution: Distribution = serde_json::from_str(json).expect("it is declared");
    assert_eq!(distribution.check(), Ok(()), "{json}");
    distribution
}

/// A distribution's mean, its sample mean over `draws`, and the sample's standard deviation.
fn moments(distribution: &Distribution, draws: u64, strata: u64) -> (f64, f64, f64) {
    let random = Random::new(1, 0);
    let mut sampler = Sampler::stratified(distribution, random, 0..=u64::MAX, strata);
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..draws {
        let value = sampler.draw() as f64;
        sum += value;
        squares += value * value;
    }
    let mean = sum / draws as f64;
    let deviation = (squares / draws as f64 - mean * mean).sqrt();
    (distribution.mean_milli() as f64 / 1000.0, mean, deviation)
}

fn relative(got: f64, expected: f64) -> f64 {
    (got / expected - 1.0).abs()
}

#[test]
fn a_number_is_a_constant_distribution() {
    let constant = of("10000");
    assert_eq!(constant, Distribution::Constant(10_000));
    assert_eq!(serde_json::to_string(&constant).expect("JSON"), "10000");
    assert_eq!(constant.mean_milli(), 10_000_000);
}

#[test]
fn every_distribution_reads_what_it_writes() {
    for json in [
        r#"{"distribution":"exponential","mean":10000,"max":null}"#,
        r#"{"distribution":"pareto","shape_milli":1200,"scale":10000,"max":null,"from_zero":false}"#,
        r#"{"distribution":"lognormal","mean":10710,"sd":25032,"p5":null,"p95":null,"min":100,"max":2000000}"#,
        r#"{"distribution":"uniform","min":3,"max":9}"#,
        r#"{"distribution":"points","points":[[0,0],[10000,1000000000]]}"#,
        r#"{"distribution":"web_search"}"#,
    ] {
        assert_eq!(serde_json::to_string(&of(json)).expect("JSON"), json);
    }
    assert_eq!(distributions().len(), 8);
}

/// traffic.md §1: 1.711 MB, 12.66 MB, 342 B.
#[test]
fn the_published_sizes_have_their_means() {
    let mean = |name| of(&format!(r#"{{"distribution":"{name}"}}"#)).mean_milli() as f64 / 1000.0;
    assert!((mean("web_search") / 1e6 - 1.711).abs() < 0.0005);
    assert!((mean("data_mining") / 1e6 - 12.66).abs() < 0.005);
    assert!((mean("cache") - 342.0).abs() < 0.5);
}

/// traffic.md §1: of web search flows 30 % have 1 MB or more, and carry 95.0 % of the bytes.
#[test]
fn large_flows_of_web_search_carry_nearly_all_bytes() {
    let web_search = of(r#"{"distribution":"web_search"}"#);
    let mut sampler = Sampler::stratified(&web_search, Random::new(3, 0), 0..=u64::MAX, 10_000);
    let sizes: Vec<u64> = (0..10_000).map(|_| sampler.draw()).collect();
    let large = |size: &&u64| **size >= 1_000_000;
    let share = sizes.iter().filter(large).count() as f64 / 1e4;
    let all: u64 = sizes.iter().sum();
    let of_large: u64 = sizes.iter().filter(large).sum();
    assert!((share - 0.3).abs() < 0.001, "{share}");
    assert!((of_large as f64 / all as f64 - 0.95).abs() < 0.001);
}

#[test]
fn sample_means_are_within_three_standard_errors_of_the_mean() {
    for json in [
        r#"{"distribution":"exponential","mean":50000000}"#,
        r#"{"distribution":"exponential","mean":1000,"max":2000}"#,
        r#"{"distribution":"pareto","shape_milli":2500,"scale":10000}"#,
        r#"{"distribution":"pareto","shape_milli":1100,"scale":2000,"max":55000,"from_zero":true}"#,
        r#"{"distribution":"pareto","shape_milli":800,"scale":100,"max":1000000}"#,
        r#"{"distribution":"lognormal","mean":10710,"sd":25032,"min":100,"max":2000000}"#,
        r#"{"distribution":"lognormal","p5":65536,"p95":2097152}"#,
        r#"{"distribution":"uniform","min":0,"max":1000}"#,
        r#"{"distribution":"web_search"}"#,
        r#"{"distribution":"data_mining"}"#,
        r#"{"distribution":"cache"}"#,
    ] {
        let draws = 100_000;
        let (mean, sample, deviation) = moments(&of(json), draws, 1);
        let standard_error = deviation / (draws as f64).sqrt();
        assert!(
            (sample - mean).abs() <= 3.0 * standard_error + 0.001 * mean,
            "{json}: {sample}, {mean}, {standard_error}"
        );
    }
}

/// Means by formulas compared with the integrals of quantiles.
#[test]
fn integrated_means_are_those_of_the_formulas() {
    let mean = |json: &str| of(json).mean_milli() as f64 / 1000.0;
    let lognormal = mean(r#"{"distribution":"lognormal","mean":1000000,"sd":1000000}"#);
    assert!(relative(lognormal, 1e6) < 1e-5, "{lognormal}");
    // √(p5·p95)·e^(σ²/2), σ = ln(p95/p5)/(2·1.6449).
    let percentiles = mean(r#"{"distribution":"lognormal","p5":65536,"p95":2097152}"#);
    let sigma = 32_f64.ln() / (2.0 * 1.644_853_627);
    let expected = 65536.0 * 32_f64.sqrt() * (sigma * sigma / 2.0).exp();
    assert!(
        relative(percentiles, expected) < 1e-5,
        "{percentiles}, {expected}"
    );
    // A mean of what is left of an exponential without what exceeds its double: 1 − 2/(e² − 1).
    let truncated = mean(r#"{"distribution":"exponential","mean":1000000,"max":2000000}"#);
    let expected = 1e6 * (1.0 - 2.0 / (2_f64.exp().powi(1) - 1.0));
    assert!(
        relative(truncated, expected) < 1e-5,
        "{truncated}, {expected}"
    );
    let pareto =
        mean(r#"{"distribution":"pareto","shape_milli":1200,"scale":10000,"max":1000000000}"#);
    let (shape, tail) = (1.2, (1e4_f64 / 1e9).powf(1.2));
    let expected = shape / (shape - 1.0) * (1e4 - 1e9 * tail) / (1.0 - tail);
    assert!(relative(pareto, expected) < 1e-5, "{pareto}, {expected}");
    assert_eq!(
        mean(r#"{"distribution":"pareto","shape_milli":1500,"scale":10000}"#),
        30_000.0
    );
}

#[test]
fn percentiles_are_where_they_are_put() {
    let quantiles = of(r#"{"distribution":"lognormal","p5":65536,"p95":2097152}"#).quantiles();
    let at = |share: f64| quantiles.at((share * 2_f64.powi(64)) as u64) as f64;
    assert!(relative(at(0.05), 65536.0) < 1e-5);
    assert!(relative(at(0.95), 2_097_152.0) < 1e-5);
    assert!(relative(at(0.5), (65536.0 * 2_097_152_f64).sqrt()) < 1e-5);
    let pareto = of(r#"{"distribution":"pareto","shape_milli":1500,"scale":10000}"#).quantiles();
    assert_eq!(pareto.at(0), 10_000);
    let median = pareto.at(1 << 63) as f64;
    assert!(relative(median, 1e4 * 2_f64.powf(1.0 / 1.5)) < 1e-4);
}

/// With strata a heavy tail's mean comes out of a tenth of the draws that it takes without them.
#[test]
fn strata_tame_a_heavy_tail() {
    let data_mining = of(r#"{"distribution":"data_mining"}"#);
    let (mean, stratified, _) = moments(&data_mining, 1000, 1000);
    assert!(relative(stratified, mean) < 0.05, "{stratified}, {mean}");
}

#[test]
fn quantiles_rise_and_stay_within_their_limits() {
    for (json, least, most) in [
        (
            r#"{"distribution":"lognormal","mean":10710,"sd":25032,"min":100,"max":2000000}"#,
            100,
            2_000_000,
        ),
        (
            r#"{"distribution":"pareto","shape_milli":1100,"scale":2,"max":55}"#,
            2,
            55,
        ),
        (
            r#"{"distribution":"exponential","mean":1000,"max":2000}"#,
            0,
            2000,
        ),
        (r#"{"distribution":"data_mining"}"#, 0, 1_000_000_000),
        (
            r#"{"distribution":"points","points":[[7,500000000],[7,700000000],[9,1000000000]]}"#,
            7,
            9,
        ),
    ] {
        let quantiles = of(json).quantiles();
        let ranks = (0..=1024_u64).map(|n| n.saturating_mul(1 << 54));
        let values: Vec<u64> = ranks
            .chain([u64::MAX])
            .map(|rank| quantiles.at(rank))
            .collect();
        assert!(values.is_sorted(), "{json}");
        assert!(
            values[0] >= least && values[values.len() - 1] <= most,
            "{json}"
        );
    }
}

#[test]
fn bad_settings_are_refused_with_a_remedy() {
    for (json, part) in [
        (r#"{"distribution":"exponential"}"#, "`mean` is 0; use 1 to"),
        (
            r#"{"distribution":"pareto","shape_milli":1000,"scale":1}"#,
            "there is no mean",
        ),
        (
            r#"{"distribution":"pareto","shape_milli":900,"scale":5,"max":5}"#,
            "use more than `scale`, 5",
        ),
        (
            r#"{"distribution":"lognormal","mean":5}"#,
            "set `mean` and `sd`, or `p5` and `p95`",
        ),
        (
            r#"{"distribution":"lognormal","p5":9,"p95":9}"#,
            "use more than `p5`, 9",
        ),
        (
            r#"{"distribution":"lognormal","mean":1,"sd":1000000}"#,
            "use less than 4096 times",
        ),
        (
            r#"{"distribution":"lognormal","mean":1000,"sd":1,"min":5000}"#,
            "no value is as large as `min`",
        ),
        (
            r#"{"distribution":"lognormal","mean":1000,"sd":1,"max":500}"#,
            "as small as `max`",
        ),
        (
            r#"{"distribution":"uniform","min":5,"max":4}"#,
            "use at least `min`, 5",
        ),
        (r#"{"distribution":"points"}"#, "there are no points"),
        (
            r#"{"distribution":"points","points":[[1,0],[9,900000000]]}"#,
            "must have share 1",
        ),
        (
            r#"{"distribution":"points","points":[[9,0],[1,1000000000]]}"#,
            "not in order",
        ),
    ] {
        let bad: Distribution = serde_json::from_str(json).expect("it is declared");
        let message = bad.check().expect_err(json);
        assert!(message.contains(part), "{json}: {message}");
    }
    for json in [
        "-5",
        r#""big""#,
        r#"{"distribution":"zipf"}"#,
        r#"{"distribution":"cache","mean":4}"#,
    ] {
        assert!(
            serde_json::from_str::<Distribution>(json).is_err(),
            "{json}"
        );
    }
}

#[test]
fn parameters_without_a_unit_have_that_of_what_is_distributed() {
    let all = distributions();
    let pareto = all
        .iter()
        .find(|each| each.name == "pareto")
        .expect("it is listed");
    let units: Vec<Unit> = pareto
        .parameters
        .iter()
        .map(|parameter| parameter.unit)
        .collect();
    assert_eq!(
        units,
        [Unit::Milli, Unit::Variate, Unit::Variate, Unit::Flag]
    );
}
