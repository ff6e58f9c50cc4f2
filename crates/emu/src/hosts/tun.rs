//! A TUN device: reads return what the host's kernel sends, writes are received by it.

use std::fs::OpenOptions;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::io::Errno;

use crate::error::Error;

/// Name of the only device of a host except `lo`.
pub(crate) const DEVICE: &str = "tun0";

const CLONE_DEVICE: &str = "/dev/net/tun";

/// Offloads that flows of ours use: filling in checksums, and super-packets, also with CWR.
const OFFLOADS: libc::c_uint = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO_ECN;

/// Those that programs use besides: super-packets of TCP over IPv6, and of UDP (`UDP_SEGMENT`) where the kernel
/// has them (Linux 6.2), which wants them of both versions of IP or of none.
const OFFLOAD_TCP6: libc::c_uint = libc::TUN_F_TSO6;
const OFFLOAD_UDP: libc::c_uint = libc::TUN_F_USO4 | libc::TUN_F_USO6;

/// What a host sends as super-packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offload {
    /// TCP over IPv4.
    Tcp4,
    /// All that the kernel can.
    All,
}

/// A TUN device, which exists as long as this does.
#[derive(Debug)]
pub(crate) struct Tun {
    descriptor: OwnedFd,
}

impl Tun {
    /// A new device in the calling thread's network namespace.
    pub(crate) fn open(offload: Offload) -> Result<Self, Error> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(CLONE_DEVICE)
            .map_err(cannot_open)?;
        let descriptor = OwnedFd::from(file);
        attach(descriptor.as_fd(), offload).map_err(|source| Error::System {
            what: format!("{CLONE_DEVICE} does not create devices for this user; run as root, or prefix the command with `unshare -Ur`"),
            source,
        })?;
        Ok(Self { descriptor })
    }

    /// Reads what the kernel has sent, preceded by a virtio-net header; `None` if there is nothing.
    #[inline]
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&self.descriptor, buffer) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes the kernel receive a packet, preceded by a virtio-net header. When this returns, the
    /// kernel's TCP has processed it and sent its response.
    #[inline]
    pub(crate) fn write(&self, packet: &[u8]) -> io::Result<()> {
        until_uninterrupted(|| rustix::io::write(&self.descriptor, packet))
    }

    /// Like [`Tun::write`], with the packet in parts.
    #[inline]
    pub(crate) fn write_parts(&self, parts: [&[u8]; 3]) -> io::Result<()> {
        let slices = parts.map(IoSlice::new);
        until_uninterrupted(|| rustix::io::writev(&self.descriptor, &slices))
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// A packet is written whole or not at all.
#[inline]
fn until_uninterrupted(mut write: impl FnMut() -> Result<usize, Errno>) -> io::Result<()> {
    loop {
        match write() {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Turns the open clone device into a device with our name and offloads.
fn attach(descriptor: BorrowedFd<'_>, offload: Offload) -> io::Result<()> {
    // SAFETY: `ifreq` is plain data, for which all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags =
        (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which outlives the call.
    let set = unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETIFF, &mut request) };
    if set < 0 {
        return Err(io::Error::last_os_error());
    }
    match offload {
        Offload::Tcp4 => set_offloads(descriptor, OFFLOADS),
        Offload::All => {
            let with_tcp = OFFLOADS | OFFLOAD_TCP6;
            match set_offloads(descriptor, with_tcp | OFFLOAD_UDP) {
                // A kernel that does not know them: datagrams then come one by one.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                    set_offloads(descriptor, with_tcp)
                }
                other => other,
            }
        }
    }
}

fn set_offloads(descriptor: BorrowedFd<'_>, offloads: libc::c_uint) -> io::Result<()> {
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    let set = unsafe { libc::ioctl(descriptor.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) };
    if set < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn cannot_open(source: io::Error) -> Error {
    let remedy = match source.kind() {
        io::ErrorKind::NotFound => {
            "make it with `mkdir -p /dev/net && mknod /dev/net/tun c 10 200`, and `modprobe tun` if the kernel has it as a module"
        }
        io::ErrorKind::PermissionDenied => "run as root, or `chmod 0666` it",
        _ => "the kernel needs CONFIG_TUN",
    };
    Error::System {
        what: format!("the kernel engine needs {CLONE_DEVICE}; {remedy}"),
        source,
    }
}
