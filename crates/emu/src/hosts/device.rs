//! Where packets come from a host and go to it.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};

use crate::hosts::interface::Interface;
use crate::hosts::port::Port;
use crate::hosts::tun::Tun;

/// A device: reads return what the host sends, writes are received by it. Both are with a virtio-net header and without
/// a link layer.
#[derive(Debug)]
pub(crate) enum Device {
    /// A device of a namespace of ours.
    Tun(Tun),
    /// An interface of this machine, with the host behind it.
    Interface(Box<Interface>),
    /// A device of a guest.
    Guest(Port),
}

impl Device {
    /// Reads what the host has sent, preceded by a virtio-net header; `None` if there is nothing.
    #[inline]
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Interface(interface) => interface.read(buffer),
            Self::Guest(port) => Ok(port.read(buffer)),
        }
    }

    /// Sends the host a packet, preceded by a virtio-net header.
    #[inline]
    pub(crate) fn write(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Interface(interface) => interface.write([packet, &[], &[]]),
            Self::Guest(port) => {
                port.write([packet, &[], &[]]);
                Ok(())
            }
        }
    }

    /// Like [`Device::write`], with the packet in parts, of which the first has all headers.
    #[inline]
    pub(crate) fn write_parts(&self, parts: [&[u8]; 3]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write_parts(parts),
            Self::Interface(interface) => interface.write(parts),
            Self::Guest(port) => {
                port.write(parts);
                Ok(())
            }
        }
    }
}

impl Device {
    /// What is readable when the host has sent something; `None` of a guest's, which calls.
    pub(crate) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Tun(tun) => Some(tun.as_fd()),
            Self::Interface(interface) => Some(interface.as_fd()),
            Self::Guest(_) => None,
        }
    }
}
