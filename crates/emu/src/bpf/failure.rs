//! Explains why the kernel did not load a BPF object, with the remedy.

use std::fmt::Write as _;

use libbpf_rs::ErrorKind;
use libbpf_rs::btf::{Btf, types};

use crate::error::Error;
use crate::machine::kernel;

/// libbpf puts the verifier's log between these.
const LOG_BEGIN: &str = "-- BEGIN PROG LOAD LOG --\n";
const LOG_END: &str = "-- END PROG LOAD LOG --";
/// Number of the verifier's lines to show.
const LAST_LINES: usize = 6;
/// The verifier's last word when it gives up.
const TOO_LARGE: &str = "BPF program is too large";
/// Type in BTF of kernels that let BPF implement congestion control algorithms.
const STRUCT_OPS: &str = "bpf_struct_ops_tcp_congestion_ops";

/// `name` is the user's name for it, `said` libbpf's messages.
pub(super) fn explain(name: &str, error: &libbpf_rs::Error, said: &str) -> Error {
    if let Some(problem) = rejection(name, said).or_else(missing) {
        return Error::Refused(problem);
    }
    let problem = other(name, error, said);
    if error.kind() == ErrorKind::PermissionDenied {
        Error::NotPermitted(problem)
    } else {
        Error::Refused(problem)
    }
}

/// The kernel does not know the flags by which a congestion control algorithm asks for Accurate ECN and ECT(1).
pub(super) fn no_accurate_ecn(name: &str) -> Error {
    Error::Refused(format!(
        "`{name}` needs Accurate ECN, which this kernel ({}) does not offer to algorithms; use Linux 7.0, \
         a late release of 6.18, or the simulator",
        kernel::release()
    ))
}

/// What this machine lacks to load any congestion control of ours, in one line.
pub(crate) fn missing() -> Option<String> {
    let problem = if !kernel::may_load_bpf() {
        "algorithms cannot be loaded without privilege \
         (CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN in the initial user namespace); run as root"
    } else if !kernel::has_btf() {
        "this kernel cannot load our algorithms: it has no BTF (/sys/kernel/btf/vmlinux); \
         use one with CONFIG_DEBUG_INFO_BTF=y, as distributions build it"
    } else if !has_struct_ops() {
        "this kernel cannot load our algorithms: it has no struct_ops for \
         tcp_congestion_ops; use one with CONFIG_BPF_JIT=y and CONFIG_BPF_SYSCALL=y, as \
         distributions build it"
    } else if !kernel::is_at_least(6, 4) {
        return Some(format!(
            "this kernel ({}) cannot load our algorithms: BPF links of struct_ops came \
             with Linux 6.4; use that or a newer one, or the kernel's own, as in `linux/cubic`",
            kernel::release()
        ));
    } else {
        return None;
    };
    Some(format!(
        "{problem}, or use the kernel's own, as in `linux/cubic`"
    ))
}

fn has_struct_ops() -> bool {
    // If BTF cannot be read, the kernel may still have struct_ops.
    Btf::from_vmlinux().map_or(true, |btf| {
        btf.type_by_name::<types::Struct<'_>>(STRUCT_OPS).is_some()
    })
}

/// The verifier's rejection: where, why, and its last lines.
fn rejection(name: &str, said: &str) -> Option<String> {
    let (before, rest) = said.split_once(LOG_BEGIN)?;
    let (log, _) = rest.split_once(LOG_END)?;
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.is_empty() && !is_statistics(line))
        .collect();
    let reason = lines.iter().rfind(|line| !is_state(line))?;
    let program = before
        .rsplit_once("prog '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map_or("?", |(program, _)| program);
    let mut text = format!("the kernel's verifier rejects `{name}`, in `{program}`");
    if lines.iter().any(|line| line.starts_with(TOO_LARGE)) {
        // The line where it gave up is any line.
        write!(
            text,
            ": following every path through it takes more than the verifier's 1,000,000 instructions; make functions \
             with loops, and those called at many places, neither `static` nor inlined \
             (`__attribute__((noinline)) u32 f(u32 x)`), so that each is checked once; \
             `square_root.h`, `cube_root.h` and `rounds.h` are written so"
        )
        .expect("writing to a String succeeds");
        return Some(text);
    }
    if let Some(source) = lines.iter().rev().find_map(|line| line.strip_prefix("; ")) {
        match source.rsplit_once(" @ ") {
            Some((source, place)) => write!(text, ", at {place}, `{}`", source.trim()),
            None => write!(text, ", at `{}`", source.trim()),
        }
        .expect("writing to a String succeeds");
    }
    write!(text, ": {reason}; its last lines:").expect("writing to a String succeeds");
    for line in &lines[lines.len().saturating_sub(LAST_LINES)..] {
        write!(text, "\n  {line}").expect("writing to a String succeeds");
    }
    Some(text)
}

