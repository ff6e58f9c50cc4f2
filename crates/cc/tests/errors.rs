//! Error messages when a congestion control algorithm cannot be loaded as requested.

use std::fs;
use std::path::PathBuf;

use crate::common::{PROBE, request};
use dumbbell_cc::{CaState, Error, Instance, Request, builtin_names, describe};
use tempfile::TempDir;

/// The first lines of every file below.
const PREAMBLE: &str = r#"
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf_tracing_net.h"
#include "dumbbell.h"

struct state { u32 a; u64 b; };

SEC("struct_ops") u32 BPF_PROG(mine_ssthresh, struct sock *sk) { return tcp_reno_ssthresh(sk); }
SEC("struct_ops") u32 BPF_PROG(mine_undo_cwnd, struct sock *sk) { return tcp_reno_undo_cwnd(sk); }
"#;

const AVOID: &str = r#"
SEC("struct_ops") void BPF_PROG(mine_avoid, struct sock *sk, u32 ack, u32 acked)
{ tcp_reno_cong_avoid(sk, ack, acked); }
"#;

const OPS: &str = r#"
SEC(".struct_ops") struct tcp_congestion_ops mine = {
	.ssthresh = (void *)mine_ssthresh, .undo_cwnd = (void *)mine_undo_cwnd,
	.cong_avoid = (void *)mine_avoid, .name = "mine",
};
"#;

/// A user's file, removed at the end of the test.
struct Source {
    path: PathBuf,
    _dir: TempDir,
}

impl Source {
    fn new(parts: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("mine.bpf.c");
        fs::write(&path, parts.concat()).unwrap();
        Self { path, _dir: dir }
    }

    fn request(&self) -> Request {
        request(self.path.to_str().unwrap(), &[])
    }
}

fn refusal(request: &Request) -> Error {
    match Instance::load(request, 1) {
        Ok(_) => panic!("{request:?} was loaded"),
        Err(error) => error,
    }
}

/// The error message for a file made of these parts, with `FILE` for its name.
fn refusal_of(parts: &[&str]) -> String {
    let source = Source::new(parts);
    refusal(&source.request())
        .to_string()
        .replace(source.path.to_str().unwrap(), "FILE")
}

#[test]
fn a_whole_file_loads() {
    // The parts of the rejected files are valid: only what a test changes is rejected.
    let source = Source::new(&[PREAMBLE, AVOID, OPS]);
    let instance = Instance::load(&source.request(), 1).unwrap();
    assert_eq!(instance.name(), "mine");
}

#[test]
fn an_unknown_name_suggests_the_nearest_and_lists_all() {
    let line = refusal(&request("rneo", &[])).to_string();
    assert!(
        line.starts_with("unknown congestion control `rneo`; did you mean `reno`? there are "),
        "{line}"
    );
    assert!(line.contains(&builtin_names().join(", ")), "{line}");
    let line = refusal(&request("xyzzy", &[])).to_string();
    assert!(!line.contains("did you mean"), "{line}");
}

#[test]
fn an_unknown_parameter_suggests_the_nearest_and_lists_all() {
    let line = refusal(&request(PROBE, &[("window_pkt", 3)])).to_string();
    assert_eq!(
        line.replace(PROBE, "PROBE"),
        "`PROBE` has no parameter `window_pkt`; did you mean `window_pkts`? \
         there are window_pkts, bias, small, large"
    );
    let without = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cc/selftest_style.bpf.c");
    let line = refusal(&request(without, &[("beta", 3)])).to_string();
    assert_eq!(
        line.replace(without, "OTHER"),
        "`OTHER` has no parameter `beta`; it has none"
    );
}

