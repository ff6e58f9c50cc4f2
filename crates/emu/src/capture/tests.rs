//! The file's content compared with what the relay and the flows report about the run.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dumbbell_net::queue::fq_codel;
use dumbbell_results::Output;
use dumbbell_scenario::{Control, Group, Limit, Queue};
use dumbbell_wire::bytes::read_u16;
use dumbbell_wire::checksum::internet_checksum;
use dumbbell_wire::ip::Ip;
use dumbbell_wire::ipv4;
use dumbbell_wire::tcp::TcpFlags;
use tempfile::TempDir;

use super::captured::{Captured, read, rtts_us};
use super::*;
use crate::packet::frame::test_packet;
use crate::run;
use crate::skipped::skipped;
use crate::testbed::hosts;

const MS: u64 = 1_000_000;

fn group(base_rtt_ms: u64, size_bytes: Option<u64>) -> Group {
    Group {
        cc: "linux/reno".into(),
        flows: 2,
        base_rtt_ns: base_rtt_ms * MS,
        size_bytes,
        ..Group::default()
    }
}

/// A short queue, so that packets are dropped; a path with access delay; flows that end.
fn scenario(duration_ms: u64) -> Scenario {
    Scenario {
        seed: 1,
        duration_ns: duration_ms * MS,
        sample_interval_ns: 10 * MS,
        groups: vec![group(20, None), group(30, Some(200_000))],
        ..Scenario::dumbbell(50_000_000, Queue::drop_tail(Limit::Bytes(40_000)))
    }
}

/// A path for a capture, removed when the test ends.
fn config(snap_bytes: Option<u32>) -> (TempDir, CaptureConfig) {
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let config = CaptureConfig {
        path: directory.path().join("capture.pcapng"),
        snap_bytes,
        senders: true,
        receivers: true,
        links: true,
    };
    (directory, config)
}

/// A run of 3 s with its capture, long enough for the flows that end, even if the machine stands still for
/// half a second in between; `None` where this machine cannot run it, which is reported.
fn captured_run(test: &str, snap_bytes: Option<u32>) -> Option<(Output, Vec<Captured>, TempDir)> {
    let scenario = scenario(3000);
    let (_turn, _hosts) = hosts(test, &scenario)?;
    let (directory, config) = config(snap_bytes);
    let output = run(&scenario, &Control::default(), Some(&config))
        .unwrap_or_else(|error| panic!("{error}"));
    Some((output, read(&config.path), directory))
}

fn count(captured: &[Captured], is_counted: impl Fn(&Captured) -> bool) -> u64 {
    captured.iter().filter(|packet| is_counted(packet)).count() as u64
}

#[test]
fn the_capture_says_what_the_relay_counted() {
    let test = "the_capture_says_what_the_relay_counted";
    let Some((output, captured, _directory)) = captured_run(test, None) else {
        return;
    };
    let summary = &output.summary;
    assert!(summary.bottleneck.dropped_pkts > 0, "the queue is short");
    for (flow, counted) in summary.flows.iter().enumerate() {
        let data_at = |point: &str| {
            count(&captured, |packet| {
                packet.point == point && packet.flow() == flow && packet.is_data()
            })
        };
        let dropped_pkts = count(&captured, |packet| {
            packet.is_dropped && packet.flow() == flow && packet.is_data()
        });
        let group = counted.group;
        assert_eq!(data_at(&format!("sender-{group}")), counted.sent_pkts);
        assert_eq!(data_at(&format!("receiver-{group}")), counted.arrived_pkts);
        assert_eq!(dropped_pkts, counted.dropped_pkts);
        let wire_bytes: usize = captured
            .iter()
            .filter(|packet| packet.point == "bottleneck-out" && packet.flow() == flow)
            .map(|packet| packet.wire_bytes)
            .sum();
        let life_us = (counted.end_us - counted.start_us) as f64;
        let forwarded_bytes = counted.throughput_bps * life_us / 8e6;
        // The flow's times are given in whole µs.
        assert!((wire_bytes as f64 - forwarded_bytes).abs() < 10.0);
    }
    let at = |point: &str| count(&captured, |packet| packet.point == point);
    assert_eq!(at("bottleneck-in"), summary.bottleneck.offered_pkts);
    let dropped_pkts = count(&captured, |packet| packet.is_dropped);
    assert_eq!(dropped_pkts, summary.bottleneck.dropped_pkts);
    let emulation = summary.emulation.as_ref().expect("it ran on the kernel");
    assert_eq!(emulation.captured_pkts, Some(captured.len() as u64));
    assert_eq!(emulation.capture_lost_pkts, Some(0));
}

