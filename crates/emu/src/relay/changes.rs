//! Changes of the path on their way to the threads that run its parts.
//!
//! `Change` (`crates/scenario`) names links and groups. `ChangingPath` turns it into changes of elements
//! (`NetworkChange`, `crates/net`), or refuses it. Every thread receives them with the time at which they were
//! requested. A thread looks at a flag each time it goes round, processes all events that were due before, and makes
//! the change at that time, in its copy of the whole network. `Scenario::with_changes` is the scenario with those
//! changes as planned steps, for what is computed after the run.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dumbbell_net::NetworkChange;
use dumbbell_scenario::{Change, ChangingPath, Scenario};
use rustix::event::{EventfdFlags, eventfd};

use crate::error::Error;
use crate::machine::clock::monotonic_ns;

/// A change, and when it was asked for, on the clock.
#[derive(Clone, Debug)]
pub(crate) struct Timed {
    pub(crate) at_ns: u64,
    pub(crate) change: NetworkChange,
    made_ns: Arc<AtomicU64>,
}

impl Timed {
    /// A thread made it then: later than it was asked for, if it had already come further.
    pub(crate) fn was_made(&self, at_ns: u64) {
        self.made_ns.fetch_max(at_ns, Ordering::Relaxed);
    }
}

/// Changes for one thread, which looks at a flag as often as it goes round.
#[derive(Debug)]
pub(crate) struct Inbox {
    is_filled: AtomicBool,
    changes: Mutex<Vec<Timed>>,
    /// Wakes the thread.
    waker: OwnedFd,
}

impl Inbox {
    pub(crate) fn new() -> io::Result<Arc<Self>> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Arc::new(Self {
            is_filled: AtomicBool::new(false),
            changes: Mutex::default(),
            waker: eventfd(0, flags)?,
        }))
    }

    fn put(&self, changes: &[Timed]) {
        lock(&self.changes).extend_from_slice(changes);
        // Before the flag, at which the thread empties the counter. A full one wakes as well.
        let _ = rustix::io::write(&self.waker, &1_u64.to_ne_bytes());
        self.is_filled.store(true, Ordering::Release);
    }

    /// What has come, in order; usually nothing.
    #[inline]
    pub(crate) fn take(&self) -> Vec<Timed> {
        if !self.is_filled.load(Ordering::Relaxed) {
            return Vec::new();
        }
        self.empty()
    }

    #[cold]
    fn empty(&self) -> Vec<Timed> {
        self.is_filled.swap(false, Ordering::Acquire);
        let _ = rustix::io::read(&self.waker, &mut [0; 8]);
        std::mem::take(&mut lock(&self.changes))
    }
}

/// Can be read while something has come.
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.waker.as_fd()
    }
}

/// What was changed, and how the path is now.
#[derive(Debug)]
struct Made {
    path: ChangingPath,
    /// When each took effect, on the clock.
    changes: Vec<(Arc<AtomicU64>, Change)>,
}

/// Changes of a running path.
#[derive(Debug)]
pub(crate) struct Changes {
    epoch_ns: u64,
    inboxes: Vec<Arc<Inbox>>,
    made: Mutex<Made>,
}

impl Changes {
    /// Changes for a run of `scenario` that starts at `epoch_ns`, and for this many threads.
    pub(crate) fn new(scenario: &Scenario, epoch_ns: u64, threads: usize) -> Result<Self, Error> {
        let inboxes: io::Result<_> = (0..threads).map(|_| Inbox::new()).collect();
        Ok(Self {
            epoch_ns,
            inboxes: inboxes.map_err(|source| Error::System {
                what: "cannot make an eventfd".to_owned(),
                source,
            })?,
            made: Mutex::new(Made {
                path: ChangingPath::new(scenario),
                changes: Vec::new(),
            }),
        })
    }

    /// The inbox of a thread.
    pub(crate) fn inbox(&self, thread: usize) -> Arc<Inbox> {
        Arc::clone(&self.inboxes[thread])
    }

    /// Makes a change now. Every thread makes it: those that do not run the element have it idle.
    pub(crate) fn make(&self, change: &Change) -> Result<(), Error> {
        let mut made = lock(&self.made);
        let elements = made.path.change(change);
        let elements = elements.map_err(|refusal| Error::Refused(refusal.to_string()))?;
        let at_ns = monotonic_ns();
        let made_ns = Arc::new(AtomicU64::new(at_ns));
        let timed = elements.into_iter().map(|change| Timed {
            at_ns,
            change,
            made_ns: Arc::clone(&made_ns),
        });
        let timed: Vec<Timed> = timed.collect();
        for inbox in &self.inboxes {
            inbox.put(&timed);
        }
        made.changes.push((made_ns, change.clone()));
        Ok(())
    }

    /// What was changed, and when, ns from the start of the run.
    pub(crate) fn made(&self) -> Vec<(u64, Change)> {
        let made = lock(&self.made);
        let changes = made.changes.iter().map(|(made_ns, change)| {
            let since_epoch_ns = made_ns
                .load(Ordering::Relaxed)
                .saturating_sub(self.epoch_ns);
            (since_epoch_ns, change.clone())
        });
        changes.collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
