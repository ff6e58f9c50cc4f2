//! Flows of UDP by the times and sizes of their packets, all that an encrypted transport (QUIC) shows.

mod bins;
mod spin;
mod table;

use std::collections::HashMap;
use std::net::IpAddr;

use dumbbell_table::Batch;
use dumbbell_wire::ip::PROTOCOL_UDP;
use dumbbell_wire::{transport, udp};
use foldhash::fast::RandomState;

use crate::error::Error;
use crate::ip::IpPacket;
use crate::link_layer::LinkType;
use crate::network::NetworkId;
use crate::packet::Endpoint;
use crate::points::Points;
use crate::reader::{Interface, Reader, Record};
use bins::Bins;
use spin::{Spin, spin_bit};

/// How much is kept.
#[derive(Clone, Debug)]
pub struct DatagramOptions {
    /// Largest number of bins of a flow; they get wider as it lasts.
    pub series_bins: usize,
    /// Names of the capture points to look at; `None`: all.
    pub points: Option<Vec<String>>,
    /// Largest number of flows at a point; later ones are only counted.
    pub max_flows: usize,
    /// Largest memory of all bins; beyond it those of the flow that grows get wider.
    pub max_bytes: usize,
    /// Flows with fewer packets are in no table.
    pub min_pkts: u64,
}

impl Default for DatagramOptions {
    fn default() -> Self {
        Self {
            series_bins: 4096,
            points: None,
            max_flows: 1 << 16,
            max_bytes: 1 << 28,
            min_pkts: 16,
        }
    }
}

/// The flows of a capture.
#[derive(Clone, Debug)]
pub struct Datagrams {
    /// A row per flow and point: the direction that carries more.
    pub flows: Batch,
    /// A row per bin of each.
    pub series: Batch,
    /// Packets of flows beyond `max_flows`.
    pub given_up_pkts: u64,
}

/// What happened in one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    pkts: u64,
    bytes: u64,
    largest_bytes: u32,
    /// ECN-capable, and marked.
    ect_pkts: u64,
    ce_pkts: u64,
    first_ns: Option<u64>,
    spin: Spin,
}

/// A flow at a point; sides as in its key.
#[derive(Debug)]
struct Flow {
    interface: u32,
    ends: [Endpoint; 2],
    /// The side that sent first.
    initiator: usize,
    first_ns: u64,
    last_ns: u64,
    sides: [Count; 2],
    /// From the initiator's first packet to the answer, and from that to the initiator's next.
    far_ns: Option<u64>,
    near_ns: Option<u64>,
    bins: Bins,
    counted_bytes: usize,
}

type Key = (u32, Endpoint, Endpoint);

/// Reads the flows of a capture.
pub fn datagrams(reader: &mut Reader, options: &DatagramOptions) -> Result<Datagrams, Error> {
    let mut flows = Flows {
        options: options.clone(),
        points: Points::new(options.points.clone()),
        known: HashMap::default(),
        flows: Vec::new(),
        first_ns: None,
        held_bytes: 0,
        given_up_pkts: 0,
    };
    reader.for_each_record(|interface, record| flows.push(interface, record))?;
    let kept: Vec<&Flow> = (flows.flows.iter())
        .filter(|flow| flow.sides[0].pkts + flow.sides[1].pkts >= options.min_pkts)
        .collect();
    Ok(Datagrams {
        flows: table::flows(&kept, &flows.points),
        series: table::series(&kept),
        given_up_pkts: flows.given_up_pkts,
    })
}

struct Flows {
    options: DatagramOptions,
    points: Points,
    known: HashMap<Key, usize, RandomState>,
    flows: Vec<Flow>,
    first_ns: Option<u64>,
    held_bytes: usize,
    given_up_pkts: u64,
}

