//! The run's capture: what passes the capture points, as frames in a pcapng file.
//!
//! Recording looks on and changes nothing.

use std::fs::File;
use std::io::BufWriter;

use dumbbell_capture::{
    CaptureConfig, CapturePoint, CaptureWriter, DROPPED_COMMENT, FrameFacts, WriteError,
};
use dumbbell_path::{Departure, Packet};
use dumbbell_run::{Bottleneck, Group, Scenario};
use dumbbell_tcp::{Ack, DataHeader};

use crate::tapped_flow::TappedFlow;

/// When simulated time begins: 2000-01-01 00:00:00 UTC, ns since the Unix epoch. At the epoch itself
/// tcptrace takes a connection's first packet for one without a time.
const EPOCH_NS: u64 = 946_684_800_000_000_000;

/// Records a run's packets.
pub(crate) struct Tap {
    config: CaptureConfig,
    writer: CaptureWriter<BufWriter<File>>,
    flows: Vec<TappedFlow>,
    /// The packet on the bottleneck's wire, until its last bit is through.
    on_wire: Option<(u64, Packet<DataHeader>)>,
    /// What the bottleneck dropped beside the packet that arrived.
    dropped: Vec<Packet<DataHeader>>,
    frame: Vec<u8>,
    failure: Option<WriteError>,
}

impl Tap {
    /// Begins the file that `config` names.
    pub(crate) fn new(config: &CaptureConfig, scenario: &Scenario) -> Result<Self, WriteError> {
        let groups = scenario.groups.len() as u32;
        let description = scenario.in_a_line("simulator");
        let of_group = |(index, group): (u32, &Group)| -> Vec<TappedFlow> {
            let flows = 0..group.flows;
            flows
                .map(|number| TappedFlow::new(index, number, group))
                .collect()
        };
        let mut flows: Vec<TappedFlow> = (0..).zip(&scenario.groups).flat_map(of_group).collect();
        for (flow, tapped) in (0..).zip(&mut flows) {
            tapped.draw_numbers(scenario.seed, flow);
        }
        Ok(Self {
            config: config.clone(),
            writer: CaptureWriter::create(config, groups, &description)?,
            flows,
            on_wire: None,
            dropped: Vec::new(),
            frame: Vec::new(),
            failure: None,
        })
    }

    /// A sender sends a segment.
    #[cold]
    #[inline(never)]
    pub(crate) fn segment_leaves(&mut self, now_ns: u64, packet: &Packet<DataHeader>) {
        let flow = &mut self.flows[packet.flow as usize];
        flow.note_sent(packet);
        let point = CapturePoint::Sender(flow.group);
        self.record_segment(point, now_ns, packet, None);
    }

    /// A segment reaches its receiver.
    #[cold]
    #[inline(never)]
    pub(crate) fn segment_arrives(&mut self, now_ns: u64, packet: &Packet<DataHeader>) {
        let point = CapturePoint::Receiver(self.flows[packet.flow as usize].group);
        self.record_segment(point, now_ns, packet, None);
    }

    /// A receiver sends an ACK.
    #[cold]
    #[inline(never)]
    pub(crate) fn ack_leaves(&mut self, now_ns: u64, ack: &Ack) {
        let point = CapturePoint::Receiver(self.flows[ack.flow as usize].group);
        self.record_ack(point, now_ns, ack);
    }

    /// An ACK reaches its sender.
    #[cold]
    #[inline(never)]
    pub(crate) fn ack_arrives(&mut self, now_ns: u64, ack: &Ack) {
        let point = CapturePoint::Sender(self.flows[ack.flow as usize].group);
        self.record_ack(point, now_ns, ack);
    }

    /// A segment reaches the bottleneck, which may drop it, or others for its sake.
    #[cold]
    #[inline(never)]
    pub(crate) fn enqueue(
        &mut self,
        now_ns: u64,
        packet: Packet<DataHeader>,
        bottleneck: &mut Bottleneck<DataHeader>,
    ) {
        let mut is_dropped = false;
        let mut dropped = std::mem::take(&mut self.dropped);
        bottleneck.enqueue_watched(now_ns, packet, |gone| {
            if (gone.flow, gone.header) == (packet.flow, packet.header) {
                is_dropped = true;
            } else {
                dropped.push(*gone);
            }
        });
        let comment = is_dropped.then_some(DROPPED_COMMENT);
        self.record_segment(CapturePoint::BottleneckIn, now_ns, &packet, comment);
        self.record_drops(now_ns, dropped);
    }

    /// The wire is free: the next segment goes on it.
    #[cold]
    #[inline(never)]
    pub(crate) fn dequeue(
        &mut self,
        now_ns: u64,
        bottleneck: &mut Bottleneck<DataHeader>,
    ) -> Option<Departure<DataHeader>> {
        let mut dropped = std::mem::take(&mut self.dropped);
        let departure = bottleneck.dequeue_watched(now_ns, |gone| dropped.push(*gone));
        self.record_drops(now_ns, dropped);
        if let Some(departure) = &departure {
            self.catch_up(now_ns);
            self.on_wire = Some((departure.done_ns, departure.packet));
        }
        departure
    }

    /// Ends the capture of a run that ended at `end_ns`.
    pub(crate) fn finish(mut self, end_ns: u64) -> Result<(), WriteError> {
        self.catch_up(end_ns);
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let finished = self.writer.finish();
        finished.map_err(|source| self.config.unwritable(source))?;
        Ok(())
    }

    /// Whether the file can no longer be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Records what left the bottleneck's wire by `now_ns`, so that the file is in order of time.
    fn catch_up(&mut self, now_ns: u64) {
        if let Some((done_ns, packet)) = self.on_wire.take_if(|(done_ns, _)| *done_ns <= now_ns) {
            self.record_segment(CapturePoint::BottleneckOut, done_ns, &packet, None);
        }
    }

    /// Drops that are no arrivals: the packets had waited.
    fn record_drops(&mut self, now_ns: u64, mut dropped: Vec<Packet<DataHeader>>) {
        for packet in dropped.drain(..) {
            let comment = Some(DROPPED_COMMENT);
            self.record_segment(CapturePoint::BottleneckIn, now_ns, &packet, comment);
        }
        self.dropped = dropped;
    }

    fn record_segment(
        &mut self,
        point: CapturePoint,
        now_ns: u64,
        packet: &Packet<DataHeader>,
        comment: Option<&str>,
    ) {
        self.catch_up(now_ns);
        if self.writer.wants(point) {
            let facts = self.flows[packet.flow as usize].segment_facts(packet);
            self.record(point, now_ns, &facts, comment);
        }
    }

    fn record_ack(&mut self, point: CapturePoint, now_ns: u64, ack: &Ack) {
        self.catch_up(now_ns);
        if self.writer.wants(point) {
            let facts = self.flows[ack.flow as usize].ack_facts(ack);
            self.record(point, now_ns, &facts, None);
        }
    }

    fn record(
        &mut self,
        point: CapturePoint,
        now_ns: u64,
        facts: &FrameFacts,
        comment: Option<&str>,
    ) {
        if self.failure.is_some() {
            return;
        }
        facts.write_headers(&mut self.frame);
        let header_bytes = self.frame.len();
        let frame_bytes = header_bytes + usize::from(facts.payload_bytes);
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
