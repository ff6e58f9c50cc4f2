//! Sources of kernel modules: registered, with parameters, or rejected with a message.

use std::fs;
use std::rc::Rc;

use crate::common::{load, request};
use dumbbell_cc::{AckSample, BpfObject, CaEvent, Instance, LostSegment, RateSample, describe};

const AIMD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/module_aimd.c");
const RATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/module_rate.c");
const PATCHED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/module_patched.c");
const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/module_old.c");
const HOLLOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/module_hollow.c");

/// A word of the state of `module_aimd.c`, which starts with a `struct minmax` of 24 bytes.
fn state(flow: &dumbbell_cc::Flow, byte: usize) -> u32 {
    (flow.sock.icsk_ca_priv[byte / 8] >> (8 * (byte % 8))) as u32
}

const DRAW: usize = 32;
const STARTED_MS: usize = 36;
const STARTED_WITH: usize = 40;
const SENDING_STARTS: usize = 44;

fn refusal(params: &[(&str, i64)], path: &str) -> String {
    Instance::load(&request(path, params), 1)
        .expect_err("it is to be refused")
        .to_string()
}

/// The error message for a small module with `body`.
fn refusal_of(body: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tcp_mine.c");
    fs::write(
        &path,
        format!("#include <linux/module.h>\n#include <net/tcp.h>\n{body}"),
    )
    .unwrap();
    refusal(&[], path.to_str().unwrap())
}

#[test]
fn a_module_registers_itself_and_declares_its_parameters() {
    let described = describe(AIMD).unwrap();
    assert_eq!(described.name, "aimd");
    assert_eq!(
        described.ops,
        [
            "ssthresh",
            "cong_avoid",
            "cwnd_event_tx_start",
            "pkts_acked",
            "undo_cwnd",
            "init",
            "release"
        ]
    );
    let params: Vec<_> = described
        .params
        .iter()
        .map(|param| (param.name.as_str(), param.default, param.min, param.max))
        .collect();
    assert_eq!(
        params,
        [
            ("increase_pkts", 1, i64::from(i32::MIN), i64::from(i32::MAX)),
            ("gives_way", 0, 0, 1),
            ("kept_shift", 1, 0, i64::from(u32::MAX)),
        ]
    );
    assert_eq!(described.params[0].doc, "growth of cwnd per round trip");
}

#[test]
fn its_clock_heap_and_random_numbers_are_the_instances() {
    let instance = load(AIMD, &[("increase_pkts", 3)]);
    let mut flow = instance.new_flow();
    flow.sock.tcp_clock_cache = 2_345_678_901;
    flow.init();
    assert_eq!(state(&flow, STARTED_MS), 2345, "a jiffy is a millisecond");
    assert_eq!(
        state(&flow, STARTED_WITH),
        3,
        "module_init saw the parameter"
    );
    assert_eq!(flow.sock.sk_pacing_status, 1);
    let draw = |seed| {
        let mut flow = Instance::load(&request(AIMD, &[]), seed)
            .unwrap()
            .new_flow();
        flow.init();
        state(&flow, DRAW)
    };
    assert_eq!(draw(7), draw(7));
    assert!((0..8).map(draw).any(|value| value != draw(7)));
    assert!((0..8).all(|seed| draw(seed) < 1000));
}

#[test]
fn cwnd_grows_and_falls_by_its_parameters() {
    for (increase_pkts, kept_shift, grown, reduced) in [(1, 1, 101, 51), (4, 2, 104, 78)] {
        let params = [("increase_pkts", increase_pkts), ("kept_shift", kept_shift)];
        let mut flow = load(AIMD, &params).new_flow();
        flow.init();
        flow.sock.snd_cwnd = 100;
        flow.sock.snd_ssthresh = 50;
        flow.sock.set_cwnd_limited(true);
        for _ in 0..100 {
            flow.cong_avoid(0, 1);
        }
        assert_eq!((flow.sock.snd_cwnd, flow.ssthresh()), (grown, reduced));
    }
}

