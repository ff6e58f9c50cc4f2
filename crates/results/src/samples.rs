//! Time series of states and queues: columns that an engine fills at every sampling instant.
//!
//! State tables share `time_us` and `flow` with the flow table.

use dumbbell_cc::Series;
use dumbbell_net::{Header, Link, LinkMeter};
use dumbbell_scenario::{Scenario, Topology, Way, route};

/// In a column that may have gaps: the engine does not know.
pub const UNKNOWN: u32 = u32::MAX;

/// Samples of one group's private state: raw values, one column per series. Time and flow of
/// each row are those of the group's rows in [`FlowSamples`](crate::FlowSamples), in the same order.
#[derive(Debug)]
pub struct StateSamples {
    /// The congestion control algorithm's own name.
    pub name: String,
    /// What the columns are.
    pub series: Vec<Series>,
    /// Values by series.
    pub columns: Vec<RawColumn>,
}

/// Raw values of one series, as narrow as the field that they come from.
#[derive(Debug)]
pub enum RawColumn {
    /// Unsigned fields of 1 byte.
    Bytes(Vec<u8>),
    /// Unsigned fields of 2 or 4 bytes.
    Words(Vec<u32>),
    /// Fields of 8 bytes.
    Longs(Vec<u64>),
}

impl RawColumn {
    /// An empty column for a series, with room for `rows`.
    pub fn new(series: &Series, rows: usize) -> Self {
        match series.bytes() {
            1 if !series.signed => Self::Bytes(Vec::with_capacity(rows)),
            2 | 4 if !series.signed => Self::Words(Vec::with_capacity(rows)),
            _ => Self::Longs(Vec::with_capacity(rows)),
        }
    }

    /// Appends raw values.
    #[inline]
    pub fn extend(&mut self, raws: impl Iterator<Item = u64>) {
        match self {
            Self::Bytes(values) => values.extend(raws.map(|raw| raw as u8)),
            Self::Words(values) => values.extend(raws.map(|raw| raw as u32)),
            Self::Longs(values) => values.extend(raws),
        }
    }

    /// Appends a raw value.
    #[inline]
    pub fn push(&mut self, raw: u64) {
        match self {
            Self::Bytes(values) => values.push(raw as u8),
            Self::Words(values) => values.push(raw as u32),
            Self::Longs(values) => values.push(raw),
        }
    }
}

/// Samples of the links' queues.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "docs/format-run.md has the table of columns")]
pub struct QueueSamples {
    pub time_us: Vec<i64>,
    pub backlog_bytes: Vec<u64>,
    pub backlog_pkts: Vec<u32>,
    pub sojourn_us: Vec<Option<u32>>,
    pub forwarded_pkts: Vec<u64>,
    pub dropped_pkts: Vec<u64>,
    /// Index of the link.
    pub link: Vec<u32>,
    /// What disciplines declare as series, one column per name.
    pub statistics: Vec<StatisticSamples>,
    /// What waits by group, of scenarios with several.
    pub by_group: Vec<GroupBacklog>,
    /// For each link, the groups whose data or ACKs cross it, if `by_group` is wanted.
    pub groups_of_link: Vec<Vec<u32>>,
}

/// What waits of a group in a link's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "docs/format-run.md has the table of columns")]
pub struct GroupBacklog {
    pub time_us: i64,
    /// Index of the link.
    pub link: u32,
    /// Index of the group.
    pub group: u32,
    pub backlog_bytes: u64,
}

/// Samples of one of the statistics that queue disciplines declare as series.
#[derive(Clone, Debug)]
pub struct StatisticSamples {
    /// Its name, as `tc -s qdisc` has it, with its unit.
    pub name: &'static str,
    /// Whether a link's discipline declares it, by the link's index.
    pub is_of_link: Vec<bool>,
    /// A value per row; none in rows of links whose disciplines do not declare it.
    pub values: Vec<Option<u64>>,
}

impl StatisticSamples {
    /// The same column without rows.
    pub fn without_rows(&self) -> Self {
        Self {
            name: self.name,
            is_of_link: self.is_of_link.clone(),
            values: Vec::new(),
        }
    }
}

