//! Facts about what confines foreign code on this machine.

use dumbbell_cc::Piece;

use super::fact::{Fact, Status};

pub(super) fn facts() -> [Fact; 2] {
    [files(), system_calls()]
}

fn files() -> Fact {
    let missing = dumbbell_cc::missing_pieces();
    let first = missing
        .into_iter()
        .find(|piece| *piece != Piece::SystemCalls);
    let (status, value) = match (dumbbell_cc::sandbox_is_off(), first) {
        (true, _) => (Status::Limited, OFF.to_owned()),
        (false, None) => (Status::Ok, version()),
        (false, Some(Piece::Files)) => (Status::Missing, "the kernel has no Landlock".to_owned()),
        (false, Some(piece)) => (
            Status::Limited,
            format!("{}, without {}", version(), piece.name()),
        ),
    };
    Fact {
        name: "sandbox for files",
        status,
        value,
        costs: first.unwrap_or(Piece::Files).costs(),
        remedy: remedy(
            "Linux 6.12 or newer with Landlock (CONFIG_SECURITY_LANDLOCK=y, and `landlock` in \
             /sys/kernel/security/lsm); in a container, a seccomp profile that lets it through",
        ),
        needed_for: &[],
    }
}

const OFF: &str = "turned off by DUMBBELL_UNSAFE_NO_SANDBOX";

/// `of_kernel`, unless the user has turned the sandbox off.
fn remedy(of_kernel: &'static str) -> &'static str {
    if dumbbell_cc::sandbox_is_off() {
        "unset the variable"
    } else {
        of_kernel
    }
}

fn version() -> String {
    format!("Landlock, version {}", dumbbell_cc::landlock())
}

fn system_calls() -> Fact {
    let piece = Piece::SystemCalls;
    let (status, value) = match (dumbbell_cc::sandbox_is_off(), piece.is_present()) {
        (true, _) => (Status::Limited, OFF),
        (false, true) => (Status::Ok, "seccomp filters"),
        (false, false) => (Status::Missing, "no seccomp filters on this kernel"),
    };
    Fact {
        name: "sandbox for system calls",
        status,
        value: value.to_owned(),
        costs: piece.costs(),
        remedy: remedy("a kernel with CONFIG_SECCOMP_FILTER=y, on x86-64, arm64 or riscv64"),
        needed_for: &[],
    }
}
