//! The result of a system call.

use std::ffi::c_int;
use std::io;

/// The value that a system call returned, or the error in `errno` if that is negative.
pub(crate) fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}
