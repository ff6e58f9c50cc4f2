//! What this process, and those forked from it, need not do again: find a compiler, and build a file
//! of which nothing has changed.
//!
//! Asking a compiler for a file's includes takes a hundred times as long as a short run. So a build is
//! kept with the content of all files that it was read from; that is compared each time.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{self, Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::catalog::{Build, Target};
use crate::error::Error;

/// What decides which compiler is found and what it reads.
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

/// The variables' values.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Environment([Option<OsString>; VARIABLES.len()]);

impl Environment {
    fn now() -> Self {
        Self(VARIABLES.map(env::var_os))
    }
}

/// Something that was found, as long as the environment stays.
pub(crate) struct Found<T>(Mutex<Option<(Environment, T)>>);

impl<T: Clone> Found<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// What is not found is looked for again: somebody may have installed it.
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

/// All that a build depends on.
#[derive(Debug)]
pub(crate) struct Inputs {
    environment: Environment,
    /// The files' content. `None`: there is no such file, and it would be read ahead of one there is.
    files: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Inputs {
    /// Reads files that a build was made from; `None` if one of them cannot be. Those in `headers`
    /// are ours and do not change.
    pub(crate) fn read<'a>(
        files: impl IntoIterator<Item = &'a PathBuf>,
        headers: &Path,
    ) -> Option<Self> {
        let files: Vec<PathBuf> = files
            .into_iter()
            .map(path::absolute)
            .collect::<Result<_, _>>()
            .ok()?;
        let mut inputs = BTreeMap::new();
        for file in files.iter().filter(|file| !file.starts_with(headers)) {
            inputs.insert(file.clone(), Some(fs::read(file).ok()?));
            let dir = file.parent()?;
            for path in files.iter().flat_map(|other| in_dir(dir, other)) {
                if fs::symlink_metadata(&path).is_err() {
                    inputs.insert(path, None);
                }
            }
        }
        Some(Self {
            environment: Environment::now(),
            files: inputs,
        })
    }

    fn are_unchanged(&self) -> bool {
        self.environment == Environment::now()
            && self.files.iter().all(|(path, content)| match content {
                Some(content) => fs::read(path).is_ok_and(|now| now == *content),
                None => fs::symlink_metadata(path).is_err(),
            })
    }
}

/// Where a directory would have a file that includes name, as `name.h` or `bpf/name.h`.
fn in_dir(dir: &Path, file: &Path) -> Vec<PathBuf> {
    let name = file.file_name().map(|name| dir.join(name));
    let parent = file.parent().and_then(Path::file_name);
    let below = parent
        .zip(file.file_name())
        .map(|(parent, name)| dir.join(parent).join(name));
    name.into_iter().chain(below).collect()
}

/// The latest build of each file.
static LATEST: Mutex<BTreeMap<(PathBuf, Target), (Inputs, Build)>> = Mutex::new(BTreeMap::new());

/// Builds a file, unless the latest build will do. `make` returns no inputs where it does not know them.
pub(crate) fn latest(
    path: &Path,
    target: Target,
    make: impl FnOnce() -> Result<(Build, Option<Inputs>), Error>,
) -> Result<Build, Error> {
    let key = (path::absolute(path).unwrap_or_default(), target);
    // Held while compiling: threads that want the same file wait instead of doing it again.
    let mut latest = LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((inputs, build)) = latest.get(&key)
        && inputs.are_unchanged()
    {
        return Ok(build.clone());
    }
    let (build, inputs) = make()?;
    if let Some(inputs) = inputs {
        latest.insert(key, (inputs, build.clone()));
    }
    Ok(build)
}
