//! UDP sockets for calibration: datagrams with the kernel's time of arrival.

use std::io;
use std::mem::{size_of, size_of_val, zeroed};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::Duration;

use dumbbell_net::Ecn;

use crate::machine::system_call::checked;
use crate::sockets::socket::{connect, get, open, set};

/// Room for a `timespec` with its header; u64 for their alignment.
const CONTROL_WORDS: usize = 8;

/// A socket that sends to one address. It does not block.
pub(crate) fn sender(from: (Ipv4Addr, u16), to: (Ipv4Addr, u16)) -> io::Result<OwnedFd> {
    let socket = open(libc::SOCK_DGRAM)?;
    crate::sockets::socket::bind(&socket, from.0, from.1)?;
    connect(&socket, to.0, to.1)?;
    Ok(socket)
}

/// Makes the kernel split writes into datagrams of this size (UDP_SEGMENT, Linux 4.18).
pub(crate) fn set_datagram_bytes(socket: &OwnedFd, bytes: usize) -> io::Result<()> {
    let bytes = i32::try_from(bytes).map_err(io::Error::other)?;
    set(socket, libc::SOL_UDP, libc::UDP_SEGMENT, bytes)
}

/// Gives what the socket sends an ECN field: the kernel takes it of a datagram's socket, and leaves TCP's to TCP.
pub(crate) fn set_ecn(socket: &OwnedFd, ecn: Ecn) -> io::Result<()> {
    let dscp = get(socket, libc::IPPROTO_IP, libc::IP_TOS)? & !i32::from(Ecn::Ce.bits());
    set(
        socket,
        libc::IPPROTO_IP,
        libc::IP_TOS,
        dscp | i32::from(ecn.bits()),
    )
}

/// A socket that stamps what it receives with the kernel's time, with room for `bytes`.
pub(crate) fn receiver(address: (Ipv4Addr, u16), bytes: usize) -> io::Result<OwnedFd> {
    let socket = open(libc::SOCK_DGRAM)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX / 2);
    // Without privilege, at most `net.core.rmem_max`.
    if set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes).is_err() {
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes)?;
    }
    crate::sockets::socket::bind(&socket, address.0, address.1)?;
    Ok(socket)
}

/// A datagram that was received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Port of its sender.
    pub(crate) port: u16,
    /// Size of the payload.
    pub(crate) bytes: usize,
    /// When the kernel received it, CLOCK_REALTIME, ns.
    pub(crate) stamp_ns: u64,
}

/// Receives a datagram: writes its start to `start`, and returns when the kernel received it
/// (CLOCK_REALTIME, ns). `None` when there is none.
pub(crate) fn receive_stamped(socket: &OwnedFd, start: &mut [u8]) -> io::Result<Option<u64>> {
    Ok(receive(socket, start)?.map(|received| received.stamp_ns))
}

/// Receives a datagram: writes its start to `start`. `None` when there is none.
pub(crate) fn receive(socket: &OwnedFd, start: &mut [u8]) -> io::Result<Option<Received>> {
    // SAFETY: all zeros is a sockaddr_in.
    let mut from: libc::sockaddr_in = unsafe { zeroed() };
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: start.as_mut_ptr().cast(),
        iov_len: start.len(),
    };
    // SAFETY: all zeros is a msghdr without name, data or control.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_name = (&raw mut from).cast();
    message.msg_namelen = size_of_val(&from) as libc::socklen_t;
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // The whole length is returned, however much fits.
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: `message` points to `from`, `part` and `control`, which are valid for writing for their lengths.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    if received < 0 {
        let error = io::Error::last_os_error();
        return match error.kind() {
            io::ErrorKind::WouldBlock => Ok(None),
            _ => Err(error),
        };
    }
    let stamp_ns = stamp_ns(&message)
        .ok_or_else(|| io::Error::other("a datagram came without its time of arrival"))?;
    Ok(Some(Received {
        port: u16::from_be(from.sin_port),
        bytes: received as usize,
        stamp_ns,
    }))
}

/// The SCM_TIMESTAMPNS among a message's control messages.
fn stamp_ns(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled `message`, whose control buffer is alive.
    let header = unsafe { libc::CMSG_FIRSTHDR(message).as_ref() }?;
    if header.cmsg_level != libc::SOL_SOCKET || header.cmsg_type != libc::SCM_TIMESTAMPNS {
        return None;
    }
    // SAFETY: a control message of this type holds a timespec; it need not be aligned.
    let stamp: libc::timespec = unsafe {
        libc::CMSG_DATA(header)
            .cast::<libc::timespec>()
            .read_unaligned()
    };
    Some(stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64)
}

/// Waits until one of the sockets is ready for `events` (`POLL*` bits), at most this long; returns
/// whether one is.
pub(crate) fn wait_for(sockets: &[&OwnedFd], events: i16, timeout: Duration) -> io::Result<bool> {
    let mut polled: Vec<libc::pollfd> = sockets
        .iter()
        .map(|socket| libc::pollfd {
            fd: socket.as_raw_fd(),
            events,
            revents: 0,
        })
        .collect();
    // Rounded up: a wait of zero would spin.
    let timeout_ms = i32::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: `polled` is valid for its length.
    let ready = checked(unsafe {
        libc::poll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            timeout_ms,
        )
    });
    match ready {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
        other => other.map(|ready| ready > 0),
    }
}

const _: () = assert!(
    size_of::<libc::cmsghdr>() + size_of::<libc::timespec>() <= 8 * CONTROL_WORDS,
    "the control buffer holds a stamp"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codepoint_leaves_the_dscp_alone() {
        const EF: u8 = 46;
        let here = Ipv4Addr::LOCALHOST;
        let sender = sender((here, 0), (here, 9)).expect("a socket");
        crate::sockets::socket::set_dscp(&sender, EF).expect("it has a DSCP");
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct] {
            set_ecn(&sender, ecn).expect("it has a codepoint");
            let tos = get(&sender, libc::IPPROTO_IP, libc::IP_TOS).expect("it has a TOS");
            assert_eq!(tos, i32::from(EF << 2 | ecn.bits()));
        }
    }
}
