//! Sets up a namespace's devices: the requests of rtnetlink(7) that a host needs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::hosts::netlink_message::{
    Answer, Message, address, number, put_attribute, short, terminated,
};

/// Bytes before the attributes: of `struct ifaddrmsg`, and of `ndmsg`.
const ADDRESS_BYTES: usize = 8;
const NEIGHBOUR_BYTES: usize = 12;
/// Metrics of routes: <https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/rtnetlink.h#L481>.
const RTAX_QUICKACK: u16 = 15;
const RTAX_CC_ALGO: u16 = 16;
/// Rules of routing: <https://github.com/torvalds/linux/blob/v6.12/include/uapi/linux/fib_rules.h>.
const FRA_IIFNAME: u16 = 3;
const FRA_PRIORITY: u16 = 6;
const FR_ACT_BLACKHOLE: u8 = 6;
/// The kernel's datagrams are at most this long (`NLMSG_GOODSIZE`, and of a dump 32 KiB).
const DATAGRAM_BYTES: usize = 1 << 16;

/// Settings of a device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceSettings {
    pub(crate) mtu_bytes: u32,
    /// Packets that may wait to be read.
    pub(crate) txqueuelen_pkts: u32,
    /// Most segments of a super-packet; `None`: the kernel's default.
    pub(crate) gso_max_segs: Option<u32>,
}

/// What connections get from their route.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RouteConnections<'a> {
    /// The congestion control of those that choose none.
    pub(crate) kernel_cc: Option<&'a str>,
    /// No ACK is delayed.
    pub(crate) quick_ack: bool,
}

