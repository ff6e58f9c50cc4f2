//! The run's capture: what passes the capture points, as frames in a pcapng file.
//!
//! Recording looks on and changes nothing.
//!
//! Capture points are the hosts of each group, and before and behind each link. A packet is recorded behind a link when
//! its last bit has left, which is later than the event in which it goes on the wire: `catch_up` first writes what has
//! left by then, so that the file is in order of time. A packet dropped after it waited is recorded twice before its
//! link: when it came, and with a comment when it was dropped.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddrV4;

use dumbbell_capture::{CaptureConfig, CapturePoint, CaptureWriter, WriteError, dropped_comment};
use dumbbell_net::{DropReason, Header as _, Packet};
use dumbbell_scenario::address_plan::flow_addresses;
use dumbbell_scenario::{Group, Scenario};
use dumbbell_tcp::{SackStore, Segment};

use crate::clock_offsets::APPLICATION_NUMBERS;
use crate::tapped_flow::{Frame, TappedFlow};

/// When simulated time begins: 2000-01-01 00:00:00 UTC, ns since the Unix epoch. At the epoch itself
/// tcptrace takes a connection's first packet for one without a time.
const EPOCH_NS: u64 = 946_684_800_000_000_000;

/// Addresses of a connection's sender and of its receiver.
type Addresses = (SocketAddrV4, SocketAddrV4);

/// Is shown the packets of a run. `()` does not look.
pub(crate) trait Tap {
    /// Whether it records when each packet goes on a wire, as it happens.
    const RECORDS: bool;

    /// An application opens a connection whose packets will carry the number `id`; both ends send data, or
    /// the sender alone.
    fn opened(&mut self, _id: u32, _group: u32, _addresses: Addresses, _has_requests: bool) {}

    /// No packet of that connection is in the network, nor will be.
    fn released(&mut self, _id: u32) {}

    /// A host sends a packet.
    #[inline]
    fn sent(&mut self, _now_ns: u64, _packet: &Packet<Segment>, _sacks: &SackStore) {}

    /// A packet reaches the host that it is for.
    #[inline]
    fn delivered(&mut self, _now_ns: u64, _packet: &Packet<Segment>, _sacks: &SackStore) {}

    /// A packet reaches a link, which may refuse it, or drop others for its sake.
    #[inline]
    fn arrives(
        &mut self,
        _now_ns: u64,
        _link: usize,
        _packet: &Packet<Segment>,
        _sacks: &SackStore,
    ) {
    }

    /// The packet that arrived is dropped.
    fn refused(&mut self, _reason: DropReason) {}

    /// The arrival is over.
    #[inline]
    fn enqueued(&mut self, _now_ns: u64, _link: usize) {}

    /// A packet that waited is dropped.
    fn dropped(
        &mut self,
        _now_ns: u64,
        _link: usize,
        _packet: &Packet<Segment>,
        _sacks: &SackStore,
        _reason: DropReason,
    ) {
    }

    /// A packet goes on a link's wire.
    #[inline]
    fn departs(
        &mut self,
        _now_ns: u64,
        _link: usize,
        _packet: &Packet<Segment>,
        _done_ns: u64,
        _sacks: &SackStore,
    ) {
    }

    /// An impairment copies a packet: the one that is arriving at the link, or the one that has just gone on its wire.
    fn duplicated(&mut self, _link: usize) {}

    /// The packet that has just gone on a link's wire, or a copy of it, is lost behind the link.
    fn lost(&mut self, _link: usize) {}

    /// Whether the file can no longer be written.
    #[inline]
    fn has_failed(&self) -> bool {
        false
    }

    /// Ends the capture of a run that ended at `end_ns`.
    fn finish(&mut self, _end_ns: u64) -> Result<(), WriteError> {
        Ok(())
    }
}

impl Tap for () {
    const RECORDS: bool = false;
}

/// A packet on a link's wire.
#[derive(Clone)]
struct OnWire {
    /// When its last bit is through, ns.
    done_ns: u64,
    facts: Frame,
    /// Packets that come out of the link for it, and how many of them are then lost.
    pkts: u32,
    lost_pkts: u32,
}

/// Records a run's packets.
pub(crate) struct CaptureTap {
    config: CaptureConfig,
    writer: CaptureWriter<BufWriter<File>>,
    /// Flows without an application, by the number that their packets carry.
    flows: Vec<TappedFlow>,
    /// The others' connections, by theirs.
    connections: BTreeMap<u32, TappedFlow>,
    /// Groups, for connections to come.
    groups: Vec<Group>,
    seed: u64,
    /// Packets on each link's wire until their last bits are through, of which a medium may deliver several at once.
    on_wire: Vec<VecDeque<OnWire>>,
    /// Names of the links.
    links: Vec<String>,
    /// The packet that is arriving at a link, and why it is refused if it is.
    arriving: Option<(Frame, Option<DropReason>)>,
    /// What the link dropped for its sake.
    dropped: Vec<(Frame, DropReason)>,
    frame: Vec<u8>,
    failure: Option<WriteError>,
}