#[test]
fn the_start_of_sending_has_an_op_of_its_own() {
    let mut flow = load(AIMD, &[]).new_flow();
    flow.init();
    flow.cwnd_event(CaEvent::TxStart);
    flow.cwnd_event(CaEvent::Loss);
    assert_eq!(state(&flow, SENDING_STARTS), 1);
    flow.sock.ecn_flags = 1;
    flow.cwnd_event(CaEvent::TxStart);
    assert_eq!(state(&flow, SENDING_STARTS), 101);
}

#[test]
fn another_table_takes_over_for_the_socket_that_asked() {
    let instance = load(AIMD, &[("gives_way", 1), ("kept_shift", 4)]);
    let mut flow = instance.new_flow();
    flow.init();
    flow.sock.snd_cwnd = 100;
    assert_eq!(flow.ssthresh(), 50, "Reno's half, not its own 15/16");
    let mut other = load(AIMD, &[("kept_shift", 4)]).new_flow();
    other.init();
    other.sock.snd_cwnd = 100;
    assert_eq!(other.ssthresh(), 94);
    assert!(Rc::strong_count(&instance) > 1);
}

#[test]
fn a_table_without_an_op_is_a_fault_and_is_not_called() {
    for (nowhere, violation) in [
        (
            0,
            "set icsk_ca_ops to a table without `undo_cwnd` in `init` (flow 3, ",
        ),
        (
            0x41,
            "set icsk_ca_ops to 0x41, which is not the address of a table in `init` (flow 3, ",
        ),
        (
            0x40,
            "set icsk_ca_ops to 0x40, which is not the address of a table in `init` (flow 3, ",
        ),
    ] {
        let instance = load(HOLLOW, &[("nowhere", nowhere)]);
        let mut flow = instance.new_flow();
        flow.set_number(3);
        flow.init();
        let fault = instance
            .fault()
            .map(ToString::to_string)
            .unwrap_or_default();
        assert!(
            fault.contains(&format!("module_hollow.c` {violation}")),
            "{fault}"
        );
        flow.sock.snd_cwnd = 100;
        assert_eq!(flow.undo_cwnd(), 100, "Reno's, of the table it had");
    }
}

#[test]
fn a_queue_makes_it_ask_for_a_reduction_once() {
    let mut flow = load(AIMD, &[]).new_flow();
    flow.init();
    let mut acked = |rtt_us| {
        flow.pkts_acked(&AckSample {
            pkts_acked: 1,
            rtt_us,
            in_flight: 1,
        });
        flow.sock.take_enter_cwr()
    };
    assert!(!acked(10_000));
    assert!(!acked(30_000));
    assert!(acked(30_001));
    assert!(!acked(10_000));
}

#[test]
fn cong_control_of_linux_before_6_10_gets_its_two_arguments() {
    let mut flow = load(RATE, &[]).new_flow();
    flow.init();
    assert!(flow.has_cong_control());
    let sample = RateSample {
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
        acked_sacked: 42,
        prior_in_flight: 0,
        last_end_seq: 0,
        is_app_limited: false,
        is_retrans: false,
        is_ack_delayed: false,
        ..RateSample::default()
    };
    flow.cong_control(1, 2, &sample);
    assert_eq!(flow.sock.snd_cwnd, 42);
}

/// The first word of a state that lies in the flow's storage, at the socket's `__host_storage`.
fn stored(flow: &dumbbell_cc::Flow, byte: usize) -> u32 {
    let address = std::ptr::with_exposed_provenance::<u32>(flow.sock.host_storage as usize);
    // SAFETY: the flow's storage, of as many bytes as the module's state.
    unsafe { address.byte_add(byte).read() }
}

