//! What is measured of the flows where their packets enter the path and leave it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_net::{Ecn, Header as _, Histogram, Packet};
use dumbbell_scenario::Scenario;
use dumbbell_wire::ip::{Ip, PROTOCOL_UDP};
use dumbbell_wire::tcp::TcpFlags;
use dumbbell_wire::udp;

use super::flow_table::Owner;
use super::latest_rtt::LatestRtt;
use super::rtt_samples::RttSamples;
use super::sent_data::SentData;
use crate::applications::NO_FLOW;
use crate::packet::frame::Frame;
use crate::packet::segment::{Segment, is_before};

/// One flow as a part of the network saw it, or the whole path. Packets are data packets.
#[derive(Clone, Debug)]
pub(crate) struct FlowOnPath {
    /// Packets that entered the path, with retransmissions.
    pub(crate) entered_pkts: u64,
    /// Those whose data had entered before.
    pub(crate) retransmitted_pkts: u64,
    /// Dropped by a link.
    pub(crate) dropped_pkts: u64,
    /// Packets from the receiver that a link dropped.
    pub(crate) acks_dropped: u64,
    /// Copies that impairments made.
    pub(crate) duplicated_pkts: u64,
    /// Marked CE where they left a link.
    pub(crate) marked_pkts: u64,
    /// Handed to the receiver.
    pub(crate) arrived_pkts: u64,
    /// Packets among them with CE.
    pub(crate) ce_arrived_pkts: u64,
    /// Payload that was handed to the receiver, what it already had included; only of programs.
    pub(crate) received_bytes: u64,
    /// Wire bytes of any packet that the last link of its route has put on the wire.
    pub(crate) forwarded_bytes: u64,
    /// Requests that the receiver's end wrote.
    pub(crate) requests: RequestsOnPath,
    pub(crate) rtt_us: Histogram,
    pub(crate) rtt_sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) rtt_min_us: u32,
    pub(crate) rtt_max_us: u32,
}

/// Data packets from receiver to sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestsOnPath {
    /// Packets that entered the path, with retransmissions.
    pub(crate) entered_pkts: u64,
    /// Those whose data had entered before.
    pub(crate) retransmitted_pkts: u64,
    /// Dropped by a link.
    pub(crate) dropped_pkts: u64,
    /// Copies that impairments made.
    pub(crate) duplicated_pkts: u64,
    /// Handed to the sender's host.
    pub(crate) arrived_pkts: u64,
    /// Payload that was, what it already had included; only of programs.
    pub(crate) received_bytes: u64,
    /// Wire bytes of any packet that the last link back has put on the wire.
    pub(crate) forwarded_bytes: u64,
}

impl RequestsOnPath {
    /// Entered, neither dropped nor handed to the sender's host.
    pub(crate) fn on_path_pkts(&self) -> u64 {
        (self.entered_pkts + self.duplicated_pkts)
            .saturating_sub(self.dropped_pkts + self.arrived_pkts)
    }

    fn add(&mut self, other: Self) {
        self.entered_pkts += other.entered_pkts;
        self.retransmitted_pkts += other.retransmitted_pkts;
        self.dropped_pkts += other.dropped_pkts;
        self.duplicated_pkts += other.duplicated_pkts;
        self.arrived_pkts += other.arrived_pkts;
        self.received_bytes += other.received_bytes;
        self.forwarded_bytes += other.forwarded_bytes;
    }
}

/// The flows of programs, whose sockets do not say what they received.
#[derive(Clone, Debug)]
pub(crate) struct OfPrograms {
    /// Whether a flow is of a program, by its number.
    are: Vec<bool>,
    /// Payload of each flow so far, both ways, bytes, for others to look at.
    received_bytes: Arc<Vec<AtomicU64>>,
}

impl OfPrograms {
    /// Those of `scenario`.
    pub(crate) fn new(scenario: &Scenario, received_bytes: &Arc<Vec<AtomicU64>>) -> Self {
        let groups = scenario.groups.iter();
        let are = groups
            .flat_map(|group| std::iter::repeat_n(group.program.is_some(), group.flows as usize));
        Self {
            are: are.collect(),
            received_bytes: Arc::clone(received_bytes),
        }
    }
}

impl FlowOnPath {
    fn new() -> Self {
        Self {
            entered_pkts: 0,
            retransmitted_pkts: 0,
            dropped_pkts: 0,
            acks_dropped: 0,
            duplicated_pkts: 0,
            marked_pkts: 0,
            ce_arrived_pkts: 0,
            arrived_pkts: 0,
            received_bytes: 0,
            forwarded_bytes: 0,
            requests: RequestsOnPath::default(),
            rtt_us: Histogram::new(),
            rtt_sum_us: 0,
            rtt_min_us: u32::MAX,
            rtt_max_us: 0,
        }
    }

    /// Entered, neither dropped nor handed to the receiver.
    pub(crate) fn on_path_pkts(&self) -> u64 {
        (self.entered_pkts + self.duplicated_pkts)
            .saturating_sub(self.dropped_pkts + self.arrived_pkts)
    }

