//! Keeps idle CPUs from sleeping, so that a thread that waits on one wakes at once.
//!
//! An idle CPU first has to leave its sleep state, and a virtual one has to be entered by its hypervisor, which took 30 to
//! 60 µs each time where this was written: on an idle path every packet is later by that. Programs that measure latency
//! ask the kernel to let CPUs poll instead (`/dev/cpu_dma_latency`, Linux's `power/pm_qos_interface.rst`). In a virtual
//! machine without a cpuidle driver that has no effect; there a thread spins on each CPU, under a scheduling policy that
//! gives way to everything else.

use std::fs::{self, File, OpenOptions};
use std::hint::spin_loop;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::error::Error;
use crate::machine::cpu::thread_cpu_ns;

/// CPU time that spinning threads of this process have taken, ns.
static SPUN_NS: AtomicU64 = AtomicU64::new(0);

/// How long a thread spins before it says so and looks whether it should end, ns.
const SPELL_NS: u64 = 1_000_000;

/// CPUs that do not sleep as long as this exists.
#[derive(Debug)]
pub struct KeptAwake {
    is_over: Arc<AtomicBool>,
    /// The kernel's request, which ends when the file is closed.
    _request: Option<File>,
}

impl KeptAwake {
    /// Keeps the CPUs awake on which this process may run.
    ///
    /// # Errors
    ///
    /// The kernel refuses to let this user ask, or a thread cannot be started.
    pub fn start() -> Result<Self, Error> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut kept = Self {
            is_over: Arc::clone(&is_over),
            _request: None,
        };
        if has_idle_driver() {
            kept._request = Some(request_no_latency()?);
            return Ok(kept);
        }
        for cpu in own_cpus()? {
            let is_over = Arc::clone(&is_over);
            thread::Builder::new()
                .name(format!("awake {cpu}"))
                .spawn(move || spin(cpu, &is_over))
                .map_err(|source| Error::System {
                    what: "cannot start a thread that keeps a CPU awake".to_owned(),
                    source,
                })?;
        }
        Ok(kept)
    }
}

impl Drop for KeptAwake {
    fn drop(&mut self) {
        // The threads are not joined: on a busy CPU they may not run for a while.
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// CPU time that was spent to keep CPUs awake, ns: time in which they were idle.
pub(crate) fn spun_ns() -> u64 {
    SPUN_NS.load(Ordering::Relaxed)
}

/// Whether this kernel chooses how idle CPUs sleep.
fn has_idle_driver() -> bool {
    const DRIVER: &str = "/sys/devices/system/cpu/cpuidle/current_driver";
    fs::read_to_string(DRIVER).is_ok_and(|name| !matches!(name.trim(), "" | "none"))
}

/// Asks for CPUs that wake within 0 µs.
fn request_no_latency() -> Result<File, Error> {
    const REQUESTS: &str = "/dev/cpu_dma_latency";
    let ask = || {
        let mut file = OpenOptions::new().write(true).open(REQUESTS)?;
        file.write_all(&0_i32.to_ne_bytes())?;
        Ok(file)
    };
    ask().map_err(|source| Error::System {
        what: format!("cannot keep the CPUs awake by {REQUESTS}"),
        source,
    })
}

/// The CPUs on which this process may run.
fn own_cpus() -> Result<Vec<usize>, Error> {
    let allowed = rustix::thread::sched_getaffinity(None).map_err(|error| Error::System {
        what: "cannot read on which CPUs this process may run".to_owned(),
        source: error.into(),
    })?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|&cpu| allowed.is_set(cpu))
        .collect())
}

/// Spins on a CPU when nothing else wants it.
fn spin(cpu: usize, is_over: &AtomicBool) {
    let mut only = rustix::thread::CpuSet::new();
    only.set(cpu);
    // A CPU that has gone leaves the thread on another, which does no harm.
    let _ = rustix::thread::sched_setaffinity(None, &only);
    // SAFETY: `sched_param` is plain data, for which all zeroes is a valid value, the one that this policy wants.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: 0 is the calling thread; the parameters outlive the call.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) } != 0 {
        return; // it would take time from the programs
    }
    let mut counted_ns = thread_cpu_ns();
    while !is_over.load(Ordering::Relaxed) {
        let mut now_ns = counted_ns;
        while now_ns < counted_ns + SPELL_NS {
            for _ in 0..100 {
                spin_loop();
            }
            now_ns = thread_cpu_ns();
        }
        SPUN_NS.fetch_add(now_ns - counted_ns, Ordering::Relaxed);
        counted_ns = now_ns;
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn threads_spin_as_long_as_it_exists() {
        if has_idle_driver() {
            return; // the kernel does it, without threads
        }
        let kept = KeptAwake::start().expect("threads");
        let began = Instant::now();
        while spun_ns() == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing spins");
            thread::sleep(Duration::from_millis(1));
        }
        drop(kept);
        // On a busy CPU a thread takes a while until it sees that it is over.
        let still_spins = || {
            let spun = spun_ns();
            thread::sleep(Duration::from_millis(200));
            spun_ns() > spun
        };
        while still_spins() {
            assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
        }
    }
}
