//! Compiles a user's own congestion control algorithm when it is loaded.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build::artifact::{Build, Compiled, Object, Target};
use crate::build::build_cache::{self, Inputs, Key};
use crate::build::compiler::Compiler;
use crate::build::compiler_message::{Types, explain, floats, unreadable};
use crate::build::embedded::{BUILT_INS, HEADERS};
use crate::build::kernel_congestion_controls::sources_of;
use crate::build::preprocessed::Preprocessed;
use crate::build::scratch::ScratchDir;
use crate::build::{
    constants, flags, kernel_headers, kernel_module, makefile, readable_sources, toolchain,
};
use crate::error::Error;
use crate::object::constructors;
use crate::object::elf::Elf;
use crate::sandbox::confined_command::{ConfinedCommand, Ended};

/// Compiles a file with the flags of the built-ins, against the embedded headers.
pub(crate) fn build(path: &Path, target: Target) -> Result<Build, Error> {
    let key = Key::new(path, target, None);
    build_cache::latest(key, || make(path, target, None))
}

/// Compiles a file for BPF with the running kernel's types, C text, instead of our `vmlinux.h`.
pub(crate) fn build_with_kernel_types(path: &Path, types: &str) -> Result<Build, Error> {
    let key = Key::new(path, Target::Bpf, Some(types));
    build_cache::latest(key, || make(path, Target::Bpf, Some(types)))
}

/// A build, and its inputs if they are known.
fn make(
    path: &Path,
    target: Target,
    types: Option<&str>,
) -> Result<(Build, Option<Inputs>), Error> {
    let source = readable_sources::read(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    // In any encoding, as for the compiler: comments are often in another one.
    let source = String::from_utf8_lossy(&source).into_owned();
    let dialect = if kernel_module::is_module(&source) {
        Dialect::Module
    } else {
        Dialect::Bpf
    };
    if dialect == Dialect::Module && target == Target::Bpf {
        return Err(Error::ModuleInKernel {
            path: path.to_owned(),
            own: kernel_module::kernel_name(path),
        });
    }
    let mut run = Run::new(path, &source, target, dialect, types)?;
    let before = run.preprocess()?;
    let mut others = makefile::candidates(path).to_vec();
    if dialect == Dialect::Module {
        others.extend(kernel_module::candidates(path, &source));
    }
    let inputs = Inputs::read(&before.files, &others, run.dir.path());
    let (object, flags) = run.compile()?;
    if target == Target::Native {
        let refused = Elf::parse(&object).and_then(|elf| constructors::refuse(&elf));
        refused.map_err(|problem| Error::Invalid {
            file: path.display().to_string(),
            problem,
        })?;
    }
    // If a file was changed meanwhile, the object may be made from either text.
    let is_sure = run.preprocess().is_ok_and(|after| after == before);
    let build = Build {
        source: Cow::Owned(source),
        object: Object::Compiled(Arc::new(Compiled::new(object))),
        flags,
    };
    Ok((build, inputs.filter(|_| is_sure)))
}

/// What a source is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// A BPF program, against `vmlinux.h`.
    Bpf,
    /// A module of the kernel, against `linux-module`.
    Module,
}

/// One file, one compiler, and a directory with the headers that is removed when this is dropped.
struct Run<'path> {
    path: &'path Path,
    source: &'path str,
    compiler: Compiler,
    dialect: Dialect,
    types: Types,
    /// What the compiler can read of the user's.
    sources: Vec<PathBuf>,
    /// Constants of the kernel that the source uses, as flags.
    constants: Vec<String>,
    dir: ScratchDir,
}

impl<'path> Run<'path> {
    fn new(
        path: &'path Path,
        source: &'path str,
        target: Target,
        dialect: Dialect,
        types: Option<&str>,
    ) -> Result<Self, Error> {
        let dir = write_headers(dialect, types).map_err(|error| Error::Load {
            file: path.display().to_string(),
            problem: format!("no temporary directory: {error}"),
        })?;
        let compiler = Compiler::find(path, target, dir.path())?;
        let types = types.map_or(Types::Ours, |_| Types::Kernels);
        Ok(Self {
            path,
            source,
            compiler,
            dialect,
            types,
            sources: readable_sources::near(path),
            constants: Vec::new(),
            dir,
        })
    }

    fn include(&self) -> PathBuf {
        self.dir.path().join("include")
    }

    fn command(&self) -> ConfinedCommand {
        toolchain::confined(
            &self.compiler.command(),
            self.sources.iter().cloned(),
            self.dir.path(),
        )
    }

