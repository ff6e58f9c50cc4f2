//! An interface of this machine with hosts behind it, whose packets it sees and to which it sends: a packet socket
//! (packet(7)) in the place of a TUN device.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use dumbbell_wire::bytes::read_u16;
use dumbbell_wire::ethernet::{self, TYPE_IPV4, TYPE_IPV6};
use dumbbell_wire::ip::{Ip, version};
use rustix::io::Errno;

use crate::error::Error;
use crate::hosts::neighbours::{LinkLayer, Neighbours};
use crate::hosts::netlink::Netlink;
use crate::machine::system_call::checked;
use crate::packet::super_packet::{NEEDS_CSUM, VNET_HEADER_BYTES};

/// Where the virtio-net header says from where on the checksum counts.
const VNET_CSUM_START: usize = 6;

/// What may wait to be read: a burst of a sender's whole window.
const RECEIVE_BUFFER_BYTES: libc::c_int = 16 << 20;

/// An address, and how many bits of it are its network's.
type Prefix = (IpAddr, u8);

/// An interface, open for packets.
#[derive(Debug)]
pub(crate) struct Interface {
    descriptor: OwnedFd,
    name: String,
    link_layer: LinkLayer,
    /// Addresses of this machine.
    own: Vec<Prefix>,
    /// Networks behind the other interface: packets for them are read.
    far: Vec<Prefix>,
    neighbours: Mutex<Neighbours>,
    /// What could not be sent: no neighbour, too large, no room.
    unsent_pkts: AtomicU64,
    pub(crate) mtu_bytes: u32,
}

impl Interface {
    /// The two interfaces of these names, in the calling thread's network namespace.
    pub(crate) fn pair(names: [&str; 2]) -> Result<[Self; 2], Error> {
        if names[0] == names[1] {
            return Err(Error::Refused(format!(
                "both interfaces are `{}`; use one to the client and another to the server",
                names[0]
            )));
        }
        let networks = [networks_of(names[0])?, networks_of(names[1])?];
        let [first, second] = [0, 1].map(|index| {
            let [own, far] = [&networks[index], &networks[1 - index]];
            Self::open(names[index], own, far)
        });
        Ok([first?, second?])
    }

    fn open(name: &str, own: &[Prefix], far: &[Prefix]) -> Result<Self, Error> {
        let opened = || {
            let index = Netlink::open()?.index_of(name)?;
            let descriptor = packet_socket(index, libc::ETH_P_ALL)?;
            set(&descriptor, libc::SOL_PACKET, libc::PACKET_VNET_HDR, 1)?;
            // What this machine sends is not for the path.
            set(
                &descriptor,
                libc::SOL_PACKET,
                libc::PACKET_IGNORE_OUTGOING,
                1,
            )?;
            // Without privilege over the machine's memory, at most `net.core.rmem_max`.
            let buffer = |option| set(&descriptor, libc::SOL_SOCKET, option, RECEIVE_BUFFER_BYTES);
            if buffer(libc::SO_RCVBUFFORCE).is_err() {
                buffer(libc::SO_RCVBUF)?;
            }
            let (link_layer, mtu_bytes) = (link_layer_of(name)?, mtu_of(name)?);
            Ok(Self {
                descriptor,
                name: name.to_owned(),
                link_layer,
                own: own.to_vec(),
                far: far.to_vec(),
                neighbours: Mutex::new(Neighbours::of(index)?),
                unsent_pkts: AtomicU64::new(0),
                mtu_bytes,
            })
        };
        opened().map_err(|source| cannot_open(name, source))
    }

    /// The first of this machine's addresses there of IPv4.
    pub(crate) fn address(&self) -> Ipv4Addr {
        let address = self.own.iter().find_map(|(address, _)| match address {
            IpAddr::V4(address) => Some(*address),
            IpAddr::V6(_) => None,
        });
        address.unwrap_or(Ipv4Addr::UNSPECIFIED)
    }

    /// This machine's addresses there.
    pub(crate) fn own_addresses(&self) -> Vec<IpAddr> {
        self.own.iter().map(|&(address, _)| address).collect()
    }

