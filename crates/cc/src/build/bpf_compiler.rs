//! Finds the compiler of BPF objects and gives its command line. Build scripts use this file too.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use super::python;

/// Names of clang; distributions append the version.
const CLANG: [&str; 12] = [
    "clang", "clang-25", "clang-24", "clang-23", "clang-22", "clang-21", "clang-20", "clang-19",
    "clang-18", "clang-17", "clang-16", "clang-15",
];

/// Flags of every BPF object, without warnings. Its line numbers (`-g`) are what the verifier's
/// messages quote.
const FLAGS: [&str; 4] = ["-mcpu=v3", "-O2", "-g", "-fdebug-compilation-dir=."];

/// A compiler that can make BPF objects.
#[derive(Clone, Debug)]
pub(crate) struct BpfCompiler {
    words: Vec<String>,
}

impl BpfCompiler {
    /// The first that works: clang (`$CLANG` first), then the one in the ziglang package. Trials
    /// write to `scratch`.
    pub(crate) fn find(scratch: &Path) -> Option<Self> {
        let endian = if cfg!(target_endian = "big") {
            "bpfeb"
        } else {
            "bpfel"
        };
        let chosen = env::var("CLANG").ok();
        let clang = chosen.into_iter().chain(CLANG.map(str::to_owned));
        let clang = clang.map(|name| {
            let mut words: Vec<String> = name.split_whitespace().map(str::to_owned).collect();
            words.extend(["-target".to_owned(), endian.to_owned()]);
            words
        });
        let zig = python::zig_commands().map(|mut words| {
            words.extend(["-target".to_owned(), format!("{endian}-freestanding")]);
            // zig turns the undefined-behaviour sanitizer on, which BPF has no runtime for.
            words.push("-fno-sanitize=undefined".to_owned());
            words
        });
        clang
            .chain(zig)
            .map(|words| Self { words })
            .find(|compiler| compiler.has_target(scratch))
    }

    /// Whether it is the one in the ziglang package, which a Python environment may have.
    #[allow(dead_code, reason = "build scripts ask")]
    pub(crate) fn is_zig(&self) -> bool {
        self.words.iter().any(|word| word == "ziglang")
    }

    /// Its name and version, on one line.
    #[allow(dead_code, reason = "one of the build scripts does not ask")]
    pub(crate) fn version(&self) -> String {
        let output = Command::new(&self.words[0])
            .args(self.words[1..].iter().take_while(|word| *word != "-target"))
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let line = text.unwrap_or_default();
        let line = line.lines().next().unwrap_or_default().trim().to_owned();
        if self.is_zig() {
            format!("ziglang ({line})")
        } else {
            line
        }
    }

    /// The command, without sources.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command
            .args(&self.words[1..])
            .args(FLAGS)
            .stdin(Stdio::null());
        command
    }

    /// The command as a user would type it, without flags.
    #[allow(dead_code, reason = "build scripts do not name it")]
    pub(crate) fn name(&self) -> String {
        self.words.join(" ")
    }

    /// Not every clang has the BPF code generator.
    fn has_target(&self, scratch: &Path) -> bool {
        // Without our flags: zig gives a warning about its own code here, which -Werror would
        // reject. To a file, because zig takes the `-` of standard output for a file name.
        let status = Command::new(&self.words[0])
            .args(&self.words[1..])
            .stdin(Stdio::null())
            .args(["-S", "-x", "c", "/dev/null", "-o"])
            .arg(scratch.join("trial.s"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success())
    }
}