    fn preprocess(&self) -> Result<Preprocessed, Error> {
        let mut preprocessed = Preprocessed::default();
        preprocessed.add(&self.run(&["-E".as_ref()])?.stdout);
        if self.dialect == Dialect::Module {
            for path in kernel_module::dependencies(self.path, self.source) {
                preprocessed.add(&self.run_on(&path, &["-E".as_ref()])?.stdout);
            }
        }
        let mut included = preprocessed.files.iter();
        match included.find(|file| fs::metadata(file).is_ok_and(|file| !file.is_file())) {
            Some(file) => Err(self.failed(&format!(
                "includes `{}`, which is not a regular file",
                file.display()
            ))),
            None => Ok(preprocessed),
        }
    }

    /// The object, and the flags that a module turned out to need.
    fn compile(&mut self) -> Result<(Vec<u8>, Vec<String>), Error> {
        if self.dialect == Dialect::Module {
            return self.compile_module();
        }
        loop {
            match self.compile_bpf() {
                Err(Error::Compile { message, .. })
                    if constants::add_missing(&mut self.constants, &message) => {}
                result => return Ok((result?, Vec::new())),
            }
        }
    }

    fn compile_bpf(&self) -> Result<Vec<u8>, Error> {
        let object = self.compile_with(&[])?;
        if matches!(self.compiler, Compiler::Bpf(_)) {
            return Ok(object);
        }
        let undefined = Elf::parse(&object).map(|elf| sources_of(&elf.undefined()));
        match undefined.unwrap_or_default()[..] {
            [] => Ok(object),
            ref needed => self.compile_with(needed),
        }
    }

    /// Also links these files of `cc/include`.
    fn compile_with(&self, needed: &[&str]) -> Result<Vec<u8>, Error> {
        let object = self.dir.path().join("object");
        let linked = flags::LINKED.iter().chain(needed);
        let linked: Vec<PathBuf> = linked.map(|file| self.include().join(file)).collect();
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

    /// Compiles a module with today's interface, then with those of older kernels and the state
    /// that it turns out to need. Returns the flags that it was compiled with.
    fn compile_module(&self) -> Result<(Vec<u8>, Vec<String>), Error> {
        let mut flags = kernel_module::first_flags(self.path, self.source);
        loop {
            match self.compile_module_with(&flags) {
                Err(Error::Compile { message, .. })
                    if kernel_module::adapt(&mut flags, &message) => {}
                result => return result.map(|object| (object, flags)),
            }
        }
    }

    /// Compiles each module separately first, because the native side has other declarations.
    fn compile_module_with(&self, flags: &[String]) -> Result<Vec<u8>, Error> {
        let dir = self.dir.path();
        let mut units = vec![dir.join("module.o")];
        self.compile_unit(self.path, flags, &units[0])?;
        for (i, path) in kernel_module::dependencies(self.path, self.source)
            .iter()
            .enumerate()
        {
            units.push(dir.join(format!("dependency{i}.o")));
            let dependency = [kernel_module::DEPENDENCY.to_owned()];
            self.compile_unit(path, &dependency, &units[i + 1])?;
        }
        let (include, object) = (self.include(), dir.join("object"));
        let linked = flags::LINKED.iter().chain(&[kernel_module::LINKED]);
        let output = self
            .command()
            .args(kernel_module::FLAGS)
            .args(flags)
            .args(flags::LINKER)
            .arg("-I")
            .arg(include.join("linux-module"))
            .arg("-I")
            .arg(&include)
            .arg("-o")
            .arg(&object)
            .args(units)
            .args(linked.map(|file| include.join(file)))
            .output();
        self.check(output)?;
        fs::read(&object).map_err(|error| self.failed(&error.to_string()))
    }

    fn compile_unit(&self, path: &Path, flags: &[String], object: &Path) -> Result<(), Error> {
        let mut arguments: Vec<&Path> = flags.iter().map(Path::new).collect();
        arguments.extend(["-c".as_ref(), "-o".as_ref(), object]);
        self.run_on(path, &arguments).map(|_| ())
    }

    fn run(&self, arguments: &[&Path]) -> Result<Ended, Error> {
        self.run_on(self.path, arguments)
    }

    fn run_on(&self, path: &Path, arguments: &[&Path]) -> Result<Ended, Error> {
        let include = self.include();
        let mut command = self.command();
        match self.dialect {
            Dialect::Bpf => command
                .args(flags::USERS_WARNINGS)
                .arg("-I")
                .arg(&include)
                // For a variant of a built-in: what the built-ins share.
                .arg("-I")
                .arg(self.dir.path())
                // Before a vmlinux.h of the running kernel next to the file, which has a different
                // layout; both have the same include guard.
                .arg("-include")
                .arg(include.join("vmlinux.h"))
                .args(self.helpers()),
            Dialect::Module => command
                .args(kernel_module::FLAGS)
                .arg("-I")
                .arg(include.join("linux-module"))
                // For `#include <mine.h>` of a header next to the file, after the kernel's own.
                .arg("-I")
                .arg(directory_of(path)),
        };
        let command = command.args(makefile::flags(path)).args(&self.constants);
        let output = command.arg(path).args(arguments).output();
        self.check(output)
    }

    fn check(&self, output: io::Result<Ended>) -> Result<Ended, Error> {
        let output = output.map_err(|error| self.not_run(&error))?;
        if let Some(stopped) = output.stopped {
            return Err(self.failed(&format!("the compiler {stopped}")));
        }
        if !output.status.success() {
            return Err(self.failed(&String::from_utf8_lossy(&output.stderr)));
        }
        Ok(output)
    }

    /// The kernel's bpf_tcp_helpers.h defines a socket of its own; ours comes before one that may
    /// be next to the file, with the same include guard.
    fn helpers(&self) -> Vec<PathBuf> {
        const HELPERS: &str = "bpf_tcp_helpers.h";
        let mut arguments = Vec::new();
        if self.source.contains(HELPERS) {
            arguments.push(PathBuf::from("-include"));
            arguments.push(self.include().join(HELPERS));
        }
        arguments
    }

    /// The compiler cannot be started, which is not the file's fault.
    fn not_run(&self, error: &io::Error) -> Error {
        let remedy = match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => "; allow more (`ulimit -n`)",
            _ => "",
        };
        Error::NotRun {
            path: self.path.to_owned(),
            compiler: self.compiler.name(),
            problem: format!("{error}{remedy}"),
        }
    }

