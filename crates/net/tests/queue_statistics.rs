//! What disciplines say of themselves agrees with what they were seen to do.

use std::collections::BTreeMap;

use dumbbell_net::queue::disciplines;
use dumbbell_net::{DropReason, Ecn, Effect, Effects, Packet, Queue, QueueConfig, Site};

/// A discipline of a scenario's JSON.
fn config(name: &str, settings: &[(&str, u64)], flags: &[&str]) -> QueueConfig {
    let mut json = serde_json::json!({ "kind": name });
    for &(field, value) in settings {
        json[field] = value.into();
    }
    for &flag in flags {
        json[flag] = true.into();
    }
    serde_json::from_value(json).expect("its settings")
}

fn statistics(queue: &impl Queue<()>) -> BTreeMap<&'static str, u64> {
    let mut found = BTreeMap::new();
    queue.statistics(&mut |name, value| {
        let is_new = found.insert(name, value).is_none();
        assert!(is_new, "`{name}` is shown twice");
    });
    found
}

/// What was seen of a queue at 12 Mbit/s into which `load_pct` per cent of that came for 20 s.
#[derive(Debug, Default)]
struct Seen {
    overflows: u64,
    early: u64,
    marks: u64,
    departures: u64,
    statistics: BTreeMap<&'static str, u64>,
}

fn drive(config: &QueueConfig, ecn: Ecn, load_pct: u64) -> Seen {
    const PACKET_NS: u64 = 1_000_000;
    let site = Site {
        seed: 7,
        link_rate_bps: 12_000_000,
        ..Site::default()
    };
    let mut queue = config.build::<()>(&site);
    let mut effects = Effects::new();
    let mut seen = Seen::default();
    let mut free_ns = 0;
    for number in 0..20_000 * load_pct / 100 {
        let now_ns = number * PACKET_NS * 100 / load_pct;
        while free_ns <= now_ns {
            seen.departures += u64::from(queue.dequeue(free_ns, &mut effects).is_some());
            free_ns += PACKET_NS;
        }
        let packet = Packet {
            flow: (number % 3) as u32,
            wire_bytes: 1500,
            ecn,
            hop: 0,
            arrived_ns: now_ns,
            header: (),
        };
        queue.enqueue(now_ns, packet, &mut effects);
        for effect in effects.drain() {
            match effect {
                Effect::Marked(_) => seen.marks += 1,
                Effect::Refused(_, DropReason::Overflow)
                | Effect::Dropped(_, DropReason::Overflow) => seen.overflows += 1,
                _ => seen.early += 1,
            }
        }
    }
    seen.statistics = statistics(&queue);
    seen
}

/// A time series that no statistic fills would be an empty column.
#[test]
fn every_series_is_a_statistic() {
    for discipline in disciplines() {
        let limit_bytes = ("limit_bytes", 100_000);
        let has_bytes = discipline
            .parameters
            .iter()
            .any(|parameter| parameter.field == limit_bytes.0);
        let settings = if has_bytes { &[limit_bytes][..] } else { &[] };
        let queue = config(discipline.name, settings, &[]).build::<()>(&Site::default());
        let known = statistics(&queue);
        for series in discipline.facts.series {
            assert!(known.contains_key(series), "{}: {series}", discipline.name);
        }
    }
}

/// Each packet that cannot be marked and was dropped is counted for what it was dropped for.
#[test]
fn drops_are_counted_by_their_reason() {
    let small = ("limit_pkts", 60);
    for (name, settings, overflow, early) in [
        ("codel", small, Some("drop_overlimit_pkts"), None),
        ("fq_codel", small, Some("drop_overlimit_pkts"), None),
        ("pie", small, Some("overlimit_pkts"), Some("dropped_pkts")),
        (
            "fq_pie",
            small,
            Some("overlimit_pkts"),
            Some("dropped_pkts"),
        ),
        (
            "red",
            ("limit_bytes", 90_000),
            Some("pdrop_pkts"),
            Some("early_pkts"),
        ),
    ] {
        let seen = drive(&config(name, &[settings], &[]), Ecn::NotEct, 150);
        for (counted, of) in [(overflow, seen.overflows), (early, seen.early)] {
            if let Some(counted) = counted {
                assert_eq!(seen.statistics[counted], of, "{name}: {counted}");
            }
        }
        assert!(seen.overflows + seen.early > 9_000, "{name}: {seen:?}");
    }
}

/// Each mark is counted once, and DualPI2's two kinds together at least once.
#[test]
fn marks_are_counted() {
    for (name, settings, counted) in [
        ("codel", &[][..], "ecn_mark_pkts"),
        ("fq_codel", &[], "ecn_mark_pkts"),
        ("pie", &[], "ecn_mark_pkts"),
        ("red", &[("limit_bytes", 400_000)], "marked_pkts"),
    ] {
        let seen = drive(&config(name, settings, &["ecn"]), Ecn::Ect0, 101);
        assert_eq!(seen.statistics[counted], seen.marks, "{name}");
        assert!(seen.marks > 0, "{name}");
    }
    let seen = drive(&config("dualpi2", &[], &[]), Ecn::Ect1, 101);
    let of = |name| seen.statistics[name];
    let counted = of("ecn_mark_pkts") + of("step_mark_pkts");
    assert!(of("step_mark_pkts") > 0 && seen.marks > 0);
    assert!((seen.marks..=2 * seen.marks).contains(&counted), "{seen:?}");
    assert_eq!(of("in_c_pkts"), 0);
}

/// What `tc -s` shows of the controllers is their state: with 10 % too much the delays settle at the targets.
#[test]
fn probabilities_and_delays_are_told() {
    let pie = drive(&config("pie", &[], &[]), Ecn::NotEct, 110).statistics;
    assert!((5..30).contains(&(pie["delay_ns"] / 1_000_000)), "{pie:?}");
    let probability = pie["prob_ppb"] as f64 / 1e9;
    // What is too much, 1 − 1/1.1 = 9.1 %: RFC 8033 §5.4 lets the sum reach 0.85 before it draws, so that of
    // p one in 1.85/p is dropped.
    assert!((probability - 1.85 * 0.091).abs() < 0.04, "{pie:?}");
    let dualpi2 = drive(&config("dualpi2", &[], &[]), Ecn::NotEct, 110).statistics;
    let square = (dualpi2["prob_ppb"] as f64 / 1e9).powi(2);
    assert!((square - 0.091).abs() < 0.04, "{dualpi2:?}");
    assert_eq!(dualpi2["delay_l_ns"], 0);
    assert!(
        (5..30).contains(&(dualpi2["delay_c_ns"] / 1_000_000)),
        "{dualpi2:?}"
    );
    let codel = drive(&config("codel", &[], &[]), Ecn::NotEct, 110).statistics;
    assert!(codel["dropping"] == 1 && codel["count"] > 10, "{codel:?}");
}
