//! Confines a process that exists for one run of foreign congestion control algorithms.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rustix::process::{DumpableBehavior, Pid, Signal};

use crate::sandbox::confinement::Confinement;
use crate::sandbox::files::Files;
use crate::sandbox::is_off;
use crate::sandbox::limits::Limits;
use crate::sandbox::pieces::{Piece, missing_pieces};
use crate::sandbox::system_calls::{self, Filter, Forbidden};

/// What [`seal`] will apply; prepared before system calls are forbidden.
static SEAL: Mutex<Option<Filter>> = Mutex::new(None);

/// How to confine a process.
#[derive(Clone, Debug, Default)]
pub struct Confine {
    /// What it can read, besides the system's libraries; a directory with all below it.
    pub read: Vec<PathBuf>,
    /// What it can write.
    pub write: Vec<PathBuf>,
    /// Whether a forbidden system call raises SIGSYS; else it fails with EPERM.
    pub trap: bool,
    /// The process that forked this one: if it is no longer there, this process ends at once.
    pub parent: Option<u32>,
}

/// Confines this process, which must have one thread, to running congestion control algorithms, and returns
/// what the kernel lacks for that. It dies with the thread that forked it. Does nothing if the user
/// has turned confinement off.
pub fn confine(how: Confine) -> io::Result<Vec<Piece>> {
    if is_off() {
        return Ok(Vec::new());
    }
    // Asked for once, by a call that is forbidden later.
    rustix::param::page_size();
    let missing = missing_pieces();
    let forbidden = if how.trap {
        Forbidden::Traps
    } else {
        Forbidden::Fails
    };
    let files = Files::libraries().and_read(how.read).and_write(how.write);
    let confinement = Confinement {
        is_off: false,
        limits: Limits::of_a_run(),
        files: files.rules()?,
        system_calls: system_calls::of_a_run(std::process::id(), forbidden),
    };
    // One that leads a group already cannot have a session of its own; it has a group.
    let _ = rustix::process::setsid();
    die_with_parent(how.parent)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    *SEAL.lock().unwrap_or_else(PoisonError::into_inner) = system_calls::once_loaded(forbidden);
    confinement.apply()?;
    Ok(missing)
}

/// Makes this process end when the thread ends that forked it; at once if its parent is not
/// `parent`.
pub fn die_with_parent(parent: Option<u32>) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    let now = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    // It may have died before.
    if parent.is_some_and(|parent| i64::from(parent) != i64::from(now)) {
        std::process::exit(1);
    }
    Ok(())
}

/// Confines this process further, once all congestion control algorithms of its run are loaded; does nothing
/// unless [`confine`] was called.
pub fn seal() -> io::Result<()> {
    let seal = SEAL.lock().unwrap_or_else(PoisonError::into_inner).take();
    seal.map_or(Ok(()), |filter| filter.apply_to_all_threads())
}