    /// Adds what another part saw of the flow.
    pub(crate) fn add(&mut self, other: Self) {
        self.entered_pkts += other.entered_pkts;
        self.retransmitted_pkts += other.retransmitted_pkts;
        self.dropped_pkts += other.dropped_pkts;
        self.acks_dropped += other.acks_dropped;
        self.duplicated_pkts += other.duplicated_pkts;
        self.marked_pkts += other.marked_pkts;
        self.ce_arrived_pkts += other.ce_arrived_pkts;
        self.arrived_pkts += other.arrived_pkts;
        self.received_bytes += other.received_bytes;
        self.forwarded_bytes += other.forwarded_bytes;
        self.requests.add(other.requests);
        self.rtt_us.add(&other.rtt_us);
        self.rtt_sum_us += other.rtt_sum_us;
        self.rtt_min_us = self.rtt_min_us.min(other.rtt_min_us);
        self.rtt_max_us = self.rtt_max_us.max(other.rtt_max_us);
    }

    #[inline]
    fn note_rtt(&mut self, rtt_us: u32) {
        self.rtt_us.record(u64::from(rtt_us));
        self.rtt_sum_us += u64::from(rtt_us);
        self.rtt_min_us = self.rtt_min_us.min(rtt_us);
        self.rtt_max_us = self.rtt_max_us.max(rtt_us);
    }
}

/// What a part of the network measures of the flows.
#[derive(Debug)]
pub(crate) struct Flows {
    pub(crate) on_path: Vec<FlowOnPath>,
    /// Connections of programs have numbers from this one on, and room as soon as they are seen.
    first_of_programs: u32,
    /// Whether flows may have several connections, one after the other.
    has_applications: bool,
    /// Each connection's sequence number after the highest that entered.
    next_sequence: Vec<u32>,
    /// The same of what the receiver's end wrote; empty where no application does.
    next_request_sequence: Vec<u32>,
    /// RTTs of what senders send.
    downloads: RttSamples,
    /// RTTs of what receivers send; only of programs.
    uploads: RttSamples,
    latest_rtts: Arc<Vec<LatestRtt>>,
    of_programs: OfPrograms,
}

impl Flows {
    /// Counts of this number of connections, and of those of programs.
    pub(crate) fn new(
        connections: usize,
        first_of_programs: u32,
        [downloads, uploads]: [RttSamples; 2],
        latest_rtts: &Arc<Vec<LatestRtt>>,
        of_programs: OfPrograms,
    ) -> Self {
        let flows = latest_rtts.len();
        let has_applications = connections > flows || first_of_programs != u32::MAX;
        let requesting = if has_applications { connections } else { 0 };
        Self {
            first_of_programs,
            has_applications,
            on_path: vec![FlowOnPath::new(); flows],
            next_sequence: vec![0; connections],
            next_request_sequence: vec![0; requesting],
            downloads,
            uploads,
            latest_rtts: Arc::clone(latest_rtts),
            of_programs,
        }
    }

    /// The first number of a connection of programs; `u32::MAX` without programs.
    pub(crate) fn first_of_programs(&self) -> u32 {
        self.first_of_programs
    }

    /// Makes room for a connection of programs.
    #[inline]
    fn make_room(&mut self, connection: u32) {
        if connection as usize >= self.next_sequence.len() && connection >= self.first_of_programs {
            let connections = connection as usize + 1;
            self.next_sequence.resize(connections, 0);
            self.next_request_sequence.resize(connections, 0);
        }
    }

    /// A packet of a flow enters at its sender.
    #[inline]
    pub(crate) fn note_entry(
        &mut self,
        now_ns: u64,
        owner: Owner,
        frame: &Frame,
        segment: Option<&Segment>,
    ) {
        let Some(segment) = segment else {
            self.on_path[owner.flow as usize].entered_pkts += u64::from(frame.is_data());
            return;
        };
        self.make_room(owner.connection);
        let next_sequence = &mut self.next_sequence[owner.connection as usize];
        if segment.flags.has(TcpFlags::SYN) {
            *next_sequence = segment.sequence.wrapping_add(1);
            return;
        }
        if !frame.is_data() {
            return;
        }
        let counts = &mut self.on_path[owner.flow as usize];
        counts.entered_pkts += 1;
        let is_retransmission = is_sent_again(next_sequence, segment);
        counts.retransmitted_pkts += u64::from(is_retransmission);
        let data = sent_data(now_ns, owner, segment, is_retransmission);
        self.downloads.note_data(frame.group, data);
    }