    /// Reads a packet for a network behind the other interface, preceded by a virtio-net header; `None` if there is
    /// nothing.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let (vnet_header, packet) = buffer.split_at_mut(VNET_HEADER_BYTES);
        loop {
            let mut ethernet = [0; ethernet::HEADER_BYTES];
            let mut parts = [
                IoSliceMut::new(vnet_header),
                IoSliceMut::new(&mut ethernet),
                IoSliceMut::new(packet),
            ];
            let bytes = match rustix::io::readv(&self.descriptor, &mut parts) {
                Ok(bytes) => bytes,
                Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            };
            let Some(bytes) = bytes.checked_sub(VNET_HEADER_BYTES + ethernet::HEADER_BYTES) else {
                continue;
            };
            if let Some(bytes) = self.of_path(&ethernet, &packet[..bytes], vnet_header[1]) {
                from_frame_to_packet(vnet_header);
                return Ok(Some(VNET_HEADER_BYTES + bytes));
            }
        }
    }

    /// Bytes of the packet, without padding of Ethernet's, if it is for the path. `gso`: of a super-packet, whose length
    /// fields say nothing.
    fn of_path(&self, header: &[u8], packet: &[u8], gso: u8) -> Option<usize> {
        let is_for_us = header[..6] == self.link_layer;
        if !is_for_us || !matches!(read_u16(header, ethernet::TYPE), TYPE_IPV4 | TYPE_IPV6) {
            return None;
        }
        let ip = Ip::parse(packet)?;
        let (_, destination) = ip.hosts(packet)?;
        let is_own = self.own.iter().any(|(own, _)| *own == destination);
        if is_own || !self.far.iter().any(|far| contains(far, destination)) {
            return None;
        }
        let stated = ip.packet_bytes(packet);
        match gso {
            0 => (stated <= packet.len()).then_some(stated),
            _ => Some(packet.len()),
        }
    }

    /// Sends a packet, preceded by its virtio-net header, to the neighbour that has its destination address. One that
    /// cannot be sent now is lost, and counted.
    pub(crate) fn write(&self, [first, second, third]: [&[u8]; 3]) -> io::Result<()> {
        let (vnet_header, start) = first.split_at(VNET_HEADER_BYTES);
        let Some((_, destination)) = Ip::parse(start).and_then(|ip| ip.hosts(start)) else {
            return Ok(());
        };
        let neighbour = {
            let mut neighbours = self
                .neighbours
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            neighbours.find(destination)?
        };
        let Some(neighbour) = neighbour else {
            self.note_unsent();
            return Ok(());
        };
        let mut vnet = [0; VNET_HEADER_BYTES];
        vnet.copy_from_slice(vnet_header);
        from_packet_to_frame(&mut vnet);
        let ethernet = ethernet::header(neighbour, self.link_layer, version(start));
        let parts = [&vnet[..], &ethernet, start, second, third].map(IoSlice::new);
        loop {
            match rustix::io::writev(&self.descriptor, &parts) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::NOBUFS | Errno::MSGSIZE) => {
                    self.note_unsent();
                    return Ok(());
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn note_unsent(&self) {
        self.unsent_pkts.fetch_add(1, Ordering::Relaxed);
    }

    /// Number of packets that were not read in time since this was last asked, and of those that could not be sent.
    pub(crate) fn dropped_pkts(&self) -> Result<u64, Error> {
        let mut statistics = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut bytes = size_of_val(&statistics) as libc::socklen_t;
        // SAFETY: the option is one `tpacket_stats`, which outlives the call, as does its length.
        let read = checked(unsafe {
            libc::getsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut statistics).cast(),
                &raw mut bytes,
            )
        });
        read.map_err(|source| Error::System {
            what: format!("cannot read the drops of interface {}", self.name),
            source,
        })?;
        Ok(u64::from(statistics.tp_drops) + self.unsent_pkts.load(Ordering::Relaxed))
    }
}

impl AsFd for Interface {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// The header of a frame becomes that of the packet in it: without Ethernet's in front, and with nothing but what asks
/// for a checksum.
fn from_frame_to_packet(vnet_header: &mut [u8]) {
    vnet_header[0] &= NEEDS_CSUM;
    if vnet_header[0] != 0 {
        move_start(vnet_header, |start| {
            start.saturating_sub(ethernet::HEADER_BYTES as u16)
        });
    }
}

fn from_packet_to_frame(vnet_header: &mut [u8; VNET_HEADER_BYTES]) {
    if vnet_header[0] & NEEDS_CSUM != 0 {
        move_start(vnet_header, |start| start + ethernet::HEADER_BYTES as u16);
    }
    if vnet_header[1] != 0 {
        // Bytes of the headers.
        let headers =
            u16::from_ne_bytes([vnet_header[2], vnet_header[3]]) + ethernet::HEADER_BYTES as u16;
        vnet_header[2..4].copy_from_slice(&headers.to_ne_bytes());
    }
}

fn move_start(vnet_header: &mut [u8], moved: impl FnOnce(u16) -> u16) {
    let field = VNET_CSUM_START..VNET_CSUM_START + 2;
    let start = u16::from_ne_bytes([
        vnet_header[VNET_CSUM_START],
        vnet_header[VNET_CSUM_START + 1],
    ]);
    vnet_header[field].copy_from_slice(&moved(start).to_ne_bytes());
}

/// Whether an address is in a network.
fn contains(&(network, bits): &Prefix, address: IpAddr) -> bool {
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let differ = network.to_bits() ^ address.to_bits();
            differ.leading_zeros() >= u32::from(bits)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let differ = network.to_bits() ^ address.to_bits();
            differ.leading_zeros() >= u32::from(bits)
        }
        _ => false,
    }
}

