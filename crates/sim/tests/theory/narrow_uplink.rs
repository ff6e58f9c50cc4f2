//! ACKs that cross a link: on an uplink too narrow for them, and between the packets of an upload.

use dumbbell_net::queue::fq_codel;
use dumbbell_sim::{Group, Host, Limit, Link, Output, Queue, Scenario};

use crate::common::{
    MSS_BYTES, NS_PER_MS, NS_PER_S, PACKET_BYTES, assert_near, assert_within, bulk, column, mean,
    simulate,
};

const DOWN_BPS: u64 = 20_000_000;
const BASE_RTT_MS: u64 = 40;
/// A pure ACK with timestamps on the wire: Ethernet 14, IP 20, TCP 32 bytes.
const ACK_BYTES: f64 = 66.0;

fn link(name: &str, link_rate_bps: u64, queue: Queue) -> Link {
    Link {
        name: name.to_owned(),
        link_rate_bps,
        delay_ns: Some(5 * NS_PER_MS),
        queue,
        ..Link::default()
    }
}

/// A drop-tail queue that holds what its link sends in `ms`.
fn drop_tail(link_rate_bps: u64, ms: u64) -> Queue {
    Queue::drop_tail(Limit::Bytes((link_rate_bps * ms / 8_000).max(2_000)))
}

fn over(route: &str, back: &str, group: Group) -> Group {
    Group {
        route: vec![route.to_owned()],
        back: vec![back.to_owned()],
        ..group
    }
}

fn run(links: Vec<Link>, groups: Vec<Group>, duration_s: u64) -> Output {
    simulate(&Scenario {
        seed: 1,
        duration_ns: duration_s * NS_PER_S,
        sample_interval_ns: 10 * NS_PER_MS,
        links,
        groups,
        ..Scenario::default()
    })
}

/// A group's rate on the wire, of its first flow.
fn rate_bps(output: &Output, group: u32) -> f64 {
    let flow = output.summary.flows.iter().find(|flow| flow.group == group);
    flow.expect("the group has a flow").goodput_bps * PACKET_BYTES / f64::from(MSS_BYTES)
}

/// RFC 3449 §2.2: the downlink's rate over the uplink's, over a packet's size by that of the ACKs it needs, is the asymmetry
/// k. Above 1 the uplink carries 1/k of the ACKs that a full downlink needs, and as long as none is lost the
/// download has 1/k of it. The window is small enough that all its ACKs fit in the uplink's queue, and large enough to fill it.
#[test]
fn a_narrow_uplink_limits_a_download_to_its_ack_rate() {
    for asymmetry in [0.5, 1.0, 2.0, 4.0] {
        // Two segments of the download for each ACK.
        let up_bps = DOWN_BPS as f64 * ACK_BYTES / (2.0 * PACKET_BYTES) / asymmetry;
        let download = Group {
            host: Host {
                tso: false,
                rwnd_bytes: 400_000,
                ..Host::default()
            },
            ..bulk("reno", 1, BASE_RTT_MS)
        };
        let output = run(
            vec![
                link("down", DOWN_BPS, Queue::drop_tail(Limit::Bytes(1_000_000))),
                link(
                    "up",
                    up_bps as u64,
                    Queue::drop_tail(Limit::Bytes(1_000_000)),
                ),
            ],
            vec![over("down", "up", download)],
            60,
        );
        let rate = rate_bps(&output, 0);
        println!(
            "k {asymmetry}: download {:.2} % of the downlink, {} ACKs dropped",
            100.0 * rate / DOWN_BPS as f64,
            output
                .summary
                .links
                .iter()
                .map(|link| link.dropped_pkts)
                .sum::<u64>()
        );
        let expected = DOWN_BPS as f64 * f64::min(1.0, 1.0 / asymmetry);
        assert_near("the download's rate", rate, expected, 0.03);
    }
}

