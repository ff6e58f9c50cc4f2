//! Flows with applications: every byte that they begin arrives, and every packet is accounted for.

use crate::common::{NS_PER_MS, bulk, dumbbell, simulate};
use dumbbell_app::Distribution;
use dumbbell_app::traffic::{
    TrafficConfig, cbr, datagram, deterministic, onoff, page, poisson, rpc, video,
};
use dumbbell_sim::{Control, Group, Limit, Link, Queue, Scenario, run};

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

/// Applications with an end, through losses both ways: each ends all that it begins, and every connection
/// closes.
#[test]
fn whatever_is_lost_every_application_comes_to_its_end() {
    let count = Some(20);
    let sizes = || Distribution::Constant(20_000);
    let page = |protocol| page::Config {
        protocol,
        objects: Distribution::Constant(12),
        count,
        ..page::Config::default()
    };
    let rpc = |persistent| rpc::Config {
        response_bytes: sizes(),
        persistent,
        count,
        ..rpc::Config::default()
    };
    let arrivals = poisson::Config {
        gap_ns: 100 * NS_PER_MS,
        size_bytes: sizes(),
        strata: 1,
        count,
    };
    let applications: [TrafficConfig; 5] = [
        arrivals.into(),
        rpc(true).into(),
        rpc(false).into(),
        page(page::Protocol::http1).into(),
        page(page::Protocol::http2).into(),
    ];
    for traffic in applications {
        for cc in ["cubic", "bbr"] {
            let group = Group {
                traffic: traffic.clone(),
                route: vec!["down".to_owned()],
                back: vec!["up".to_owned()],
                ..bulk(cc, 2, 20)
            };
            let link = |name: &str| Link {
                name: name.to_owned(),
                link_rate_bps: 20_000_000,
                delay_ns: Some(0),
                queue: Queue::drop_tail(Limit::Packets(100)),
                random_loss_ppb: 30_000_000,
                ..Link::default()
            };
            let scenario = Scenario {
                links: vec![link("down"), link("up")],
                ..dumbbell(1, 1.0, 300, vec![group])
            };
            let output = simulate(&scenario);
            for flow in &output.summary.flows {
                assert!(flow.finished, "{traffic:?} over {cc}: {flow:?}");
                assert!(flow.retransmitted_pkts > 0 && flow.on_path_pkts == 0);
            }
            let ends_us = crate::common::column(&output, "transfers", "end_us");
            assert_eq!(ends_us.len(), 40);
            assert!(ends_us.iter().all(|end_us| end_us.is_finite()));
        }
    }
}

/// A user that has to stop ends what it has begun, and has finished.
#[test]
fn what_is_stopped_comes_to_its_end() {
    let on_off = onoff::Config::default();
    let endless_rpc = rpc::Config {
        response_bytes: Distribution::Constant(100_000),
        ..rpc::Config::default()
    };
    let rate = cbr::Config {
        rate_bps: 1_000_000,
        ..cbr::Config::default()
    };
    let call = datagram::Config {
        interval_ns: Some(20 * NS_PER_MS),
        ..datagram::Config::default()
    };
    let applications: [TrafficConfig; 5] = [
        on_off.into(),
        endless_rpc.into(),
        rate.into(),
        call.into(),
        video::Config::default().into(),
    ];
    for traffic in applications {
        let group = Group {
            traffic: traffic.clone(),
            stop_ns: Some(4_300 * NS_PER_MS),
            ..bulk("cubic", 1, 20)
        };
        let output = simulate(&dumbbell(10_000_000, 50_000.0, 60, vec![group]));
        let flow = &output.summary.flows[0];
        assert!(
            flow.finished && flow.received_bytes > 0,
            "{traffic:?}: {flow:?}"
        );
        assert_eq!(flow.sent_pkts, flow.dropped_pkts + flow.arrived_pkts);
        let rows = crate::common::column(&output, "flows", "outstanding_pkts");
        assert_eq!(rows.last(), Some(&0.0));
        let opens_connections = !traffic.facts().sends_datagrams;
        assert_eq!(flow.end_us < 30_000_000, opens_connections, "{flow:?}");
    }
}

/// Between two samples connections open and close: what they carried is in the rows all the same.
#[test]
fn rows_add_up_to_what_was_received() {
    let scenario = dumbbell(
        100_000_000,
        250_000.0,
        20,
        vec![bulk("reno", 1, 20), short_flows()],
    );
    let output = simulate(&scenario);
    let flow = crate::common::column(&output, "flows", "flow");
    let goodput_bps = crate::common::column(&output, "flows", "goodput_bps");
    let own = flow
        .iter()
        .zip(goodput_bps)
        .filter(|&(&flow, _)| flow == 1.0);
    let received_bytes: f64 = own.map(|(_, bps)| bps * 0.01 / 8.0).sum();
    let expected_bytes = output.summary.flows[1].received_bytes as f64;
    assert!((received_bytes / expected_bytes - 1.0).abs() < 1e-6);
    let rows = flow.iter().filter(|&&flow| flow == 1.0).count();
    assert_eq!(rows, 2_000, "from its start to the end of the run");
}
