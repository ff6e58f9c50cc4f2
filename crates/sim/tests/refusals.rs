//! What cannot be simulated is refused in one line that names the thing and the remedy.

use crate::common::{NS_PER_MS, NS_PER_S, bulk, dumbbell};
use dumbbell_sim::{Control, Error, Group, Limit, Queue, Scenario, run};

fn valid() -> Scenario {
    dumbbell(50_000_000, 250_000.0, 1, vec![bulk("cubic", 1, 40)])
}

fn with_group(change: impl FnOnce(&mut Group)) -> Scenario {
    let mut scenario = valid();
    change(&mut scenario.groups[0]);
    scenario
}

fn with_queue(queue: Queue) -> Scenario {
    let mut scenario = valid();
    scenario.links[0].queue = queue;
    scenario
}

#[track_caller]
fn assert_refused(scenario: &Scenario, thing: &str) {
    let error = run(scenario, &Control::default(), None).expect_err("it cannot be simulated");
    let line = error.to_string();
    assert!(line.contains(thing), "`{line}` does not name `{thing}`");
    assert_eq!(line.lines().count(), 1, "`{line}` is one line");
}

#[test]
fn the_scenario_that_the_others_change_is_simulated() {
    assert!(run(&valid(), &Control::default(), None).is_ok());
}

/// After 2^32 packets a flow would stop, and its run say OK.
#[test]
fn a_flow_of_more_packets_than_it_numbers() {
    let mut scenario = valid();
    scenario.sample_interval_ns = 0;
    scenario.duration_ns = 1_000_000_000 * NS_PER_S;
    assert_refused(&scenario, "can number 4294967295; use less than `1040412s`");
    scenario.groups[0].size_bytes = Some(1_000_000);
    assert!(run(&scenario, &Control::default(), None).is_ok());
}

#[test]
fn a_link_without_rate_and_a_run_without_time_or_flows() {
    let mut scenario = valid();
    scenario.links[0].link_rate_bps = 0;
    assert_refused(&scenario, "link rate");
    assert_refused(
        &Scenario {
            duration_ns: 0,
            ..valid()
        },
        "time",
    );
    assert_refused(&with_group(|group| group.flows = 0), "no flows");
}

#[test]
fn more_time_than_deadlines_have_room_for() {
    let mut scenario = valid();
    scenario.duration_ns = u64::MAX;
    scenario.sample_interval_ns = 0;
    assert_refused(&scenario, "use less than `");
}

#[test]
fn a_buffer_that_holds_no_packet() {
    assert_refused(
        &with_queue(Queue::drop_tail(Limit::Bytes(1513))),
        "1514 bytes",
    );
    assert!(
        run(
            &with_queue(Queue::drop_tail(Limit::Bytes(1514))),
            &Control::default(),
            None
        )
        .is_ok()
    );
    assert_refused(
        &with_queue(Queue::drop_tail(Limit::Packets(0))),
        "`limit_pkts` is 0; use 1 to",
    );
}

#[test]
fn flows_that_never_run() {
    assert_refused(&with_group(|group| group.start_ns = NS_PER_S), "start");
    // One that starts late by jitter must not be stopped before it does.
    assert_refused(
        &with_group(|group| {
            group.start_jitter_ns = 100 * NS_PER_MS;
            group.stop_ns = Some(100 * NS_PER_MS);
        }),
        "stop before they start",
    );
}

#[test]
fn segments_and_paths_without_length() {
    assert_refused(&with_group(|group| group.host.mss_bytes = 0), "MSS");
    assert_refused(&with_group(|group| group.base_rtt_ns = 0), "base RTT");
}

#[test]
fn a_congestion_control_that_does_not_exist() {
    assert_refused(
        &with_group(|group| group.cc.name = "cubik".to_owned()),
        "cubik",
    );
    let unknown = with_group(|group| {
        group.cc.params.insert("bta".to_owned(), 1);
    });
    assert_refused(&unknown, "bta");
}

#[test]
fn a_cancelled_run_says_so() {
    let control = Control::default();
    control.cancel();
    // Long enough that the control is looked at.
    let scenario = Scenario {
        duration_ns: 60 * NS_PER_S,
        ..valid()
    };
    assert!(matches!(
        run(&scenario, &control, None),
        Err(Error::Cancelled)
    ));
}
