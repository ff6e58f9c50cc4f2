//! The process that starts programs: small and without threads, so that starting one does not hold up the relay.

use std::mem;
use std::os::fd::RawFd;
use std::ptr;

use super::super::launch::{DESCRIPTORS, Launched};
use super::super::messages::{Event, Step};
use super::init;
use super::system::{
    block_signals, child_signals, close, drain, errno, exit, fork, keep_only, send, wait_for,
};

/// Programs at a time.
const MOST_PROGRAMS: usize = 1024;

/// A program that has not ended, and where its end is reported.
#[derive(Clone, Copy)]
struct Program {
    /// Its init; 0: none.
    process: i32,
    reports: RawFd,
}

const NONE: Program = Program {
    process: 0,
    reports: -1,
};

/// Starts what is requested over `socket`, until the engine's end of that closes.
pub(in super::super) fn serve(socket: RawFd) -> ! {
    block_signals();
    let socket = keep_only(socket);
    let ends = child_signals();
    let mut programs = [NONE; MOST_PROGRAMS];
    loop {
        let [asked, ended] = wait_for([socket, ends]);
        if ended {
            drain(ends);
            reap(&mut programs);
        }
        if asked {
            match receive(socket) {
                Received::Launch(launched) => start(launched, &mut programs),
                Received::Nothing => {}
                Received::Closed => end(&programs),
            }
        }
    }
}

fn start(launched: Launched, programs: &mut [Program; MOST_PROGRAMS]) {
    let reports = launched.reports;
    let free = programs.iter_mut().find(|program| program.process == 0);
    let process = if free.is_some() {
        fork(libc::CLONE_NEWPID | libc::CLONE_NEWNS)
    } else {
        -1
    };
    if process == 0 {
        init::run(launched);
    }
    let errno = if free.is_none() {
        libc::EAGAIN
    } else {
        errno()
    };
    for descriptor in launched.others() {
        close(descriptor);
    }
    match free {
        Some(free) if process > 0 => *free = Program { process, reports },
        _ => {
            let step = Step::Namespaces;
            send(reports, &Event::Failed { step, errno }.to_bytes());
            close(reports);
        }
    }
}

/// Kills all programs, and ends when nothing of them is left.
fn end(programs: &[Program; MOST_PROGRAMS]) -> ! {
    for program in programs.iter().filter(|program| program.process > 0) {
        // SAFETY: only numbers; this child has not been waited for.
        unsafe { libc::kill(program.process, libc::SIGKILL) };
    }
    // SAFETY: no status is asked for.
    while unsafe { libc::waitpid(-1, ptr::null_mut(), 0) } > 0 || errno() == libc::EINTR {}
    exit(0)
}

/// Reports what the programs that have ended computed, with all that they started: the kernel has killed and counted it
/// before the end of their init is reported.
fn reap(programs: &mut [Program; MOST_PROGRAMS]) {
    loop {
        // SAFETY: all-zero bytes are a usage, which the kernel fills.
        let (process, usage) = unsafe {
            let mut usage: libc::rusage = mem::zeroed();
            let process = libc::wait4(-1, ptr::null_mut(), libc::WNOHANG, &raw mut usage);
            (process, usage)
        };
        if process <= 0 {
            return;
        }
        let us = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
        let event = Event::Gone {
            user_us: us(usage.ru_utime),
            system_us: us(usage.ru_stime),
        };
        let mut its = programs.iter_mut().filter(|it| it.process == process);
        if let Some(program) = its.next() {
            send(program.reports, &event.to_bytes());
            close(program.reports);
            *program = NONE;
        }
    }
}

enum Received {
    Launch(Launched),
    Nothing,
    Closed,
}

/// Room for the descriptors of a message, aligned as the kernel wants it.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// Takes a message: a byte, and the descriptors of a launch.
fn receive(socket: RawFd) -> Received {
    let mut byte = 0_u8;
    let mut control = Control([0; 128]);
    // SAFETY: the kernel writes one byte and, into `control`, no more than its length; the first header is read only if
    // there is one, and the descriptors are copied from where they may lie unaligned.
    unsafe {
        let mut part = libc::iovec {
            iov_base: (&raw mut byte).cast(),
            iov_len: 1,
        };
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = control.0.len() as _;
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        let length = libc::recvmsg(socket, &raw mut message, flags);
        if length < 0 && matches!(errno(), libc::EAGAIN | libc::EINTR) {
            return Received::Nothing;
        }
        if length <= 0 {
            return Received::Closed;
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        let wanted = libc::CMSG_LEN((DESCRIPTORS * size_of::<RawFd>()) as _) as usize;
        if header.is_null() || (*header).cmsg_len as usize != wanted {
            return Received::Nothing;
        }
        let data: *const [RawFd; DESCRIPTORS] = libc::CMSG_DATA(header).cast();
        Received::Launch(Launched::new(data.read_unaligned()))
    }
}
