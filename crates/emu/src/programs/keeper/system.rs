//! System calls that a child of a process with several threads may make.

use std::os::fd::RawFd;
use std::ptr;

use libc::c_int;

/// A new process, in new namespaces of `flags` (`CLONE_NEW*`): 0 in it, its number in the caller, and negative if there is
/// none. Not `fork()`, whose handlers of other libraries take locks.
pub(in super::super) fn fork(flags: c_int) -> c_int {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    let none: libc::c_long = 0;
    // SAFETY: without CLONE_VM and with no stack this is a fork: the child has a copy of everything.
    unsafe { libc::syscall(libc::SYS_clone, flags, none, none, none, none) as c_int }
}

/// The error of the last system call.
pub(super) fn errno() -> c_int {
    // SAFETY: the location is this thread's own and always valid.
    unsafe { *libc::__errno_location() }
}

/// The value that a system call returned, or its error.
pub(super) fn checked(result: c_int) -> Result<c_int, c_int> {
    if result < 0 { Err(errno()) } else { Ok(result) }
}

/// Ends this process without running anything of the one that it was forked from.
pub(super) fn exit(code: c_int) -> ! {
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Closes a descriptor.
pub(super) fn close(descriptor: RawFd) {
    // SAFETY: only a number; no object of this process owns it.
    unsafe { libc::close(descriptor) };
}

/// Blocks every signal: what is sent to the whole terminal is the program's and the engine's.
pub(super) fn block_signals() {
    // SAFETY: all-zero bytes are a signal set, which is filled and read.
    unsafe {
        let mut every: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut every);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const every, ptr::null_mut());
    }
}

/// Gives every signal its default effect and lets it come: a program inherits what is ignored or blocked.
pub(super) fn reset_signals() {
    // SAFETY: all-zero bytes are the default action without flags, and an empty signal set. Signals that cannot be set
    // are refused.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        for signal in 1..=libc::SIGRTMAX() {
            libc::sigaction(signal, &raw const default, ptr::null_mut());
        }
        let none: libc::sigset_t = std::mem::zeroed();
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// A descriptor that is readable when a child has ended.
pub(super) fn child_signals() -> RawFd {
    // SAFETY: all-zero bytes are a signal set, which gets one member and is read.
    unsafe {
        let mut child: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&raw mut child, libc::SIGCHLD);
        libc::signalfd(-1, &raw const child, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// Takes what a descriptor of [`child_signals`] has.
pub(super) fn drain(signals: RawFd) {
    let mut bytes = [0_u8; 1024];
    // SAFETY: the buffer has the length given.
    while unsafe { libc::read(signals, bytes.as_mut_ptr().cast(), bytes.len()) } > 0 {}
}

/// Waits until one of two descriptors is readable or closed at the other end: whether each is.
pub(super) fn wait_for(descriptors: [RawFd; 2]) -> [bool; 2] {
    let mut watched = descriptors.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: the array has two elements.
    unsafe { libc::poll(watched.as_mut_ptr(), 2, -1) };
    watched.map(|it| it.revents != 0)
}

/// Keeps only `kept` of the descriptors that this process got with its memory, as number 3; the standard ones lead nowhere.
pub(super) fn keep_only(kept: RawFd) -> RawFd {
    const KEPT: RawFd = 3;
    // SAFETY: only numbers, and a string that ends in a null. The descriptors belong to objects of the process that this
    // one was forked from, of which it uses none.
    unsafe {
        if kept != KEPT {
            libc::dup2(kept, KEPT);
        }
        libc::fcntl(KEPT, libc::F_SETFD, libc::FD_CLOEXEC);
        let after = (KEPT + 1) as libc::c_uint;
        if libc::syscall(libc::SYS_close_range, after, libc::c_uint::MAX, 0) < 0 {
            // Before Linux 5.9.
            let most = libc::sysconf(libc::_SC_OPEN_MAX).clamp(0, 1 << 20) as RawFd;
            for descriptor in KEPT + 1..most {
                libc::close(descriptor);
            }
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        for standard in 0..3 {
            libc::dup2(null, standard);
        }
        if null > KEPT {
            libc::close(null);
        }
    }
    KEPT
}

/// The monotonic clock.
pub(super) fn now_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists and `now` is written.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}

/// Sends a message; there may be no receiver any more.
pub(super) fn send(socket: RawFd, message: &[u8]) {
    // SAFETY: the buffer has the length given.
    unsafe {
        libc::send(
            socket,
            message.as_ptr().cast(),
            message.len(),
            libc::MSG_NOSIGNAL,
        )
    };
}
