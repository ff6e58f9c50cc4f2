//! Reports what killed a process that exists for one run of foreign code.
//!
//! A wild pointer or a division by zero in a congestion control algorithm raises a signal. The handlers here
//! write one frame to a descriptor and end the process; the reader turns it into an error message.
//! A frame is a magic number, the length of the payload and its CRC-32, each 4 bytes, and the
//! payload, JSON (`python/dumbbell/congestion_control/isolation/protocol.py`):
//!
//! ```text
//! {"crash":[<signal>,"<address>",<instance>,"<op>",<flow>,<1: during the call>,<now_ns>]}
//! {"crash":[<signal>,"<address>"]}                (no congestion control was called yet)
//! ```
//!
//! Instead of an address, SIGSYS has the name of the system call that the sandbox forbids.

use std::fmt::Write as _;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{io, mem};

use crate::host::running::{Call, Running, SharedRunning, latest};
use crate::sandbox::system_call_names::name_of_system_call;

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

/// Begins a frame, as in `protocol.py`.
const MAGIC: &[u8; 4] = b"DBA1";
/// Magic, length and CRC-32.
const HEADER_BYTES: usize = 12;
/// Where a siginfo of SIGSYS has the number of the system call: after three ints, which are padded,
/// and an address.
const SYSTEM_CALL_OFFSET: usize = 24;

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

/// Whether this process reports its crashes, and so exists for one run.
pub(crate) fn is_watched() -> bool {
    REPORT_TO.load(Ordering::Relaxed) >= 0
}

/// Lets reports name an instance, in a watched process.
pub(crate) fn watch(running: &SharedRunning) {
    if !is_watched() {
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
    let mut frame = Frame::default();
    let _ = write!(frame, "{{\"crash\":[{signal},\"");
    // SAFETY: the kernel passes a valid siginfo to a handler installed with SA_SIGINFO.
    unsafe { write_detail(&mut frame, signal, info) };
    let _ = write!(frame, "\"");
    if let Some(call) = latest_watched() {
        let under_way = u8::from(call.is_under_way);
        let (instance, flow, now_ns, op) = (call.instance, call.flow, call.now_ns, call.op);
        let _ = write!(frame, ",{instance},\"{op}\",{flow},{under_way},{now_ns}");
    }
    let _ = write!(frame, "]}}");
    let bytes = frame.finish();
    // SAFETY: writes initialised bytes of this function to a descriptor, and ends the process
    // without running anything more of it.
    unsafe {
        libc::write(
            REPORT_TO.load(Ordering::Relaxed),
            bytes.as_ptr().cast(),
            bytes.len(),
        );
        libc::_exit(EXIT_STATUS);
    }
}

/// The address, or the system call.
///
/// # Safety
///
/// `info` is what the kernel passed to the handler.
unsafe fn write_detail(frame: &mut Frame, signal: i32, info: *mut libc::siginfo_t) {
    if signal == libc::SIGSYS {
        // SAFETY: for SIGSYS the kernel puts an int there, aligned, inside the 128 bytes.
        let number = unsafe { info.byte_add(SYSTEM_CALL_OFFSET).cast::<i32>().read() };
        let _ = match name_of_system_call(number.into()) {
            Some(name) => write!(frame, "`{name}`"),
            None => write!(frame, "number {number}"),
        };
    } else {
        // SAFETY: for these signals it holds an address, or bytes that are read as one.
        let address = unsafe { (*info).si_addr() } as usize;
        let _ = write!(frame, "{address:#x}");
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

/// A frame without an allocation; what does not fit is cut off.
struct Frame {
    bytes: [u8; 256],
    length: usize,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            bytes: [0; 256],
            length: HEADER_BYTES,
        }
    }
}

impl Frame {
    /// Fills the header in; returns all of it.
    fn finish(&mut self) -> &[u8] {
        let payload = &self.bytes[HEADER_BYTES..self.length];
        let (length, checksum) = (payload.len() as u32, crc32(payload));
        self.bytes[..4].copy_from_slice(MAGIC);
        self.bytes[4..8].copy_from_slice(&length.to_le_bytes());
        self.bytes[8..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        &self.bytes[..self.length]
    }
}

impl std::fmt::Write for Frame {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let room = &mut self.bytes[self.length..];
        let fits = text.len().min(room.len());
        room[..fits].copy_from_slice(&text.as_bytes()[..fits]);
        self.length += fits;
        Ok(())
    }
}

/// CRC-32 of zlib, bit by bit: for a signal handler, and once.
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let add_bit = |crc: u32, _| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), add_bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_has_magic_length_and_the_checksum_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926); // the check value of CRC-32/ISO-HDLC
        let mut frame = Frame::default();
        let _ = write!(frame, "123456789");
        let bytes = frame.finish();
        assert_eq!(bytes[..8], *b"DBA1\x09\0\0\0");
        assert_eq!(bytes[8..12], 0xcbf4_3926_u32.to_le_bytes());
        assert_eq!(bytes[12..], *b"123456789");
    }

    #[test]
    fn a_frame_that_is_too_long_is_cut_off() {
        let mut frame = Frame::default();
        let _ = write!(frame, "{}", "x".repeat(1000));
        assert_eq!(frame.finish().len(), 256);
    }
}