#[test]
fn a_parameter_out_of_range_is_reported_with_range_and_unit() {
    for value in [0, 1001, -5, i64::MAX] {
        let line = refusal(&request(PROBE, &[("window_pkts", value)])).to_string();
        let expected = format!(
            "parameter `window_pkts={value}` of `PROBE` is out of range; use 1 to 1000 pkts"
        );
        assert_eq!(line.replace(PROBE, "PROBE"), expected);
    }
    for value in [1, 1000] {
        Instance::load(&request(PROBE, &[("window_pkts", value)]), 1).unwrap();
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = refusal(&request("./nowhere/mine.bpf.c", &[]));
    assert!(matches!(error, Error::Read { .. }));
    assert!(
        error.to_string().contains("`./nowhere/mine.bpf.c`"),
        "{error}"
    );
    // The suffix makes it a path, not a name.
    assert!(matches!(
        refusal(&request("mine.c", &[])),
        Error::Read { .. }
    ));
}

#[test]
fn a_file_that_does_not_compile_shows_the_compiler_s_message() {
    let source = Source::new(&[
        PREAMBLE,
        AVOID,
        OPS,
        "u32 broken(void) { return nonesuch; }\n",
    ]);
    let error = refusal(&source.request());
    assert!(matches!(error, Error::Compile { .. }));
    let line = error.to_string();
    assert!(line.starts_with(&format!(
        "congestion control `{}` does not compile",
        source.path.display()
    )));
    assert!(
        line.contains("nonesuch") && line.contains("mine.bpf.c:"),
        "{line}"
    );
}

#[test]
fn a_missing_include_shows_the_compiler_s_message() {
    let line = refusal_of(&["#include \"nonesuch.h\"\n"]);
    assert!(line.contains("nonesuch.h"), "{line}");
}

#[test]
fn a_forbidden_write_does_not_compile() {
    // The kernel lets BPF congestion control algorithms write snd_cwnd, but not tp->delivered.
    let write = |field: &str| {
        format!(
            "void f(struct tcp_sock *tp);\nvoid f(struct tcp_sock *tp) {{ tp->{field} = 1; }}\n"
        )
    };
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, &write("delivered")]);
    assert!(line.contains("delivered"), "{line}");
    assert!(
        line.contains("read-only") || line.contains("const-qualified"),
        "{line}"
    );
    let source = Source::new(&[PREAMBLE, AVOID, OPS, &write("snd_cwnd")]);
    Instance::load(&source.request(), 1).unwrap();
}

#[test]
fn a_forbidden_write_by_way_of_a_cast_is_a_fault() {
    let reckless = |field: &str| {
        format!(
            "SEC(\"struct_ops\") void BPF_PROG(mine_state, struct sock *sk, u8 state)\n\
             {{ *(u32 *)&tcp_sk(sk)->{field} = 7; }}\n"
        )
    };
    let ops = OPS.replace("mine = {", "mine = { .set_state = (void *)mine_state,");
    for (field, written) in [
        ("delivered", Some("wrote `delivered` in `set_state`")),
        ("snd_cwnd", None),
    ] {
        let source = Source::new(&[PREAMBLE, AVOID, &reckless(field), &ops]);
        let instance = Instance::load(&source.request(), 1).unwrap();
        let mut flow = instance.new_flow();
        flow.sock.snd_cwnd = 10;
        flow.set_state(CaState::Loss);
        let fault = instance.fault().map(ToString::to_string);
        assert_eq!(fault.is_some(), written.is_some(), "{fault:?}");
        assert!(
            fault
                .unwrap_or_default()
                .contains(written.unwrap_or_default())
        );
    }
}

#[test]
fn floating_point_is_refused() {
    let halve =
        |real: &str| format!("{real} f({real} x);\n{real} f({real} x) {{ return x / 2; }}\n");
    // gcc rejects it where the source has it; clang calls functions for it, which do not exist.
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, &halve("double")]);
    assert!(
        line.contains("\nFILE:21: floating point, which kernel code must not use")
            || line.contains("which the simulator does not have"),
        "{line}"
    );
    let source = Source::new(&[PREAMBLE, AVOID, OPS, &halve("long")]);
    Instance::load(&source.request(), 1).unwrap();
}

#[test]
fn state_larger_than_icsk_ca_priv_is_refused_with_both_sizes() {
    let state = |bytes| format!("struct big {{ u8 bytes[{bytes}]; }};\nCA_PRIV(struct big);\n");
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, &state(105)]);
    assert!(
        line.contains("keeps 105 bytes of state in `struct big`, and icsk_ca_priv has 104"),
        "{line}"
    );
    let source = Source::new(&[PREAMBLE, AVOID, OPS, &state(104)]);
    Instance::load(&source.request(), 1).unwrap();
}

#[test]
fn a_file_without_ops_or_with_several_is_refused() {
    let line = refusal_of(&[PREAMBLE]);
    assert!(
        line.starts_with("`FILE` defines no congestion control; "),
        "{line}"
    );
    let second = OPS.replace("mine = {", "other = {");
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, &second]);
    assert_eq!(
        line,
        "`FILE` defines several algorithms (mine, other); append `#` and the name of one, \
         as in `#mine`"
    );
}

