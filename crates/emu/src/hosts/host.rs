//! The hosts of the dumbbell: one on either side for every group.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use dumbbell_net::{DATA_HEADER_BYTES, ETHERNET_HEADER_BYTES};
use dumbbell_scenario::address_plan::{host_addresses, host_addresses6};
use dumbbell_scenario::{Group, Scenario, Way};

use crate::error::Error;
use crate::hosts::device::Device;
use crate::hosts::interface::Interface;
use crate::hosts::namespace::Namespace;
use crate::hosts::netlink::{DeviceSettings, Netlink, RouteConnections};
use crate::hosts::port::{Outgoing, Port};
use crate::hosts::sysctls::{IPV6_SETTINGS, cannot_set, set_sysctls, set_sysctls_of_programs};
use crate::hosts::tun::{DEVICE, Offload, Tun};
use crate::packet::super_packet::Taken;

pub(crate) use dumbbell_scenario::address_plan::{FIRST_FLOW_PORT, RECEIVER_PORT};

/// Packets that may wait between a host's TCP and the relay. More than any window that a run on one
/// machine reaches; if it is not enough, the device counts what it drops and the verdict reports
/// it.
const TXQUEUELEN_PKTS: u32 = 65_536;

/// A host: a separate machine as far as TCP is concerned, with one device.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) namespace: Namespace,
    pub(crate) device: Device,
    pub(crate) address: Ipv4Addr,
    /// IPv6 address of a host of programs, where the kernel has IPv6.
    pub(crate) address6: Option<Ipv6Addr>,
    /// Whether the user's programs run in it, and not flows of ours.
    pub(crate) runs_programs: bool,
    /// Whether it passes on what is not for it.
    pub(crate) is_gateway: bool,
    /// Its packets with ECT(0) enter the path as ECT(1): what an L4S sender sends (RFC 9331 §4.1), and Linux does
    /// not after the handshake.
    pub(crate) is_l4s: bool,
}

/// All hosts of a run.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Hosts that send, one of each group.
    pub(crate) senders: Vec<Host>,
    /// Hosts that receive, one of each group.
    pub(crate) receivers: Vec<Host>,
}

/// What differs between the two hosts of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Sender,
    Receiver,
}

impl Hosts {
    /// Makes the hosts that `scenario` needs; they vanish when this is dropped.
    pub(crate) fn new(scenario: &Scenario) -> Result<Self, Error> {
        Self::with_first(scenario, Vec::new(), Vec::new())
    }

    /// Makes hosts like [`Hosts::new`], except that those of the first group are machines behind these interfaces.
    pub(crate) fn between(
        scenario: &Scenario,
        server: Interface,
        client: Interface,
    ) -> Result<Self, Error> {
        let (sender, receiver) = (Host::behind(server)?, Host::behind(client)?);
        Self::with_first(scenario, vec![sender], vec![receiver])
    }

    fn with_first(
        scenario: &Scenario,
        senders: Vec<Host>,
        receivers: Vec<Host>,
    ) -> Result<Self, Error> {
        let all = |role, mut hosts: Vec<Host>| {
            for (index, group) in (0..).zip(&scenario.groups).skip(hosts.len()) {
                hosts.push(Host::new(role, index, group)?);
            }
            Ok::<_, Error>(hosts)
        };
        Ok(Self {
            senders: all(Role::Sender, senders)?,
            receivers: all(Role::Receiver, receivers)?,
        })
    }

    /// The hosts of a guest, which are made there; by group the sender's and the receiver's are numbered.
    pub(crate) fn of_guest(
        scenario: &Scenario,
        outgoing: &Arc<Mutex<Outgoing>>,
    ) -> Result<Self, Error> {
        let made = |role| -> Result<Vec<Host>, Error> {
            let groups = (0..).zip(&scenario.groups);
            groups
                .map(|(index, group)| {
                    let number = 2 * u32::from(index) + u32::from(role == Role::Receiver);
                    let runs_programs = group.program.is_some();
                    let (sender6, receiver6) = host_addresses6(index);
                    let address6 = [sender6, receiver6][usize::from(role == Role::Receiver)];
                    Ok(Host {
                        namespace: Namespace::current()?,
                        device: Device::Guest(Port::new(number, outgoing)),
                        address: Addresses::new(role, index, group).v4.0,
                        address6: runs_programs.then_some(address6),
                        runs_programs,
                        is_gateway: false,
                        is_l4s: false,
                    })
                })
                .collect()
        };
        Ok(Self {
            senders: made(Role::Sender)?,
            receivers: made(Role::Receiver)?,
        })
    }

