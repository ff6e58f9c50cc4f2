//! A run is a function of scenario and seed: the same bytes on every repeat, in every thread,
//! in debug and release, on every machine.

use crate::common::{NS_PER_MS, NS_PER_S, bulk, dumbbell, simulate};
use dumbbell_sim::{FlowSummary, Group, Host, LinkSummary, Output, Scenario};
use dumbbell_table::Column;

/// FNV-1a of what [`everything`] simulates, as [`result_bytes`] puts it in order.
///
/// A change of this number is a change of results. If it is intended (a congestion control algorithm,
/// the TCP or the path now behaves differently), put in the number that the failing test
/// prints, in a commit of its own that says which behaviour changed and why.
const GOLDEN_DIGEST: u64 = 0x0c99_e60c_332c_3d2b;
/// The same with the table `queue_by_group`, which came later and changed nothing else.
const GOLDEN_DIGEST_BY_GROUP: u64 = 0xb303_2083_cdb6_c49b;

/// Four congestion control algorithms, three base RTTs, kinds of flow and hosts in one small run.
fn everything(seed: u64) -> Scenario {
    let jittered = |group: Group| Group {
        start_jitter_ns: 50 * NS_PER_MS,
        ..group
    };
    let groups = vec![
        jittered(bulk("reno", 2, 20)),
        jittered(Group {
            stop_ns: Some(8 * NS_PER_S),
            ..bulk("cubic", 2, 40)
        }),
        jittered(Group {
            start_ns: NS_PER_S,
            host: Host {
                tso: false,
                ..Host::default()
            },
            ..bulk("bbr", 2, 40)
        }),
        jittered(Group {
            size_bytes: Some(2_000_001),
            host: Host {
                delayed_ack: false,
                ..Host::default()
            },
            ..bulk("copa", 2, 80)
        }),
    ];
    Scenario {
        seed,
        ..dumbbell(30_000_000, 100_000.0, 12, groups)
    }
}

/// The summary without what names the build, then every table's columns: name, type, which
/// values are there, and the values. Of a dumbbell without what names its link:
/// `the_link_of_a_dumbbell_is_its_bottleneck` has that.
fn result_bytes(output: &Output) -> Vec<u8> {
    let mut summary = serde_json::to_value(&output.summary).expect("a summary is JSON");
    let is_dumbbell = output.summary.links.len() == 1;
    if is_dumbbell {
        let fields = summary.as_object_mut().expect("an object");
        fields.remove("links");
        let bottleneck = fields["bottleneck"].as_object_mut().expect("an object");
        bottleneck.remove("name");
    }
    summary["engine_version"].take();
    for cc in summary["congestion_controls"]
        .as_array_mut()
        .expect("a list")
    {
        cc["build"].take(); // digest of the machine code, which each compiler writes its way
        cc.as_object_mut()
            .expect("a congestion control algorithm")
            .remove("declared"); // words of its source, docs included
    }
    let mut bytes = summary.to_string().into_bytes();
    for table in &output.tables {
        bytes.extend(table.name.bytes());
        for (name, column) in table.batch.columns() {
            if is_dumbbell && name == "link" {
                continue;
            }
            bytes.extend(format!("{name}:{}", column.type_name()).bytes());
            append_column(column, &mut bytes);
        }
    }
    bytes
}

fn append_column(column: &Column, bytes: &mut Vec<u8>) {
    bytes.extend((column.len() as u64).to_le_bytes());
    bytes.extend((0..column.len()).map(|row| u8::from(!column.is_gap(row))));
    bytes.extend(column.bytes());
    if let Some(labels) = column.labels() {
        append_column(labels, bytes);
    }
}

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_link_of_a_dumbbell_is_its_bottleneck() {
    let output = simulate(&everything(1));
    let json = |link: &LinkSummary| serde_json::to_value(link).expect("a summary is JSON");
    let links: Vec<_> = output.summary.links.iter().map(json).collect();
    assert_eq!(links, [json(&output.summary.bottleneck)]);
    assert_eq!(links[0]["name"], "bottleneck");
    let queue = &output.tables[1].batch;
    let mut names = (0..queue.num_rows()).map(|row| queue["link"].text(row));
    assert!(queue.num_rows() > 0);
    assert!(names.all(|name| name == Some("bottleneck")));
}

