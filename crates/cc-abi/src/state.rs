//! A congestion control algorithm's private state in the socket.

use core::mem::{align_of, size_of};

use crate::{CA_PRIV_WORDS, Sock};

/// State of a flow, at most 104 bytes, kept in `icsk_ca_priv`, which starts as zeros.
///
/// # Safety
///
/// Every bit pattern is a value of the type: integers, arrays of them, and `#[repr(C)]` structures
/// of those without padding.
pub unsafe trait State: Copy {
    /// Reads the state of a socket.
    fn of(sock: &Sock) -> Self {
        const { assert!(size_of::<Self>() <= 8 * CA_PRIV_WORDS && align_of::<Self>() <= 8) };
        // SAFETY: there are enough bytes, aligned, and any bit pattern is a value.
        unsafe { sock.icsk_ca_priv.as_ptr().cast::<Self>().read() }
    }

    /// Writes it back.
    fn put(self, sock: &mut Sock) {
        const { assert!(size_of::<Self>() <= 8 * CA_PRIV_WORDS && align_of::<Self>() <= 8) };
        // SAFETY: there is room for that many bytes, aligned, exclusively borrowed; the words are
        // integers, for which any bit pattern is valid.
        unsafe { sock.icsk_ca_priv.as_mut_ptr().cast::<Self>().write(self) };
    }
}
