//! What changes do to the elements of networks.

use dumbbell_net::Limit;

use super::*;
use crate::group::Group;
use crate::link::Queue;

const MS: u64 = 1_000_000;

fn link(name: &str) -> Link {
    Link {
        name: name.to_owned(),
        link_rate_bps: 10_000_000,
        queue: Queue::drop_tail(Limit::Packets(100)),
        ..Link::default()
    }
}

fn scenario(links: &[Link], rtts_ms: &[u64]) -> Scenario {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let is_two_way = links.len() == 2;
    let group = |base_rtt_ms: &u64| Group {
        cc: "cubic".into(),
        base_rtt_ns: base_rtt_ms * MS,
        route: if is_two_way {
            names(&["down"])
        } else {
            Vec::new()
        },
        back: if is_two_way {
            names(&["up"])
        } else {
            Vec::new()
        },
        ..Group::default()
    };
    Scenario {
        duration_ns: 1_000 * MS,
        links: links.to_vec(),
        groups: rtts_ms.iter().map(group).collect(),
        ..Scenario::default()
    }
}

fn base_rtt(group: Option<u16>, base_rtt_ms: u64) -> Change {
    Change::BaseRtt {
        group,
        base_rtt_ns: base_rtt_ms * MS,
    }
}

fn line(line: usize, delay_ms: u64) -> NetworkChange {
    NetworkChange::LineDelay {
        line,
        delay_ns: delay_ms * MS,
    }
}

fn link_delay(delay_ms: u64) -> NetworkChange {
    NetworkChange::LinkDelay {
        link: 0,
        delay_ns: delay_ms * MS,
    }
}

#[test]
fn a_base_rtt_is_divided_as_a_scenario_divides_it() {
    let two_way = [link("down"), link("up")];
    let mut path = ChangingPath::new(&scenario(&two_way, &[40, 40]));
    // Half of it is the access, half the way back.
    let changes = path.change(&base_rtt(None, 100));
    assert_eq!(changes, Ok(vec![line(1, 50), line(0, 50)]));
    assert_eq!(path.base_rtt_ns(1), 100 * MS);
    assert_eq!(path.change(&base_rtt(Some(0), 100)), Ok(Vec::new()));
    // Both groups have the same lines.
    let changes = path.change(&base_rtt(Some(0), 10));
    assert_eq!(changes, Ok(vec![line(1, 5), line(0, 5)]));
    assert_eq!(path.base_rtt_ns(1), 10 * MS);
    let refused = path
        .change(&base_rtt(Some(2), 10))
        .map_err(|refusal| refusal.0);
    let expected = "there is no group 2; the groups are 0 to 1";
    assert_eq!(refused, Err(expected.to_owned()));
}

#[test]
fn the_only_link_of_a_dumbbell_has_half_of_the_shortest_rtt() {
    let mut path = ChangingPath::new(&scenario(&[link("bottleneck")], &[40, 100]));
    // Line 0 is the way back of the near group; 1 and 2 are way back and access of the far one.
    let changes = path.change(&base_rtt(Some(0), 20));
    let expected = [link_delay(10), line(0, 10), line(2, 40)];
    assert_eq!(changes, Ok(expected.to_vec()));
    let changes = path.change(&base_rtt(None, 60));
    let expected = [link_delay(30), line(0, 30), line(2, 0), line(1, 30)];
    assert_eq!(changes, Ok(expected.to_vec()));
    assert_eq!(path.base_rtt_ns(0), 60 * MS);
}

/// Where no line is missing, a network that was changed has the delays of one that was made so.
#[test]
fn a_changed_path_is_that_of_the_changed_scenario() {
    let delayed = Link {
        delay_ns: Some(7 * MS),
        ..link("down")
    };
    let links = [vec![link("bottleneck")], vec![delayed, link("up")]];
    for links in links {
        for rtts_ms in [[40, 100], [60, 60], [30, 31]] {
            let mut path = ChangingPath::new(&scenario(&links, &[20, 200]));
            for (group, rtt_ms) in (0..).zip(rtts_ms) {
                path.change(&base_rtt(Some(group), rtt_ms))
                    .expect("it is long enough");
            }
            let topology = Topology::new(&scenario(&links, &rtts_ms));
            let delays = topology.links.iter().map(|link| link.delay_ns);
            let changed = path.links.iter().map(|link| link.delay_ns);
            assert!(delays.eq(changed));
            for (expected, place) in topology.paths.iter().zip(&path.path_of) {
                let found = &path.paths[*place];
                assert_eq!(
                    (found.access_ns, found.back_ns),
                    (expected.access_ns, expected.back_ns)
                );
            }
        }
    }
}