impl CaptureTap {
    /// Begins the file that `config` names.
    pub(crate) fn new(config: &CaptureConfig, scenario: &Scenario) -> Result<Self, WriteError> {
        let groups = scenario.groups.len() as u32;
        let description = scenario.in_a_line("simulator");
        let mut flows = Vec::new();
        let mut first_flow = 0;
        for (index, group) in (0..).zip(&scenario.groups) {
            let numbers = if group.traffic.is_bulk() && !group.is_quic() {
                0..group.flows
            } else {
                0..0
            };
            flows.extend(numbers.map(|number| {
                let addresses = flow_addresses(index as u16, number);
                let mut tapped = TappedFlow::new(index, addresses, false, group);
                tapped.draw_numbers(scenario.seed, u64::from(first_flow + number));
                tapped
            }));
            first_flow += group.flows;
        }
        let links = scenario.link_names();
        Ok(Self {
            config: config.clone(),
            writer: CaptureWriter::create(config, groups, &links, &description)?,
            flows,
            connections: BTreeMap::new(),
            groups: scenario.groups.clone(),
            seed: scenario.seed,
            on_wire: vec![VecDeque::new(); links.len()],
            links,
            arriving: None,
            dropped: Vec::new(),
            frame: Vec::new(),
            failure: None,
        })
    }

    /// Records what left the links' wires by `now_ns`, so that the file is in order of time.
    fn catch_up(&mut self, now_ns: u64) {
        loop {
            let due = (0..).zip(&self.on_wire);
            let due = due.filter_map(|(link, on_wire)| Some((on_wire.front()?.done_ns, link)));
            let Some((done_ns, link)) = due.min().filter(|&(done_ns, _)| done_ns <= now_ns) else {
                return;
            };
            let Some(on_wire) = self.on_wire[link].pop_front() else {
                return;
            };
            let point = CapturePoint::LinkOut(link as u32);
            for _ in 0..on_wire.pkts {
                self.record(point, done_ns, &on_wire.facts, None);
            }
            for _ in 0..on_wire.lost_pkts {
                self.record_drop_at(point, done_ns, link, &on_wire.facts, DropReason::Impairment);
            }
        }
    }

    fn record_packet(
        &mut self,
        point: CapturePoint,
        now_ns: u64,
        packet: &Packet<Segment>,
        sacks: &SackStore,
    ) {
        self.catch_up(now_ns);
        if self.writer.wants(point)
            && let Some(facts) = self.facts(packet, sacks)
        {
            self.record(point, now_ns, &facts, None);
        }
    }

    /// Records a packet that a link drops.
    fn record_drop(&mut self, now_ns: u64, link: usize, facts: &Frame, reason: DropReason) {
        let point = CapturePoint::LinkIn(link as u32);
        self.record_drop_at(point, now_ns, link, facts, reason);
    }

    /// Records a packet that a link drops before its queue or behind it.
    fn record_drop_at(
        &mut self,
        point: CapturePoint,
        now_ns: u64,
        link: usize,
        facts: &Frame,
        reason: DropReason,
    ) {
        let comment = dropped_comment(&self.links[link], reason.note());
        self.record(point, now_ns, facts, Some(&comment));
    }

    fn facts(&self, packet: &Packet<Segment>, sacks: &SackStore) -> Option<Frame> {
        let of_transfer = self.flows.get(packet.flow as usize);
        let flow = of_transfer.or_else(|| self.connections.get(&packet.flow));
        flow.map(|flow| flow.facts(packet, sacks))
    }

    /// The connection of a packet, or where its datagrams are from.
    fn flow_mut(&mut self, packet: &Packet<Segment>) -> Option<&mut TappedFlow> {
        match self.flows.get_mut(packet.flow as usize) {
            None => self.connections.get_mut(&packet.flow),
            flow => flow,
        }
    }

    fn record(&mut self, point: CapturePoint, now_ns: u64, facts: &Frame, comment: Option<&str>) {
        if self.failure.is_some() || !self.writer.wants(point) {
            return;
        }
        facts.write_headers(&mut self.frame);
        let header_bytes = self.frame.len();
        let frame_bytes = header_bytes + usize::from(facts.payload_bytes());
        let kept_bytes = self.config.kept_bytes(header_bytes, frame_bytes);
        self.frame.resize(kept_bytes, 0);
        let time_ns = EPOCH_NS + now_ns;
        let recorded = self
            .writer
            .record(point, time_ns, &self.frame, frame_bytes as u32, comment);
        if let Err(source) = recorded {
            self.failure = Some(self.config.unwritable(source));
        }
    }
}

