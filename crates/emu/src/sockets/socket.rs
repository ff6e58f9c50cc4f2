//! The few socket calls that traffic needs. Sockets are created by a thread inside a host's
//! namespace and stay in it, whichever thread uses them.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::{size_of, size_of_val};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr;

use crate::machine::system_call::checked;
use crate::sockets::tcp_info::{TCP_INFO_MAX_BYTES, TcpInfo};

/// Longest name of a congestion control algorithm with its terminating zero (`TCP_CA_NAME_MAX`).
const CC_NAME_BYTES: usize = 16;

/// A non-blocking TCP socket that is reset when closed, so that no connection outlives its owner.
pub(crate) fn tcp() -> io::Result<OwnedFd> {
    let socket = open(libc::SOCK_STREAM)?;
    reset_on_close(&socket)?;
    Ok(socket)
}

/// A non-blocking socket of this kind (`SOCK_*`).
pub(crate) fn open(kind: c_int) -> io::Result<OwnedFd> {
    let kind = kind | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers are passed.
    let fd = checked(unsafe { libc::socket(libc::AF_INET, kind, 0) })?;
    // SAFETY: the kernel just returned it, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    set(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
    Ok(socket)
}

/// SO_LINGER {1, 0}: close sends a RST and forgets the connection.
fn reset_on_close(socket: &OwnedFd) -> io::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    set_value(socket, libc::SOL_SOCKET, libc::SO_LINGER, &linger)
}

pub(crate) fn bind(socket: &OwnedFd, address: Ipv4Addr, port: u16) -> io::Result<()> {
    let address = sockaddr(address, port);
    // SAFETY: `address` is a whole sockaddr_in, read during the call.
    checked(unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    })?;
    Ok(())
}

/// Listens with as long a queue of new connections as the kernel allows.
pub(crate) fn listen(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    checked(unsafe { libc::listen(socket.as_raw_fd(), c_int::from(u16::MAX)) })?;
    Ok(())
}

/// Starts to connect; `Ok` also while that is in progress.
pub(crate) fn connect(socket: &OwnedFd, address: Ipv4Addr, port: u16) -> io::Result<()> {
    let address = sockaddr(address, port);
    // SAFETY: `address` is a whole sockaddr_in, read during the call.
    let result = checked(unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    });
    match result {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other.map(|_| ()),
    }
}

/// Accepts a new connection and returns it with its peer; `None` when there is none.
pub(crate) fn accept(listener: &OwnedFd) -> io::Result<Option<(OwnedFd, SocketAddrV4)>> {
    let mut peer = sockaddr(Ipv4Addr::UNSPECIFIED, 0);
    let mut peer_bytes = size_of_val(&peer) as libc::socklen_t;
    // SAFETY: `peer` and `peer_bytes` are valid for the call and agree in size.
    let accepted = checked(unsafe {
        libc::accept4(
            listener.as_raw_fd(),
            (&raw mut peer).cast(),
            &raw mut peer_bytes,
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        )
    });
    match accepted {
        Ok(fd) => {
            // SAFETY: the kernel just returned it, and nothing else owns it.
            let socket = unsafe { OwnedFd::from_raw_fd(fd) };
            let address = Ipv4Addr::from(u32::from_be(peer.sin_addr.s_addr));
            let peer = SocketAddrV4::new(address, u16::from_be(peer.sin_port));
            Ok(Some((socket, peer)))
        }
        // The peer gave up between the handshake and now: accept the next one.
        Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => accept(listener),
        Err(error) => none_when_it_would_block(error),
    }
}

/// Gives what the socket sends, and what it accepts will send, a differentiated services codepoint
/// (RFC 2474). The ECN field below it stays TCP's: the kernel keeps it.
pub(crate) fn set_dscp(socket: &OwnedFd, dscp: u8) -> io::Result<()> {
    if dscp == 0 {
        return Ok(());
    }
    set(
        socket,
        libc::IPPROTO_IP,
        libc::IP_TOS,
        c_int::from(dscp) << 2,
    )
}

