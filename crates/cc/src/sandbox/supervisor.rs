//! A small process between a confined command and the process that wants its output.
//!
//! It is forked and runs only what a child of a process with several threads may: system calls,
//! without an allocation. It starts the command in a session of its own, and kills that whole
//! session when the command has ended, when its time or memory is used up, and when the requester
//! says so or dies.

use std::ffi::CString;
use std::fmt::Write as _;
use std::io;
use std::mem;
use std::os::fd::RawFd;
use std::ptr;

use crate::sandbox::confinement::Confinement;

/// How often to look whether the requester lives, and how much memory is used, ms.
const TICK_MS: i32 = 50;
/// How long processes that were killed may take to end, ms.
const REAP_MS: i64 = 2000;

/// Why a command was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Stop {
    /// It was not: it ended by itself.
    None = 0,
    Time = 1,
    Memory = 2,
    /// The requester no longer wants it.
    Unwanted = 3,
}

/// Sent to the supervisor to end the command; the end of the stream means that the requester died.
pub(crate) const UNWANTED: u8 = b'u';
/// Bytes of the supervisor's report: the command's status as `wait` gives it, and a [`Stop`].
pub(crate) const REPORT_BYTES: usize = 8;

/// Everything that the supervisor needs, prepared before the fork.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) confinement: Confinement,
    pub(crate) time_ms: i64,
    /// Bound on the memory that the command itself has in use.
    pub(crate) resident_bytes: Option<u64>,
    /// The supervisor's end of a socket pair.
    pub(crate) socket: RawFd,
    /// The process that wants the output.
    pub(crate) requester: i32,
    /// `rm -rf` of the scratch directory, should the requester die.
    pub(crate) cleanup: Option<[CString; 4]>,
}

/// Forks: returns in the new process, confined, and does not return in the calling one, which
/// becomes the supervisor.
pub(crate) fn fork_confined(plan: &Plan) -> io::Result<()> {
    let before = block_signals()?;
    // SAFETY: system calls without pointers; this process was just forked and has one thread.
    let (own, child) = unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        (libc::getpid(), libc::fork())
    };
    match child {
        0 => {
            begin(own)?;
            unblock_signals(&before)?;
            plan.confinement.apply()
        }
        1.. => supervise(plan, child),
        _ => Err(io::Error::last_os_error()),
    }
}

/// What the command's process does first.
fn begin(supervisor: i32) -> io::Result<()> {
    // SAFETY: system calls without pointers.
    unsafe {
        if libc::setsid() < 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) < 0 {
            return Err(io::Error::last_os_error());
        }
        if libc::getppid() != supervisor {
            libc::_exit(1);
        }
        // Descriptors that another library left open; older kernels cannot do it at once.
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
    prefer_for_oom();
    Ok(())
}

/// If memory runs out, the kernel is to end this process rather than others; else it chooses by
/// size.
fn prefer_for_oom() {
    // SAFETY: the strings are constants that end in a null or have the length given.
    unsafe {
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY);
        if file >= 0 {
            libc::write(file, c"1000".as_ptr().cast(), 4);
            libc::close(file);
        }
    }
}

fn block_signals() -> io::Result<libc::sigset_t> {
    // SAFETY: all-zero bytes are a signal set, which the calls fill; both are local.
    unsafe {
        let (mut every, mut before): (libc::sigset_t, libc::sigset_t) =
            (mem::zeroed(), mem::zeroed());
        libc::sigfillset(&raw mut every);
        if libc::sigprocmask(libc::SIG_SETMASK, &raw const every, &raw mut before) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(before)
    }
}

