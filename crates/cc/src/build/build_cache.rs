//! Keeps what this process, and those forked from it, need not do again: finding a compiler, and
//! building a file that has not changed.
//!
//! Asking a compiler for a file's includes takes a hundred times as long as a short run. So a build
//! is kept with the content of all files that were read for it, which is compared each time. A new
//! header in a directory from which none was read goes unnoticed.
//!
//! A process that is confined can read none of these files: after [`use_finished_builds`] it takes
//! what was built before.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::build::artifact::{Build, Target};
use crate::build::digest::digest;
use crate::build::readable_sources;
use crate::error::Error;

/// Environment variables that decide which compiler is found and what it reads.
const VARIABLES: [&str; 8] = [
    "CC",
    "CLANG",
    "PATH",
    "VIRTUAL_ENV",
    "CPATH",
    "C_INCLUDE_PATH",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
];

/// What is kept of a build's inputs; a build from more is made each time.
const MAX_BYTES: usize = 64 << 20;

/// The variables' values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Environment([Option<OsString>; VARIABLES.len()]);

impl Environment {
    fn now() -> Self {
        Self(VARIABLES.map(env::var_os))
    }
}

/// Something that was found, valid while the environment stays the same.
pub(crate) struct Found<T>(Mutex<Option<(Environment, T)>>);

impl<T: Clone> Found<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What was not found is looked for again: it may have been installed meanwhile.
    pub(crate) fn or_find(&self, find: impl FnOnce() -> Option<T>) -> Option<T> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let environment = Environment::now();
        if let Some((then, value)) = &*found
            && *then == environment
        {
            return Some(value.clone());
        }
        let value = find()?;
        *found = Some((environment, value.clone()));
        Some(value)
    }
}

/// Everything that a build depends on.
#[derive(Debug)]
pub(crate) struct Inputs {
    environment: Environment,
    /// The files' content. `None`: no such file or directory exists, and it would be read instead
    /// of one that does.
    files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Inputs {
    /// Reads the files that a build was made from; `None` if one cannot be read, or may read
    /// others. Those in `headers` are ours and do not change; `modules` need not exist.
    pub(crate) fn read<'a>(
        files: impl IntoIterator<Item = &'a PathBuf>,
        modules: &[PathBuf],
        headers: &Path,
    ) -> Option<Self> {
        let files: Vec<PathBuf> = files
            .into_iter()
            .map(path::absolute)
            .collect::<Result<_, _>>()
            .ok()?;
        let (mut inputs, mut bytes) = (BTreeMap::new(), 0);
        for file in files.iter().filter(|file| !file.starts_with(headers)) {
            let content = readable_sources::read(file).ok()?;
            bytes += content.len();
            if bytes > MAX_BYTES {
                return None;
            }
            if reads_unlisted(&content) {
                return None;
            }
            inputs.insert(file.clone(), Some(content));
            let dir = file.parent()?;
            let missing = files.iter().flat_map(|other| missing_in(dir, other));
            inputs.extend(missing.map(|path| (path, None)));
        }
        for module in modules {
            inputs.insert(
                path::absolute(module).ok()?,
                readable_sources::read(module).ok(),
            );
        }
        Some(Self {
            environment: Environment::now(),
            files: inputs,
        })
    }

    fn are_unchanged(&self) -> bool {
        self.environment == Environment::now()
            && self.files.iter().all(|(path, content)| match content {
                Some(content) => readable_sources::read(path).is_ok_and(|now| now == *content),
                None => fs::symlink_metadata(path).is_err(),
            })
    }
}

/// Paths in a directory at which an included file, such as `name.h` or `net/ipv4/name.h`, would be
/// found; of each, the first component that does not exist.
fn missing_in(dir: &Path, file: &Path) -> impl Iterator<Item = PathBuf> {
    let names: Vec<_> = file.iter().skip(1).collect(); // it is absolute
    (0..names.len()).filter_map(move |first| {
        let mut path = dir.to_owned();
        names[first..].iter().find_map(|name| {
            path.push(name);
            fs::symlink_metadata(&path).is_err().then(|| path.clone())
        })
    })
}

/// Whether a source reads, or tests for, files that a preprocessor's output does not name.
fn reads_unlisted(content: &[u8]) -> bool {
    let text = String::from_utf8_lossy(content);
    let embeds = |line: &str| {
        let directive = line.trim_start().strip_prefix('#');
        directive.is_some_and(|rest| rest.trim_start().starts_with("embed"))
    };
    ["__has_include", "__has_embed", ".incbin"]
        .iter()
        .any(|word| text.contains(word))
        || text.lines().any(embeds)
}

/// Identifies a build.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    path: PathBuf,
    target: Target,
    /// Digest of the kernel's types, if they replace ours.
    types: Option<String>,
}

impl Key {
    pub(crate) fn new(path: &Path, target: Target, types: Option<&str>) -> Self {
        Self {
            path: path::absolute(path).unwrap_or_default(),
            target,
            types: types.map(|types| digest(types.as_bytes())),
        }
    }
}

/// The latest build of each, and what it was made from, if that is known.
static LATEST: Mutex<BTreeMap<Key, (Option<Inputs>, Build)>> = Mutex::new(BTreeMap::new());

/// Whether builds are taken as they are.
static FINISHED: AtomicBool = AtomicBool::new(false);

/// Makes this process take the latest builds, without asking whether their sources have changed.
pub fn use_finished_builds() {
    FINISHED.store(true, Ordering::Relaxed);
}

/// Returns the latest build of a file, or builds it. `make` returns no inputs where it does not
/// know them.
pub(crate) fn latest(
    key: Key,
    make: impl FnOnce() -> Result<(Build, Option<Inputs>), Error>,
) -> Result<Build, Error> {
    // Held while compiling: threads that want the same file wait instead of doing it again.
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((inputs, build)) = latest.get(&key)
        && (FINISHED.load(Ordering::Relaxed) || inputs.as_ref().is_some_and(Inputs::are_unchanged))
    {
        return Ok(build.clone());
    }
    let (build, inputs) = make()?;
    latest.insert(key, (inputs, build.clone()));
    Ok(build)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_preprocessor_does_not_list_is_reported() {
        for reads in [
            "#if __has_include(\"own.h\")",
            " # embed \"table\"",
            "asm(\".incbin \\\"table\\\"\");",
        ] {
            assert!(
                reads_unlisted(format!("int x;\n{reads}\n").as_bytes()),
                "{reads}"
            );
        }
        assert!(!reads_unlisted(b"#include \"own.h\"\n/* embedded */\n"));
    }

    #[test]
    fn headers_that_would_come_first_are_known_however_deep() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        fs::create_dir(dir.join("net")).unwrap();
        fs::write(dir.join("mine.c"), "").unwrap();
        let elsewhere = dir.join("elsewhere/net/ipv4");
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("own.h"), "").unwrap();
        let files = [dir.join("mine.c"), elsewhere.join("own.h")];
        let inputs = || Inputs::read(&files, &[], Path::new("/nowhere")).unwrap();
        let before = inputs();
        assert!(before.are_unchanged());
        fs::create_dir(dir.join("net/ipv4")).unwrap();
        assert!(!before.are_unchanged());
        let before = inputs();
        fs::write(dir.join("net/ipv4/own.h"), "").unwrap();
        assert!(!before.are_unchanged());
    }
}