impl Tap for CaptureTap {
    const RECORDS: bool = true;

    fn opened(&mut self, id: u32, group: u32, addresses: Addresses, has_requests: bool) {
        let config = &self.groups[group as usize];
        let mut tapped = TappedFlow::new(group, addresses, has_requests, config);
        tapped.draw_numbers(self.seed, APPLICATION_NUMBERS + u64::from(id));
        self.connections.insert(id, tapped);
    }

    fn released(&mut self, id: u32) {
        self.connections.remove(&id);
    }

    #[cold]
    #[inline(never)]
    fn sent(&mut self, now_ns: u64, packet: &Packet<Segment>, sacks: &SackStore) {
        let Some(flow) = self.flow_mut(packet) else {
            return;
        };
        let group = flow.group;
        flow.note_sent(packet);
        let point = if packet.header.is_forward() {
            CapturePoint::Sender(group)
        } else {
            CapturePoint::Receiver(group)
        };
        self.record_packet(point, now_ns, packet, sacks);
    }

    #[cold]
    #[inline(never)]
    fn delivered(&mut self, now_ns: u64, packet: &Packet<Segment>, sacks: &SackStore) {
        let Some(flow) = self.flow_mut(packet) else {
            return;
        };
        let group = flow.group;
        let point = if packet.header.is_forward() {
            CapturePoint::Receiver(group)
        } else {
            CapturePoint::Sender(group)
        };
        self.record_packet(point, now_ns, packet, sacks);
        if let Some(flow) = self.flow_mut(packet) {
            flow.note_delivered(packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn arrives(&mut self, now_ns: u64, _link: usize, packet: &Packet<Segment>, sacks: &SackStore) {
        self.catch_up(now_ns);
        self.arriving = self.facts(packet, sacks).map(|facts| (facts, None));
    }

    #[cold]
    #[inline(never)]
    fn refused(&mut self, reason: DropReason) {
        if let Some((_, refused)) = &mut self.arriving {
            *refused = Some(reason);
        }
    }

    #[cold]
    #[inline(never)]
    fn enqueued(&mut self, now_ns: u64, link: usize) {
        match self.arriving.take() {
            Some((facts, Some(reason))) => self.record_drop(now_ns, link, &facts, reason),
            Some((facts, None)) => {
                self.record(CapturePoint::LinkIn(link as u32), now_ns, &facts, None);
            }
            None => {}
        }
        let mut dropped = std::mem::take(&mut self.dropped);
        for (facts, reason) in dropped.drain(..) {
            self.record_drop(now_ns, link, &facts, reason);
        }
        self.dropped = dropped;
    }

    #[cold]
    #[inline(never)]
    fn dropped(
        &mut self,
        now_ns: u64,
        link: usize,
        packet: &Packet<Segment>,
        sacks: &SackStore,
        reason: DropReason,
    ) {
        let Some(facts) = self.facts(packet, sacks) else {
            return;
        };
        if self.arriving.is_some() {
            self.dropped.push((facts, reason));
        } else {
            self.catch_up(now_ns);
            self.record_drop(now_ns, link, &facts, reason);
        }
    }

    #[cold]
    #[inline(never)]
    fn departs(
        &mut self,
        now_ns: u64,
        link: usize,
        packet: &Packet<Segment>,
        done_ns: u64,
        sacks: &SackStore,
    ) {
        self.catch_up(now_ns);
        let facts = self.facts(packet, sacks);
        self.on_wire[link].extend(facts.map(|facts| OnWire {
            done_ns,
            facts,
            pkts: 1,
            lost_pkts: 0,
        }));
    }

    #[cold]
    #[inline(never)]
    fn duplicated(&mut self, link: usize) {
        // A copy before the queue arrives by itself.
        if self.arriving.is_none()
            && let Some(on_wire) = self.on_wire[link].back_mut()
        {
            on_wire.pkts += 1;
        }
    }

    #[cold]
    #[inline(never)]
    fn lost(&mut self, link: usize) {
        if let Some(on_wire) = self.on_wire[link].back_mut() {
            on_wire.lost_pkts += 1;
        }
    }

    /// Whether the file can no longer be written.
    fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Ends the capture of a run that ended at `end_ns`.
    fn finish(&mut self, end_ns: u64) -> Result<(), WriteError> {
        self.catch_up(end_ns);
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let flushed = self.writer.flush();
        flushed.map_err(|source| self.config.unwritable(source))
    }
}
