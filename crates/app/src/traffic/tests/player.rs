//! Video by number: traffic.md §5.

use super::*;

fn on_link(rate_bps: u64) -> FakeNetwork {
    FakeNetwork {
        rate_bps,
        rtt_ns: 80 * NS_PER_MS,
        end_ns: 600 * NS_PER_S,
        ..FakeNetwork::default()
    }
}

fn requests(log: &Log) -> Vec<u64> {
    log.times(|command| {
        matches!(
            command,
            Command::Write {
                from: End::Receiver,
                ..
            }
        )
    })
}

/// Where the buffer is full, requests are a chunk's length apart, however long the chunk takes.
#[test]
fn at_a_full_buffer_requests_are_a_chunk_apart() {
    for rule in ["bba", "rate", "mpc", "bola"] {
        let json = format!(r#"{{"kind":"video","rule":"{rule}","ladder_bps":[1000000,2000000]}}"#);
        let log = run(&json, &on_link(20_000_000));
        let requests = requests(&log);
        assert!(requests.len() > 150);
        for pair in requests[40..].windows(2) {
            assert!(
                (pair[1] - pair[0]).abs_diff(4 * NS_PER_S) < 10,
                "{rule}: {pair:?}"
            );
        }
        assert_eq!(log.measurements["stalls"], 0, "{rule}");
        assert_eq!(log.measurements["stall_us"], 0);
    }
}

/// A link below the lowest rate: of all time 1 − C/R₁ is stalled.
#[test]
fn below_the_lowest_rate_it_stalls_for_the_share_that_is_missing() {
    for rule in ["bba", "rate", "mpc", "bola"] {
        let json = format!(r#"{{"kind":"video","rule":"{rule}","chunks":100000}}"#);
        let log = run(&json, &on_link(200_000));
        let (stall, played) = (
            log.measurements["stall_us"] as f64,
            log.measurements["played_us"] as f64,
        );
        let ratio = stall / (stall + played);
        let expected = 1.0 - 200.0 / 300.0;
        // A round trip a chunk comes on top: 80 ms of 6 s.
        assert!(
            (0.0..0.015).contains(&(ratio - expected)),
            "{rule}: {ratio}, {expected}"
        );
        assert_eq!(log.measurements["bitrate_mean_bps"], 300_000);
    }
}

/// 3 Mbit/s carry 2850 kbit/s, and MPC settles there. Each time that five chunks of 4300 kbit/s look
/// affordable it spends the buffer on them, and may end some milliseconds late.
#[test]
fn mpc_settles_at_what_the_link_carries() {
    let log = run(
        r#"{"kind":"video","rule":"mpc","first_rung":1}"#,
        &on_link(3_000_000),
    );
    assert!(
        log.measurements["stall_us"] < 600_000,
        "a thousandth of the time"
    );
    let chunks: Vec<u64> = log
        .transfers
        .iter()
        .map(|transfer| transfer.bytes)
        .collect();
    let of_2850 = 2_850_000 * 4 / 8;
    let settled = chunks[chunks.len() / 2..]
        .iter()
        .filter(|&&bytes| bytes == of_2850)
        .count();
    assert!(
        settled * 10 >= chunks.len() / 2 * 8,
        "{settled} of {}",
        chunks.len() / 2
    );
}

#[test]
fn throughput_chooses_the_rate_below_it() {
    let log = run(r#"{"kind":"video","rule":"rate"}"#, &on_link(3_000_000));
    assert_eq!(log.measurements["stalls"], 0);
    assert_eq!(
        log.measurements["switches"], 2,
        "the first chunk has the handshake in its time"
    );
    let last = log.transfers.last().expect("there are chunks");
    assert_eq!(last.bytes, 1_850_000 * 4 / 8);
}

/// The first chunk takes the handshake, the request's half a round trip and the chunk's.
#[test]
fn start_up_is_the_first_chunk() {
    let network = on_link(3_000_000);
    let log = run(r#"{"kind":"video","chunks":1}"#, &network);
    let bytes = 300_000 * 4 / 8;
    let expected_ns = 2 * network.rtt_ns + serialization_ns(bytes + 328, network.rate_bps);
    assert!((log.measurements["startup_us"] * 1000).abs_diff(expected_ns.cast_signed()) < 10_000);
    assert_eq!(log.measurements["played_us"], 4_000_000);
    assert_eq!(log.measurements["stalls"], 0, "the end is no stall");
    assert_eq!(log.measurements["qoe_lin_milli"], 300);
}

/// Pensieve's video of 48 chunks plays for 192 s; its sizes vary by 20 %, and not all are the same.
#[test]
fn pensieves_video_has_48_chunks() {
    let all = applications();
    let video = all
        .iter()
        .find(|each| each.name == "video")
        .expect("it is listed");
    let preset = video
        .presets
        .iter()
        .find(|preset| preset.name == "pensieve")
        .expect("it is listed");
    let log = on_link(100_000_000).run(&mut *preset.settings.build(3));
    assert_eq!(log.transfers.len(), 48);
    assert_eq!(log.measurements["played_us"], 192_000_000);
    let highest = 4_300_000 * 4 / 8;
    let of_highest = log
        .transfers
        .iter()
        .filter(|transfer| transfer.bytes > 2_850_000 * 6 / 10);
    assert!(
        of_highest
            .clone()
            .all(|transfer| transfer.bytes.abs_diff(highest) <= highest / 5)
    );
    let sizes: BTreeSet<u64> = log
        .transfers
        .iter()
        .map(|transfer| transfer.bytes)
        .collect();
    assert!(sizes.len() > 40);
}

#[test]
fn a_bad_ladder_is_refused() {
    for (ladder, part) in [
        (r#"[]"#, "`ladder_bps` is empty"),
        (
            r#"[750000,300000]"#,
            "`ladder_bps` has 750000 before 300000; sort its rates",
        ),
        (r#"[300000,300000]"#, "none twice"),
        (r#"[0,300000]"#, "`ladder_bps` is 0; use 1 to"),
        (
            r#"[1,2,3,4,5,6,7,8,9,10,11]"#,
            "more rates than `mpc` takes",
        ),
    ] {
        let json = format!(r#"{{"kind":"video","rule":"mpc","ladder_bps":{ladder}}}"#);
        let bad: TrafficConfig = serde_json::from_str(&json).expect("it is declared");
        let message = bad.check().expect_err(&json);
        assert!(message.contains(part), "{message}");
    }
    let short = TrafficConfig::from(video::Config {
        buffer_ns: NS_PER_S,
        ..video::Config::default()
    });
    assert!(
        short
            .check()
            .expect_err("shorter than a chunk")
            .contains("use at least a chunk")
    );
}
