//! Reports what killed a process that exists for one run of foreign code.
//!
//! A wild pointer or a division by zero in a congestion control raises a signal. The handlers here
//! write one line to a descriptor and end the process; the reader turns it into an error message:
//!
//! ```text
//! crash <signal> <address> <instance> <flow> <1: during the call, 0: after it> <now_ns> <op>
//! crash <signal> <address>                        (no congestion control was called yet)
//! ```

use std::fmt::Write as _;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, mem};

use crate::host::running::{Call, Running, SharedRunning, latest};

/// Signals that foreign code, or the engine because of it, can raise.
const SIGNALS: [i32; 7] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
];
/// Exit status after a report.
const EXIT_STATUS: i32 = 70;
/// Instances a report can name: groups of one scenario.
const MAX_INSTANCES: usize = 1024;
/// Size of the handlers' own stack: after a stack overflow the thread's is used up.
const STACK_BYTES: usize = 64 * 1024;

/// Where to report; -1: nowhere, because this process is not watched.
static REPORT_TO: AtomicI32 = AtomicI32::new(-1);
/// Read by the handlers. The targets are in `KEPT` and stay there: the process ends with its run.
static WATCHED: [AtomicPtr<Running>; MAX_INSTANCES] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_INSTANCES];
static WATCHED_COUNT: AtomicUsize = AtomicUsize::new(0);
static KEPT: Mutex<Vec<SharedRunning>> = Mutex::new(Vec::new());

/// Reports a crash of this process to `report_to` from now on, and watches instances that are
/// loaded later. For a process that ends after one run; the run must be in the calling thread, and
/// the descriptor must stay open.
pub fn report_crashes(report_to: RawFd) -> io::Result<()> {
    install_stack()?;
    for signal in SIGNALS {
        install(signal)?;
    }
    REPORT_TO.store(report_to, Ordering::Relaxed);
    Ok(())
}

/// The call that is in progress in this process, else the latest; `None` before the first, and in a
/// process that [`report_crashes`] does not watch.
pub fn running_call() -> Option<Call> {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    latest(kept.iter().map(Arc::as_ref))
}

/// Lets reports name an instance, in a watched process.
pub(crate) fn watch(running: &SharedRunning) {
    if REPORT_TO.load(Ordering::Relaxed) < 0 {
        return;
    }
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = WATCHED.get(kept.len()) {
        slot.store(Arc::as_ptr(running).cast_mut(), Ordering::Release);
        kept.push(Arc::clone(running));
        WATCHED_COUNT.store(kept.len(), Ordering::Release);
    }
}

fn install_stack() -> io::Result<()> {
    let stack = libc::stack_t {
        ss_sp: Box::leak(vec![0_u8; STACK_BYTES].into_boxed_slice())
            .as_mut_ptr()
            .cast(),
        ss_flags: 0,
        ss_size: STACK_BYTES,
    };
    // SAFETY: the stack is leaked, so it outlives every handler that runs on it.
    match unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn install(signal: i32) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `sigaction`: no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = report as *const () as usize;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: `report` has the signature that SA_SIGINFO asks for and only does what a signal
    // handler may.
    match unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The signal handler: no allocation, no lock, two system calls.
extern "C" fn report(signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO; for these
    // signals it holds an address, or bytes that are read as one.
    let address = unsafe { (*info).si_addr() } as usize;
    let mut line = Line::default();
    let _ = write!(line, "crash {signal} {address:#x}");
    if let Some(call) = latest_watched() {
        let under_way = u8::from(call.is_under_way);
        let (instance, flow, now_ns, op) = (call.instance, call.flow, call.now_ns, call.op);
        let _ = write!(line, " {instance} {flow} {under_way} {now_ns} {op}");
    }
    let _ = writeln!(line);
    // SAFETY: writes initialised bytes of this frame to a descriptor, and ends the process without
    // running anything more of it.
    unsafe {
        libc::write(
            REPORT_TO.load(Ordering::Relaxed),
            line.bytes.as_ptr().cast(),
            line.length,
        );
        libc::_exit(EXIT_STATUS);
    }
}

fn latest_watched() -> Option<Call> {
    let count = WATCHED_COUNT.load(Ordering::Acquire);
    latest(WATCHED[..count].iter().filter_map(|slot| {
        let running = slot.load(Ordering::Acquire);
        // SAFETY: null, or kept alive by `KEPT` until the process ends.
        unsafe { running.as_ref() }
    }))
}

/// A line of text without an allocation; what does not fit is cut off.
struct Line {
    bytes: [u8; 256],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            bytes: [0; 256],
            length: 0,
        }
    }
}

impl std::fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        Ok(())
    }
}