#[test]
fn a_repeat_gives_the_same_bytes() {
    let scenario = everything(1);
    let (first, second) = (simulate(&scenario), simulate(&scenario));
    assert_eq!(
        serde_json::to_string(&first.summary).expect("JSON"),
        serde_json::to_string(&second.summary).expect("JSON"),
    );
    assert!(result_bytes(&first) == result_bytes(&second));
}

#[test]
fn runs_side_by_side_do_not_touch_each_other() {
    let alone = result_bytes(&simulate(&everything(1)));
    // The same run twice and other runs of the same congestion control algorithms, all at once.
    let together: Vec<(u64, Vec<u8>)> = std::thread::scope(|scope| {
        let runs: Vec<_> = [1, 2, 1, 3]
            .into_iter()
            .map(|seed| {
                (
                    seed,
                    scope.spawn(move || result_bytes(&simulate(&everything(seed)))),
                )
            })
            .collect();
        runs.into_iter()
            .map(|(seed, run)| (seed, run.join().expect("the run ends")))
            .collect()
    });
    for (seed, bytes) in together {
        assert_eq!(bytes == alone, seed == 1, "seed {seed}");
    }
}

#[test]
fn sampling_does_not_influence_the_run() {
    let sampled = everything(1);
    let unsampled = Scenario {
        sample_interval_ns: 0,
        ..sampled.clone()
    };
    let (sampled, unsampled) = (simulate(&sampled), simulate(&unsampled));
    assert!(unsampled.tables.is_empty());
    assert_eq!(
        serde_json::to_string(&sampled.summary).expect("JSON"),
        serde_json::to_string(&unsampled.summary).expect("JSON"),
    );
}

/// A connection in TIME-WAIT changes no more: its rows end with it, those of others do not.
#[test]
fn a_closed_flow_writes_no_rows() {
    let output = simulate(&everything(1));
    let flows = &output.tables[0].batch;
    let times_us = flows["time_us"].numbers::<i64>();
    let numbers = flows["flow"].numbers::<u32>();
    let last_row_us = |number: u32| {
        let rows = times_us.iter().zip(numbers);
        let own = rows.filter_map(|(&time_us, &flow)| (flow == number).then_some(time_us));
        own.max().expect("every flow has rows") as u64
    };
    let duration_us = everything(1).duration_ns / 1000;
    let is_sized = |flow: &&FlowSummary| flow.group == 3;
    assert_eq!(output.summary.flows.iter().filter(is_sized).count(), 2);
    for flow in output.summary.flows.iter().filter(is_sized) {
        // The FINs take a round trip at most, in a queue of at most another.
        let closed_us = flow.end_us..flow.end_us + 2 * flow.rtt_max_us;
        assert!(
            flow.finished && closed_us.end < duration_us,
            "it ends before the run"
        );
        assert!(last_row_us(flow.flow).abs_diff(flow.end_us) <= 2 * flow.rtt_max_us);
    }
    assert!(
        duration_us - last_row_us(0) < 20_000,
        "a flow without end has rows to the end"
    );
}

#[test]
fn every_build_and_machine_gives_the_golden_digest() {
    let mut output = simulate(&everything(1));
    let by_group = digest(&result_bytes(&output));
    assert_eq!(
        by_group, GOLDEN_DIGEST_BY_GROUP,
        "{by_group:#018x} instead of {GOLDEN_DIGEST_BY_GROUP:#018x}"
    );
    output.tables.retain(|table| table.name != "queue_by_group");
    assert!(
        output
            .summary
            .flows
            .iter()
            .all(|flow| flow.dropped_pkts > 0),
        "every congestion control algorithm meets losses"
    );
    let found = digest(&result_bytes(&output));
    assert_eq!(
        found, GOLDEN_DIGEST,
        "results changed: {found:#018x} instead of {GOLDEN_DIGEST:#018x}; see GOLDEN_DIGEST"
    );
}