/// FQ-CoDel drops packets that have waited: at dequeue, and of the longest queue when the limit is reached. Each
/// is in the capture twice at the link, when it came and when it was dropped.
#[test]
fn drops_of_packets_that_waited_are_captured() {
    let test = "drops_of_packets_that_waited_are_captured";
    let fq_codel = fq_codel::Config {
        limit_pkts: 100,
        target_ns: MS,
        interval_ns: 10 * MS,
        ecn: false,
        ..fq_codel::Config::default()
    };
    let mut scenario = scenario(1500);
    scenario.links[0].queue = fq_codel.into();
    let Some((_turn, _hosts)) = hosts(test, &scenario) else {
        return;
    };
    let (_directory, config) = config(None);
    let output = run(&scenario, &Control::default(), Some(&config))
        .unwrap_or_else(|error| panic!("{error}"));
    let captured = read(&config.path);
    let summary = &output.summary.bottleneck;
    assert!(
        summary.aqm_dropped_pkts.is_some_and(|pkts| pkts > 0),
        "{summary:?}"
    );
    let dropped = count(&captured, |packet| packet.is_dropped);
    assert_eq!(dropped, summary.dropped_pkts);
    let at = |point: &str| count(&captured, |packet| packet.point == point);
    let waited_pkts = at("bottleneck-in") - summary.offered_pkts;
    assert!(
        (1..=dropped).contains(&waited_pkts),
        "{waited_pkts} of {dropped}"
    );
    // What came has left, was dropped or is still there.
    assert!(summary.offered_pkts <= at("bottleneck-out") + dropped + summary.left_pkts);
    for (flow, counted) in output.summary.flows.iter().enumerate() {
        let dropped_data = count(&captured, |packet| {
            packet.is_dropped && packet.flow() == flow && packet.is_data()
        });
        assert_eq!(dropped_data, counted.dropped_pkts);
    }
}

#[test]
fn rtts_of_the_capture_are_those_of_the_relay() {
    let test = "rtts_of_the_capture_are_those_of_the_relay";
    let Some((output, captured, _directory)) = captured_run(test, None) else {
        return;
    };
    let emulation = output.summary.emulation.as_ref();
    let emulation = emulation.expect("it ran on the kernel");
    for (flow, counted) in output.summary.flows.iter().enumerate() {
        let at_sender: Vec<&Captured> = captured
            .iter()
            .filter(|packet| packet.point.starts_with("sender") && packet.flow() == flow)
            .collect();
        let rtts_us = rtts_us(&at_sender);
        assert!(rtts_us.len() > 50, "flow {flow} has sent");
        let mean_us = rtts_us.iter().sum::<u64>() as f64 / rtts_us.len() as f64;
        let counted_us = counted.rtt_mean_us;
        assert!(
            (mean_us / counted_us - 1.0).abs() < 0.05,
            "{mean_us} {counted_us}"
        );
        // When the machine stands still, data is sent again just as its ACK comes; which of the relay's two threads
        // sees its packet first, and so whether the ACK gives an RTT, the times of a capture do not say.
        if emulation.lateness_max_us < 10_000.0 {
            assert_eq!(rtts_us.iter().min(), Some(&counted.rtt_min_us));
            assert_eq!(rtts_us.iter().max(), Some(&counted.rtt_max_us));
            assert!((mean_us - counted_us).abs() < 1e-6, "{mean_us}");
        }
    }
}

