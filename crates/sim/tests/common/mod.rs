//! What the tests share: scenarios by their numbers, and the tables' columns.
use dumbbell_sim::{Control, FlowSummary, Group, Limit, Output, Queue, Scenario, run};
use dumbbell_table::Column;

pub(crate) const NS_PER_MS: u64 = 1_000_000;
pub(crate) const NS_PER_S: u64 = 1_000_000_000;
pub(crate) const US_PER_S: f64 = 1e6;

/// Payload of a full segment, bytes.
pub(crate) const MSS_BYTES: u32 = 1448;
/// A full segment on the wire, bytes.
pub(crate) const PACKET_BYTES: f64 = 1514.0;

/// Link rate × RTT, bytes.
pub(crate) fn bdp_bytes(link_rate_bps: u64, rtt_ms: u64) -> f64 {
    link_rate_bps as f64 / 8.0 * rtt_ms as f64 / 1e3
}

/// A drop-tail bottleneck that is sampled every 10 ms.
pub(crate) fn dumbbell(
    link_rate_bps: u64,
    limit_bytes: f64,
    duration_s: u64,
    groups: Vec<Group>,
) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns: duration_s * NS_PER_S,
        sample_interval_ns: 10 * NS_PER_MS,
        groups,
        ..Scenario::dumbbell(
            link_rate_bps,
            Queue::drop_tail(Limit::Bytes(limit_bytes as u64)),
        )
    }
}

/// Flows that send without end from the start, with a Linux host's habits (segmentation
/// offload, delayed ACKs) and windows that never bind.
pub(crate) fn bulk(cc: &str, flows: u32, base_rtt_ms: u64) -> Group {
    Group {
        cc: cc.into(),
        flows,
        base_rtt_ns: base_rtt_ms * NS_PER_MS,
        ..Group::default()
    }
}

/// The same flows with parameters of their congestion control algorithm set.
pub(crate) fn with_params(mut group: Group, params: &[(&str, i64)]) -> Group {
    for (name, value) in params {
        group.cc.params.insert((*name).to_owned(), *value);
    }
    group
}

pub(crate) fn simulate(scenario: &Scenario) -> Output {
    run(scenario, &Control::default(), None).unwrap_or_else(|error| panic!("{error}"))
}

/// Goodput of all flows of a congestion control algorithm, bit/s.
pub(crate) fn goodput_bps(output: &Output, cc: &str) -> f64 {
    let flows = output.summary.flows.iter().filter(|flow| flow.cc == cc);
    flows.map(|flow| flow.goodput_bps).sum()
}

/// Jain's index of the flows' goodputs: 1 is equal shares.
pub(crate) fn jain(flows: &[FlowSummary]) -> f64 {
    let sum: f64 = flows.iter().map(|flow| flow.goodput_bps).sum();
    let squares: f64 = flows.iter().map(|flow| flow.goodput_bps.powi(2)).sum();
    sum * sum / (flows.len() as f64 * squares)
}

/// A column as numbers; NaN where it has none.
pub(crate) fn column(output: &Output, table: &str, name: &str) -> Vec<f64> {
    let column = any_column(output, table, name);
    (0..column.len())
        .map(|row| column.number(row).unwrap_or(f64::NAN))
        .collect()
}

/// A column of labels.
pub(crate) fn labels(output: &Output, table: &str, name: &str) -> Vec<String> {
    let column = any_column(output, table, name);
    (0..column.len())
        .filter_map(|row| column.text(row).map(str::to_owned))
        .collect()
}

fn any_column<'a>(output: &'a Output, table: &str, name: &str) -> &'a Column {
    let table = output.tables.iter().find(|found| found.name == table);
    &table.expect("the table exists").batch[name]
}

/// Maximal stretches of equal labels: the label, when it begins and when it ends, s. The last
/// one, which the end of the run cuts off, is left out.
pub(crate) fn stretches(time_us: &[f64], labels: &[String]) -> Vec<(String, f64, f64)> {
    let mut found = Vec::new();
    let mut begin = 0;
    for index in 1..labels.len() {
        if labels[index] != labels[begin] {
            found.push((
                labels[begin].clone(),
                time_us[begin] / US_PER_S,
                time_us[index] / US_PER_S,
            ));
            begin = index;
        }
    }
    found
}

pub(crate) fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, count) = values
        .into_iter()
        .fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// Fails unless `value` is within `tolerance` (a share of `expected`) of `expected`.
#[track_caller]
pub(crate) fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    assert!(
        (value - expected).abs() <= tolerance * expected.abs(),
        "{what} is {value:.4}; expected {expected:.4} ± {:.1} %",
        tolerance * 100.0
    );
}

/// Fails unless `value` is in `range`.
#[track_caller]
pub(crate) fn assert_within(what: &str, value: f64, range: std::ops::RangeInclusive<f64>) {
    assert!(
        range.contains(&value),
        "{what} is {value:.4}; expected {:.4} to {:.4}",
        range.start(),
        range.end()
    );
}