fn unblock_signals(before: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: a valid signal set; the old one is not asked for.
    match unsafe { libc::sigprocmask(libc::SIG_SETMASK, before, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Watches the command until it has ended or must end; reports, and ends this process.
fn supervise(plan: &Plan, child: i32) -> ! {
    close_all_but(plan.socket);
    // SAFETY: a system call without pointers. Without it the command's end is noticed a tick late.
    let end = unsafe { libc::syscall(libc::SYS_pidfd_open, child, 0) } as RawFd;
    let deadline_ms = now_ms() + plan.time_ms;
    let mut requester_lives = true;
    let stop = loop {
        let event = wait_for_event(plan.socket, end, deadline_ms);
        if has_ended(child) {
            break Stop::None;
        }
        // SAFETY: a system call without pointers.
        let parent = unsafe { libc::getppid() };
        if event == Event::Gone || parent != plan.requester {
            requester_lives = false;
            break Stop::Unwanted;
        }
        if event == Event::Unwanted {
            break Stop::Unwanted;
        }
        if now_ms() >= deadline_ms {
            break Stop::Time;
        }
        if plan
            .resident_bytes
            .is_some_and(|most| resident_bytes(child) > most)
        {
            break Stop::Memory;
        }
    };
    let status = end_all(child);
    report(plan.socket, status, stop);
    if let (false, Some(cleanup)) = (requester_lives, &plan.cleanup) {
        clean_up(cleanup);
    }
    // SAFETY: ends this process without running anything of the one that it was forked from.
    unsafe { libc::_exit(0) }
}

fn close_all_but(kept: RawFd) {
    // SAFETY: only numbers. The descriptors belong to objects of the process that this one was
    // forked from, of which it uses none.
    unsafe {
        let kept = kept as libc::c_uint;
        let below = kept == 0 || libc::syscall(libc::SYS_close_range, 0, kept - 1, 0) == 0;
        let above = libc::syscall(libc::SYS_close_range, kept + 1, libc::c_uint::MAX, 0) == 0;
        if !(below && above) {
            // Before Linux 5.9.
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(0, 65536) as RawFd;
            for descriptor in (0..most).filter(|&other| other != kept as RawFd) {
                libc::close(descriptor);
            }
        }
    }
}

fn now_ms() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec * 1000 + i64::from(now.tv_nsec as i32 / 1_000_000)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    None,
    Unwanted,
    /// The requester has closed its end.
    Gone,
}

/// Waits for the command's end, the requester, or the next tick.
fn wait_for_event(socket: RawFd, end: RawFd, deadline_ms: i64) -> Event {
    let left_ms = deadline_ms - now_ms();
    let mut watched = [socket, end].map(|fd| libc::pollfd {
        fd, // ignored if negative
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: the array has two elements; the buffer has one byte.
    unsafe {
        let timeout_ms = i64::from(TICK_MS).min(left_ms.max(0)) as i32;
        libc::poll(watched.as_mut_ptr(), 2, timeout_ms);
        if watched[0].revents == 0 {
            return Event::None;
        }
        let mut word = 0_u8;
        match libc::read(socket, (&raw mut word).cast(), 1) {
            1 if word == UNWANTED => Event::Unwanted,
            _ => Event::Gone,
        }
    }
}

/// Whether the command has ended; it stays a zombie, so that its number names no other process.
fn has_ended(child: i32) -> bool {
    // SAFETY: all-zero bytes are a siginfo, which the kernel fills.
    unsafe {
        let mut info: libc::siginfo_t = mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let result = libc::waitid(libc::P_PID, child as libc::id_t, &raw mut info, options);
        result < 0 || info.si_pid() == child
    }
}

/// The memory that a process has in use.
fn resident_bytes(process: i32) -> u64 {
    let mut path = Text::<32>::default();
    let mut line = [0_u8; 64];
    let written = write!(path, "/proc/{process}/statm\0");
    // SAFETY: the path ends in a null; the buffer has the length given.
    let length = unsafe {
        let file = libc::open(path.bytes.as_ptr().cast(), libc::O_RDONLY);
        if written.is_err() || file < 0 {
            return 0;
        }
        let length = libc::read(file, line.as_mut_ptr().cast(), line.len());
        libc::close(file);
        length
    };
    let line = line
        .get(..usize::try_from(length).unwrap_or(0))
        .unwrap_or_default();
    let mut words = line.split(|&byte| byte == b' ').skip(1);
    let digits = words.next().unwrap_or_default().iter();
    let pages = digits.fold(0_u64, |pages, digit| 10 * pages + u64::from(digit & 0xf));
    // SAFETY: a number in, a number out.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64
}

/// Kills the command and all that it started; returns its status.
fn end_all(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: system calls that write only `status`.
    unsafe {
        libc::kill(-child, libc::SIGKILL);
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, &raw mut status, 0);
        // All that it started are now children of this process, and are ending.
        let until_ms = now_ms() + REAP_MS;
        loop {
            match libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG) {
                1.. => {}
                0 if now_ms() < until_ms => {
                    libc::poll(ptr::null_mut(), 0, 1);
                }
                _ => return status,
            }
        }
    }
}

fn report(socket: RawFd, status: i32, stop: Stop) {
    let mut bytes = [0_u8; REPORT_BYTES];
    bytes[..4].copy_from_slice(&status.to_ne_bytes());
    bytes[4..].copy_from_slice(&(stop as i32).to_ne_bytes());
    // SAFETY: the buffer has the length given. There may be no reader.
    unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
}

/// Becomes the command that removes the scratch directory.
fn clean_up(command: &[CString; 4]) {
    let arguments = [
        command[0].as_ptr(),
        command[1].as_ptr(),
        command[2].as_ptr(),
        command[3].as_ptr(),
        ptr::null(),
    ];
    // SAFETY: strings that end in a null, in an array that ends in a null pointer.
    unsafe {
        // It wants to have the standard descriptors.
        while (0..3).contains(&libc::open(c"/dev/null".as_ptr(), libc::O_RDWR)) {}
        libc::execvp(command[0].as_ptr(), arguments.as_ptr());
    }
}

/// Text without an allocation.
struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self {
            bytes: [0; N],
            length: 0,
        }
    }
}

impl<const N: usize> std::fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = self.length + text.len();
        let room = self.bytes.get_mut(self.length..end);
        room.ok_or(std::fmt::Error)?
            .copy_from_slice(text.as_bytes());
        self.length = end;
        Ok(())
    }
}