impl Flows {
    fn push(&mut self, interface: &Interface, record: &Record<'_>) {
        // A packet that a link of ours dropped is in the capture of the link's entrance as well.
        if record.drop_comment.is_some()
            || !(self.points).has(record.interface, |_| interface.name.clone())
        {
            return;
        }
        let Some(packet) = Datagram::parse(interface.link_type, record) else {
            return;
        };
        let first_ns = *self.first_ns.get_or_insert(record.time_ns);
        let ends = [packet.source, packet.destination];
        let side = usize::from(packet.source > packet.destination);
        let key = (record.interface, ends[side], ends[1 - side]);
        let index = match self.known.get(&key) {
            Some(&index) => index,
            None if self.flows.len() >= self.options.max_flows => {
                self.given_up_pkts += 1;
                return;
            }
            None => {
                self.known.insert(key, self.flows.len());
                self.flows.push(Flow::new(
                    key,
                    side,
                    record.time_ns,
                    self.options.series_bins,
                ));
                self.flows.len() - 1
            }
        };
        let flow = &mut self.flows[index];
        flow.push(
            side,
            &packet,
            record.time_ns,
            record.time_ns.saturating_sub(first_ns),
        );
        let held_bytes = flow.bins.held_bytes();
        if held_bytes != flow.counted_bytes {
            self.held_bytes = self.held_bytes + held_bytes - flow.counted_bytes;
            flow.counted_bytes = held_bytes;
            if self.held_bytes > self.options.max_bytes {
                flow.bins.coarsen();
                self.held_bytes = self.held_bytes + flow.bins.held_bytes() - held_bytes;
                flow.counted_bytes = flow.bins.held_bytes();
            }
        }
    }
}

impl Flow {
    fn new(key: Key, side: usize, time_ns: u64, series_bins: usize) -> Self {
        Self {
            interface: key.0,
            ends: [key.1, key.2],
            initiator: side,
            first_ns: time_ns,
            last_ns: time_ns,
            sides: Default::default(),
            far_ns: None,
            near_ns: None,
            bins: Bins::new(series_bins),
            counted_bytes: 0,
        }
    }

    fn push(&mut self, side: usize, packet: &Datagram, time_ns: u64, since_ns: u64) {
        self.last_ns = self.last_ns.max(time_ns);
        let count = &mut self.sides[side];
        count.pkts += 1;
        count.bytes += u64::from(packet.payload_bytes);
        count.largest_bytes = count.largest_bytes.max(packet.payload_bytes);
        count.ect_pkts += u64::from(packet.ecn != 0);
        count.ce_pkts += u64::from(packet.ecn == 3);
        count.first_ns.get_or_insert(time_ns);
        let spin_ns = packet
            .spin_bit
            .and_then(|bit| count.spin.rtt_ns(bit, time_ns));
        let answered_ns = self.sides[1 - self.initiator].first_ns;
        match answered_ns {
            Some(answered_ns) if side != self.initiator && self.far_ns.is_none() => {
                self.far_ns = Some(answered_ns.saturating_sub(self.first_ns));
            }
            Some(answered_ns) if side == self.initiator && self.near_ns.is_none() => {
                self.near_ns = Some(time_ns.saturating_sub(answered_ns));
            }
            _ => {}
        }
        self.bins.add(since_ns, side, packet.payload_bytes, spin_ns);
    }
}

/// A packet of UDP.
struct Datagram {
    source: Endpoint,
    destination: Endpoint,
    ecn: u8,
    payload_bytes: u32,
    spin_bit: Option<bool>,
}

impl Datagram {
    /// `None` for anything else, fragments included.
    fn parse(link_type: LinkType, record: &Record<'_>) -> Option<Self> {
        let packet = link_type
            .ip_packet(record.frame, &mut NetworkId::NONE.clone())
            .ok()?;
        let link_bytes = record.frame.len() - packet.len();
        let wire_bytes = (record.wire_bytes as usize).max(record.frame.len()) - link_bytes;
        let ip = IpPacket::parse(packet, wire_bytes).ok()?;
        if ip.protocol != PROTOCOL_UDP || ip.fragment.is_some() {
            return None;
        }
        let [source_port, destination_port] = transport::ports(ip.segment)?;
        let endpoint = |address: IpAddr, port| Endpoint { address, port };
        Some(Self {
            source: endpoint(ip.source, source_port),
            destination: endpoint(ip.destination, destination_port),
            ecn: ip.ecn,
            spin_bit: spin_bit(ip.segment.get(udp::HEADER_BYTES..).unwrap_or_default()),
            payload_bytes: ip.segment_bytes.saturating_sub(udp::HEADER_BYTES) as u32,
        })
    }
}
