//! Compiles a user's own congestion control when it is loaded.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs};

use tempfile::TempDir;

use crate::bpf_compiler::BpfCompiler;
use crate::catalog::{Build, HEADERS, Object, Target};
use crate::compiler_message::explain;
use crate::error::Error;
use crate::flags;

/// Compilers tried after `$CC`.
const COMPILERS: [&str; 4] = ["cc", "gcc", "clang", "python3 -m ziglang cc"];

/// Objects by compiler and preprocessed source.
type Compiled = BTreeMap<(String, Vec<u8>), Arc<[u8]>>;

/// Objects of this process, so that a sweep compiles a file once, and again when it
/// or a file it includes has changed.
static COMPILED: Mutex<Compiled> = Mutex::new(BTreeMap::new());

/// Compiles a file with the flags of the built-ins, against the embedded headers.
pub(crate) fn build(path: &Path, target: Target) -> Result<Build, Error> {
    let source = fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    let run = Run::new(path, &source, target)?;
    let key = (run.compiler.name(), run.preprocess()?);
    // Held while compiling: threads that want the same file wait instead of doing it again.
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let object = match compiled.get(&key) {
        Some(object) => Arc::clone(object),
        None => {
            let object: Arc<[u8]> = run.compile()?.into();
            compiled.insert(key, Arc::clone(&object));
            object
        }
    };
    Ok(Build {
        source: Cow::Owned(source),
        object: Object::Compiled(object),
    })
}

/// One file, one compiler, and a directory with the headers that goes when this does.
struct Run<'path> {
    path: &'path Path,
    source: &'path str,
    compiler: Compiler,
    dir: TempDir,
}

enum Compiler {
    /// The words of its command line.
    Native(String),
    Bpf(BpfCompiler),
}

impl Compiler {
    fn find(path: &Path, target: Target) -> Result<Self, Error> {
        let path = path.to_owned();
        match target {
            Target::Native => find_compiler()
                .map(Self::Native)
                .ok_or(Error::NoCompiler { path }),
            Target::Bpf => BpfCompiler::find()
                .map(Self::Bpf)
                .ok_or(Error::NoBpfCompiler { path }),
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Native(words) => words.clone(),
            Self::Bpf(compiler) => compiler.name(),
        }
    }

    /// Its command line with the flags of the built-ins.
    fn command(&self) -> Command {
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

impl<'path> Run<'path> {
    fn new(path: &'path Path, source: &'path str, target: Target) -> Result<Self, Error> {
        let compiler = Compiler::find(path, target)?;
        let dir = write_headers().map_err(|error| Error::Load {
            file: path.display().to_string(),
            problem: format!("no temporary directory: {error}"),
        })?;
        Ok(Self {
            path,
            source,
            compiler,
            dir,
        })
    }

    fn include(&self) -> PathBuf {
        self.dir.path().join("include")
    }

    /// The source with all it includes, without line markers and so without paths.
    fn preprocess(&self) -> Result<Vec<u8>, Error> {
        Ok(self.run(&["-E".as_ref(), "-P".as_ref()])?.stdout)
    }

    fn compile(&self) -> Result<Vec<u8>, Error> {
        let object = self.dir.path().join("object");
        let linked = flags::LINKED.map(|file| self.include().join(file));
        let mut arguments: Vec<&Path> = vec!["-o".as_ref(), object.as_path()];
        match self.compiler {
            Compiler::Native(_) => {
                arguments.extend(flags::LINKER.iter().map(Path::new));
                arguments.extend(linked.iter().map(PathBuf::as_path));
            }
            Compiler::Bpf(_) => arguments.push("-c".as_ref()),
        }
        self.run(&arguments)?;
        fs::read(&object).map_err(|error| self.failed(&error.to_string()))
    }

    fn run(&self, arguments: &[&Path]) -> Result<Output, Error> {
        let output = self
            .compiler
            .command()
            .args(flags::USERS_WARNINGS)
            .arg("-I")
            .arg(self.include())
            // What the built-ins share, for a variant of one of them.
            .arg("-I")
            .arg(self.dir.path())
            // Ahead of a vmlinux.h of the running kernel beside the file, whose layout is another;
            // both have the same include guard.
            .arg("-include")
            .arg(self.include().join("vmlinux.h"))
            .args(self.helpers())
            .arg(self.path)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| self.failed(&error.to_string()))?;
        if !output.status.success() {
            return Err(self.failed(&String::from_utf8_lossy(&output.stderr)));
        }
        Ok(output)
    }

    /// The kernel's bpf_tcp_helpers.h defines a socket of its own; ours goes ahead of one that may
    /// lie beside the file, with the same include guard.
    fn helpers(&self) -> Vec<PathBuf> {
        const HELPERS: &str = "bpf_tcp_helpers.h";
        let mut arguments = Vec::new();
        if self.source.contains(HELPERS) {
            arguments.push(PathBuf::from("-include"));
            arguments.push(self.include().join(HELPERS));
        }
        arguments
    }

    fn failed(&self, message: &str) -> Error {
        Error::Compile {
            path: self.path.to_owned(),
            compiler: self.compiler.name(),
            message: explain(message.trim_end()),
        }
    }
}

fn write_headers() -> io::Result<TempDir> {
    let dir = tempfile::Builder::new().prefix("dumbbell-cc-").tempdir()?;
    write_headers_to(dir.path())?;
    Ok(dir)
}

pub(crate) fn write_headers_to(dir: &Path) -> io::Result<()> {
    for header in HEADERS {
        let path = dir.join(header.path);
        fs::create_dir_all(path.parent().unwrap_or(dir))?;
        fs::write(path, header.text)?;
    }
    Ok(())
}

/// The first compiler that answers.
pub(crate) fn find_compiler() -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_compiled_once() {
        let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc/probe.bpf.c");
        let object = || match build(&probe, Target::Native).unwrap().object {
            Object::Compiled(object) => object,
            Object::Embedded(_) => panic!("the probe is no built-in"),
        };
        assert!(Arc::ptr_eq(&object(), &object()));
    }
}
