//! The process that becomes the program.

use std::os::fd::RawFd;

use libc::c_int;

use super::super::launch::{Launched, Plan};
use super::super::messages::{Event, Step};
use super::system::{checked, exit, reset_signals, send};

/// Becomes the program, or reports why not and closes `failed` after a byte.
pub(super) fn run(plan: &Plan, launched: &Launched, failed: RawFd) -> ! {
    let reports = launched.reports;
    send(reports, &Event::Forked.to_bytes());
    let (step, errno) = match begin(plan, launched) {
        Err(errno) => (Step::Directory, errno),
        Ok(()) => (Step::Program, become_program(plan)),
    };
    send(reports, &Event::Failed { step, errno }.to_bytes());
    // SAFETY: the buffer has one byte.
    unsafe { libc::write(failed, c"f".as_ptr().cast(), 1) };
    exit(127)
}

fn begin(plan: &Plan, launched: &Launched) -> Result<(), c_int> {
    // SAFETY: numbers, and a string that ends in a null. The descriptors are not among the standard ones; all but these
    // close when another program begins.
    unsafe {
        if plan.has_new_session() {
            libc::setsid();
        }
        for (standard, descriptor) in (0..).zip(launched.standard) {
            libc::dup2(descriptor, standard);
        }
        checked(libc::chdir(plan.directory()))?;
    }
    reset_signals();
    Ok(())
}

/// The error, if it could not.
fn become_program(plan: &Plan) -> c_int {
    // SAFETY: strings that end in a null, in arrays that end in a null pointer.
    let result = unsafe { libc::execve(plan.program(), plan.arguments(), plan.environment()) };
    checked(result).err().unwrap_or(libc::ENOEXEC)
}
