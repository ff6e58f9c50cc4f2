//! Sets up a namespace's devices: the requests of rtnetlink(7) that a host needs.

use std::io;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressFlags, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

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
    socket: Socket,
}

impl Netlink {
    pub(crate) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self { socket })
    }

    /// Number of the device called `name`.
    pub(crate) fn index_of(&self, name: &str) -> io::Result<u32> {
        let any_socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        Ok(rustix::net::netdevice::name_to_index(&any_socket, name)?)
    }

    /// Switches a device on.
    pub(crate) fn set_up(&self, index: u32) -> io::Result<()> {
        self.change_link(index, Vec::new(), LinkFlags::Up)
    }

    /// Sets a device that is still down.
    pub(crate) fn set_device(&self, index: u32, device: DeviceSettings) -> io::Result<()> {
        let mut attributes = vec![
            LinkAttribute::Mtu(device.mtu_bytes),
            LinkAttribute::TxQueueLen(device.txqueuelen_pkts),
        ];
        attributes.extend(device.gso_max_segs.map(LinkAttribute::GsoMaxSegs));
        self.change_link(index, attributes, LinkFlags::empty())
    }

    /// Gives a point-to-point device its address, without a route to the peer: it would be preferred to the default
    /// route and has none of its metrics. An IPv6 address may be used at once: no other host can have it.
    pub(crate) fn add_address(&self, index: u32, own: IpAddr, peer: IpAddr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family_of(own);
        message.header.index = index;
        let no_route = AddressFlags::Noprefixroute;
        let flags;
        (message.header.prefix_len, flags) = match own {
            IpAddr::V4(_) => (32, no_route),
            IpAddr::V6(_) => (128, no_route | AddressFlags::Nodad),
        };
        message.attributes = vec![AddressAttribute::Local(own), AddressAttribute::Flags(flags)];
        // The kernel adds a route to an IPv6 peer regardless of the flags, so the address has none.
        if own.is_ipv4() {
            (message.attributes).push(AddressAttribute::Address(peer));
        }
        self.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Routes everything of the IP version of `own` through a device, instead of what did.
    pub(crate) fn set_default_route(
        &self,
        index: u32,
        own: IpAddr,
        connections: RouteConnections<'_>,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header = RouteHeader {
            address_family: family_of(own),
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Link,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        let kernel_cc = connections.kernel_cc.map(str::to_owned);
        let metrics: Vec<RouteMetric> = (kernel_cc.map(RouteMetric::CcAlgo).into_iter())
            .chain(connections.quick_ack.then_some(RouteMetric::QuickAck(1)))
            .collect();
        message.attributes = vec![RouteAttribute::Oif(index)];
        if !metrics.is_empty() {
            (message.attributes).push(RouteAttribute::Metrics(metrics));
        }
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    /// Addresses of a device, and the lengths of their networks' prefixes.
    pub(crate) fn addresses_of(&self, index: u32) -> io::Result<Vec<(IpAddr, u8)>> {
        let mut found = Vec::new();
        self.send(
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
            NLM_F_DUMP,
        )?;
        loop {
            let (datagram, _) = self.socket.recv_from_full()?;
            let mut rest = &datagram[..];
            while !rest.is_empty() {
                let answer = parsed(rest)?;
                let bytes = (answer.header.length as usize).next_multiple_of(4);
                rest = rest.get(bytes..).unwrap_or(&[]);
                match answer.payload {
                    NetlinkPayload::Done(_) => return Ok(found),
                    NetlinkPayload::Error(error) if error.code.is_some() => {
                        return Err(error.to_io());
                    }
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewAddress(message))
                        if message.header.index == index =>
                    {
                        let own = message
                            .attributes
                            .iter()
                            .find_map(|attribute| match attribute {
                                AddressAttribute::Local(address) => Some(*address),
                                _ => None,
                            });
                        let any = message
                            .attributes
                            .iter()
                            .find_map(|attribute| match attribute {
                                AddressAttribute::Address(address) => Some(*address),
                                _ => None,
                            });
                        // IPv6 has no local address unless there is a peer's.
                        found.extend(own.or(any).map(|own| (own, message.header.prefix_len)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// The link-layer address that the kernel knows of a neighbour.
    pub(crate) fn neighbour(&self, index: u32, address: IpAddr) -> io::Result<Option<[u8; 6]>> {
        let message = neighbour_message(index, address, NeighbourFlags::empty());
        self.send(RouteNetlinkMessage::GetNeighbour(message), 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewNeighbour(found)) =
            parsed(&answer)?.payload
        else {
            return Ok(None); // it has never been asked for
        };
        let is_known = !matches!(
            found.header.state,
            NeighbourState::None | NeighbourState::Incomplete | NeighbourState::Failed
        );
        let link_layer = found
            .attributes
            .iter()
            .find_map(|attribute| match attribute {
                NeighbourAttribute::LinkLayerAddress(bytes) => <[u8; 6]>::try_from(&bytes[..]).ok(),
                _ => None,
            });
        Ok(link_layer.filter(|_| is_known))
    }

    /// Lets the kernel ask for a neighbour's link-layer address, by ARP or neighbour discovery.
    pub(crate) fn ask_for_neighbour(&self, index: u32, address: IpAddr) -> io::Result<()> {
        let message = neighbour_message(index, address, NeighbourFlags::Use);
        self.request(RouteNetlinkMessage::NewNeighbour(message), NLM_F_CREATE)
    }

    /// Keeps the kernel from forwarding what comes in by the device called `name`; what is for this machine itself still
    /// arrives, by the rule before this one.
    pub(crate) fn stop_forwarding(&self, name: &str, family: AddressFamily) -> io::Result<()> {
        let message = no_forwarding(name, family);
        match self.request(
            RouteNetlinkMessage::NewRule(message),
            NLM_F_CREATE | NLM_F_EXCL,
        ) {
            // One that was killed has left it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => other,
        }
    }

    /// Undoes the effect of [`Netlink::stop_forwarding`].
    pub(crate) fn allow_forwarding(&self, name: &str, family: AddressFamily) -> io::Result<()> {
        self.request(RouteNetlinkMessage::DelRule(no_forwarding(name, family)), 0)
    }

    fn change_link(
        &self,
        index: u32,
        attributes: Vec<LinkAttribute>,
        flags: LinkFlags,
    ) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = flags;
        message.header.change_mask = flags;
        message.attributes = attributes;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.send(message, NLM_F_ACK | flags)?;
        let (answer, _) = self.socket.recv_from_full()?;
        match parsed(&answer)?.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }

    fn send(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | flags;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0).map(drop)
    }
}

fn parsed(message: &[u8]) -> io::Result<NetlinkMessage<RouteNetlinkMessage>> {
    NetlinkMessage::deserialize(message).map_err(|error| io::Error::other(error.to_string()))
}

fn neighbour_message(index: u32, address: IpAddr, flags: NeighbourFlags) -> NeighbourMessage {
    let mut message = NeighbourMessage::default();
    message.header.family = family_of(address);
    message.header.ifindex = index;
    message.header.flags = flags;
    let address = match address {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    };
    message.attributes = vec![NeighbourAttribute::Destination(address)];
    message
}

/// The rule that follows the one of local addresses.
fn no_forwarding(name: &str, family: AddressFamily) -> RuleMessage {
    let mut message = RuleMessage::default();
    message.header.family = family;
    message.header.action = RuleAction::Blackhole;
    message.attributes = vec![
        RuleAttribute::Iifname(name.to_owned()),
        RuleAttribute::Priority(1),
    ];
    message
}

fn family_of(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}
