//! How fast the simulator is: bottleneck packets per CPU-second, and peak memory.
//!
//! `cargo bench -p dumbbell-sim` (or `make bench`). Each case runs in a process of its own,
//! so that its peak memory is its own, and several times; the median is printed, with the
//! spread. Time series are recorded and turned into Arrow tables, as a user has them, except in
//! the cases named `no-series`. A CPU-second is the process's user and system time; the memory of a
//! flow is what the run added to the process, time series included.
//! The cases `g-…` are one path with one queue discipline, chain of impairments or medium each. They run in turn, so that
//! other work of the machine meets all of them, and the last column is the median of each round's ratio to
//! drop-tail.
//! `make bench-peers` compares the simulator with ns-3.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::process::Command;

use cpu_time::ProcessTime;
use dumbbell_app::traffic::poisson;
use dumbbell_app::{Distribution, TrafficConfig};
use dumbbell_net::ImpairmentConfig as Impairment;
use dumbbell_net::MediumConfig;
use dumbbell_net::impair::{duplicate, gilbert_elliott, jitter, random_loss};
use dumbbell_net::medium::wifi;
use dumbbell_net::queue::{cake, dualpi2, fq_codel};
use dumbbell_sim::{Control, Group, Limit, Queue, Scenario, run};

/// Counted runs of each case.
const RUNS: usize = 5;

struct Case {
    name: &'static str,
    groups: &'static [(&'static str, u32)],
    link_rate_bps: u64,
    buffer_bdp: f64,
    duration_s: u64,
    sample_interval_ns: u64,
    /// What waits before the link.
    queue: fn(Limit) -> Queue,
    /// What happens to packets before the queue.
    impairments: fn() -> Vec<Impairment>,
    /// What carries packets instead of a wire.
    medium: fn() -> Option<MediumConfig>,
    /// Short flows that come and go at random over the run, of [`SHORT_FLOW_BYTES`] each; 0: bulk.
    short_flows: u64,
}

/// What web pages are made of.
const SHORT_FLOW_BYTES: u64 = 30_000;

/// The default of a scenario.
const SAMPLE_INTERVAL_NS: u64 = 10_000_000;

const COMPETITION: Case = Case {
    name: "",
    groups: &[("cubic", 1), ("bbr", 1)],
    link_rate_bps: 50_000_000,
    buffer_bdp: 1.0,
    duration_s: 120,
    sample_interval_ns: SAMPLE_INTERVAL_NS,
    queue: Queue::drop_tail,
    impairments: Vec::new,
    medium: || None,
    short_flows: 0,
};

/// What the disciplines are compared by: their own limits hold, so that each does what it is for.
const DISCIPLINE: Case = Case {
    groups: &[("cubic", 8)],
    link_rate_bps: 100_000_000,
    ..COMPETITION
};

const fn discipline(name: &'static str, queue: fn(Limit) -> Queue) -> Case {
    Case {
        name,
        queue,
        ..DISCIPLINE
    }
}

const MANY_BBR: Case = Case {
    groups: &[("bbr", 128)],
    link_rate_bps: 100_000_000,
    ..COMPETITION
};

/// BBR flows, each with the same share as in `c-128bbr-1bdp`.
const fn bbr(name: &'static str, flows: u32, duration_s: u64, series: bool) -> Case {
    Case {
        name,
        groups: match flows {
            1_000 => &[("bbr", 1_000)],
            _ => &[("bbr", 10_000)],
        },
        link_rate_bps: flows as u64 * 781_250,
        duration_s,
        sample_interval_ns: if series { SAMPLE_INTERVAL_NS } else { 0 },
        ..COMPETITION
    }
}

