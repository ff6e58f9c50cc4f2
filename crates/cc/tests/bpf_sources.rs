//! Unmodified sources written for the kernel's BPF: two generations of headers, maps, kernel
//! functions, and Linux's own selftests if `DUMBBELL_LINUX_TREE` is the path of its source.

use std::env;
use std::io::{Write as _, stdout};
use std::path::Path;

use crate::common::{load, request};
use dumbbell_cc::{AckSample, Flow, Instance, RateSample};

/// A source of `tests/cc`.
fn source(name: &str) -> String {
    format!("{}/tests/cc/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What `selftest_style.bpf.c` saw, in the order of `struct seen`.
fn seen(flow: &Flow) -> [u32; 8] {
    let words = flow.sock.icsk_ca_priv;
    std::array::from_fn(|i| (words[i / 2] >> (32 * (i % 2))) as u32)
}

fn started(name: &str) -> Flow {
    let mut flow = load(&source(name), &[]).new_flow();
    flow.sock.tcp_clock_cache = 3_000_000_000;
    flow.sock.snd_cwnd = 10;
    flow.init();
    flow
}

#[test]
fn the_selftests_style_compiles_with_its_own_shorthands_and_reads_jiffies() {
    let flow = started("selftest_style.bpf.c");
    let [.., hz, jiffies, no_storage_yet, wrapped, _] = seen(&flow);
    assert_eq!(flow.name(), "style");
    assert_eq!(u64::from(jiffies), 3 * u64::from(hz));
    assert_eq!((no_storage_yet, wrapped), (1, 1));
}

#[test]
fn maps_are_an_instance_s_own_and_storage_a_socket_s() {
    let instance = load(&source("selftest_style.bpf.c"), &[]);
    let (mut a, mut b) = (instance.new_flow(), instance.new_flow());
    for flow in [&mut a, &mut b] {
        flow.init();
        flow.sock.snd_cwnd = 100;
    }
    a.ssthresh();
    a.ssthresh();
    b.ssthresh();
    // its own losses, losses of all, windows seen before: the hash rejects the same key.
    assert_eq!(seen(&a)[..3], [2, 2, 1]);
    assert_eq!(seen(&b)[..3], [1, 3, 1]);
    // Another instance of the same file shares nothing.
    let mut other = started("selftest_style.bpf.c");
    other.sock.snd_cwnd = 100;
    other.ssthresh();
    assert_eq!(seen(&other)[..3], [1, 1, 0]);
    // Storage is removed with its socket, even if the next one has the same address.
    for _ in 0..100 {
        let mut flow = instance.new_flow();
        flow.init();
        flow.ssthresh();
        assert_eq!(seen(&flow)[0], 1);
    }
}

#[test]
fn two_storages_of_one_size_are_two() {
    const ENOENT: u32 = 2;
    let mut flow = started("two_storages.bpf.c");
    let count = |flow: &Flow| {
        let mut count = 0;
        flow.read_series(|_, value| count = value);
        count
    };
    // Nothing exists before it is created, so there is nothing to delete.
    assert_eq!(seen(&flow)[..5], [0, 0, 0, 0, ENOENT]);
    assert_eq!(count(&flow), 0);
    flow.ssthresh();
    flow.ssthresh();
    assert_eq!(
        seen(&flow)[..2],
        [12, 202],
        "the initial value, counted up twice"
    );
    assert_eq!(count(&flow), 12);
    flow.undo_cwnd();
    assert_eq!(seen(&flow)[3], 3, "the first is gone, the second is there");
    assert_eq!(count(&flow), 0);
    flow.ssthresh();
    assert_eq!(seen(&flow)[..2], [11, 203], "it begins again");
}

#[test]
fn a_hash_that_is_full_takes_no_more_until_something_is_deleted() {
    let mut flow = started("selftest_style.bpf.c");
    let mut at = |cwnd: u32| {
        flow.sock.snd_cwnd = cwnd;
        flow.ssthresh();
        seen(&flow)[2]
    };
    assert_eq!((at(10), at(20)), (0, 0));
    // A window of 1 is inserted and deleted, twice.
    assert_eq!((at(1), at(1)), (0, 0));
    assert_eq!((at(30), at(40)), (0, 1));
}

#[test]
fn the_older_style_gets_its_sample_in_a_cong_control_of_two_arguments() {
    let mut flow = started("helpers_style.c");
    assert_eq!(flow.sock.snd_cwnd, 20);
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
        acked_sacked: 44,
        prior_in_flight: 0,
        last_end_seq: 0,
        is_app_limited: false,
        is_retrans: false,
        is_ack_delayed: false,
        ..RateSample::default()
    };
    flow.cong_control(1, 2, &sample);
    assert_eq!(flow.sock.snd_cwnd, 44);
    flow.sock.snd_nxt = 9;
    assert_eq!(flow.ssthresh(), 7);
    flow.sock.prior_cwnd = 99;
    assert_eq!(flow.undo_cwnd(), 44, "its own, not the kernel's");
}

#[test]
fn the_kernel_s_cubic_is_ours_to_those_who_call_it() {
    // cwnd of each flow through slow start, a loss, and the curve after it.
    let run = |name: &str| {
        let mut flow = crate::common::cwnd_limited(name, 10);
        let mut windows = Vec::new();
        for step in 0..4000_u32 {
            flow.sock.tcp_mstamp = u64::from(step) * 10_000;
            flow.sock.tcp_clock_cache = flow.sock.tcp_mstamp * 1000;
            flow.sock.snd_nxt = step * 14480;
            flow.sock.max_packets_out = flow.sock.snd_cwnd;
            flow.pkts_acked(&AckSample {
                pkts_acked: 2,
                rtt_us: 40_000,
                in_flight: 10,
            });
            flow.cong_avoid(step * 1448, 2);
            if step % 900 == 800 {
                flow.sock.snd_ssthresh = flow.ssthresh();
                flow.sock.snd_cwnd = flow.sock.snd_ssthresh;
            }
            windows.push(flow.sock.snd_cwnd);
        }
        windows
    };
    let windows = run(&source("calls_cubic.bpf.c"));
    assert_eq!(windows, run("cubic"));
    assert!(windows.iter().max() > Some(&100));
}

/// Linux's own: name, and its ops tables or why they cannot be loaded.
const SELFTESTS: [(&str, Result<&[&str], &str>); 10] = [
    ("bpf_cubic.c", Ok(&[""])),
    ("bpf_dctcp.c", Ok(&[""])),
    ("bpf_cc_cubic.c", Ok(&[""])),
    ("tcp_ca_kfunc.c", Ok(&[""])),
    ("tcp_ca_write_sk_pacing.c", Ok(&[""])),
    (
        "tcp_ca_update.c",
        Ok(&["#ca_update_1", "#ca_update_2", "#ca_wrong", "#ca_no_link"]),
    ),
    ("bpf_dctcp_release.c", Err("has no `ssthresh`")),
    ("bpf_tcp_nogpl.c", Err("declares the licence `X`")),
    (
        "tcp_ca_incompl_cong_ops.c",
        Err("has no `cong_avoid` or `cong_control`"),
    ),
    ("tcp_ca_unsupp_cong_op.c", Err("implement `get_info`")),
];

#[test]
fn linux_s_selftests_load_as_they_are_or_are_refused_as_by_the_kernel() {
    let Some(tree) = env::var_os("DUMBBELL_LINUX_TREE") else {
        let line = "SKIPPED: linux_s_selftests_load_as_they_are_or_are_refused_as_by_the_kernel: \
                    DUMBBELL_LINUX_TREE is not set to the path of Linux's source\n";
        let _ = stdout().write_all(line.as_bytes());
        return;
    };
    let progs = Path::new(&tree).join("tools/testing/selftests/bpf/progs");
    let mut found = 0;
    for (file, expected) in SELFTESTS {
        let path = progs.join(file);
        if !path.exists() {
            continue; // older trees have fewer
        }
        found += 1;
        let path = path.to_str().unwrap();
        match expected {
            Ok(tables) => {
                for table in tables {
                    let name = format!("{path}{table}");
                    let instance = Instance::load(&request(&name, &[]), 1);
                    instance
                        .unwrap_or_else(|error| panic!("{error}"))
                        .new_flow()
                        .init();
                }
            }
            Err(reason) => {
                let error = Instance::load(&request(path, &[]), 1)
                    .unwrap_err()
                    .to_string();
                assert!(error.contains(path) && error.contains(reason), "{error}");
            }
        }
    }
    assert!(found >= 2, "{} has no selftests of BPF", progs.display());
}