/// A connection to rtnetlink in the network namespace of the thread that opened it.
#[derive(Debug)]
pub(crate) struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        // Without a protocol: NETLINK_ROUTE is 0.
        let socket = rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        rustix::net::connect(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Number of the device called `name`.
    pub(crate) fn index_of(&self, name: &str) -> io::Result<u32> {
        let any_socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        Ok(rustix::net::netdevice::name_to_index(&any_socket, name)?)
    }

    /// Switches a device on.
    pub(crate) fn set_up(&self, index: u32) -> io::Result<()> {
        self.request(link_message(index, libc::IFF_UP as u32), 0)
    }

    /// Sets a device that is still down.
    pub(crate) fn set_device(&self, index: u32, device: DeviceSettings) -> io::Result<()> {
        let mut message = link_message(index, 0)
            .with_number(libc::IFLA_MTU, device.mtu_bytes)
            .with_number(libc::IFLA_TXQLEN, device.txqueuelen_pkts);
        if let Some(segments) = device.gso_max_segs {
            message = message.with_number(libc::IFLA_GSO_MAX_SEGS, segments);
        }
        self.request(message, 0)
    }

    /// Gives a point-to-point device its address, without a route to the peer: it would be preferred to the default
    /// route and has none of its metrics. An IPv6 address may be used at once: no other host can have it.
    pub(crate) fn add_address(&self, index: u32, own: IpAddr, peer: IpAddr) -> io::Result<()> {
        let no_route = libc::IFA_F_NOPREFIXROUTE;
        let (prefix_len, flags) = match own {
            IpAddr::V4(_) => (32, no_route),
            IpAddr::V6(_) => (128, no_route | libc::IFA_F_NODAD),
        };
        // struct ifaddrmsg
        let mut fixed = [0; ADDRESS_BYTES];
        fixed[..2].copy_from_slice(&[family_byte(family_of(own)), prefix_len]);
        fixed[4..].copy_from_slice(&index.to_ne_bytes());
        let mut message = Message::new(libc::RTM_NEWADDR, &fixed)
            .with_address(libc::IFA_LOCAL, own)
            .with_number(libc::IFA_FLAGS, flags);
        // The kernel adds a route to an IPv6 peer regardless of the flags, so the address has none.
        if own.is_ipv4() {
            message = message.with_address(libc::IFA_ADDRESS, peer);
        }
        self.request(message, libc::NLM_F_CREATE | libc::NLM_F_EXCL)
    }

    /// Routes everything of the IP version of `own` through a device, instead of what did.
    pub(crate) fn set_default_route(
        &self,
        index: u32,
        own: IpAddr,
        connections: RouteConnections<'_>,
    ) -> io::Result<()> {
        // struct rtmsg
        let mut fixed = [0; 12];
        fixed[0] = family_byte(family_of(own));
        fixed[4] = libc::RT_TABLE_MAIN;
        fixed[5] = libc::RTPROT_STATIC;
        fixed[6] = libc::RT_SCOPE_LINK;
        fixed[7] = libc::RTN_UNICAST;
        let mut metrics = Vec::new();
        if let Some(kernel_cc) = connections.kernel_cc {
            put_attribute(&mut metrics, RTAX_CC_ALGO, &terminated(kernel_cc));
        }
        if connections.quick_ack {
            put_attribute(&mut metrics, RTAX_QUICKACK, &1_u32.to_ne_bytes());
        }
        let mut message =
            Message::new(libc::RTM_NEWROUTE, &fixed).with_number(libc::RTA_OIF, index);
        if !metrics.is_empty() {
            message = message.with(libc::RTA_METRICS, &metrics);
        }
        self.request(message, libc::NLM_F_CREATE | libc::NLM_F_REPLACE)
    }

    /// Addresses of a device, and the lengths of their networks' prefixes.
    pub(crate) fn addresses_of(&self, index: u32) -> io::Result<Vec<(IpAddr, u8)>> {
        let mut found = Vec::new();
        let message = Message::new(libc::RTM_GETADDR, &[0; ADDRESS_BYTES]);
        self.send(message, libc::NLM_F_DUMP)?;
        loop {
            let datagram = self.receive()?;
            let mut rest = &datagram[..];
            while !rest.is_empty() {
                let answer;
                (answer, rest) = Answer::first(rest)?;
                if i32::from(answer.kind) == libc::NLMSG_DONE {
                    return Ok(found);
                }
                if let Some(error) = answer.error() {
                    return Err(error);
                }
                if answer.kind != libc::RTM_NEWADDR || number(answer.body, 4) != Some(index) {
                    continue;
                }
                let value = |kind| answer.attribute(ADDRESS_BYTES, kind).and_then(address);
                // IPv6 has no local address unless there is a peer's.
                let own = value(libc::IFA_LOCAL).or_else(|| value(libc::IFA_ADDRESS));
                found.extend(own.map(|own| (own, answer.body[1])));
            }
        }
    }

    /// The link-layer address that the kernel knows of a neighbour.
    pub(crate) fn neighbour(&self, index: u32, address: IpAddr) -> io::Result<Option<[u8; 6]>> {
        self.send(neighbour_message(libc::RTM_GETNEIGH, index, address, 0), 0)?;
        let datagram = self.receive()?;
        let (answer, _) = Answer::first(&datagram)?;
        if answer.kind != libc::RTM_NEWNEIGH {
            return Ok(None); // it has never been asked for
        }
        let is_known = !matches!(
            short(answer.body, 8),
            None | Some(libc::NUD_NONE | libc::NUD_INCOMPLETE | libc::NUD_FAILED)
        );
        let link_layer = answer.attribute(NEIGHBOUR_BYTES, libc::NDA_LLADDR);
        let link_layer = link_layer.and_then(|bytes| <[u8; 6]>::try_from(bytes).ok());
        Ok(link_layer.filter(|_| is_known))
    }

    /// Lets the kernel ask for a neighbour's link-layer address, by ARP or neighbour discovery.
    pub(crate) fn ask_for_neighbour(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let message = neighbour_message(libc::RTM_NEWNEIGH, index, address, libc::NTF_USE);
        self.request(message, libc::NLM_F_CREATE)
    }

    /// Keeps the kernel from forwarding what comes in by the device called `name`; what is for this machine itself still
    /// arrives, by the rule before this one.
    pub(crate) fn stop_forwarding(&self, name: &str, family: AddressFamily) -> io::Result<()> {
        let message = no_forwarding(libc::RTM_NEWRULE, name, family);
        match self.request(message, libc::NLM_F_CREATE | libc::NLM_F_EXCL) {
            // One that was killed has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Undoes the effect of [`Netlink::stop_forwarding`].
    pub(crate) fn allow_forwarding(&self, name: &str, family: AddressFamily) -> io::Result<()> {
        self.request(no_forwarding(libc::RTM_DELRULE, name, family), 0)
    }

    fn request(&self, message: Message, flags: i32) -> io::Result<()> {
        self.send(message, libc::NLM_F_ACK | flags)?;
        let datagram = self.receive()?;
        Answer::first(&datagram)?.0.error().map_or(Ok(()), Err)
    }

    fn send(&self, message: Message, flags: i32) -> io::Result<()> {
        let request = message.into_request(flags);
        rustix::net::send(&self.socket, &request, SendFlags::empty())?;
        Ok(())
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut datagram = vec![0; DATAGRAM_BYTES];
        let (length, _) = rustix::net::recv(&self.socket, &mut datagram[..], RecvFlags::empty())?;
        datagram.truncate(length);
        Ok(datagram)
    }
}

/// `struct ifinfomsg`: sets `flags`, and no others.
fn link_message(index: u32, flags: u32) -> Message {
    let mut fixed = [0; 16];
    fixed[4..8].copy_from_slice(&index.to_ne_bytes());
    fixed[8..12].copy_from_slice(&flags.to_ne_bytes());
    fixed[12..].copy_from_slice(&flags.to_ne_bytes());
    Message::new(libc::RTM_SETLINK, &fixed)
}

/// A question or a change about a neighbour, `struct ndmsg`.
fn neighbour_message(kind: u16, index: u32, address: IpAddr, flags: u8) -> Message {
    let mut fixed = [0; NEIGHBOUR_BYTES];
    fixed[0] = family_byte(family_of(address));
    fixed[4..8].copy_from_slice(&index.to_ne_bytes());
    fixed[10] = flags;
    Message::new(kind, &fixed).with_address(libc::NDA_DST, address)
}

/// `struct fib_rule_hdr`: the rule that follows the one of local addresses.
fn no_forwarding(kind: u16, name: &str, family: AddressFamily) -> Message {
    let mut fixed = [0; 12];
    fixed[0] = family_byte(family);
    fixed[7] = FR_ACT_BLACKHOLE;
    Message::new(kind, &fixed)
        .with(FRA_IIFNAME, &terminated(name))
        .with_number(FRA_PRIORITY, 1)
}

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::INET,
        IpAddr::V6(_) => AddressFamily::INET6,
    }
}

/// A family as messages have it.
fn family_byte(family: AddressFamily) -> u8 {
    family.as_raw() as u8
}
