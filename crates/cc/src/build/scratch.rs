//! Directories for what compilers read and write.
//!
//! Each is removed when it is dropped. One whose process was killed is removed when the next is
//! made: its maker holds a lock on it, which ends with the process in any case. Machines that share
//! the parent directory do not always see each other's locks, so the name identifies the machine,
//! and each machine removes only its own.

use std::fs::{self, File};
use std::path::Path;
use std::{env, io};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use tempfile::TempDir;

const PREFIX: &str = "dumbbell-scratch-";
/// The running system's own number, a new one after each boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// How often others may remove a new directory before it is locked. Once is rare.
const MAX_TRIES: u32 = 100;

/// A temporary directory of this process.
#[derive(Debug)]
pub struct ScratchDir {
    dir: TempDir,
    _lock: File,
}

impl ScratchDir {
    /// Makes one, and removes those of this machine whose process has ended.
    pub fn new() -> io::Result<Self> {
        Self::new_in(&env::temp_dir())
    }

    fn new_in(place: &Path) -> io::Result<Self> {
        let prefix = own_prefix();
        if let Some(prefix) = &prefix {
            remove_orphans(place, prefix);
        }
        let prefix = prefix.as_deref().unwrap_or(PREFIX);
        for _ in 0..MAX_TRIES {
            let dir = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
            // Between the two calls another process may have taken it for an orphan.
            if let Some(lock) = lock(dir.path())?
                && dir.path().exists()
            {
                return Ok(Self { dir, _lock: lock });
            }
        }
        Err(io::Error::other(format!(
            "other processes lock or remove every directory made in {}",
            place.display()
        )))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Prefix of this machine's directories; `None` if it cannot be identified.
fn own_prefix() -> Option<String> {
    let boot_id = fs::read_to_string(BOOT_ID).ok()?;
    Some(format!("{PREFIX}{}-", boot_id.trim()))
}

/// Locks a directory; `None` if another process holds the lock, or it no longer exists.
fn lock(dir: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match open(dir, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A directory that cannot be removed is another user's, or being removed by another process.
fn remove_orphans(place: &Path, prefix: &str) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(prefix)
            && let Ok(Some(_lock)) = lock(&entry.path())
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
        let left = place.path().join(own_prefix().unwrap() + "left");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("object"), "").unwrap();
        // Not locked, as far as this machine can see.
        let other_machines = place.path().join(format!("{PREFIX}6b1f-left"));
        fs::create_dir(&other_machines).unwrap();
        let next = ScratchDir::new_in(place.path()).unwrap();
        assert!(!left.exists());
        assert!(other_machines.exists() && used.path().exists() && next.path().exists());
        let path = next.path().to_owned();
        drop(next);
        assert!(!path.exists());
    }

    #[test]
    fn a_lock_of_another_and_a_missing_directory_are_not_errors() {
        let place = tempfile::tempdir().unwrap();
        let used = ScratchDir::new_in(place.path()).unwrap();
        assert!(matches!(lock(used.path()), Ok(None)));
        assert!(matches!(lock(&place.path().join("gone")), Ok(None)));
        let file = place.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(lock(&file).is_err());
    }
}
