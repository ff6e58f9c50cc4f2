//! Directories for what compilers read and write.
//!
//! Each goes when it is dropped. One whose process was killed goes when the next is made: whoever makes
//! one locks it, and a lock ends with its process, however that ends.

use std::fs::{self, File};
use std::path::Path;
use std::{env, io};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use tempfile::TempDir;

const PREFIX: &str = "dumbbell-scratch-";

/// A temporary directory of this process.
#[derive(Debug)]
pub struct ScratchDir {
    dir: TempDir,
    _lock: File,
}

impl ScratchDir {
    /// Makes one, and removes those that nobody owns any more.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&env::temp_dir())
    }

    fn new_in(place: &Path) -> io::Result<Self> {
        remove_orphans(place);
        loop {
            let dir = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
            // Between the two calls another process may have taken it for an orphan.
            if let Some(lock) = lock(dir.path())
                && dir.path().exists()
            {
                return Ok(Self { dir, _lock: lock });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Locks a directory unless somebody else has.
fn lock(dir: &Path) -> Option<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(open(dir, flags, Mode::empty()).ok()?);
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file)
}

/// What cannot be removed is another user's, or is being removed by another process.
fn remove_orphans(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX)
            && let Some(_lock) = lock(&entry.path())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_goes_with_the_next_and_what_is_in_use_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = ScratchDir::new_in(place.path()).unwrap();
        // A process that is killed drops nothing, but its lock goes.
        let left = place.path().join(format!("{PREFIX}left"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("object"), "").unwrap();
        let other = place.path().join("other");
        fs::create_dir(&other).unwrap();
        let next = ScratchDir::new_in(place.path()).unwrap();
        assert!(!left.exists());
        assert!(other.exists() && used.path().exists() && next.path().exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }
}
