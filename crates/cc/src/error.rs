//! Why a congestion control algorithm cannot be loaded. `Display` is the line a user reads.

use std::io;
use std::path::PathBuf;

/// A congestion control algorithm cannot be loaded as requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Neither a built-in nor a path.
    #[error(
        "unknown congestion control `{name}`; {}there are {}, or name a file: `./mine.bpf.c`",
        did_you_mean(.nearest), .known.join(", ")
    )]
    UnknownCongestionControl {
        /// The name that was requested.
        name: String,
        /// The built-in whose name is closest to it, if one is close.
        nearest: Option<String>,
        /// Names of all built-ins.
        known: Vec<String>,
    },
    /// The congestion control algorithm has no such parameter.
    #[error("`{cc}` has no parameter `{param}`; {}{}", did_you_mean(.nearest), list_params(.known))]
    UnknownParam {
        /// The congestion control algorithm.
        cc: String,
        /// The parameter that was requested.
        param: String,
        /// The parameter whose name is closest to it, if one is close.
        nearest: Option<String>,
        /// All its parameters.
        known: Vec<String>,
    },
    /// A parameter's value is not in its range.
    #[error(
        "parameter `{param}={value}` of `{cc}` is out of range; use {min} to {max}{}",
        unit_suffix(.unit)
    )]
    ParamOutOfRange {
        /// The congestion control algorithm.
        cc: String,
        /// Name of the parameter.
        param: String,
        /// The value that was requested.
        value: i64,
        /// Smallest value allowed.
        min: i64,
        /// Largest value allowed.
        max: i64,
        /// The parameter's unit; empty for a pure number.
        unit: String,
    },
    /// A source file cannot be read.
    #[error("cannot read congestion control `{}`: {source}", .path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// No C compiler is installed.
    #[error("no C compiler to build `{}`; run `pip install 'dumbbell[cc]'`, or install gcc or clang, or set CC", .path.display())]
    NoCompiler {
        /// The file to compile.
        path: PathBuf,
    },
    /// No compiler for BPF is installed.
    #[error("no BPF compiler to build `{}` for the kernel; run `pip install 'dumbbell[cc]'`, or install clang, or set CLANG", .path.display())]
    NoBpfCompiler {
        /// The file to compile.
        path: PathBuf,
    },
    /// dumbbell was built without a compiler for BPF.
    #[error(
        "`{name}` cannot be loaded into the kernel: dumbbell was built without a BPF compiler; \
         install clang, or run `pip install ziglang`, and build dumbbell again"
    )]
    NoBpfObject {
        /// Name of the built-in.
        name: String,
    },
    /// The compiler rejects a source file.
    #[error("congestion control `{}` does not compile ({compiler}):\n{message}", .path.display())]
    Compile {
        /// Path of the file.
        path: PathBuf,
        /// The compiler that was run.
        compiler: String,
        /// The compiler's message.
        message: String,
    },
    /// The compiler cannot be started.
    #[error("congestion control `{}`: the compiler {compiler} cannot be started: {problem}", .path.display())]
    NotRun {
        /// Path of the file.
        path: PathBuf,
        /// The compiler that should run.
        compiler: String,
        /// What the system says, and the remedy.
        problem: String,
    },
    /// The source is a kernel module's, which cannot be loaded as BPF.
    #[error(
        "`{}` is the source of a kernel module: it runs in the simulator, but cannot be loaded into the \
         kernel as BPF; for the kernel engine use `linux/{own}`, if the running kernel has it",
        .path.display()
    )]
    ModuleInKernel {
        /// Path of the file.
        path: PathBuf,
        /// The kernel's name for it, from the file's name.
        own: String,
    },
    /// The object is not a usable congestion control.
    #[error("`{file}` {problem}")]
    Invalid {
        /// The file or built-in.
        file: String,
        /// What is wrong with it, and the remedy.
        problem: String,
    },
    /// The system refuses to map the object.
    #[error("cannot load congestion control `{file}`: {problem}")]
    Load {
        /// The file or built-in.
        file: String,
        /// The error of the system or the dynamic linker.
        problem: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest
        .as_ref()
        .map(|name| format!("did you mean `{name}`? "))
        .unwrap_or_default()
}

fn list_params(known: &[String]) -> String {
    if known.is_empty() {
        "it has none".to_owned()
    } else {
        format!("there are {}", known.join(", "))
    }
}

fn unit_suffix(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

/// The candidate closest to a mistyped name, unless even that is a different word.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    const SIMILAR: f64 = 0.7;
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate.to_owned())
}
