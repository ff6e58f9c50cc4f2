//! The directory of a run in a guest, and what is read and written there while it runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::guest::files;

/// What the kernel prints, in the directory of the run.
pub(super) const LOG: &str = "log";

/// What the guest's kernel said last, of which an error shows this number of lines.
const LAST_LINES: usize = 4;

/// A directory that goes with this.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("dumbbell-guest-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                // Of a process with this number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left of it is the temporary directory's.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a file that another process finds whole or not at all.
pub(super) fn write_whole(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    let new = directory.join(format!("{name}.new"));
    fs::write(&new, text)?;
    fs::rename(new, directory.join(name))
}

/// How far the run has come, ns.
pub(super) fn progress_ns(directory: &Path) -> Option<u64> {
    let bytes = fs::read(directory.join(files::PROGRESS)).ok()?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// What the kernel said last, for the end of a message.
pub(super) fn last_lines(directory: &Path) -> String {
    let log = fs::read(directory.join(LOG)).unwrap_or_default();
    let log = String::from_utf8_lossy(&log);
    let lines: Vec<&str> = log
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let panic = lines.iter().position(|line| line.contains("Kernel panic"));
    let first = panic.unwrap_or(lines.len().saturating_sub(LAST_LINES));
    let last: Vec<&str> = lines.into_iter().skip(first).take(LAST_LINES).collect();
    match last.is_empty() {
        true => String::new(),
        false => format!(": {}", last.join(" / ")),
    }
}
