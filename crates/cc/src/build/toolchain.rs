//! A compiler's command, confined: it reads the system's directories, its own, and the sources that
//! it was given; it writes a scratch directory.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::build::build_cache::Found;
use crate::build::readable_sources;
use crate::sandbox::confined_command::{ConfinedCommand, Ended};

/// Wall-clock time that one call of a compiler may take. A congestion control algorithm takes a tenth of a
/// second; the first call of zig compiles its own libraries.
pub(crate) const COMPILER_LIMIT_S: u64 = 30;
/// Environment variable that sets another limit.
const LIMIT_VARIABLE: &str = "DUMBBELL_COMPILER_LIMIT_S";
/// Address space of each of a compiler's processes.
const ADDRESS_SPACE_BYTES: u64 = 4 << 30;
/// Size of each file that a compiler writes.
const FILE_BYTES: u64 = 256 << 20;
/// How much of a compiler's output is read: a preprocessed source, and messages.
const OUTPUT_BYTES: [usize; 2] = [24 << 20, 1 << 20];

/// Where systems have their programs, libraries and headers.
const SYSTEM: [&str; 13] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/run/current-system/sw",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
];
/// What compilers ask about the processor.
const PROCESSOR: [&str; 2] = ["/proc/cpuinfo", "/sys/devices/system/cpu"];
/// Lists of directories by which users make compilers find more.
const SEARCHED: [&str; 6] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
];

static ZIG: Found<(Vec<OsString>, PathBuf)> = Found::new();

/// The same command, confined. It reads `sources` and writes `scratch`.
pub(crate) fn confined(
    command: &Command,
    sources: impl IntoIterator<Item = PathBuf>,
    scratch: &Path,
) -> ConfinedCommand {
    let mut words: Vec<OsString> = vec![command.get_program().to_owned()];
    words.extend(command.get_args().map(OsStr::to_owned));
    without_python(&mut words);
    let program = find_program(&words[0]);
    let mut confined = ConfinedCommand::compiler(&words[0]);
    confined
        .args(&words[1..])
        .env("TMPDIR", scratch)
        .scratch(scratch)
        .read(sources)
        .read(PROCESSOR.map(PathBuf::from))
        .execute(SYSTEM.map(PathBuf::from))
        .execute(searched())
        .execute(program.as_deref().and_then(home_of));
    for cache in caches(&words, program.as_deref()) {
        // Where it cannot be made, there is none.
        if fs::create_dir_all(&cache.directory).is_ok() {
            confined.write([cache.directory]);
        } else {
            confined.env(cache.variable, scratch.join("cache"));
        }
    }
    confined.cpu_s = limit_s();
    confined.time = Duration::from_secs(confined.cpu_s);
    confined.address_space_bytes = Some(ADDRESS_SPACE_BYTES);
    confined.file_bytes = FILE_BYTES;
    confined.output_bytes = OUTPUT_BYTES;
    confined
}

/// Runs a compiler, given as the words of its command, in a directory that it can write.
pub fn run_compiler(
    words: &[String],
    arguments: &[String],
    directory: &Path,
    source: &Path,
) -> io::Result<Ended> {
    let mut command = Command::new(words.first().map_or("cc", String::as_str));
    command.args(words.iter().skip(1)).args(arguments);
    confined(&command, readable_sources::near(source), directory)
        .current_dir(directory)
        .output()
}

/// [`COMPILER_LIMIT_S`], or what the user has set for a slow machine.
fn limit_s() -> u64 {
    let set = env::var(LIMIT_VARIABLE).ok();
    let set = set.and_then(|seconds| seconds.parse().ok());
    set.filter(|seconds| (1..=86_400).contains(seconds))
        .unwrap_or(COMPILER_LIMIT_S)
}

