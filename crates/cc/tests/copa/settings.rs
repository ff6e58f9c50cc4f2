//! What copa declares, compared with docs/copa.md and its note.

use std::collections::BTreeMap;

use dumbbell_cc::{Instance, Request, SK_PACING_NEEDED, TCP_INFINITE_SSTHRESH, describe};

use crate::copa::script::{Ack, Script, copa, start};

const DOC: &str = include_str!("../../../../docs/copa.md");
/// Has each parameter with the paper's value, and each series.
const NOTE: &str = include_str!("../../../../docs/notes/copa.md");

/// The paper's Copa, in the form in which docs/copa.md gives it.
pub(crate) fn paper() -> BTreeMap<String, i64> {
    let (_, settings) = DOC
        .lines()
        .find_map(|line| line.split_once("copa:report_rtt_min_pct=0"))
        .expect("docs/copa.md has the paper's settings");
    let settings = format!("report_rtt_min_pct=0{settings}");
    settings
        .trim_end_matches('`')
        .split(',')
        .map(|setting| {
            let (name, value) = setting.split_once('=').expect("name=value");
            (name.to_owned(), value.parse().expect("an integer"))
        })
        .collect()
}

#[test]
fn the_paper_s_settings_load() {
    let request = Request {
        name: "copa".to_owned(),
        params: paper(),
    };
    let instance = Instance::load(&request, 1).unwrap_or_else(|error| panic!("{error}"));
    let in_force = instance.params();
    for (name, value) in paper() {
        assert_eq!(in_force[&name], value, "{name}");
    }
}

#[test]
fn every_parameter_and_series_is_documented() {
    let described = describe("copa").unwrap_or_else(|error| panic!("{error}"));
    let params = described
        .params
        .iter()
        .map(|param| (&param.name, Some(param.default)));
    for (name, default) in params.chain(described.series.iter().map(|series| (&series.name, None)))
    {
        let row = NOTE
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")))
            .unwrap_or_else(|| panic!("docs/notes/copa.md has no row for {name}"));
        if let Some(default) = default {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[2], default.to_string(), "ccp_copa's column of {name}");
            let paper = paper().get(name).copied().unwrap_or(default);
            assert_eq!(cells[3], paper.to_string(), "the paper's column of {name}");
        }
    }
}

#[test]
fn ssthresh_and_undo_change_nothing_and_pacing_is_asked_for() {
    let mut flow = copa(&[]);
    start(&mut flow, 0);
    flow.sock.snd_cwnd = 77;
    assert_eq!(flow.ssthresh(), TCP_INFINITE_SSTHRESH);
    assert_eq!(flow.undo_cwnd(), 77);
    assert_eq!(flow.sock.sk_pacing_status, SK_PACING_NEEDED);
}

#[test]
fn a_second_start_on_the_same_socket_remembers_nothing() {
    // As when an application switches to another congestion control algorithm and back, at any time.
    const NAMES: [&str; 8] = [
        "mode",
        "mode_low_rtt_us",
        "mode_threshold_rtt_us",
        "inv_delta_pkts",
        "velocity",
        "slow_start",
        "rtt_min_us",
        "rtt_standing_us",
    ];
    for age in 0..64 {
        let mut script = Script::new(&[]);
        script.leave_slow_start_at(20, 1_000_000);
        script.acks_for(1_000_000 + age * 100_000, 30_000);
        let later_us = script.now_us;
        start(&mut script.flow, later_us);
        let mut fresh = Script::new(&[]);
        for _ in 0..100 {
            for name in NAMES {
                assert_eq!(script.series(name), fresh.series(name), "{name}");
            }
            assert_eq!(script.cwnd(), fresh.cwnd());
            script.ack(1000, Ack::of(1, 50_000));
            fresh.ack(1000, Ack::of(1, 50_000));
        }
    }
}
