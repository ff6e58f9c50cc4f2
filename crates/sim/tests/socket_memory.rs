//! Memory of sockets, and FreeBSD's receiver, in whole runs.

use crate::common::{NS_PER_S, bdp_bytes, bulk, dumbbell, simulate};
use dumbbell_sim::{FlowSummary, Group, Host, ReceiverKind, Scenario};

/// CUBIC and Copa at 50 Mbit/s and 40 ms, 32 BDP, windows of 8 MiB.
fn scenario(tcp_mem_bytes: Option<u64>, change: impl Fn(&mut Group)) -> Scenario {
    let groups = ["copa", "cubic"].map(|cc| {
        let mut group = Group {
            host: Host {
                rwnd_bytes: 8 << 20,
                ..Host::default()
            },
            ..bulk(cc, 1, 40)
        };
        change(&mut group);
        group
    });
    let limit_bytes = 32.0 * bdp_bytes(50_000_000, 40);
    Scenario {
        tcp_mem_bytes,
        sample_interval_ns: NS_PER_S / 10,
        ..dumbbell(50_000_000, limit_bytes, 60, groups.into())
    }
}

fn flows(scenario: &Scenario) -> Vec<FlowSummary> {
    simulate(scenario).summary.flows
}

fn debug(flows: &[FlowSummary]) -> String {
    format!("{flows:?}")
}

/// A limit that is never reached, and a send buffer that always has room, change nothing but what counting out-of-order data does.
#[test]
fn memory_that_suffices_changes_nothing() {
    let counted = flows(&scenario(None, |group| group.host.ooo_memory = true));
    assert_eq!(
        debug(&flows(&scenario(Some(1 << 40), |_| ()))),
        debug(&counted)
    );
    let plain = flows(&scenario(None, |_| ()));
    let tuned = flows(&scenario(None, |group| {
        group.host.sndbuf_auto = true;
        group.host.sndbuf_bytes = 1 << 40;
    }));
    let sent = |flows: &[FlowSummary]| flows.iter().map(|flow| flow.sent_pkts).sum::<u64>();
    assert!(sent(&tuned).abs_diff(sent(&plain)) * 50 < sent(&plain));
}

/// Two tuned send buffers and what is held above holes come above 20 MB: CUBIC's receiver offers little, and it waits.
#[test]
fn under_pressure_windows_limit_flows() {
    let tuned = |group: &mut Group| {
        group.host.sndbuf_auto = true;
        group.host.sndbuf_bytes = 16 << 20;
    };
    let limited =
        |flows: &[FlowSummary]| flows.iter().map(|flow| flow.rwnd_limited_us).sum::<u64>();
    let (much, little) = (
        flows(&scenario(Some(1 << 40), tuned)),
        flows(&scenario(Some(20_000_000), tuned)),
    );
    assert!(
        limited(&little) > 2 * limited(&much),
        "{} {}",
        limited(&little),
        limited(&much)
    );
}

/// A run says how often there was pressure, and without a limit nothing of it.
#[test]
fn the_summary_counts_pressure() {
    let count = |tcp_mem_bytes| {
        let tuned = scenario(tcp_mem_bytes, |group| {
            group.host.sndbuf_auto = true;
            group.host.sndbuf_bytes = 16 << 20;
        });
        simulate(&tuned).summary.tcp_mem_pressure_count
    };
    assert_eq!(count(None), None);
    assert_eq!(count(Some(1 << 40)), Some(0));
    assert!(count(Some(20_000_000)) > Some(0));
}

/// A flow that stops sends its FIN alone. Once that is acknowledged nothing of it waits, and the other one goes on as
/// without a limit.
#[test]
fn a_flow_that_has_closed_uses_no_memory() {
    let with_memory = |tcp_mem_bytes| {
        let mut stopped = scenario(Some(tcp_mem_bytes), |group| {
            group.host.sndbuf_auto = true;
            group.host.sndbuf_bytes = 16 << 20;
        });
        stopped.groups[0].stop_ns = Some(10 * NS_PER_S);
        flows(&stopped)
    };
    // CUBIC alone needs less than 5793 packets of 2304 bytes twice.
    assert_eq!(
        debug(&with_memory(100_000_000)),
        debug(&with_memory(1 << 50))
    );
}

/// With FreeBSD's receivers there are more ACKs in recovery and no D-SACKs, and all that is sent is accounted for.
#[test]
fn freebsds_receivers_report_no_duplicates() {
    let output = flows(&scenario(None, |group| {
        group.host.receiver = ReceiverKind::freebsd
    }));
    for flow in output {
        assert_eq!(flow.spurious_retransmits, 0);
        assert_eq!(
            flow.sent_pkts,
            flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts
        );
    }
}