#[test]
fn of_several_ops_the_named_one_is_chosen_or_the_only_complete_one() {
    let second = OPS
        .replace("mine = {", "other = {")
        .replace("\"mine\"", "\"other\"");
    let source = Source::new(&[PREAMBLE, AVOID, OPS, &second]);
    let path = source.path.to_str().unwrap();
    for table in ["mine", "other"] {
        let instance = Instance::load(&request(&format!("{path}#{table}"), &[]), 1).unwrap();
        assert_eq!(instance.name(), table);
    }
    let line = refusal(&request(&format!("{path}#third"), &[])).to_string();
    assert!(
        line.ends_with("has no ops table `third`; it has mine, other"),
        "{line}"
    );
    let part = "SEC(\".struct_ops.link\") struct tcp_congestion_ops part = { .name = \"part\" };\n";
    let source = Source::new(&[PREAMBLE, AVOID, OPS, part]);
    let instance = Instance::load(&source.request(), 1).unwrap();
    assert_eq!(instance.name(), "mine");
}

#[test]
fn a_licence_that_the_kernel_would_refuse_is_refused() {
    let licence = |text: &str| format!("char _license[] SEC(\"license\") = \"{text}\";\n");
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, &licence("X")]);
    assert!(
        line.starts_with("`FILE` declares the licence `X`, but the kernel only loads"),
        "{line}"
    );
    let source = Source::new(&[PREAMBLE, AVOID, OPS, &licence("GPL")]);
    Instance::load(&source.request(), 1).unwrap();
}

#[test]
fn an_op_that_the_kernel_gives_to_modules_only_is_refused() {
    let info = "SEC(\"struct_ops\") size_t BPF_PROG(mine_info, struct sock *sk, u32 ext, int *attr,\n\
                union tcp_cc_info *info) { return 0; }\n";
    let ops = OPS.replace(".name", ".get_info = (void *)mine_info, .name");
    let line = refusal_of(&[PREAMBLE, AVOID, info, &ops]);
    assert!(
        line.contains(
            ":\nthe kernel does not let BPF algorithms implement `get_info`; remove it\n"
        ),
        "{line}"
    );
}

#[test]
fn ops_that_the_kernel_insists_on_must_be_there() {
    let without = |op: &str, needle: &str| {
        let ops = OPS.replace(needle, "");
        assert_ne!(ops, OPS);
        let line = refusal_of(&[PREAMBLE, AVOID, &ops]);
        let since = match op {
            "undo_cwnd" => " (Linux 4.10 and later)",
            _ => "",
        };
        assert_eq!(
            line,
            format!("`FILE` has no `{op}`, without which the kernel{since} would not register it")
        );
    };
    without("ssthresh", ".ssthresh = (void *)mine_ssthresh,");
    without("undo_cwnd", ".undo_cwnd = (void *)mine_undo_cwnd,");
    without(
        "cong_avoid` or `cong_control",
        ".cong_avoid = (void *)mine_avoid,",
    );
}

#[test]
fn a_name_that_the_kernel_would_refuse_is_refused() {
    let named = |name: &str| OPS.replace("\"mine\"", &format!("\"{name}\""));
    for name in ["", "with space"] {
        let line = refusal_of(&[PREAMBLE, AVOID, &named(name)]);
        assert_eq!(
            line,
            "`FILE` needs a .name of 1 to 15 letters, digits, `_` or `.`"
        );
    }
    // Newer compilers reject this one themselves: the terminating zero does not fit.
    refusal_of(&[PREAMBLE, AVOID, &named("sixteen_letters_")]);
    let source = Source::new(&[PREAMBLE, AVOID, &named("fifteen_letters")]);
    let instance = Instance::load(&source.request(), 1).unwrap();
    assert_eq!(instance.name(), "fifteen_letters");
}

#[test]
fn an_unknown_kernel_function_is_named() {
    let call = "extern u32 tcp_nonesuch(void) __ksym;\nu32 f(void);\nu32 f(void) { return tcp_nonesuch(); }\n";
    let line = refusal_of(&[PREAMBLE, AVOID, OPS, call]);
    assert!(
        line.contains("tcp_nonesuch") && line.contains("FILE"),
        "{line}"
    );
    assert!(!line.contains("/proc/"), "{line}");
}

