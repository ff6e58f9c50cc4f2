//! Where packets enter a direction: the devices of the hosts on one side, read and split.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;

use super::flow_table::{FlowTable, NO_FLOW};
use crate::error::Error;
use crate::hosts::host::{Host, Hosts};
use crate::packet::frame::{Frame, Kind, Pool};
use crate::packet::super_packet::{Foreign, MAX_READ_BYTES, SuperPacket};
use crate::packet::wire::Segment;

/// Whose devices are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Senders,
    Receivers,
}

impl Side {
    /// The devices that are read, by group.
    pub(crate) fn descriptors(self, hosts: &Hosts) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.hosts(hosts).iter().map(|host| host.tun.as_fd())
    }

    fn hosts(self, hosts: &Hosts) -> &[Host] {
        match self {
            Self::Senders => &hosts.senders,
            Self::Receivers => &hosts.receivers,
        }
    }

    fn peers(self, hosts: &Hosts) -> &[Host] {
        match self {
            Self::Senders => &hosts.receivers,
            Self::Receivers => &hosts.senders,
        }
    }

    /// The port that says which flow it is: the sender's.
    #[inline]
    fn flow_port(self, segment: &Segment) -> u16 {
        match self {
            Self::Senders => segment.source_port,
            Self::Receivers => segment.destination_port,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Senders => "sender",
            Self::Receivers => "receiver",
        }
    }
}

/// A packet that enters the path.
#[derive(Debug)]
pub(crate) struct Entering {
    pub(crate) frame: Frame,
    /// [`NO_FLOW`] if it belongs to none.
    pub(crate) flow: u32,
    /// What it says of itself, if it is TCP.
    pub(crate) segment: Option<Segment>,
}

/// The way in.
#[derive(Debug)]
pub(crate) struct Inlet {
    pub(crate) side: Side,
    pub(crate) hosts: Arc<Hosts>,
    flow_table: FlowTable,
    read_buffer: Box<[u8]>,
    pool: Arc<Pool>,
    /// Reads that were no packet of the path.
    pub(crate) foreign_pkts: u64,
}

impl Inlet {
    /// What hosts on `side` send enters in buffers of `pool`.
    pub(crate) fn new(
        side: Side,
        hosts: &Arc<Hosts>,
        flow_table: FlowTable,
        pool: Arc<Pool>,
    ) -> Self {
        Self {
            side,
            hosts: Arc::clone(hosts),
            flow_table,
            read_buffer: vec![0; MAX_READ_BYTES].into_boxed_slice(),
            pool,
            foreign_pkts: 0,
        }
    }

    /// Reads once from the device of group `host`: how many bytes, if there was anything.
    #[inline]
    pub(crate) fn read(&mut self, host: usize) -> Result<Option<usize>, Error> {
        let tun = &self.side.hosts(&self.hosts)[host].tun;
        tun.read(&mut self.read_buffer)
            .map_err(|source| Error::System {
                what: format!(
                    "cannot read what the {} of group {host} sends",
                    self.side.name()
                ),
                source,
            })
    }

    /// Gives the packets in the `bytes` that were read from `host` to `enter`, one by one.
    #[inline]
    pub(crate) fn split(&mut self, host: usize, bytes: usize, mut enter: impl FnMut(Entering)) {
        let destination = self.side.peers(&self.hosts)[host].address;
        let packets = match SuperPacket::parse(&self.read_buffer[..bytes], destination) {
            Ok(packets) => packets,
            Err(Foreign) => {
                self.foreign_pkts += 1;
                return;
            }
        };
        let group = host as u16;
        let flow = packets.segment.map_or(NO_FLOW, |segment| {
            self.flow_table
                .flow_of(group, self.side.flow_port(&segment))
        });
        for index in 0..packets.packets() {
            let mut buffer = self.pool.take();
            let Some(bytes) = packets.write(index, &mut buffer.bytes) else {
                self.foreign_pkts += 1;
                continue;
            };
            let segment = packets.segment_of(index);
            let kind = match segment {
                Some(segment) if flow != NO_FLOW && segment.payload_bytes > 0 => Kind::Data,
                Some(_) if flow != NO_FLOW => Kind::Control,
                _ => Kind::Other,
            };
            enter(Entering {
                frame: Frame::new(buffer, bytes, group, kind),
                flow,
                segment,
            });
        }
    }
}