const CASES: [Case; 12] = [
    Case {
        name: "a-0.5bdp",
        buffer_bdp: 0.5,
        ..COMPETITION
    },
    Case {
        name: "a-8bdp",
        buffer_bdp: 8.0,
        ..COMPETITION
    },
    Case {
        name: "a-64bdp",
        buffer_bdp: 64.0,
        ..COMPETITION
    },
    Case {
        name: "b-128cubic",
        groups: &[("cubic", 128)],
        link_rate_bps: 1_000_000_000,
        buffer_bdp: 64.0,
        duration_s: 20,
        ..COMPETITION
    },
    Case {
        name: "c-128bbr-1bdp",
        ..MANY_BBR
    },
    Case {
        name: "c-128bbr-10bdp",
        buffer_bdp: 10.0,
        ..MANY_BBR
    },
    Case {
        name: "c-128bbr-no-series",
        sample_interval_ns: 0,
        ..MANY_BBR
    },
    bbr("d-1000bbr", 1_000, 10, true),
    bbr("d-1000bbr-no-series", 1_000, 10, false),
    bbr("e-10000bbr", 10_000, 3, true),
    bbr("e-10000bbr-no-series", 10_000, 3, false),
    Case {
        name: "f-100000short",
        groups: &[("cubic", 1)],
        link_rate_bps: 100_000_000,
        duration_s: 600,
        short_flows: 100_000,
        ..COMPETITION
    },
];

/// Drop-tail first: the others are compared with it.
const IN_TURN: [Case; 7] = [
    discipline("g-drop-tail", Queue::drop_tail),
    discipline("g-fq_codel", |_| fq_codel::Config::default().into()),
    discipline("g-dualpi2", |_| dualpi2::Config::default().into()),
    discipline("g-cake", |_| cake::Config::default().into()),
    discipline("g-cake-shaped", |_| {
        cake::Config {
            rate_bps: Some(DISCIPLINE.link_rate_bps / 100 * 95),
            ..cake::Config::default()
        }
        .into()
    }),
    Case {
        name: "g-impairments",
        impairments: chain,
        ..DISCIPLINE
    },
    Case {
        name: "g-wifi",
        medium: || Some(wifi::Config::default().into()),
        ..DISCIPLINE
    },
];

/// Impairments that every packet passes, before the queue and behind the link, and that hardly change what the
/// flows do.
fn chain() -> Vec<Impairment> {
    let bursts = gilbert_elliott::Config {
        loss_ppb: Some(10_000),
        burst_milli: Some(3_000),
        ..gilbert_elliott::Config::default()
    };
    let loss = random_loss::Config {
        loss_ppb: 10_000,
        ..random_loss::Config::default()
    };
    let jitter = jitter::Config {
        normal_ns: Some(100_000),
        ..jitter::Config::default()
    };
    let copies = duplicate::Config {
        probability_ppb: 10_000,
        ..duplicate::Config::default()
    };
    vec![
        Impairment::gilbert_elliott(bursts),
        Impairment::random_loss(loss),
        Impairment::duplicate(copies),
        Impairment::jitter(jitter),
    ]
}

const BASE_RTT_NS: u64 = 40_000_000;

fn main() {
    if let Ok(name) = std::env::var("DUMBBELL_BENCH_CASE") {
        let case = CASES
            .iter()
            .chain(&IN_TURN)
            .find(|case| case.name == name)
            .expect("a case of that name");
        return measure(case);
    }
    println!(
        "{:<22}{:>11}{:>14}{:>20}{:>10}{:>9}",
        "case", "packets", "Mpkt/CPU-s", "min..max", "peak MB", "kB/flow"
    );
    for case in &CASES {
        let mut runs: Vec<Figures> = (0..RUNS).map(|_| measured_apart(case)).collect();
        println!("{}", line(case, &mut runs));
    }
    report_in_turn();
}

/// Runs the cases of [`IN_TURN`] round by round.
fn report_in_turn() {
    let mut runs = IN_TURN.map(|_| Vec::new());
    for _ in 0..RUNS {
        for (case, runs) in IN_TURN.iter().zip(&mut runs) {
            runs.push(measured_apart(case));
        }
    }
    let baseline = runs[0].clone();
    for (case, runs) in IN_TURN.iter().zip(&mut runs) {
        let rounds = runs.iter().zip(&baseline);
        let mut ratios: Vec<f64> = rounds.map(|(run, base)| mpps(run) / mpps(base)).collect();
        ratios.sort_by(f64::total_cmp);
        let percent = 100.0 * ratios[RUNS / 2];
        println!("{} {percent:>6.0} %", line(case, runs));
    }
}

