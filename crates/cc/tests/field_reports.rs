//! Sources as people have reported them, each with something that once kept it from running:
//! `tests/data/field-reports`.

use std::fs;
use std::path::{Path, PathBuf};

use dumbbell_cc::{AckSample, Instance, describe};

use crate::common::{load, request};

fn reports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/field-reports")
}

/// The headers of the kernel come through one of the project's: it is a module by what it registers.
#[test]
fn a_module_in_several_files_is_recognised() {
    let described = describe(reports().join("split.c").to_str().unwrap()).unwrap();
    assert_eq!(described.name, "split");
}

/// Without its Makefile a definition is missing, and the message says where it is looked for.
#[test]
fn definitions_and_headers_of_the_projects_build_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("defined.c");
    let text = fs::read_to_string(reports().join("defined.c")).unwrap();
    fs::write(
        &path,
        text.replace("<net/tcp.h>", "<net/tcp.h>\n#include <own.h>"),
    )
    .unwrap();
    fs::create_dir(dir.path().join("include")).unwrap();
    fs::write(dir.path().join("include/own.h"), "#define OWN 1\n").unwrap();
    let name = path.to_str().unwrap();
    let refused = Instance::load(&request(name, &[]), 1).expect_err("a definition is missing");
    let refused = refused.to_string();
    assert!(
        refused.contains("`DEFINED_BETA`") && refused.contains("Makefile"),
        "{refused}"
    );
    assert!(!refused.contains("`__a`"), "{refused}");
    fs::write(
        dir.path().join("Makefile"),
        "obj-m := defined.o\nCFLAGS_defined.o := -DDEFINED_BETA=717\n",
    )
    .unwrap();
    assert_eq!(describe(name).unwrap().name, "defined");
}

/// The kernel's linked lists, states and older names.
#[test]
fn a_module_with_lists_keeps_its_last_samples() {
    let instance = load(reports().join("lists.c").to_str().unwrap(), &[]);
    let mut flow = instance.new_flow();
    flow.init();
    for rtt_us in 1..100 {
        let sample = AckSample {
            pkts_acked: 1,
            rtt_us,
            in_flight: 10,
        };
        flow.pkts_acked(&sample);
    }
    drop(flow);
}

#[test]
fn names_of_older_and_newer_kernels_are_known() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("names.c");
    let source = "
#include <linux/module.h>
#include <net/tcp.h>
#include <net/tcp_states.h>
static u32 names_ssthresh(struct sock *sk)
{
	NET_INC_STATS_BH(sock_net(sk), LINUX_MIB_TCPHYSTARTTRAINDETECT);
	NET_ADD_STATS_BH(sock_net(sk), LINUX_MIB_TCPHYSTARTTRAINCWND, 2);
	if (!(1 << sk->sk_state & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT)))
		return 2;
	return max_t(u32, int_pow(3, 4) + 0 * tcp_sk(sk)->segs_out, TCP_INIT_CWND);
}
static struct tcp_congestion_ops names = {
	.ssthresh = names_ssthresh, .cong_avoid = tcp_reno_cong_avoid,
	.undo_cwnd = tcp_reno_undo_cwnd, .owner = THIS_MODULE, .name = \"names\",
};
static int __init names_register(void) { return tcp_register_congestion_control(&names); }
module_init(names_register);
MODULE_LICENSE(\"GPL\");
";
    fs::write(&path, source).unwrap();
    let instance = load(path.to_str().unwrap(), &[]);
    let mut flow = instance.new_flow();
    flow.init();
    assert_eq!(flow.ssthresh(), 81);
}

/// Constants that a BPF source takes from headers that the kernel's types do not have.
#[test]
fn constants_of_the_kernel_are_known_to_a_bpf_source() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mine.bpf.c");
    let reno = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cc/reno.bpf.c");
    let mut text = fs::read_to_string(reno).unwrap();
    text.push_str(
        "
u64 names(void);
u64 names(void)
{
	return HZ + NSEC_PER_USEC + USEC_PER_SEC + TCP_INIT_CWND + BPF_LOCAL_STORAGE_GET_F_CREATE;
}
",
    );
    fs::write(&path, text).unwrap();
    describe(path.to_str().unwrap()).unwrap();
}