/// Takes a connected socket's pending error.
pub(crate) fn take_error(socket: &OwnedFd) -> io::Result<()> {
    match get(socket, libc::SOL_SOCKET, libc::SO_ERROR)? {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Writes what fits; `None` when nothing does.
pub(crate) fn send(socket: &OwnedFd, payload: &[u8]) -> io::Result<Option<usize>> {
    // SAFETY: the kernel reads `payload`, which is valid for its length.
    let sent = unsafe {
        libc::send(
            socket.as_raw_fd(),
            payload.as_ptr().cast(),
            payload.len(),
            libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
        )
    };
    some_unless_it_would_block(sent)
}

/// Discards everything that has arrived, without copying it: `Some(0)` at the end of the stream,
/// `None` when there is nothing.
pub(crate) fn discard(socket: &OwnedFd) -> io::Result<Option<usize>> {
    // SAFETY: with MSG_TRUNC TCP writes nothing to the buffer (tcp(7)).
    let discarded = unsafe {
        libc::recv(
            socket.as_raw_fd(),
            ptr::null_mut(),
            c_int::MAX as usize,
            libc::MSG_TRUNC | libc::MSG_DONTWAIT,
        )
    };
    some_unless_it_would_block(discarded)
}

/// Sends a FIN after everything that was written.
pub(crate) fn shutdown_write(socket: &OwnedFd) -> io::Result<()> {
    // SAFETY: no pointers are passed.
    checked(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) })?;
    Ok(())
}

/// Selects a congestion control algorithm by the kernel's name.
pub(crate) fn set_congestion_control(socket: &OwnedFd, name: &str) -> io::Result<()> {
    set_bytes(
        socket,
        libc::IPPROTO_TCP,
        libc::TCP_CONGESTION,
        name.as_bytes(),
    )
}

/// The congestion control algorithm the socket runs, by the kernel's name.
pub(crate) fn congestion_control(socket: &OwnedFd) -> io::Result<String> {
    let mut name = [0; CC_NAME_BYTES];
    let bytes = get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &mut name)?;
    let name = CStr::from_bytes_until_nul(&name[..bytes]).map_err(io::Error::other)?;
    Ok(name.to_string_lossy().into_owned())
}

/// Reads TCP_INFO of the socket.
pub(crate) fn tcp_info(socket: &OwnedFd) -> io::Result<TcpInfo> {
    let mut answer = [0; TCP_INFO_MAX_BYTES];
    let bytes = get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut answer)?;
    TcpInfo::parse(&answer[..bytes]).ok_or_else(|| {
        io::Error::other("this kernel's TCP_INFO is too short; Linux 4.9 or newer is needed")
    })
}

/// Reads what the socket's congestion control reports (TCP_CC_INFO); empty if it reports nothing.
pub(crate) fn cc_info<'a>(socket: &OwnedFd, answer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let bytes = get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_CC_INFO, answer)?;
    Ok(&answer[..bytes])
}

pub(crate) fn set(socket: &OwnedFd, level: c_int, option: c_int, value: c_int) -> io::Result<()> {
    set_value(socket, level, option, &value)
}

pub(crate) fn get(socket: &OwnedFd, level: c_int, option: c_int) -> io::Result<c_int> {
    let mut value = [0; size_of::<c_int>()];
    get_bytes(socket, level, option, &mut value)?;
    Ok(c_int::from_ne_bytes(value))
}

fn set_value<T: Copy>(socket: &OwnedFd, level: c_int, option: c_int, value: &T) -> io::Result<()> {
    // SAFETY: any `Copy` value may be read as bytes; the types used here have no padding.
    let bytes = unsafe { std::slice::from_raw_parts(ptr::from_ref(value).cast(), size_of::<T>()) };
    set_bytes(socket, level, option, bytes)
}

fn set_bytes(socket: &OwnedFd, level: c_int, option: c_int, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads `value`, which is valid for its length.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    })?;
    Ok(())
}

fn get_bytes(socket: &OwnedFd, level: c_int, option: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut bytes = value.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `bytes` bytes to `value`, and how many to `bytes`.
    checked(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            option,
            value.as_mut_ptr().cast::<c_void>(),
            &raw mut bytes,
        )
    })?;
    Ok((bytes as usize).min(value.len()))
}

fn sockaddr(address: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(address).to_be(),
        },
        sin_zero: [0; 8],
    }
}

fn some_unless_it_would_block(result: isize) -> io::Result<Option<usize>> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(_) => none_when_it_would_block(io::Error::last_os_error()),
    }
}

fn none_when_it_would_block<T>(error: io::Error) -> io::Result<Option<T>> {
    match error.kind() {
        io::ErrorKind::WouldBlock => Ok(None),
        _ => Err(error),
    }
}