/// Replaces `python -m ziglang` by the program that it starts, which needs no Python.
fn without_python(words: &mut Vec<OsString>) {
    let module = words.iter().position(|word| word == "ziglang");
    let Some(python) = module.and_then(|at| at.checked_sub(1)) else {
        return;
    };
    if words[python] != "-m" || python == 0 {
        return;
    }
    let asked = words[..python].to_owned();
    let found = ZIG.or_find(|| Some((asked.clone(), zig_of(&asked)?)));
    let zig = match found {
        Some((of, zig)) if of == asked => Some(zig),
        _ => zig_of(&asked),
    };
    if let Some(zig) = zig {
        words.splice(..python + 2, [zig.into_os_string()]);
    }
}

/// The program of the package ziglang for a Python.
fn zig_of(python: &[OsString]) -> Option<PathBuf> {
    const ASK: &str =
        "import ziglang, os; print(os.path.dirname(os.path.abspath(ziglang.__file__)))";
    let output = Command::new(&python[0])
        .args(&python[1..])
        .args(["-c", ASK])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let directory = String::from_utf8(output.stdout).ok()?;
    let zig = Path::new(directory.trim_end()).join("zig");
    zig.is_file().then_some(zig)
}

/// Where a program is, as the system finds it.
fn find_program(program: &OsStr) -> Option<PathBuf> {
    if Path::new(program).components().count() > 1 {
        return Some(program.into());
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

/// The directory that has a program and what belongs to it: `/opt/llvm` for `/opt/llvm/bin/clang`,
/// but never one that has the user's home.
fn home_of(program: &Path) -> Option<PathBuf> {
    let program = fs::canonicalize(program).ok()?;
    let directory = program.parent()?;
    let above = (directory.file_name()? == "bin")
        .then(|| directory.parent())
        .flatten();
    let candidates = [above, Some(directory), Some(&program)];
    let mut candidates = candidates.into_iter().flatten();
    candidates
        .find(|path| !has_a_home(path))
        .map(Path::to_owned)
}

/// Whether a directory is a user's home, or above it.
fn has_a_home(path: &Path) -> bool {
    let home = env::var_os("HOME").map(PathBuf::from);
    let home = home.and_then(|home| fs::canonicalize(home).ok());
    let is_home = home.is_some_and(|home| home.starts_with(path));
    is_home
        || path
            .parent()
            .is_none_or(|parent| parent == Path::new("/home"))
}

/// The directories in the variables that compilers know.
fn searched() -> Vec<PathBuf> {
    let lists = SEARCHED.iter().filter_map(env::var_os);
    let paths = lists.flat_map(|list| env::split_paths(&list).collect::<Vec<_>>());
    let paths: BTreeSet<PathBuf> = paths.filter(|path| path.is_absolute()).collect();
    paths.into_iter().filter(|path| !has_a_home(path)).collect()
}

/// What a compiler keeps from one call to the next.
struct Cache {
    directory: PathBuf,
    /// Names another place.
    variable: &'static str,
}

fn caches(words: &[OsString], program: Option<&Path>) -> Vec<Cache> {
    let is_called = |name: &str| {
        let of_program = program.and_then(Path::file_name);
        of_program.is_some_and(|found| found == name)
            || words.iter().take(2).any(|word| word == name)
    };
    let place = |variable: &'static str, name: &str| {
        let own = env::var_os(variable).map(PathBuf::from);
        let shared = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let shared = shared.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".cache")));
        Some(Cache {
            directory: own.or_else(|| Some(shared?.join(name)))?,
            variable,
        })
    };
    let zig = is_called("zig").then(|| place("ZIG_GLOBAL_CACHE_DIR", "zig"));
    let ccache = is_called("ccache").then(|| place("CCACHE_DIR", "ccache"));
    zig.into_iter().chain(ccache).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilers_directory_is_never_the_home() {
        let dir = tempfile::tempdir().unwrap();
        let bin = dir.path().join("llvm/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::write(bin.join("clang"), "").unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(home_of(&bin.join("clang")), Some(top.join("llvm")));
        assert!(has_a_home(Path::new("/")));
        assert!(has_a_home(Path::new("/home/somebody")));
        let home = fs::canonicalize(env::var_os("HOME").unwrap()).unwrap();
        assert!(has_a_home(&home) && !has_a_home(&home.join("llvm")));
    }
}