/// One run in this process; prints `packets cpu_ns peak_kb run_kb`.
fn measure(case: &Case) {
    let scenario = scenario(case);
    let before_kb = memory_kb("VmRSS:");
    let start = ProcessTime::now();
    let output = run(&scenario, &Control::default(), None).expect("the case runs");
    let cpu = start.elapsed();
    assert_eq!(output.tables.is_empty(), case.sample_interval_ns == 0);
    let peak_kb = memory_kb("VmHWM:");
    println!(
        "{} {} {peak_kb} {}",
        output.summary.bottleneck.forwarded_pkts,
        cpu.as_nanos(),
        peak_kb - before_kb
    );
}

/// Packets, CPU time (ns), peak memory and that of the run (kB).
type Figures = [u64; 4];

fn mpps(&[packets, cpu_ns, _, _]: &Figures) -> f64 {
    packets as f64 * 1e3 / cpu_ns as f64
}

/// One run in a process of its own.
fn measured_apart(case: &Case) -> Figures {
    let exe = std::env::current_exe().expect("the benchmark's own path");
    let output = Command::new(exe)
        .env("DUMBBELL_BENCH_CASE", case.name)
        .output()
        .expect("it starts");
    let text = String::from_utf8(output.stdout).expect("it prints numbers");
    let mut fields = text
        .split_whitespace()
        .map(|field| field.parse().expect("a number"));
    [(); 4].map(|()| fields.next().expect("four numbers"))
}

/// The line of a case; sorts its runs by speed.
fn line(case: &Case, runs: &mut [Figures]) -> String {
    runs.sort_by_key(|&[_, cpu_ns, _, _]| cpu_ns);
    let median = &runs[RUNS / 2];
    let flows: u32 = case.groups.iter().map(|&(_, flows)| flows).sum();
    let highest = |place: usize| runs.iter().map(|run| run[place]).max().unwrap_or(0);
    format!(
        "{:<22}{:>11}{:>14.2}{:>20}{:>10}{:>9}",
        case.name,
        median[0],
        mpps(median),
        format!("{:.2}..{:.2}", mpps(&runs[RUNS - 1]), mpps(&runs[0])),
        highest(2) / 1024,
        highest(3) / u64::from(flows),
    )
}

fn scenario(case: &Case) -> Scenario {
    let bdp_bytes = case.link_rate_bps as f64 * BASE_RTT_NS as f64 / 8e9;
    let limit = Limit::Bytes((bdp_bytes * case.buffer_bdp) as u64);
    let mut scenario = Scenario {
        seed: 1,
        duration_ns: case.duration_s * 1_000_000_000,
        sample_interval_ns: case.sample_interval_ns,
        groups: case
            .groups
            .iter()
            .map(|&(name, flows)| Group {
                cc: name.into(),
                flows,
                base_rtt_ns: BASE_RTT_NS,
                start_jitter_ns: 100_000_000,
                traffic: traffic(case),
                ..Group::default()
            })
            .collect(),
        ..Scenario::dumbbell(case.link_rate_bps, (case.queue)(limit))
    };
    scenario.links[0].impairments = (case.impairments)();
    scenario.links[0].medium = (case.medium)();
    scenario
}

fn traffic(case: &Case) -> TrafficConfig {
    if case.short_flows == 0 {
        return TrafficConfig::default();
    }
    let config = poisson::Config {
        gap_ns: case.duration_s * 1_000_000_000 / case.short_flows,
        size_bytes: Distribution::Constant(SHORT_FLOW_BYTES),
        strata: 1,
        count: None,
    };
    config.into()
}

/// A line of this process's memory in `/proc/self/status`, kB.
fn memory_kb(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|text| text.strip_prefix(line));
    value
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}