    fn failed(&self, message: &str) -> Error {
        let dir = self.dir.path().display().to_string();
        // Name the headers by their path in the repository, not in the scratch directory.
        let message = message.replace(&format!("{dir}/"), "cc/");
        let message = message.trim_end();
        let explained =
            unreadable(message).or_else(|| floats(message, &self.path.to_string_lossy()));
        Error::Compile {
            path: self.path.to_owned(),
            compiler: self.compiler.name(),
            message: explained.unwrap_or_else(|| match self.dialect {
                Dialect::Bpf => explain(message, self.types),
                Dialect::Module => kernel_module::explain(message),
            }),
        }
    }
}

/// The directory in which a file lies.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn write_headers(dialect: Dialect, types: Option<&str>) -> io::Result<ScratchDir> {
    let dir = ScratchDir::new()?;
    write_headers_to(dir.path())?;
    if dialect == Dialect::Module {
        kernel_headers::write_below(&dir.path().join("include/linux-module"))?;
    }
    if let Some(types) = types {
        fs::write(dir.path().join("include/vmlinux.h"), types)?;
    }
    // For files of `kfuncs/`, which include them.
    for built_in in &BUILT_INS {
        fs::write(
            dir.path().join(format!("{}.bpf.c", built_in.name)),
            built_in.source,
        )?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn object(path: &Path) -> Arc<Compiled> {
        match build(path, Target::Native).unwrap().object {
            Object::Compiled(object) => object,
            Object::Embedded(_) => panic!("a file is not a built-in"),
        }
    }

    #[test]
    fn a_file_is_compiled_once_and_again_when_anything_it_reads_has_changed() {
        let probe = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc/probe.bpf.c");
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let text = fs::read_to_string(probe).unwrap();
        let path = write("my \"own\".bpf.c", &format!("{text}\n#include \"own.h\"\n"));
        write("own.h", "int dumbbell_own = 1;\n");
        let first = object(&path);
        assert!(Arc::ptr_eq(&first, &object(&path)));
        write("own.h", "int dumbbell_own = 2;\n");
        let second = object(&path);
        assert!(!Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&second, &object(&path)));
        // A new file that is read before ours.
        write("errno.h", "");
        write(
            "dumbbell.h",
            "#include \"dumbbell_decl.h\"\nint dumbbell_own_too = 3;\n",
        );
        assert!(!Arc::ptr_eq(&second, &object(&path)));
    }

    #[test]
    fn a_module_is_built_again_when_the_one_it_uses_comes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tcp_mine.c");
        let module = fs::read_to_string(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc/module_hollow.c"),
        )
        .unwrap();
        fs::write(&path, format!("{module}\n#include \"tcp_other.h\"\n")).unwrap();
        fs::write(dir.path().join("tcp_other.h"), "extern int tcp_other;\n").unwrap();
        let alone = object(&path);
        assert!(Arc::ptr_eq(&alone, &object(&path)));
        fs::write(
            dir.path().join("tcp_other.c"),
            "#include <linux/module.h>\nint tcp_other = 1;\n",
        )
        .unwrap();
        assert!(!Arc::ptr_eq(&alone, &object(&path)));
    }
}
