//! A congestion control algorithm in its host: calls, clock, globals, parameters and series.

use std::fs;
use std::rc::Rc;

use crate::common::{PROBE, load, request};
use dumbbell_cc::{AckSample, CaEvent, CaState, Flow, Instance, RateSample};

/// A series' raw value by the name of its column.
fn series(flow: &Flow, name: &str) -> u64 {
    let mut values = Vec::new();
    flow.read_series(|_, value| values.push(value));
    let columns = flow.instance().series();
    assert_eq!(values.len(), columns.len());
    values[columns
        .iter()
        .position(|series| series.name == name)
        .expect("a series of the probe")]
}

fn sample() -> RateSample {
    RateSample {
        prior_mstamp: 0,
        prior_delivered: 0,
        prior_delivered_ce: 0,
        delivered: 0,
        delivered_ce: 0,
        interval_us: 0,
        snd_interval_us: 0,
        rcv_interval_us: 0,
        rtt_us: 0,
        losses: 0,
        acked_sacked: 40,
        prior_in_flight: 0,
        last_end_seq: 0,
        is_app_limited: false,
        is_retrans: false,
        is_ack_delayed: true,
        ..RateSample::default()
    }
}

#[test]
fn every_op_is_called_with_its_arguments() {
    let mut flow = load(PROBE, &[]).new_flow();
    flow.init();
    assert_eq!(flow.name(), "probe");

    assert_eq!(flow.ssthresh(), 255);
    assert!(flow.has_cong_control());
    flow.cong_control(1000, 200, &sample());
    assert_eq!(flow.sock.snd_cwnd, 7);
    assert_eq!(flow.sock.snd_ssthresh, 1000 + 200 + 40 + 1);
    assert!(flow.has_pkts_acked());
    flow.pkts_acked(&AckSample {
        pkts_acked: 1,
        rtt_us: 20,
        in_flight: 300,
    });
    assert_eq!(flow.sock.snd_cwnd, 321);
    flow.cwnd_event(CaEvent::Loss);
    assert_eq!(series(&flow, "event"), 3);
    flow.in_ack_event(5);
    assert_eq!(series(&flow, "ack_flags"), 5);
    assert_eq!(flow.min_tso_segs(), Some(2));
    assert_eq!(flow.sndbuf_expand(), Some(3));
    flow.sock.snd_cwnd = 5;
    flow.sock.prior_cwnd = 9;
    assert_eq!(flow.undo_cwnd(), 9);

    // init, and nine ops; cong_avoid is not set, so calling it does nothing.
    flow.cong_avoid(1, 1);
    assert_eq!(series(&flow, "calls"), 9);
}

#[test]
fn set_state_is_called_before_the_state_changes() {
    let mut flow = load(PROBE, &[]).new_flow();
    flow.init();
    flow.set_state(CaState::Recovery);
    assert_eq!(series(&flow, "state"), 0x03);
    flow.set_state(CaState::Loss);
    assert_eq!(series(&flow, "state"), 0x34);
    assert_eq!(flow.sock.ca_state(), CaState::Loss);
}

#[test]
fn the_clock_is_the_socket_s_at_every_call() {
    let mut flow = load(PROBE, &[]).new_flow();
    flow.sock.tcp_clock_cache = 1_000_000_007;
    flow.init();
    assert_eq!(series(&flow, "now_ns"), 1_000_000_007);
    flow.sock.tcp_clock_cache = u64::MAX;
    flow.ssthresh();
    assert_eq!(series(&flow, "now_ns"), u64::MAX);
}

#[test]
fn instances_of_one_congestion_control_share_nothing() {
    let narrow = load(PROBE, &[("window_pkts", 2)]);
    let wide = load(PROBE, &[("window_pkts", 900)]);
    let (mut a, mut b) = (narrow.new_flow(), wide.new_flow());
    for flow in [&mut a, &mut b] {
        flow.init();
        flow.cong_control(0, 0, &sample());
    }
    assert_eq!((a.sock.snd_cwnd, b.sock.snd_cwnd), (2, 900));
    // A global counts the calls of one instance only.
    assert_eq!((series(&a, "calls"), series(&b, "calls")), (2, 2));
    assert_eq!(
        (narrow.params()["window_pkts"], wide.params()["window_pkts"]),
        (2, 900)
    );
}

#[test]
fn flows_of_one_instance_share_its_globals_but_not_their_storage() {
    let instance = load(PROBE, &[]);
    let (mut a, mut b) = (instance.new_flow(), instance.new_flow());
    a.init();
    b.init();
    b.ssthresh();
    assert_eq!((series(&a, "calls"), series(&b, "calls")), (1, 3));
    assert_eq!(
        (series(&a, "stored_calls"), series(&b, "stored_calls")),
        (1, 2)
    );
}

