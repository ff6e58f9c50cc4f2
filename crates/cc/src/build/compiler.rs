//! Finds the compiler for a user's congestion control.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::build::artifact::Target;
use crate::build::bpf_compiler::BpfCompiler;
use crate::build::build_cache::Found;
use crate::build::flags;
use crate::build::python;
use crate::build::scratch::ScratchDir;
use crate::error::Error;

/// Compilers tried after `$CC`, before the one in ziglang.
const COMPILERS: [&str; 3] = ["cc", "gcc", "clang"];

/// The words of its command line, and what it calls itself.
static NATIVE_COMPILER: Found<(Vec<String>, String)> = Found::new();
static BPF_COMPILER: Found<BpfCompiler> = Found::new();

/// A compiler and what it compiles for.
pub(crate) enum Compiler {
    /// The words of its command line.
    Native(Vec<String>),
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
            Self::Native(words) => words.join(" "),
            Self::Bpf(compiler) => compiler.name(),
        }
    }

    /// Its command line with the flags of the built-ins.
    pub(crate) fn command(&self) -> Command {
        match self {
            Self::Native(words) => {
                let mut command = command(words).expect("a compiler that was found has a name");
                command.args(flags::compiler(env::consts::ARCH));
                command
            }
            Self::Bpf(compiler) => compiler.command(),
        }
    }
}

/// Looks for ziglang in this Python first: the one that has loaded the engine.
pub fn use_python(executable: String) {
    python::prefer(executable);
}

/// What the first C compiler calls itself, if there is one: it builds a user's file for the simulator.
pub fn native_compiler() -> Option<String> {
    NATIVE_COMPILER.or_find(first_compiler).map(|found| found.1)
}

/// What the first compiler for BPF calls itself, if there is one: it builds a user's file for the
/// kernel.
pub fn bpf_compiler() -> Option<String> {
    let scratch = ScratchDir::new().ok()?;
    let compiler = BPF_COMPILER.or_find(|| BpfCompiler::find(scratch.path()));
    compiler.map(|compiler| compiler.version())
}

/// The first compiler that answers, as words.
pub(crate) fn find_compiler() -> Option<Vec<String>> {
    NATIVE_COMPILER.or_find(first_compiler).map(|found| found.0)
}

fn first_compiler() -> Option<(Vec<String>, String)> {
    // `CC` may be several words: `ccache gcc`.
    let chosen = env::var("CC").ok().into_iter();
    chosen
        .chain(COMPILERS.map(str::to_owned))
        .map(|words| words.split_whitespace().map(str::to_owned).collect())
        .chain(python::zig_commands())
        .find_map(|words: Vec<String>| version(&words).map(|version| (words, version)))
}

/// The first line that a compiler prints about itself; `None` if it cannot be run.
fn version(words: &[String]) -> Option<String> {
    let output = command(words)?
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or_default();
    output.status.success().then(|| line.to_owned())
}

fn command(words: &[String]) -> Option<Command> {
    let (program, arguments) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments);
    Some(command)
}