#[test]
fn a_state_larger_than_the_kernels_fits_and_is_noted() {
    let described = describe(PATCHED).unwrap();
    assert_eq!(
        described.notes,
        [
            "keeps 200 bytes of state per socket; Linux has 104 (ICSK_CA_PRIV_SIZE), so a stock \
             kernel would not build it"
        ]
    );
    assert!(describe(AIMD).unwrap().notes.is_empty());
    let mut flow = load(PATCHED, &[]).new_flow();
    let neighbours = [flow.sock.icsk_ack_rcv_mss, flow.sock.sk_family];
    flow.init();
    assert_eq!(stored(&flow, 192), 77, "from the header next to it");
    assert_eq!(
        [flow.sock.icsk_ack_rcv_mss, flow.sock.sk_family],
        neighbours
    );
}

#[test]
fn a_tree_says_how_large_the_state_is() {
    let tree = tempfile::tempdir().unwrap();
    let file = tree.path().join("net/ipv4/tcp_patched.c");
    let header = tree.path().join("include/net/inet_connection_sock.h");
    for path in [&file, &header] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    fs::copy(PATCHED, &file).unwrap();
    let own = PATCHED.replace(".c", ".h");
    fs::copy(own, file.with_file_name("module_patched.h")).unwrap();
    let notes = |size: &str| {
        fs::write(&header, format!("#define ICSK_CA_PRIV_SIZE ({size})\n")).unwrap();
        // The build is remembered by the file, which is another one with each size.
        let named = file.with_file_name(format!("tcp_{}.c", size.len()));
        fs::copy(&file, &named).unwrap();
        describe(named.to_str().unwrap()).unwrap().notes
    };
    assert!(notes("200").is_empty());
    assert!(notes("25 * sizeof(u64)").is_empty());
    assert_eq!(notes("104 ").len(), 1, "as much as it needs");
}

#[test]
fn what_has_no_room_is_refused() {
    let table = "static struct tcp_congestion_ops t = { .ssthresh = tcp_reno_ssthresh, \
        .cong_avoid = tcp_reno_cong_avoid, .undo_cwnd = tcp_reno_undo_cwnd, .name = \"t\" };\n\
        int __init f(void) { struct s *ca = inet_csk_ca(0); CHECK; (void)ca; \
        return tcp_register_congestion_control(&t); }\nmodule_init(f);";
    for check in [
        "BUILD_BUG_ON(sizeof(struct s) > ICSK_CA_PRIV_SIZE)",
        "BUG_ON(sizeof(struct s) > ICSK_CA_PRIV_SIZE)",
    ] {
        let message = refusal_of(&format!(
            "struct s {{ u8 bytes[520]; }};\n{}",
            table.replace("CHECK", check)
        ));
        assert!(
            message.contains("keeps 520 bytes of state per socket; the simulator has 512"),
            "{message}"
        );
    }
}

#[test]
fn what_patched_kernels_report_arrives() {
    let mut flow = load(PATCHED, &[]).new_flow();
    let address = |last, port| std::net::SocketAddrV4::new([10, 0, 0, last].into(), port);
    flow.sock
        .set_addresses(address(1, 10_000), address(2, 5001));
    flow.sock.mss_cache = 1448;
    flow.init();
    assert_eq!(stored(&flow, 20), 5001, "inet_dport");
    assert_eq!(stored(&flow, 24), u32::from_le_bytes(*b"a000"), "sk_daddr");
    flow.cong_control(
        1,
        2,
        &RateSample {
            tx_in_flight: 17,
            lost: 3,
            prior_lost: 4,
            is_ece: true,
            ..RateSample::default()
        },
    );
    assert_eq!((stored(&flow, 0), stored(&flow, 4)), (17, 1_004_003));
    assert!(flow.is_of_patched_kernel() && flow.has_skb_marked_lost());
    flow.skb_marked_lost(&LostSegment {
        seq: 99,
        in_flight: 21,
        pcount: 1,
        ..LostSegment::default()
    });
    assert_eq!((stored(&flow, 8), stored(&flow, 12)), (21, 99));
    flow.cwnd_event(CaEvent::TlpRecovery);
    assert_eq!(stored(&flow, 16), 1);
    assert_eq!(flow.tso_segs(), Some(1500), "a packet of 1448 bytes");
    let ops = describe(PATCHED).unwrap().ops;
    assert!(ops.contains(&"tso_segs") && ops.contains(&"skb_marked_lost"));
}