#[test]
fn packets_have_the_times_of_the_path() {
    let before_ns = wall_clock_ns();
    let test = "packets_have_the_times_of_the_path";
    let Some((_, captured, _directory)) = captured_run(test, None) else {
        return;
    };
    let times_ns: Vec<u64> = captured.iter().map(|packet| packet.time_ns).collect();
    assert!(times_ns.is_sorted(), "and so are those of each interface");
    assert!(times_ns[0] > before_ns && times_ns[times_ns.len() - 1] < wall_clock_ns());

    let passes = |point: &str, flow: usize| -> Vec<&Captured> {
        captured
            .iter()
            .filter(|packet| {
                packet.point == point
                    && !packet.is_dropped
                    && packet.flow() == flow
                    && packet.is_from_sender()
            })
            .collect()
    };
    for flow in 0..4 {
        let receiver = format!("receiver-{}", flow / 2);
        let arrivals = passes(&receiver, flow);
        assert!(arrivals.len() > 100, "flow {flow} has sent");
        let out = passes("bottleneck-out", flow);
        // The path keeps the order of the packets that it does not drop.
        for ((entered, left), arrived) in passes("bottleneck-in", flow)
            .iter()
            .zip(&out)
            .zip(&arrivals)
        {
            assert_eq!(entered.packet(), left.packet());
            assert_eq!(left.packet(), arrived.packet());
            // 50 Mbit/s: 160 ns per byte.
            assert!(left.time_ns >= entered.time_ns + 160 * left.wire_bytes as u64);
            assert!(arrived.time_ns >= left.time_ns + 10 * MS);
        }
    }
}

#[test]
fn connections_are_captured_from_the_first_syn_to_the_last_ack() {
    let test = "connections_are_captured_from_the_first_syn_to_the_last_ack";
    let Some((output, captured, _directory)) = captured_run(test, None) else {
        return;
    };
    for (flow, summary) in output.summary.flows.iter().enumerate() {
        let at_sender: Vec<&Captured> = captured
            .iter()
            .filter(|packet| packet.point.starts_with("sender") && packet.flow() == flow)
            .collect();
        let flags = |packet: &Captured| packet.segment().flags.0 & !TcpFlags::PSH;
        let first: Vec<u16> = at_sender[..3].iter().map(|packet| flags(packet)).collect();
        let syn_ack = TcpFlags::SYN | TcpFlags::ACK;
        assert_eq!(first, [TcpFlags::SYN, syn_ack, TcpFlags::ACK]);
        assert_eq!(summary.finished, summary.group == 1, "it has a size");
        if summary.finished {
            let fins: Vec<bool> = at_sender
                .iter()
                .filter(|packet| flags(packet) & TcpFlags::FIN != 0)
                .map(|packet| packet.is_from_sender())
                .collect();
            assert!(fins.starts_with(&[true]), "the sender is through");
            assert!(fins.ends_with(&[false]), "and so is the receiver");
            // A FIN that was only late and went out twice is acknowledged after that.
            let mut from_sender = at_sender.iter().filter(|packet| packet.is_from_sender());
            let last = from_sender.next_back().expect("there are packets");
            assert!(!last.is_data());
            assert_eq!(flags(last), TcpFlags::ACK, "of the receiver's FIN");
        }
    }
}

#[test]
fn only_headers_are_kept_and_their_checksums_are_right() {
    let test = "only_headers_are_kept_and_their_checksums_are_right";
    let Some((_, captured, _directory)) = captured_run(test, None) else {
        return;
    };
    for packet in &captured {
        let ip = Ip::parse(packet.packet()).expect("a header");
        let segment = packet.segment();
        assert_eq!(packet.packet().len(), segment.header_bytes);
        let whole = packet.whole_packet();
        assert_eq!(usize::from(read_u16(&whole, 2)), whole.len());
        let (ip_header, tcp) = whole.split_at(ip.header_bytes);
        assert_eq!(read_u16(ip_header, 10), ipv4::checksum(ip_header));
        let mut pseudo_header = ip_header[12..20].to_vec();
        pseudo_header.extend([0, 6]);
        pseudo_header.extend((tcp.len() as u16).to_be_bytes());
        assert_eq!(internet_checksum([&pseudo_header, tcp]), 0, "{packet:?}");
    }
}