#[test]
fn a_setting_of_the_kernel_s_that_is_not_there_is_named() {
    let reads = |weak: &str| {
        format!(
            "extern int CONFIG_NONESUCH __kconfig {weak};\nu32 f(void);\n\
             u32 f(void) {{ return CONFIG_NONESUCH; }}\n"
        )
    };
    for weak in ["", "__weak"] {
        let line = refusal_of(&[PREAMBLE, AVOID, OPS, &reads(weak)]);
        assert!(
            line.starts_with("`FILE` needs `CONFIG_NONESUCH` of the kernel, which"),
            "{line}"
        );
    }
}

#[test]
fn declarations_that_cannot_be_obeyed_are_refused() {
    let cases = [
        (
            "PARAM(u8, p, 1, 0, 256, \"\", \"\");",
            "its type holds 0 to 255",
        ),
        (
            "PARAM(s8, p, 1, -129, 1, \"\", \"\");",
            "its type holds -128 to 127",
        ),
        (
            "PARAM(u32, p, 9, 1, 8, \"\", \"\");",
            "default 9, outside its range 1 to 8",
        ),
        (
            "SERIES_SCALED(struct state, a, \"a\", \"\", 1, 0, 0, \"\");",
            "scales series `a` by 1/0",
        ),
        (
            "SERIES(struct state, a, \"a\", \"\", \"\"); SERIES(struct state, b, \"a\", \"\", \"\");",
            "series `a` twice",
        ),
        (
            "STORAGE_SERIES(struct state, a, \"a\", \"\", \"\");",
            "which has 0",
        ),
        (
            "struct s { u8 pad[104]; u32 v; }; SERIES(struct s, v, \"v\", \"\", \"\");",
            "which has 104",
        ),
        (
            "struct s { u8 v[3]; }; SERIES(struct s, v, \"v\", \"\", \"\");",
            "not an aligned integer",
        ),
        (
            "struct s { u8 pad[6]; u32 v; } __attribute__((packed)); SERIES(struct s, v, \"v\", \"\", \"\");",
            "not an aligned integer",
        ),
    ];
    for (declaration, reason) in cases {
        let line = refusal_of(&[PREAMBLE, AVOID, OPS, declaration]);
        assert!(
            line.starts_with("`FILE` ") && line.contains(reason),
            "{declaration}: {line}"
        );
    }
}

#[test]
fn a_changed_file_or_header_is_compiled_again() {
    let main = format!("#include \"window.h\"\n{PREAMBLE}{AVOID}{OPS}");
    let source = Source::new(&[&main]);
    let header = source.path.with_file_name("window.h");
    let build_with = |text: &str| {
        fs::write(&header, text).unwrap();
        Instance::load(&source.request(), 1)
            .unwrap()
            .build()
            .to_owned()
    };
    let (one, two) = (
        build_with("int window = 1;\n"),
        build_with("int window = 2;\n"),
    );
    assert_ne!(one, two);
    assert_eq!(one, build_with("int window = 1;\n"));
}

#[test]
fn a_running_kernels_vmlinux_next_to_the_file_is_not_used() {
    let source = Source::new(&[PREAMBLE, AVOID, OPS]);
    let vmlinux =
        "#ifndef __VMLINUX_H__\n#define __VMLINUX_H__\nstruct tcp_sock { int other; };\n#endif\n";
    fs::write(source.path.with_file_name("vmlinux.h"), vmlinux).unwrap();
    Instance::load(&source.request(), 1).unwrap();
}

#[test]
fn built_ins_are_described_under_their_own_names() {
    assert!(builtin_names().contains(&"reno"));
    assert!(builtin_names().is_sorted());
    for name in builtin_names() {
        let description = describe(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(description.name, name);
        assert!(
            !description.title.is_empty(),
            "{name} has no header comment"
        );
        assert!(description.ops.contains(&"ssthresh") && description.ops.contains(&"undo_cwnd"));
    }
    let reno = describe("reno").unwrap();
    assert_eq!(
        reno.title,
        "Reno: additive increase by one packet per round trip, halving on loss"
    );
    assert_eq!(reno.ops, ["ssthresh", "cong_avoid", "undo_cwnd"]);
    let probe = describe(PROBE).unwrap();
    assert_eq!(
        probe.title,
        "Probe: reports what the host did, for the tests of crates/cc"
    );
    assert_eq!(
        (
            probe.params[1].name.as_str(),
            probe.params[1].signed,
            probe.params[1].size
        ),
        ("bias", true, 4)
    );
    assert_eq!(
        (
            probe.params[0].min,
            probe.params[0].max,
            probe.params[0].default
        ),
        (1, 1000, 7)
    );
}