/// This machine's addresses at an interface, except those that are good for the link only.
fn networks_of(name: &str) -> Result<Vec<Prefix>, Error> {
    let read = || {
        let netlink = Netlink::open()?;
        let mut networks = netlink.addresses_of(netlink.index_of(name)?)?;
        networks.retain(|(address, _)| match address {
            IpAddr::V4(address) => !address.is_link_local(),
            IpAddr::V6(address) => !address.is_unicast_link_local(),
        });
        Ok(networks)
    };
    let networks = read().map_err(|source| cannot_open(name, source))?;
    if networks.is_empty() {
        return Err(Error::Refused(format!(
            "interface `{name}` has no address; give it one: `ip address add 193.167.0.2/24 dev {name}`"
        )));
    }
    Ok(networks)
}

fn cannot_open(name: &str, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::PermissionDenied => Error::Refused(
            "packets of interfaces need privilege; run as root, or in a container with `--cap-add NET_ADMIN --cap-add NET_RAW`".to_owned(),
        ),
        _ if source.raw_os_error() == Some(libc::ENODEV) => Error::Refused(format!(
            "there is no interface `{name}` here; name those to the client and the server: `--client-interface`, `--server-interface` (`ip link` lists them)"
        )),
        _ => Error::System {
            what: format!("cannot read the packets of interface {name}"),
            source,
        },
    }
}

/// A packet socket of an interface, which does not block, for packets of this type.
pub(crate) fn packet_socket(index: u32, kind: libc::c_int) -> io::Result<OwnedFd> {
    let kind = (kind as u16).to_be();
    let flags = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: it takes its arguments by value. Of no type yet: bound to one below, it has packets of this interface only.
    let descriptor = checked(unsafe { libc::socket(libc::AF_PACKET, flags, 0) })?;
    // SAFETY: the descriptor has just been made, and no one else has it.
    let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
    // SAFETY: `sockaddr_ll` is plain data, for which all zeroes is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = kind;
    address.sll_ifindex = index as libc::c_int;
    let bytes = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address outlives the call.
    checked(unsafe { libc::bind(descriptor.as_raw_fd(), (&raw const address).cast(), bytes) })?;
    Ok(descriptor)
}

/// Sets an option of a socket that is a number.
pub(crate) fn set(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    let bytes = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value outlives the call.
    checked(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            bytes,
        )
    })
    .map(drop)
}

/// What the kernel says of an interface (netdevice(7)).
fn asked(name: &str, request: libc::Ioctl) -> io::Result<libc::ifreq> {
    let any_socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
    // SAFETY: `ifreq` is plain data, for which all zeroes is a valid value.
    let mut asked: libc::ifreq = unsafe { std::mem::zeroed() };
    let room = asked.ifr_name.len() - 1;
    for (to, from) in asked.ifr_name.iter_mut().zip(name.bytes().take(room)) {
        *to = from as libc::c_char;
    }
    // SAFETY: the request reads and writes one `ifreq`, which outlives the call.
    checked(unsafe { libc::ioctl(any_socket.as_raw_fd(), request, &raw mut asked) })?;
    Ok(asked)
}

fn link_layer_of(name: &str) -> io::Result<LinkLayer> {
    let found = asked(name, libc::SIOCGIFHWADDR)?;
    // SAFETY: the kernel has just filled in this member of the union.
    let address = unsafe { found.ifr_ifru.ifru_hwaddr };
    let mut link_layer = [0; 6];
    for (to, from) in link_layer.iter_mut().zip(address.sa_data) {
        *to = from as u8;
    }
    Ok(link_layer)
}

fn mtu_of(name: &str) -> io::Result<u32> {
    let found = asked(name, libc::SIOCGIFMTU)?;
    // SAFETY: the kernel has just filled in this member of the union.
    Ok(unsafe { found.ifr_ifru.ifru_mtu } as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_in_their_networks() {
        let prefix = |text: &str, bits| (text.parse().expect("an address"), bits);
        let is_in =
            |prefix: Prefix, text: &str| contains(&prefix, text.parse().expect("an address"));
        let left = prefix("193.167.0.2", 24);
        assert!(is_in(left, "193.167.0.100") && !is_in(left, "193.167.100.100"));
        let left = prefix("fd00:cafe:cafe::2", 64);
        assert!(is_in(left, "fd00:cafe:cafe::100") && !is_in(left, "fd00:cafe:cafe:100::100"));
        assert!(!is_in(left, "193.167.0.100"));
        assert!(is_in(prefix("0.0.0.0", 0), "1.2.3.4"));
    }

    #[test]
    fn ethernet_s_header_is_taken_off_and_put_on() {
        let mut header = [3, 1, 54, 0, 0, 5, 34, 0, 16, 0];
        from_frame_to_packet(&mut header);
        assert_eq!(header, [1, 1, 54, 0, 0, 5, 20, 0, 16, 0]);
        header[2] = 40;
        from_packet_to_frame(&mut header);
        assert_eq!(header, [1, 1, 54, 0, 0, 5, 34, 0, 16, 0]);
    }
}