    /// A packet of an application's or a program's connection enters at the receiver.
    pub(crate) fn note_request_entry(
        &mut self,
        now_ns: u64,
        owner: Owner,
        frame: &Frame,
        segment: Option<&Segment>,
    ) {
        let Some(segment) = segment else {
            if frame.is_of_program {
                let counts = &mut self.on_path[owner.flow as usize].requests;
                counts.entered_pkts += u64::from(frame.is_data());
            }
            return;
        };
        self.make_room(owner.connection);
        let next_sequence = self
            .next_request_sequence
            .get_mut(owner.connection as usize);
        let Some(next_sequence) = next_sequence else {
            return;
        };
        if segment.flags.has(TcpFlags::SYN) {
            *next_sequence = segment.sequence.wrapping_add(1);
        } else if frame.is_data() {
            let counts = &mut self.on_path[owner.flow as usize].requests;
            let is_retransmission = is_sent_again(next_sequence, segment);
            counts.entered_pkts += 1;
            counts.retransmitted_pkts += u64::from(is_retransmission);
            if frame.is_of_program {
                let data = sent_data(now_ns, owner, segment, is_retransmission);
                self.uploads.note_data(frame.group, data);
            }
        }
    }

    /// A packet reaches its receiver at `now_ns` of the clock, late or not.
    #[inline]
    pub(crate) fn note_arrival(&mut self, now_ns: u64, packet: &Packet<Frame>) {
        let is_of_program = packet.header.is_of_program && packet.flow != NO_FLOW;
        let segment = (is_of_program.then(|| Segment::parse(packet.header.packet()))).flatten();
        if packet.header.is_data() {
            let number = packet.header.flow as usize;
            let flow = &mut self.on_path[number];
            flow.arrived_pkts += 1;
            flow.ce_arrived_pkts += u64::from(packet.ecn == Ecn::Ce);
            if self.of_programs.are[number] {
                let payload_bytes = payload_bytes(packet.header.packet(), segment.as_ref());
                flow.received_bytes += payload_bytes;
                self.of_programs.received_bytes[number].fetch_add(payload_bytes, Ordering::Relaxed);
            }
        }
        if let Some(ack) = segment {
            let sample_ns = self.uploads.on_ack(now_ns, packet.flow, &ack);
            self.note_sample(packet.header.flow, sample_ns);
            self.uploads.forget_room(packet.flow);
        }
    }

    /// A packet reaches its sender at `now_ns` of the clock, late or not: that is the RTT that TCP sees.
    #[inline]
    pub(crate) fn note_return(&mut self, now_ns: u64, packet: &Packet<Frame>) {
        if packet.flow == NO_FLOW {
            return;
        }
        let flow = packet.header.flow as usize;
        let segment = Segment::parse(packet.header.packet());
        if packet.header.is_data() {
            let requests = &mut self.on_path[flow].requests;
            requests.arrived_pkts += 1;
            if self.of_programs.are[flow] {
                let payload_bytes = payload_bytes(packet.header.packet(), segment.as_ref());
                requests.received_bytes += payload_bytes;
                self.of_programs.received_bytes[flow].fetch_add(payload_bytes, Ordering::Relaxed);
            }
        }
        if let Some(ack) = segment {
            let sample_ns = self.downloads.on_ack(now_ns, packet.flow, &ack);
            self.note_sample(packet.header.flow, sample_ns);
            if self.has_applications {
                self.downloads.forget_room(packet.flow);
            }
        }
    }

    #[inline]
    fn note_sample(&mut self, flow: u32, sample_ns: Option<u64>) {
        if let Some(rtt_ns) = sample_ns {
            let rtt_us = u32::try_from(rtt_ns / 1000).unwrap_or(u32::MAX);
            let counts = &mut self.on_path[flow as usize];
            counts.note_rtt(rtt_us);
            self.latest_rtts[flow as usize].note(rtt_us, counts.rtt_us.count());
        }
    }
}

/// What the other end's ACKs will answer.
fn sent_data(now_ns: u64, owner: Owner, segment: &Segment, is_retransmission: bool) -> SentData {
    SentData {
        flow: owner.connection,
        sequence: segment.sequence,
        end_sequence: segment.sequence.wrapping_add(segment.payload_bytes),
        entered_ns: now_ns,
        is_retransmission,
    }
}

/// Payload of an IP packet, which is this segment of TCP or none: what follows the header of TCP or UDP, or else IP's.
fn payload_bytes(packet: &[u8], segment: Option<&Segment>) -> u64 {
    if let Some(segment) = segment {
        return u64::from(segment.payload_bytes);
    }
    let Some(ip) = Ip::parse(packet) else {
        return 0;
    };
    let has_udp_header = ip.protocol == PROTOCOL_UDP && !ip.is_later_fragment;
    let transport_bytes = if has_udp_header { udp::HEADER_BYTES } else { 0 };
    packet
        .len()
        .saturating_sub(ip.header_bytes + transport_bytes) as u64
}

/// Whether data before `next_sequence`, the number after the highest, is sent; which is moved on.
#[inline]
fn is_sent_again(next_sequence: &mut u32, segment: &Segment) -> bool {
    let is_again = is_before(segment.sequence, *next_sequence);
    let end_sequence = segment.sequence.wrapping_add(segment.payload_bytes);
    if is_before(*next_sequence, end_sequence) {
        *next_sequence = end_sequence;
    }
    is_again
}