impl QueueSamples {
    /// Without rows, with a column for each series that a discipline of the scenario declares.
    pub fn new(scenario: &Scenario) -> Self {
        let links = scenario.network_links();
        let series = || links.iter().map(|link| link.queue.facts().series);
        let mut statistics: Vec<StatisticSamples> = Vec::new();
        for &name in series().flatten() {
            if statistics.iter().all(|column| column.name != name) {
                statistics.push(StatisticSamples {
                    name,
                    is_of_link: series().map(|names| names.contains(&name)).collect(),
                    values: Vec::new(),
                });
            }
        }
        Self {
            statistics,
            groups_of_link: groups_of_links(scenario),
            ..Self::default()
        }
    }

    /// Samples link number `index` as it stands at `now_ns`, in a run that started at `start_ns`.
    pub fn sample<H: Header>(
        &mut self,
        (start_ns, now_ns): (u64, u64),
        index: u32,
        link: &Link<H>,
        meter: &mut LinkMeter,
    ) {
        let time_us = ((now_ns - start_ns) / 1000) as i64;
        self.time_us.push(time_us);
        self.backlog_bytes.push(link.backlog_bytes());
        self.backlog_pkts.push(link.backlog_pkts() as u32);
        self.sojourn_us.push(meter.take_last_sojourn_us());
        self.forwarded_pkts.push(meter.forwarded(now_ns).0);
        self.dropped_pkts.push(meter.dropped_pkts);
        self.link.push(index);
        if !self.statistics.is_empty() {
            self.sample_statistics(index, link);
        }
        if let Some(groups) = self.groups_of_link.get(index as usize) {
            self.by_group.extend(groups.iter().map(|&group| {
                let of = |way| link.backlog_of_route_bytes(route(group as usize, way));
                GroupBacklog {
                    time_us,
                    link: index,
                    group,
                    backlog_bytes: of(Way::There) + of(Way::Back),
                }
            }));
        }
    }

    /// Appends a row to the columns of the disciplines' series.
    fn sample_statistics<H: Header>(&mut self, index: u32, link: &Link<H>) {
        let columns = &mut self.statistics;
        for column in columns.iter_mut() {
            column.values.push(None);
        }
        let is_asked = |column: &StatisticSamples| column.is_of_link[index as usize];
        if !columns.iter().any(is_asked) {
            return;
        }
        link.statistics(&mut |name, value| {
            let mut columns = columns.iter_mut();
            let column = columns.find(|column| column.name == name && is_asked(column));
            if let Some(last) = column.and_then(|column| column.values.last_mut()) {
                *last = Some(value);
            }
        });
    }
}

/// For each link, the groups whose data or ACKs cross it; empty if nothing is sampled by group.
fn groups_of_links(scenario: &Scenario) -> Vec<Vec<u32>> {
    if !scenario.samples_backlog_by_group() {
        return Vec::new();
    }
    let topology = Topology::new(scenario);
    let crosses = |link: usize, group: usize| {
        let path = &topology.paths[group];
        path.route.contains(&link) || path.back.contains(&link)
    };
    let groups_of = |link| {
        let groups = 0..topology.paths.len();
        groups.filter(move |&group| crosses(link, group))
    };
    (0..topology.links.len())
        .map(|link| groups_of(link).map(|group| group as u32).collect())
        .collect()
}

impl StateSamples {
    /// Empty columns of a congestion control algorithm's series with room for `rows`.
    pub fn with_capacity(name: &str, series: &[Series], rows: usize) -> Self {
        Self {
            name: name.to_owned(),
            series: series.to_vec(),
            columns: series
                .iter()
                .map(|series| RawColumn::new(series, rows))
                .collect(),
        }
    }

    /// Appends rows: `raws` has the values of all series of each, one row after the other.
    pub fn extend(&mut self, raws: &[u64]) {
        let width = self.columns.len();
        for (place, column) in self.columns.iter_mut().enumerate() {
            column.extend(raws.chunks_exact(width).map(|row| row[place]));
        }
    }
}

/// `amount` per `interval`, of which `per_s` make a second; 0 without an interval.
#[inline]
pub fn per_second(amount: u64, interval: u64, per_s: u64) -> u64 {
    match amount.checked_mul(per_s) {
        Some(scaled) => scaled.checked_div(interval).unwrap_or(0),
        None => (u128::from(amount) * u128::from(per_s))
            .checked_div(u128::from(interval))
            .unwrap_or(0) as u64,
    }
}