#[test]
fn interfaces_of_old_kernels_are_found_out() {
    let mut flow = load(OLD, &[]).new_flow();
    flow.sock.mss_cache = 1000;
    flow.sock.sk_pacing_rate = 7 << 10 << 10;
    flow.sock.tcp_clock_cache = 2_000_000_000;
    flow.init();
    assert_eq!(state(&flow, 8), 2000, "jiffies");
    assert_eq!(state(&flow, 20), 2, "seconds");
    assert_eq!(flow.tso_segs(), Some(7), "a goal of 0: by the pacing rate");
    flow.sock.tcp_clock_cache = 2_000_250_000;
    flow.sock.tcp_mstamp = 2_000_250;
    flow.pkts_acked(&AckSample {
        pkts_acked: 2,
        rtt_us: 40_000,
        in_flight: 1,
    });
    assert_eq!((state(&flow, 12), state(&flow, 16)), (40_002, 250));
    assert_eq!(flow.tso_segs(), Some(3));
    flow.sock.snd_cwnd = 10;
    flow.sock.snd_ssthresh = 8;
    assert_eq!(flow.undo_cwnd(), 16, "as before Linux 4.10");
}

#[test]
fn a_missing_op_is_reported_for_the_version_that_requires_it() {
    let message = refusal_of(
        "static struct tcp_congestion_ops t = { .ssthresh = tcp_reno_ssthresh, \
         .cong_avoid = tcp_reno_cong_avoid, .name = \"t\" };\n\
         int __init f(void) { return tcp_register_congestion_control(&t); }\nmodule_init(f);",
    );
    assert!(
        message.contains("has no `undo_cwnd`, without which the kernel (Linux 4.10 and later)"),
        "{message}"
    );
}

#[test]
fn a_module_that_will_not_start_says_why() {
    let message = refusal(&[("kept_shift", 5)], AIMD);
    assert!(
        message.contains("refuses the value of its parameter `kept_shift`"),
        "{message}"
    );
    let message = refusal(&[("increase_pkts", 666)], AIMD);
    assert!(
        message.contains("its module_init returned -22"),
        "{message}"
    );
    let message = refusal(&[("gives_way", 2)], AIMD);
    assert!(message.contains("use 0 to 1"), "{message}");
    let nothing = "static int __init f(void) { return 0; }\nmodule_init(f);\n";
    let message = refusal_of(nothing);
    assert!(
        message.contains("registers no congestion control"),
        "{message}"
    );
    let message = refusal_of("int x;\n");
    assert!(message.contains("has no module_init()"), "{message}");
}

#[test]
fn what_the_simulator_does_not_have_is_named_in_a_line() {
    for (body, want) in [
        (
            "void f(struct sock *sk) { tcp_frobnicate(sk); }",
            "tcp_mine.c:3 calls the kernel's `tcp_frobnicate`, which the simulator does not have",
        ),
        (
            "u32 f(struct tcp_sock *tp) { return tp->frobs_out; }",
            "tcp_mine.c:3 uses the field `frobs_out` of `struct tcp_sock`",
        ),
        (
            "#include <linux/frob.h>",
            "tcp_mine.c:3 includes <linux/frob.h>, which the simulator does not have",
        ),
        (
            "u32 tcp_frob(struct sock *sk);\nint __init f(void) { return tcp_frob(0); }\nmodule_init(f);",
            "calls the kernel's `tcp_frob`, which the simulator does not have",
        ),
    ] {
        let message = refusal_of(&format!("{body}\n"));
        assert!(message.contains(want), "{message}");
        assert!(
            message.contains("docs/linux-congestion-controls.md"),
            "{message}"
        );
    }
}

#[test]
fn the_kernel_engine_offers_the_kernels_own() {
    let error = BpfObject::find(&request("/somewhere/tcp_vegas.c", &[]));
    assert!(error.is_err(), "no such file");
    let message = BpfObject::find(&request(AIMD, &[]))
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("source of a kernel module") && message.contains("linux/"),
        "{message}"
    );
}