/// Whether the line is one of those that end every log of the verifier.
fn is_statistics(line: &str) -> bool {
    [
        "processed ",
        "verification time ",
        "stack depth ",
        "max_states",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// Whether the line is printed below `infinite loop detected`.
fn is_state(line: &str) -> bool {
    line.starts_with("cur state: ") || line.starts_with("old state: ")
}

/// The kernel functions that libbpf did not find, from messages like `extern (func ksym)
/// 'bbr_init': not found in kernel or module BTFs`.
fn missing_functions(said: &str) -> Vec<String> {
    let rest = |line: &str| {
        let (_, rest) = line.split_once("extern (func ksym) '")?;
        let (name, reason) = rest.split_once('\'')?;
        reason.contains("not found").then(|| format!("`{name}`"))
    };
    said.lines().filter_map(rest).collect()
}

/// libbpf's last message, which is more specific than the error's number.
fn other(name: &str, error: &libbpf_rs::Error, said: &str) -> String {
    let detail = said
        .lines()
        .filter_map(|line| line.strip_prefix("libbpf: "))
        .rfind(|line| !line.contains("failed to load object"));
    let missing = missing_functions(said);
    if !missing.is_empty() {
        return format!(
            "this kernel ({}) does not let BPF call {}, which `{name}` needs; use one whose \
             configuration has it (CONFIG_TCP_CONG_… of the congestion control that it belongs \
             to), or the simulator",
            kernel::release(),
            missing.join(", ")
        );
    }
    match detail {
        Some(detail) => format!("the kernel does not load `{name}`: {detail} ({error})"),
        None => format!("the kernel does not load `{name}`: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_names_the_source_line_and_ends_with_the_reason() {
        let said = "libbpf: prog 'mine_avoid': BPF program load failed: Permission denied\n\
            libbpf: prog 'mine_avoid': -- BEGIN PROG LOAD LOG --\n\
            0: R1=ctx() R10=fp0\n\
            ; return *p; @ mine.bpf.c:12\n\
            3: (61) r0 = *(u32 *)(r1 +0)\n\
            R1 invalid mem access 'scalar'\n\
            processed 4 insns (limit 1000000) max_states_per_insn 0\n\
            -- END PROG LOAD LOG --\n";
        assert_eq!(
            rejection("./mine.bpf.c", said).unwrap(),
            "the kernel's verifier rejects `./mine.bpf.c`, in `mine_avoid`, at mine.bpf.c:12, \
             `return *p;`: R1 invalid mem access 'scalar'; its last lines:\n  \
             0: R1=ctx() R10=fp0\n  ; return *p; @ mine.bpf.c:12\n  \
             3: (61) r0 = *(u32 *)(r1 +0)\n  R1 invalid mem access 'scalar'"
        );
        assert_eq!(rejection("mine", "libbpf: failed to find BTF\n"), None);
    }

    #[test]
    fn a_program_that_is_too_large_is_answered_with_the_cure_and_not_with_a_line() {
        let said = "libbpf: prog 'mine_control': BPF program load failed: Argument list too long\n\
            libbpf: prog 'mine_control': -- BEGIN PROG LOAD LOG --\n\
            ; u32 queue = rtt - base; @ mine.bpf.c:12\n\
            BPF program is too large. Processed 1000001 insn\n\
            processed 1000001 insns (limit 1000000) max_states_per_insn 4\n\
            -- END PROG LOAD LOG --\n";
        let text = rejection("./mine.bpf.c", said).unwrap();
        assert!(text.contains("neither `static` nor inlined"), "{text}");
        assert!(!text.contains("mine.bpf.c:12"), "{text}");
    }
}