#[test]
fn tshark_finds_nothing_wrong() {
    let test = "tshark_finds_nothing_wrong";
    if Command::new("tshark").arg("--version").output().is_err() {
        skipped(test, "tshark is not installed");
        return;
    }
    let Some((_, captured, directory)) = captured_run(test, Some(u32::MAX)) else {
        return;
    };
    let matching = |filter: &str| {
        let output = Command::new("tshark")
            .args([
                "-o",
                "tcp.check_checksum:TRUE",
                "-o",
                "ip.check_checksum:TRUE",
            ])
            .args(["-T", "fields", "-e", "frame.number", "-Y", filter, "-r"])
            .arg(directory.path().join("capture.pcapng"))
            .output()
            .expect("tshark runs");
        assert!(output.status.success(), "{output:?}");
        output.stdout.iter().filter(|&&byte| byte == b'\n').count()
    };
    assert_eq!(
        matching("tcp.checksum.status == \"Good\" && ip.checksum.status == \"Good\""),
        captured.len()
    );
    assert_eq!(matching("_ws.malformed"), 0);
}

#[test]
fn a_cancelled_run_leaves_what_was_captured() {
    let scenario = scenario(30_000);
    let test = "a_cancelled_run_leaves_what_was_captured";
    let Some((_turn, _hosts)) = hosts(test, &scenario) else {
        return;
    };
    let (_directory, config) = config(None);
    let control = Control::default();
    let result = thread::scope(|scope| {
        let running = scope.spawn(|| run(&scenario, &control, Some(&config)));
        while control.progress() < 0.05 && !running.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        control.cancel();
        running.join().expect("it does not panic")
    });
    assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    assert!(read(&config.path).len() > 100);
}

#[test]
fn a_full_disk_ends_the_run_with_one_line() {
    let scenario = scenario(30_000);
    let test = "a_full_disk_ends_the_run_with_one_line";
    let Some((_turn, _hosts)) = hosts(test, &scenario) else {
        return;
    };
    let full = CaptureConfig {
        path: PathBuf::from("/dev/full"),
        ..config(Some(u32::MAX)).1
    };
    let control = Control::default();
    let error = run(&scenario, &control, Some(&full)).expect_err("nothing can be written");
    let line = error.to_string();
    assert!(line.contains("/dev/full"), "{line}");
    assert!(line.contains("No space left"), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert!(control.progress() < 0.5, "it does not wait for the end");
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let (directory, mut config) = config(None);
    config.path = directory.path().join("missing/capture.pcapng");
    let error = Capture::start(&config, &scenario(1), 1).expect_err("no such directory");
    assert!(
        error.to_string().contains("missing/capture.pcapng"),
        "{error}"
    );
}

#[test]
fn what_finds_no_room_in_a_ring_is_counted_and_the_rest_is_written() {
    const PACKETS: u64 = 100;
    let (_directory, config) = config(None);
    // Room for two records of headers.
    let ring_bytes = 2 * (record::HEADER_BYTES + 52) + 10;
    let (capture, mut taps) =
        Capture::with_rings(&config, &scenario(1), 1, ring_bytes).expect("it starts");
    let packet = test_packet(1448);
    for number in 0..PACKETS {
        taps[0].note(Place::Sender, 1000 * number, &packet);
    }
    drop(taps);
    let report = capture.finish().expect("it is written");
    assert_eq!(report.captured_pkts + report.lost_pkts, PACKETS);
    assert!(report.lost_pkts > 0);
    assert!(report.captured_pkts >= 2);
    assert_eq!(read(&config.path).len() as u64, report.captured_pkts);
}

#[test]
fn only_the_points_asked_for_are_captured() {
    let (_directory, config) = config(None);
    let config = CaptureConfig {
        receivers: false,
        links: false,
        ..config
    };
    let (capture, mut taps) = Capture::start(&config, &scenario(1), 1).expect("it starts");
    let packet = test_packet(1448);
    taps[0].note(Place::Sender, 1, &packet);
    taps[0].arrives(1, 0, &packet);
    taps[0].arrived();
    taps[0].note(Place::LinkOut(0), 2, &packet);
    taps[0].note(Place::Receiver, 3, &packet);
    drop(taps);
    capture.finish().expect("it is written");
    let points: Vec<String> = (read(&config.path).into_iter())
        .map(|packet| packet.point)
        .collect();
    assert_eq!(points, ["sender-0"]);
}

fn wall_clock_ns() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH);
    since_epoch.expect("it is after 1970").as_nanos() as u64
}