    /// Whether all are ours, and not machines behind interfaces.
    pub(crate) fn are_ours(&self) -> bool {
        let all = self.senders.iter().chain(&self.receivers);
        all.into_iter()
            .all(|host| !matches!(host.device, Device::Interface(_)))
    }

    /// Lets the packets of both hosts of `group` enter the path as L4S's, and its sender's leave one by one where a
    /// millisecond of the pacing rate is no more: what a congestion control of L4S asks for by `min_tso_segs`, which
    /// some kernels cannot have (`bpf/skipping_kernel.rs`). Linux's default is two packets.
    pub(crate) fn identify_as_l4s(&mut self, group: usize) -> Result<(), Error> {
        const MIN_TSO_SEGS: &str = "/proc/sys/net/ipv4/tcp_min_tso_segs";
        self.mark_as_l4s(group);
        let namespace = &self.senders[group].namespace;
        let written = namespace.within(|| fs::write(MIN_TSO_SEGS, "1"))?;
        written.map_err(|source| cannot_set(MIN_TSO_SEGS, source))
    }

    /// Lets the packets of both hosts of `group` enter the path as L4S's.
    pub(crate) fn mark_as_l4s(&mut self, group: usize) {
        self.senders[group].is_l4s = true;
        self.receivers[group].is_l4s = true;
    }

    /// The host whose packets go this way.
    #[inline]
    pub(crate) fn entrance(&self, way: Way, group: u16) -> &Host {
        match way {
            Way::There => &self.senders[usize::from(group)],
            Way::Back => &self.receivers[usize::from(group)],
        }
    }

    /// The host that packets reach on this way.
    #[inline]
    pub(crate) fn exit(&self, way: Way, group: u16) -> &Host {
        match way {
            Way::There => &self.receivers[usize::from(group)],
            Way::Back => &self.senders[usize::from(group)],
        }
    }

    /// Makes `kernel_cc` the congestion control that programs in both hosts of a group get, by its routes: in a namespace
    /// `net.ipv4.tcp_congestion_control` takes only those that the machine allows to everybody.
    pub(crate) fn set_congestion_control(
        &self,
        index: usize,
        group: &Group,
        kernel_cc: &str,
    ) -> Result<(), Error> {
        let hosts = [
            (&self.senders[index], false),
            (&self.receivers[index], !group.host.delayed_ack),
        ];
        for (host, quick_ack) in hosts {
            let connections = RouteConnections {
                kernel_cc: Some(kernel_cc),
                quick_ack,
            };
            let set = host.namespace.within(|| {
                let netlink = Netlink::open()?;
                let device = netlink.index_of(DEVICE)?;
                for own in host.addresses() {
                    netlink.set_default_route(device, own, connections)?;
                }
                Ok(())
            })?;
            set.map_err(|source| Error::System {
                what: format!("cannot make `{kernel_cc}` the congestion control of group {index}"),
                source,
            })?;
        }
        Ok(())
    }

    /// Number of packets lost between the hosts' TCP and the path.
    pub(crate) fn dropped_pkts(&self) -> Result<u64, Error> {
        let mut dropped_pkts = 0;
        for host in self.senders.iter().chain(&self.receivers) {
            dropped_pkts += host.dropped_pkts()?;
        }
        Ok(dropped_pkts)
    }
}

impl Host {
    fn new(role: Role, group_index: u16, group: &Group) -> Result<Self, Error> {
        let namespace = Namespace::new()?;
        let addresses = Addresses::new(role, group_index, group);
        let (runs_programs, offload) = match group.program {
            Some(_) => (true, Offload::All),
            None => (false, Offload::Tcp4),
        };
        let tun = namespace.within(|| {
            match runs_programs {
                true => set_sysctls_of_programs(group)?,
                false => set_sysctls(group)?,
            }
            let tun = Tun::open(offload)?;
            set_devices(role, addresses, group).map_err(|source| Error::System {
                what: format!("cannot set up device {DEVICE} of group {group_index}"),
                source,
            })?;
            Ok::<_, Error>(tun)
        })??;
        Ok(Self {
            namespace,
            device: Device::Tun(tun),
            address: addresses.v4.0,
            address6: addresses.v6.map(|(own, _)| own),
            runs_programs,
            is_gateway: false,
            is_l4s: false,
        })
    }

    /// What is behind an interface of this machine.
    fn behind(interface: Interface) -> Result<Self, Error> {
        Ok(Self {
            namespace: Namespace::current()?,
            address: interface.address(),
            address6: None,
            device: Device::Interface(Box::new(interface)),
            runs_programs: true,
            is_gateway: false,
            is_l4s: false,
        })
    }