#[test]
fn the_delay_of_a_link_changes_the_base_rtts_over_it() {
    let mut path = ChangingPath::new(&scenario(&[link("bottleneck")], &[40]));
    let delay = |delay_ms| Change::Delay {
        link: "bottleneck".to_owned(),
        delay_ns: delay_ms * MS,
    };
    assert_eq!(path.change(&delay(50)), Ok(vec![link_delay(50)]));
    assert_eq!(path.base_rtt_ns(0), 70 * MS);
    let refused = path
        .change(&base_rtt(None, 49))
        .map_err(|refusal| refusal.0);
    let expected = "the base RTT of 49000000 ns is shorter than its links' delays, 50000000 ns; use a base RTT of at least 50000000 ns, or change the delay of a link first";
    assert_eq!(refused, Err(expected.to_owned()));
    assert_eq!(path.base_rtt_ns(0), 70 * MS, "nothing has changed");
    assert_eq!(path.change(&base_rtt(None, 55)), Ok(vec![line(0, 5)]));
}

#[test]
fn what_cannot_change_is_refused() {
    let mut path = ChangingPath::new(&scenario(&[link("bottleneck")], &[40]));
    let mut refusal = |change| path.change(&change).map_err(|refusal| refusal.0).err();
    let rate = |link: &str, link_rate_bps| Change::Rate {
        link: link.to_owned(),
        link_rate_bps,
    };
    let expected = "there is no link `up`; the links are `bottleneck`";
    assert_eq!(refusal(rate("up", 1)).as_deref(), Some(expected));
    let expected = "the link rate of `bottleneck` is 0; use a rate above 0, e.g. `50mbit`";
    assert_eq!(refusal(rate("bottleneck", 0)).as_deref(), Some(expected));
    assert_eq!(refusal(rate("bottleneck", 1)), None);
    let loss = |loss_ppb| Change::Loss {
        link: "bottleneck".to_owned(),
        loss_ppb,
    };
    let expected = "every packet is lost at random before `bottleneck`; use a loss below `100%`";
    assert_eq!(refusal(loss(1_000_000_000)).as_deref(), Some(expected));
    assert_eq!(refusal(loss(999_999_999)), None);
}

#[test]
fn changes_that_were_made_are_steps_of_the_scenario() {
    let mut scenario = scenario(&[link("bottleneck")], &[40, 100]);
    scenario.links[0].rate_steps = vec![RateStep {
        at_ns: 500 * MS,
        link_rate_bps: 1,
    }];
    let rate = Change::Rate {
        link: "bottleneck".to_owned(),
        link_rate_bps: 5_000_000,
    };
    let changed = scenario.with_changes(&[(100 * MS, rate), (200 * MS, base_rtt(Some(1), 80))]);
    let steps: Vec<(u64, u64)> = changed.links[0]
        .rate_steps
        .iter()
        .map(|step| (step.at_ns, step.link_rate_bps))
        .collect();
    assert_eq!(steps, [(100 * MS, 5_000_000), (500 * MS, 1)]);
    assert!(changed.groups[0].rtt_steps.is_empty());
    assert_eq!(changed.groups[1].base_rtt_at(200 * MS), 80 * MS);
}

#[test]
fn a_change_is_read_from_json() {
    let json = r#"{"kind":"base_rtt","group":null,"base_rtt_ns":5}"#;
    let change: Change = serde_json::from_str(json).expect("a change");
    assert_eq!(
        change,
        Change::BaseRtt {
            group: None,
            base_rtt_ns: 5
        }
    );
    assert_eq!(serde_json::to_string(&change).expect("JSON"), json);
}
