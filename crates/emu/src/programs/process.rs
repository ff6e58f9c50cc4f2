//! A program that several threads may look at.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::child::{Child, Exit};
use crate::error::Error;

/// Longest wait for a report, which another thread may take.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A program in a host; clones are the same one. It ends with its emulation at the latest.
#[derive(Clone, Debug)]
pub struct Process {
    child: Arc<Mutex<Child>>,
    /// To wait for without the lock.
    reports: Arc<OwnedFd>,
}

impl Process {
    pub(super) fn new(child: Child) -> Result<Self, Error> {
        let reports = child.reports().map_err(|source| Error::System {
            what: "cannot watch a program".to_owned(),
            source,
        })?;
        Ok(Self {
            child: Arc::new(Mutex::new(child)),
            reports: Arc::new(reports),
        })
    }

    /// Number of its process, as this process numbers them.
    pub fn id(&self) -> i32 {
        self.lock().process()
    }

    /// How it ended; `None` while it runs.
    ///
    /// # Errors
    ///
    /// It cannot be learned.
    pub fn poll(&self) -> Result<Option<Exit>, Error> {
        let mut child = self.lock();
        child.look()?;
        Ok(child.exit())
    }

    /// Waits until it has ended, or for so long.
    ///
    /// # Errors
    ///
    /// It cannot be learned.
    pub fn wait(&self, longest: Option<Duration>) -> Result<Option<Exit>, Error> {
        let until = longest.map(|longest| Instant::now() + longest);
        loop {
            let exit = self.poll()?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if exit.is_some() || left == Some(Duration::ZERO) {
                return Ok(exit);
            }
            wait_for_reports(&[self], left.unwrap_or(LOOK_EVERY).min(LOOK_EVERY));
        }
    }

    /// Sends it a signal, unless it has ended.
    pub fn signal(&self, signal: i32) {
        self.lock().signal(signal);
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until any of some processes reports something, or for so long.
pub(super) fn wait_for_reports(processes: &[&Process], longest: Duration) {
    let mut watched: Vec<PollFd<'_>> = (processes.iter())
        .filter(|process| !process.lock().is_gone())
        .map(|process| PollFd::new(&*process.reports, PollFlags::IN))
        .collect();
    let timeout = Timespec {
        tv_sec: longest.as_secs() as i64,
        tv_nsec: i64::from(longest.subsec_nanos()),
    };
    // A wait that fails is a short one.
    let _ = poll(&mut watched, Some(&timeout));
}