    /// What it takes from the path; `None`: anything, for what is not for the path is not read.
    pub(crate) fn taken(&self) -> Option<Taken> {
        match self.device {
            Device::Tun(_) | Device::Guest(_) => Some(Taken {
                address: self.address,
                address6: self.address6,
                any_protocol: self.runs_programs,
                for_others: self.is_gateway,
            }),
            Device::Interface(_) => None,
        }
    }

    /// Addresses of this host, IPv4's first.
    pub(crate) fn addresses(&self) -> Vec<IpAddr> {
        let addresses = [Some(self.address.into()), self.address6.map(IpAddr::from)];
        addresses.into_iter().flatten().collect()
    }

    /// Number of packets that the device dropped: not read in time, or not accepted by the host.
    fn dropped_pkts(&self) -> Result<u64, Error> {
        const STATISTICS: &str = "/proc/thread-self/net/dev";
        if let Device::Interface(interface) = &self.device {
            return interface.dropped_pkts();
        }
        let read = self.namespace.within(|| fs::read_to_string(STATISTICS))?;
        read.and_then(|table| {
            drops(&table)
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no such device"))
        })
        .map_err(|source| Error::System {
            what: format!("cannot read the drops of {DEVICE} in {STATISTICS}"),
            source,
        })
    }
}

/// Addresses of a host and its peer.
#[derive(Clone, Copy, Debug)]
struct Addresses {
    v4: (Ipv4Addr, Ipv4Addr),
    v6: Option<(Ipv6Addr, Ipv6Addr)>,
}

impl Addresses {
    fn new(role: Role, group_index: u16, group: &Group) -> Self {
        fn of_role<T>(role: Role, (sender, receiver): (T, T)) -> (T, T) {
            match role {
                Role::Sender => (sender, receiver),
                Role::Receiver => (receiver, sender),
            }
        }
        let has_v6 = group.program.is_some() && Path::new(IPV6_SETTINGS).exists();
        Self {
            v4: of_role(role, host_addresses(group_index)),
            v6: has_v6.then(|| of_role(role, host_addresses6(group_index))),
        }
    }
}

/// Largest IP packet of a group, bytes: what its programs' devices take, or TCP's headers with timestamps and a full
/// segment.
pub(crate) fn mtu_bytes(group: &Group) -> u32 {
    match &group.program {
        Some(program) => program.mtu_bytes,
        None => group.host.mss_bytes + DATA_HEADER_BYTES - ETHERNET_HEADER_BYTES,
    }
}

fn set_devices(role: Role, addresses: Addresses, group: &Group) -> io::Result<()> {
    let netlink = Netlink::open()?;
    netlink.set_up(netlink.index_of("lo")?)?;
    let index = netlink.index_of(DEVICE)?;
    let device = DeviceSettings {
        mtu_bytes: mtu_bytes(group),
        txqueuelen_pkts: TXQUEUELEN_PKTS,
        gso_max_segs: (!group.host.tso).then_some(1),
    };
    netlink.set_device(index, device)?;
    let (own, peer): (IpAddr, IpAddr) = (addresses.v4.0.into(), addresses.v4.1.into());
    netlink.add_address(index, own, peer)?;
    netlink.set_up(index)?;
    let connections = RouteConnections {
        kernel_cc: None,
        quick_ack: role == Role::Receiver && !group.host.delayed_ack,
    };
    netlink.set_default_route(index, own, connections)?;
    if let Some((own, peer)) = addresses.v6 {
        // A device has no address of IPv6 while it is down.
        netlink.add_address(index, own.into(), peer.into())?;
        netlink.set_default_route(index, own.into(), connections)?;
    }
    Ok(())
}

/// The `drop` columns of both halves of /proc/net/dev for our device.
fn drops(table: &str) -> Option<u64> {
    const DROP_COLUMNS: [usize; 2] = [3, 11];
    let line = table
        .lines()
        .find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'))?;
    let columns: Vec<&str> = line.split_ascii_whitespace().collect();
    let drops_in = |column: usize| columns.get(column)?.parse::<u64>().ok();
    DROP_COLUMNS.into_iter().map(drops_in).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drop_columns_are_found() {
        let table = "Inter-|   Receive                                                |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    \
            lo:       1       2    3    4    5     6          7         8        9       10   11   12   13    14      15         16\n  \
            tun0:      21      22   23   24   25    26         27        28       29       30   31   32   33    34      35         36\n";
        assert_eq!(drops(table), Some(24 + 32));
        assert_eq!(drops("lo: 1 2"), None);
    }
}
