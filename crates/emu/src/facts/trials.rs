//! Tries what the kernel engine needs, without leaving anything behind.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::UnshareFlags;

/// Runs `trial` in a thread that ends with it, as it changes the thread.
fn apart<T: Send>(trial: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        scope
            .spawn(trial)
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the trial panicked")))
    })
}

fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: none of the flags in this file makes the thread stop sharing memory or files.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Makes a network namespace.
pub(super) fn network_namespace() -> io::Result<()> {
    apart(|| unshare(UnshareFlags::NEWNET))
}

/// Makes a user namespace with a network namespace in it, as this user or another.
pub(super) fn user_namespace(user: Option<u32>) -> io::Result<()> {
    // A process of its own: one of several threads may not leave its user namespace.
    let mut child = Command::new("true");
    child.stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(user) = user {
        child.uid(user).gid(user);
    }
    // SAFETY: unshare(2) is a bare system call, as must be what runs between fork and exec.
    unsafe { child.pre_exec(|| unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)) };
    child.status().map(|_| ())
}

/// Makes a TUN device in a network namespace of its own; without the right to one, only opens the
/// clone device.
pub(super) fn tun_device() -> io::Result<()> {
    apart(|| {
        let namespace = unshare(UnshareFlags::NEWNET);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/net/tun")?;
        if namespace.is_err() {
            return Ok(());
        }
        // SAFETY: zero is a value of every field of `ifreq`.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (to, &from) in request.ifr_name.iter_mut().zip(b"dumbbell") {
            *to = from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes an `ifreq`, which `request` is.
        let result = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    })
}

/// Takes the lowest real-time priority.
pub(super) fn realtime_priority() -> io::Result<()> {
    apart(set_realtime)
}

fn set_realtime() -> io::Result<()> {
    let parameters = libc::sched_param { sched_priority: 1 };
    // SAFETY: the parameters are read during the call only.
    let result = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const parameters) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// How much later than requested sleeps end.
pub(super) struct Oversleep {
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
}

/// Measures sleeps of a thread with the highest priority it can get, and no timer slack.
pub(super) fn oversleep() -> Oversleep {
    const SLEEPS: usize = 200;
    const SLEEP: Duration = Duration::from_micros(500);
    let measured = apart(|| {
        // Where it is not permitted, the kernel engine has to work without it, too.
        let _ = set_realtime();
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut late_us: Vec<f64> = (0..SLEEPS)
            .map(|_| {
                let start = Instant::now();
                thread::sleep(SLEEP);
                start.elapsed().saturating_sub(SLEEP).as_secs_f64() * 1e6
            })
            .collect();
        late_us.sort_by(f64::total_cmp);
        Ok(late_us)
    });
    let late_us = measured.unwrap_or_default();
    let quantile = |share: usize| late_us.get(SLEEPS * share / 100).copied();
    Oversleep {
        p50_us: quantile(50).unwrap_or(f64::NAN),
        p99_us: quantile(99).unwrap_or(f64::NAN),
    }
}
