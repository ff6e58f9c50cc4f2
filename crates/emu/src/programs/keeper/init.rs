//! The first process of a program's PID namespace: it starts the program, passes signals on, and waits for what has no
//! parent. When it ends, the kernel kills all that is left in the namespace.

use std::os::fd::RawFd;
use std::ptr;

use libc::c_int;

use super::super::launch::{Launched, Plan};
use super::super::messages::{Event, ORDER_BYTES, Order, Step};
use super::system::{
    checked, child_signals, close, drain, errno, exit, fork, now_ns, send, wait_for,
};
use super::{command, mounts};

/// Starts a program and looks after it until it has ended, or the engine has.
pub(super) fn run(launched: Launched) -> ! {
    let reports = launched.reports;
    // SAFETY: a system call without pointers.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let plan = match prepare(&launched) {
        Ok(plan) => plan,
        Err((step, errno)) => {
            send(reports, &Event::Failed { step, errno }.to_bytes());
            exit(1)
        }
    };
    let program = start(plan, &launched);
    for descriptor in launched.others() {
        close(descriptor);
    }
    look_after(program, reports, plan.lingers())
}

/// Enters the host, with files of names of its own.
fn prepare(launched: &Launched) -> Result<&'static Plan, (Step, c_int)> {
    // SAFETY: only a descriptor.
    let entered = unsafe { libc::setns(launched.network, libc::CLONE_NEWNET) };
    checked(entered).map_err(|errno| (Step::Host, errno))?;
    let plan = Plan::map(launched.plan).map_err(|errno| (Step::Namespaces, errno))?;
    mounts::make(plan).map_err(|errno| (Step::Names, errno))?;
    Ok(plan)
}

/// Forks the program's process, and reports whether it became the program.
fn start(plan: &Plan, launched: &Launched) -> c_int {
    let reports = launched.reports;
    let mut pipe = [-1; 2];
    // SAFETY: the array has two elements.
    unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) };
    let [became, failed] = pipe;
    let at_ns = now_ns();
    let program = fork(0);
    if program == 0 {
        command::run(plan, launched, failed);
    }
    let forked = if program < 0 { Some(errno()) } else { None };
    close(failed);
    if let Some(errno) = forked {
        let step = Step::Namespaces;
        send(reports, &Event::Failed { step, errno }.to_bytes());
        exit(1);
    }
    let mut byte = 0_u8;
    // SAFETY: the buffer has one byte. Where the process became the program, the pipe's other end is closed.
    let bytes = unsafe { libc::read(became, (&raw mut byte).cast(), 1) };
    close(became);
    if bytes > 0 {
        exit(1); // it has reported why
    }
    send(reports, &Event::Started { at_ns }.to_bytes());
    program
}

/// Until the program has ended; one that lingers, until nothing that it left is there.
fn look_after(program: c_int, reports: RawFd, lingers: bool) -> ! {
    let ends = child_signals();
    let mut running = Some(program);
    // What ended before the descriptor was there is found at once.
    loop {
        reap(&mut running, reports, lingers);
        let [ordered, _] = wait_for([reports, ends]);
        drain(ends);
        if ordered {
            obey(running, reports);
        }
    }
}

/// Waits for what has ended. Once the program has, its number may be another's.
fn reap(running: &mut Option<c_int>, reports: RawFd, lingers: bool) {
    loop {
        let mut status = 0;
        // SAFETY: the status is written.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) };
        if ended > 0 && *running == Some(ended) {
            *running = None;
            let at_ns = now_ns();
            send(reports, &Event::Exited { status, at_ns }.to_bytes());
            if !lingers {
                exit(0);
            }
        } else if ended == 0 {
            return;
        } else if ended < 0 {
            match errno() {
                libc::EINTR => {}
                _ => exit(0), // nothing is left
            }
        }
    }
}

fn obey(running: Option<c_int>, reports: RawFd) {
    let mut bytes = [0_u8; ORDER_BYTES];
    // SAFETY: the buffer has the length given; the last calls have only numbers.
    unsafe {
        let length = libc::recv(
            reports,
            bytes.as_mut_ptr().cast(),
            ORDER_BYTES,
            libc::MSG_DONTWAIT,
        );
        if length < 0 && matches!(errno(), libc::EAGAIN | libc::EINTR) {
            return;
        }
        if length <= 0 {
            exit(0); // the engine has ended, or wants the end
        }
        match (Order::from_bytes(bytes), running) {
            (Some(Order::Signal(signal)), Some(program)) => libc::kill(program, signal),
            (Some(Order::SignalAll(signal)), _) => libc::kill(-1, signal),
            _ => 0,
        };
    }
}

/// The address of nothing, for calls that take optional pointers.
pub(super) const NOTHING: *const libc::c_char = ptr::null();