#[test]
fn storage_stays_with_its_flow_when_sockets_change_places() {
    let instance = load(PROBE, &[]);
    let (mut a, mut b) = (instance.new_flow(), instance.new_flow());
    a.init();
    b.init();
    std::mem::swap(&mut a.sock, &mut b.sock);
    drop(b);
    a.ssthresh();
    assert_eq!(series(&a, "stored_calls"), 2);
}

#[test]
fn instances_load_and_run_on_many_threads() {
    std::thread::scope(|scope| {
        for window in 1..=8 {
            scope.spawn(move || {
                for _ in 0..20 {
                    let mut flow = load(PROBE, &[("window_pkts", window)]).new_flow();
                    flow.init();
                    flow.cong_control(0, 0, &sample());
                    assert_eq!(i64::from(flow.sock.snd_cwnd), window);
                    assert_eq!(series(&flow, "calls"), 2);
                }
            });
        }
    });
}

#[test]
fn parameters_of_every_width_are_set() {
    let params = [("bias", -10), ("small", 0), ("large", 1 << 40)];
    let instance = load(PROBE, &params);
    let mut flow = instance.new_flow();
    flow.init();
    assert_eq!(flow.ssthresh(), 0);
    flow.cong_control(0, 0, &sample());
    assert_eq!(flow.sock.sk_pacing_rate, 1 << 40);
    assert_eq!(series(&flow, "bias_milli") as i64, -10);
    let in_force: Vec<_> = instance.params().into_iter().collect();
    let expected = [
        ("bias", -10),
        ("large", 1 << 40),
        ("small", 0),
        ("window_pkts", 7),
    ];
    assert_eq!(
        in_force,
        expected.map(|(name, value)| (name.to_owned(), value))
    );
}

#[test]
fn defaults_hold_for_what_is_not_said() {
    let mut flow = load(PROBE, &[]).new_flow();
    flow.init();
    assert_eq!(series(&flow, "bias_milli") as i64, -3);
}

#[test]
fn the_seed_decides_the_random_numbers() {
    let draw = |seed| {
        let mut flow = Instance::load(&request(PROBE, &[]), seed)
            .unwrap()
            .new_flow();
        flow.init();
        series(&flow, "random")
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn release_runs_when_an_initialised_flow_ends() {
    let instance = load(PROBE, &[]);
    drop(instance.new_flow());
    let mut ended = instance.new_flow();
    ended.init();
    drop(ended);
    let mut witness = instance.new_flow();
    witness.init();
    // init and release of the finished flow, init of this one; none for the flow that was never
    // started.
    assert_eq!(series(&witness, "calls"), 3);
}

#[test]
fn a_flow_keeps_its_instance() {
    let instance = load(PROBE, &[]);
    let mut flow = instance.new_flow();
    drop(instance);
    // Reuses the descriptors and addresses that a lost mapping would have freed.
    let others: Vec<Rc<Instance>> = (0..4).map(|_| load("reno", &[])).collect();
    flow.init();
    assert_eq!(flow.ssthresh(), 255);
    assert_eq!(others.len(), 4);
}

#[test]
fn series_carry_their_declaration() {
    let instance = load(PROBE, &[]);
    let names: Vec<&str> = instance
        .series()
        .iter()
        .map(|series| series.name.as_str())
        .collect();
    let in_source_order = [
        "now_ns",
        "bias_milli",
        "state",
        "event",
        "calls",
        "random",
        "stored_calls",
        "ack_flags",
    ];
    assert_eq!(names, in_source_order);
    let bias = &instance.series()[1];
    assert_eq!(
        (bias.mul, bias.div, bias.signed, bias.per_mss),
        (1000, 1, true, false)
    );
    let state = &instance.series()[2];
    assert_eq!(
        state.labels,
        ["open", "disorder", "cwr", "recovery", "loss"]
    );
    assert_eq!(
        (state.unit.as_str(), state.doc.as_str()),
        ("", "last set_state")
    );
    let flags = &instance.series()[7];
    assert_eq!(
        (flags.mul, flags.div, flags.per_mss, flags.unit.as_str()),
        (3, 4, true, "bytes")
    );
}

#[test]
fn a_variant_of_a_built_in_finds_what_they_share() {
    // A user's copy of cc/bbr.bpf.c in another directory, which includes cc/bbr_v1.h.
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../cc/bbr.bpf.c");
    let text = fs::read_to_string(source).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("mine.bpf.c");
    fs::write(&copy, text.replace("\"bbr\"", "\"mine\"")).unwrap();
    let mine = load(copy.to_str().unwrap(), &[("cwnd_gain", 640)]);
    assert_eq!(mine.name(), "mine");
    assert_eq!(mine.series().len(), load("bbr", &[]).series().len());
}
