//! Waits for sockets, a point in time and a waker in another thread, all at once.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;
use std::sync::Arc;

use crate::error::Error;
use crate::machine::system_call::checked;

/// Number of events taken from the kernel at a time.
const BATCH: usize = 256;

/// Tokens of the timer and the waker; sockets use smaller ones.
const TIMER: u64 = u64::MAX;
const WAKER: u64 = u64::MAX - 1;

/// An epoll instance with a timer and a waker in it.
pub(crate) struct Readiness {
    epoll: OwnedFd,
    timer: OwnedFd,
    waker: Arc<Waker>,
    events: Vec<libc::epoll_event>,
}

/// Wakes the waiting thread, from any thread; later waits end at once, too.
#[derive(Debug)]
pub(crate) struct Waker(OwnedFd);

/// A socket that is ready.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) token: u64,
    /// The `EPOLL*` bits that are set.
    pub(crate) events: u32,
}

impl Readiness {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointers are passed.
        let epoll = owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: no pointers are passed.
        let timer = owned(unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) })?;
        let flags = libc::EFD_NONBLOCK | libc::EFD_CLOEXEC;
        // SAFETY: no pointers are passed.
        let waker = owned(unsafe { libc::eventfd(0, flags) })?;
        let readiness = Self {
            epoll,
            timer,
            waker: Arc::new(Waker(waker)),
            events: vec![libc::epoll_event { events: 0, u64: 0 }; BATCH],
        };
        // Edge-triggered: an expired timer is not read, only set again.
        let edge = (libc::EPOLLIN | libc::EPOLLET) as u32;
        readiness.add(&readiness.timer, edge, TIMER)?;
        readiness.add(&readiness.waker.0, libc::EPOLLIN as u32, WAKER)?;
        Ok(readiness)
    }

    /// Ends waiting early.
    pub(crate) fn waker(&self) -> Arc<Waker> {
        Arc::clone(&self.waker)
    }

    /// Also waits for `events` (`EPOLL*` bits) of a socket.
    pub(crate) fn add(&self, socket: &OwnedFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, socket, events, token)
    }

    /// Waits for other events of a socket from now on.
    pub(crate) fn modify(&self, socket: &OwnedFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, socket, events, token)
    }

    fn control(&self, operation: i32, socket: &OwnedFd, events: u32, token: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64: token };
        // SAFETY: `event` is read during the call only.
        checked(unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                operation,
                socket.as_raw_fd(),
                &raw mut event,
            )
        })?;
        Ok(())
    }

    /// No longer waits for the socket.
    pub(crate) fn remove(&self, socket: &OwnedFd) -> io::Result<()> {
        // SAFETY: the kernel ignores the event when it deletes.
        checked(unsafe {
            libc::epoll_ctl(
                self.epoll.as_raw_fd(),
                libc::EPOLL_CTL_DEL,
                socket.as_raw_fd(),
                ptr::null_mut(),
            )
        })?;
        Ok(())
    }

    /// Wakes up at this time of the monotonic clock; `u64::MAX`: never.
    pub(crate) fn wake_at(&self, due_ns: u64) -> io::Result<()> {
        // A time of zero would disarm; one that has passed fires at once.
        let due_ns = if due_ns == u64::MAX { 0 } else { due_ns.max(1) };
        let timer = libc::itimerspec {
            it_interval: timespec(0),
            it_value: timespec(due_ns),
        };
        // SAFETY: `timer` is read during the call only.
        checked(unsafe {
            libc::timerfd_settime(
                self.timer.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &raw const timer,
                ptr::null_mut(),
            )
        })?;
        Ok(())
    }

    /// Waits until something is ready (or not at all); appends the sockets that are ready. The
    /// timer and the waker only end the wait.
    pub(crate) fn wait(&mut self, may_sleep: bool, ready: &mut Vec<Ready>) -> io::Result<()> {
        // SAFETY: `events` has room for BATCH events.
        let count = checked(unsafe {
            libc::epoll_wait(
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                BATCH as i32,
                if may_sleep { -1 } else { 0 },
            )
        });
        let count = match count {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => other? as usize,
        };
        let events = self.events[..count].iter().map(|event| Ready {
            token: event.u64,
            events: event.events,
        });
        ready.extend(events.filter(|event| !matches!(event.token, TIMER | WAKER)));
        Ok(())
    }
}

impl Waker {
    pub(crate) fn wake(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes are read from `one`. A full counter wakes as well.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }
}

impl Error {
    pub(crate) fn waiting(source: io::Error) -> Self {
        Self::System {
            what: "waiting for the flows' sockets failed".to_owned(),
            source,
        }
    }
}

/// Sleeps until this time of the monotonic clock, or a signal.
pub(crate) fn sleep_until(due_ns: u64) {
    let due = timespec(due_ns);
    // SAFETY: `due` is read during the call; no remainder is asked for.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const due,
            ptr::null_mut(),
        )
    };
}

fn timespec(time_ns: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (time_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (time_ns % 1_000_000_000) as libc::c_long,
    }
}

fn owned(fd: i32) -> io::Result<OwnedFd> {
    let fd = checked(fd)?;
    // SAFETY: the kernel just returned it, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
