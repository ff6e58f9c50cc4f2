//! Flows with applications: every byte that they begin arrives, and every packet is accounted for.

mod common;

use common::{NS_PER_MS, bulk, dumbbell, simulate};
use dumbbell_app::Distribution;
use dumbbell_app::traffic::{deterministic, poisson};
use dumbbell_sim::{Control, Group, Scenario, run};

/// 30 kB flows that load a link of 100 Mbit/s at 40 %.
fn short_flows() -> Group {
    let traffic = poisson::Config {
        gap_ns: 6 * NS_PER_MS,
        size_bytes: Distribution::Constant(30_000),
        strata: 1,
        count: Some(1_000),
    };
    Group {
        traffic: traffic.into(),
        ..bulk("cubic", 1, 20)
    }
}

#[test]
fn short_flows_come_and_go() {
    let scenario = dumbbell(100_000_000, 250_000.0, 20, vec![short_flows()]);
    let output = simulate(&scenario);
    let flow = &output.summary.flows[0];
    assert!(flow.finished, "the last of a thousand ends before the run");
    assert_eq!(flow.connections, Some(1_000));
    assert_eq!(flow.received_bytes, 1_000 * 30_000);
    assert_eq!((flow.dropped_pkts, flow.on_path_pkts), (0, 0));
    assert_eq!(flow.sent_pkts, flow.arrived_pkts);
    let transfers = output.tables.last().expect("tables");
    assert_eq!(transfers.name, "transfers");
    assert_eq!(transfers.batch.num_rows(), 1_000);
}

/// The longer a run, the fewer connections at once there is room for: a link that is asked for more than it
/// carries ends it with a line.
#[test]
fn connections_that_pile_up_end_a_run_of_years() {
    let traffic = deterministic::Config {
        gap_ns: NS_PER_MS,
        size_bytes: Distribution::Constant(1_000_000),
        strata: 1,
        count: None,
    };
    let group = Group {
        traffic: traffic.into(),
        ..bulk("reno", 1, 20)
    };
    let scenario = Scenario {
        duration_ns: 1 << 58,
        sample_interval_ns: 0,
        ..dumbbell(1_000_000, 100_000.0, 1, vec![group])
    };
    let error = run(&scenario, &Control::default(), None).expect_err("the load is 8000 %");
    let message = error.to_string();
    assert!(
        message.contains("connections were open at once") && message.contains("reduce the load"),
        "{message}"
    );
}
