//! Finds the compiler for a user's congestion control.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::artifact::Target;
use crate::build::bpf_compiler::BpfCompiler;
use crate::build::build_cache::Found;
use crate::build::flags;
use crate::error::Error;

/// Compilers tried after `$CC`.
const COMPILERS: [&str; 4] = ["cc", "gcc", "clang", "python3 -m ziglang cc"];

static NATIVE_COMPILER: Found<String> = Found::new();
static BPF_COMPILER: Found<BpfCompiler> = Found::new();

/// A compiler and what it compiles for.
pub(crate) enum Compiler {
    /// The words of its command line.
    Native(String),
    Bpf(BpfCompiler),
}

impl Compiler {
    /// The first one available for the file at `path`; trials write to `scratch`.
    pub(crate) fn find(path: &Path, target: Target, scratch: &Path) -> Result<Self, Error> {
        let path = path.to_owned();
        match target {
            Target::Native => find_compiler()
                .map(Self::Native)
                .ok_or(Error::NoCompiler { path }),
            Target::Bpf => BPF_COMPILER
                .or_find(|| BpfCompiler::find(scratch))
                .map(Self::Bpf)
                .ok_or(Error::NoBpfCompiler { path }),
        }
    }

    /// Its command, without flags.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Native(words) => words.clone(),
            Self::Bpf(compiler) => compiler.name(),
        }
    }

    /// Its command line with the flags of the built-ins.
    pub(crate) fn command(&self) -> Command {
        match self {
            Self::Native(words) => {
                let mut command = command(words);
                command.args(flags::compiler(env::consts::ARCH));
                command
            }
            Self::Bpf(compiler) => compiler.command(),
        }
    }
}

/// The first compiler that answers.
pub(crate) fn find_compiler() -> Option<String> {
    NATIVE_COMPILER.or_find(first_compiler)
}

fn first_compiler() -> Option<String> {
    let chosen = env::var("CC")
        .ok()
        .filter(|compiler| !compiler.trim().is_empty());
    chosen
        .into_iter()
        .chain(COMPILERS.map(str::to_owned))
        .find(|compiler| {
            let answer = command(compiler)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            answer.is_ok_and(|status| status.success())
        })
}

/// A command line of words, as `CC` may be one: `ccache gcc`.
fn command(words: &str) -> Command {
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}
