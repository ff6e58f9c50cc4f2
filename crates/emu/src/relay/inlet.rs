//! Where packets enter a part of the network: devices of hosts, read and split.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use dumbbell_scenario::Way;

use super::flow_table::{FlowTable, Owner};
use crate::applications::NO_FLOW;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::packet::frame::{Frame, GroupRoute, Kind, Pool};
use crate::packet::segment::Segment;
use crate::packet::super_packet::{Foreign, MAX_READ_BYTES, SuperPacket};

/// A packet that enters the path.
#[derive(Debug)]
pub(crate) struct Entering {
    pub(crate) frame: Frame,
    pub(crate) owner: Owner,
    /// What it says of itself, if it is TCP.
    pub(crate) segment: Option<Segment>,
}

/// The way in.
#[derive(Debug)]
pub(crate) struct Inlet {
    /// Each begins at an entrance: a host whose device is read.
    pub(crate) routes: Vec<GroupRoute>,
    pub(crate) hosts: Arc<Hosts>,
    flow_table: FlowTable,
    read_buffer: Box<[u8]>,
    pool: Arc<Pool>,
    /// Reads that were no packet of the path.
    pub(crate) foreign_pkts: u64,
}

impl Inlet {
    /// What hosts send on `routes` enters in buffers of `pool`.
    pub(crate) fn new(
        routes: Vec<GroupRoute>,
        hosts: &Arc<Hosts>,
        flow_table: FlowTable,
        pool: Arc<Pool>,
    ) -> Self {
        Self {
            routes,
            hosts: Arc::clone(hosts),
            flow_table,
            read_buffer: vec![0; MAX_READ_BYTES].into_boxed_slice(),
            pool,
            foreign_pkts: 0,
        }
    }

    /// The devices that are read, by entrance.
    pub(crate) fn descriptors<'a>(&self, hosts: &'a Hosts) -> impl Iterator<Item = BorrowedFd<'a>> {
        let routes = self.routes.iter();
        routes.filter_map(|route| {
            let host = hosts.entrance(route.way, route.group);
            host.device.descriptor()
        })
    }

    /// Reads once at an entrance: how many bytes, if there was anything.
    #[inline]
    pub(crate) fn read(&mut self, entrance: usize) -> Result<Option<usize>, Error> {
        let GroupRoute { group, way } = self.routes[entrance];
        let device = &self.hosts.entrance(way, group).device;
        device
            .read(&mut self.read_buffer)
            .map_err(|source| Error::System {
                what: format!(
                    "cannot read what the {} of group {group} sends",
                    entrance_name(way)
                ),
                source,
            })
    }

    /// Gives the packets in the `bytes` that were read at `entrance` to `enter`, one by one.
    #[inline]
    pub(crate) fn split(&mut self, entrance: usize, bytes: usize, mut enter: impl FnMut(Entering)) {
        let route = self.routes[entrance];
        let GroupRoute { group, way } = route;
        let taken = self.hosts.exit(way, group).taken();
        let from = self.hosts.entrance(way, group);
        let packets = match SuperPacket::parse(&self.read_buffer[..bytes], taken.as_ref()) {
            Ok(packets) => packets,
            Err(Foreign) => {
                self.foreign_pkts += 1;
                return;
            }
        };
        let owner = match from.runs_programs {
            true => {
                let server = self.hosts.entrance(Way::There, group);
                let gateway = server.is_gateway.then_some(server);
                self.flow_table.owner_of_program(route, &packets, gateway)
            }
            false => {
                (packets.ports()).map_or(Owner::NONE, |ports| self.flow_table.owner(group, ports))
            }
        };
        let without_segment = match from.runs_programs && !packets.has_datagrams() {
            true => Kind::Control,
            false => Kind::Datagram,
        };
        for index in 0..packets.packets() {
            let mut buffer = self.pool.take();
            let Some(bytes) = packets.write(index, &mut buffer.bytes) else {
                self.foreign_pkts += 1;
                continue;
            };
            let segment = packets.segment_of(index);
            let kind = match segment {
                _ if owner.flow == NO_FLOW => Kind::Other,
                Some(segment) if segment.payload_bytes > 0 => Kind::Data,
                Some(_) => Kind::Control,
                None => without_segment,
            };
            let mut frame = Frame::new(buffer, bytes, route, kind, owner.flow);
            frame.is_of_program = from.runs_programs;
            if from.is_l4s && segment.is_some() {
                frame.identify_as_l4s();
            }
            enter(Entering {
                frame,
                owner,
                segment,
            });
        }
    }
}

fn entrance_name(way: Way) -> &'static str {
    match way {
        Way::There => "sender",
        Way::Back => "receiver",
    }
}