/// Bulk both ways on a symmetric line: each direction carries the other's ACKs, 66 bytes for two segments of 1514, so at
/// most 1/(1 + 66/3028) = 97.9 % of it are data. With a queue per flow little is missing; behind the other's packets
/// ACKs come in bursts, and drop-tail queues can be empty by turns (Zhang, Shenker, Clark, "Observations on the dynamics of a
/// congestion control algorithm: the effects of two-way traffic", 1991).
#[test]
fn two_way_traffic_leaves_room_for_acks() {
    let smooth = || Group {
        host: Host {
            tso: false,
            ..Host::default()
        },
        ..bulk("cubic", 1, BASE_RTT_MS)
    };
    let share = |queue: &Queue| -> [f64; 2] {
        let line = |name| link(name, DOWN_BPS, queue.clone());
        let groups = vec![
            over("there", "here", smooth()),
            over("here", "there", smooth()),
        ];
        let output = run(vec![line("there"), line("here")], groups, 60);
        [0, 1].map(|group| rate_bps(&output, group) / DOWN_BPS as f64)
    };
    let most = 1.0 / (1.0 + ACK_BYTES / (2.0 * PACKET_BYTES));
    let (fair, fifo) = (
        share(&fair_queue()),
        share(&drop_tail(DOWN_BPS, BASE_RTT_MS)),
    );
    println!("two-way: {fair:.4?} of the line in FQ-CoDel, {fifo:.4?} in a FIFO");
    for (fair, fifo) in fair.into_iter().zip(fifo) {
        assert_within("a direction's data, in FQ-CoDel", fair, 0.9..=most);
        assert!(fifo <= most, "a direction's data, in a FIFO: {fifo}");
    }
}

/// A queue per flow.
fn fair_queue() -> Queue {
    fq_codel::Config {
        perfect_hash: true,
        ..fq_codel::Config::default()
    }
    .into()
}

const UP_BPS: u64 = 2_000_000;

/// A download next to an upload, over the same uplink.
fn download_next_to_upload(cc: &str, uplink: Queue, with_upload: bool) -> Output {
    let mut groups = vec![over("down", "up", bulk(cc, 1, BASE_RTT_MS))];
    if with_upload {
        groups.push(over("up", "down", bulk("cubic", 1, BASE_RTT_MS)));
    }
    let down = link("down", DOWN_BPS, drop_tail(DOWN_BPS, BASE_RTT_MS));
    run(vec![down, link("up", UP_BPS, uplink)], groups, 60)
}

/// Høiland-Jørgensen et al., "The good, the bad and the WiFi" (2015) and the RRUL test: ACKs that wait behind an upload in a
/// second of uplink buffer keep a download from filling its link; a queue per flow with CoDel does not.
#[test]
fn an_upload_starves_a_download_in_a_deep_fifo_not_in_fair_queues() {
    let deep = || drop_tail(UP_BPS, 1_000);
    let share = |uplink, with_upload| {
        rate_bps(&download_next_to_upload("cubic", uplink, with_upload), 0) / DOWN_BPS as f64
    };
    let alone = share(deep(), false);
    let behind_fifo = share(deep(), true);
    let behind_fair = share(fair_queue(), true);
    println!(
        "download: alone {alone:.3}, upload in a FIFO of 1 s {behind_fifo:.3}, in FQ-CoDel {behind_fair:.3}"
    );
    assert!(
        behind_fifo < 0.7 * alone,
        "in a FIFO {behind_fifo:.3}, alone {alone:.3}"
    );
    assert!(
        behind_fair >= 0.9 * alone,
        "in FQ-CoDel {behind_fair:.3}, alone {alone:.3}"
    );
}

/// ACKs that wait behind packets of the upload arrive back to back, faster than the link delivers. A delivery rate is the
/// smaller of the rates of ACKs and of sending (Cheng et al., draft-cheng-iccrg-delivery-rate-estimation, §2.3), and while BBR probes
/// it sends at 1.25 times its estimate: by that much at most may the estimate be too high.
#[test]
fn compressed_acks_inflate_bbr_s_bandwidth_by_its_probing_gain_at_most() {
    let output = download_next_to_upload("bbr", drop_tail(UP_BPS, 100), true);
    let time_us = column(&output, "state-0-bbr", "time_us");
    let bw_bps = column(&output, "state-0-bbr", "bw_bps");
    // The start is over.
    let settled = time_us
        .iter()
        .zip(&bw_bps)
        .filter(|&(&time_us, _)| time_us > 5e6);
    let settled: Vec<f64> = settled.map(|(_, &bw_bps)| bw_bps).collect();
    let highest = settled.iter().copied().fold(0.0, f64::max);
    // Payload that the link carries.
    let link_bps = DOWN_BPS as f64 * f64::from(MSS_BYTES) / PACKET_BYTES;
    println!(
        "BBR's bw over the link's rate: highest {:.3}, mean {:.3}",
        highest / link_bps,
        mean(settled) / link_bps
    );
    assert_within(
        "BBR's highest bw over the link's rate",
        highest / link_bps,
        0.98..=1.25,
    );
}
