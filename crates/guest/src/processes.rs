//! The kernel's questions about the guest's processes, and its news of them.

use std::ffi::{c_int, c_uint};
use std::slice;

use crate::layout::Program;
use crate::{stop, with};

/// Describes a program, until the end of the run.
///
/// # Safety
///
/// `program` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_program(number: c_uint, program: *mut Program) {
    with(|running| {
        if let Some(laid_out) = running.programs.get(number as usize) {
            // SAFETY: the caller says so.
            unsafe { program.write(laid_out.program) };
        }
    });
}

/// A program prints: how many bytes were taken, or an error of the kernel.
///
/// # Safety
///
/// There are this many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_write(
    program: c_uint,
    stream: c_uint,
    bytes: *const u8,
    length: c_uint,
) -> i64 {
    // SAFETY: the caller says so.
    let bytes = unsafe { slice::from_raw_parts(bytes, length as usize) };
    with(|running| running.guest.write(program, stream, bytes))
}

/// A program reads its standard input: how many bytes there were, or an error of the kernel.
///
/// # Safety
///
/// This many bytes may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dumbbell_guest_read(
    program: c_uint,
    buffer: *mut u8,
    length: c_uint,
) -> i64 {
    // SAFETY: the caller says so.
    let buffer = unsafe { slice::from_raw_parts_mut(buffer, length as usize) };
    with(|running| running.guest.read(program, buffer))
}

/// A program is started.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_started(now_ns: u64, program: c_uint) {
    with(|running| running.guest.program_started(now_ns, program));
}

/// A program has ended; whether the run is over.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_ended(
    now_ns: u64,
    program: c_uint,
    status: c_int,
    error: c_int,
) -> c_uint {
    with(|running| {
        let ended = running.guest.program_ended(now_ns, program, status, error);
        match ended {
            Ok(is_over) => is_over.into(),
            Err(error) => stop(running, &error),
        }
    })
}

/// The ports of a server were not opened in time.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_not_ready(program: c_uint) {
    with(|running| {
        if let Some(error) = running.guest.not_ready(program) {
            stop(running, &error);
        }
    });
}

/// Programs are asked to end.
#[unsafe(no_mangle)]
pub extern "C" fn dumbbell_guest_ending() {
    with(|running| running.guest.ending());
}
