//! A tap on a part of the network.
//!
//! Packets that pass are copied into a ring that was made before the run, without allocation, lock
//! or system call. Another thread empties the ring. When it does not keep up, packets are not
//! captured, but counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_capture::CapturePoints;
use dumbbell_net::{DropReason, Packet};
use dumbbell_wire::ip::{Ip, PROTOCOL_TCP, PROTOCOL_UDP, set_ecn};
use dumbbell_wire::tcp::Tcp;
use dumbbell_wire::udp;
use rtrb::{Consumer, Producer, RingBuffer};

use super::frame::fill_checksum;
use super::record::{DROPPED_AT, HEADER_BYTES, Place, RecordHeader, number_of};
use crate::packet::frame::Frame;

/// State shared by a tap and the thread that empties its ring.
#[derive(Debug, Default)]
pub(crate) struct TapState {
    /// Later records are of this time or later, ns.
    until_ns: AtomicU64,
    /// Packets that found no room in the ring.
    lost_pkts: AtomicU64,
}

/// The relay's side.
#[derive(Debug)]
pub(crate) struct Tap {
    ring: Producer<u8>,
    state: Arc<TapState>,
    points: CapturePoints,
    /// Bytes of a packet that are kept at least, even if its headers are shorter.
    snap_bytes: usize,
    /// The next record for the ring.
    record: Record,
    /// The packet that is arriving at a link.
    arriving: Record,
}

/// A record that is being made.
#[derive(Debug)]
struct Record {
    bytes: Box<[u8]>,
    /// How many of them; 0: none.
    count: usize,
}

/// The writing thread's side.
#[derive(Debug)]
pub(crate) struct Tapped {
    ring: Consumer<u8>,
    state: Arc<TapState>,
}

/// What a tap records, and how much room it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TapConfig {
    pub(crate) points: CapturePoints,
    /// Bytes of a packet that are kept at least, even if its headers are shorter.
    pub(crate) snap_bytes: usize,
    /// Size of the largest packet, bytes.
    pub(crate) packet_bytes: usize,
    pub(crate) ring_bytes: usize,
}

impl Tap {
    /// A tap and its other side.
    pub(crate) fn new(config: TapConfig) -> (Self, Tapped) {
        let (mut producer, mut consumer) = RingBuffer::new(config.ring_bytes);
        touch(&mut producer, &mut consumer, config.ring_bytes);
        let state = Arc::new(TapState::default());
        let tap = Self {
            ring: producer,
            state: Arc::clone(&state),
            points: config.points,
            snap_bytes: config.snap_bytes,
            record: Record::new(config.packet_bytes),
            arriving: Record::new(config.packet_bytes),
        };
        let tapped = Tapped {
            ring: consumer,
            state,
        };
        (tap, tapped)
    }

    /// A packet passes `place` at `time_ns`.
    #[inline]
    pub(crate) fn note(&mut self, place: Place, time_ns: u64, packet: &Packet<Frame>) {
        if self.is_wanted(place, packet) {
            self.record.make(place, time_ns, packet, self.snap_bytes);
            push(&mut self.ring, &self.state, &mut self.record);
        }
    }

    /// A packet is about to arrive at a link; [`Tap::arrived`] follows.
    #[inline]
    pub(crate) fn arrives(&mut self, time_ns: u64, link: u16, packet: &Packet<Frame>) {
        let place = Place::LinkIn(link);
        if self.is_wanted(place, packet) {
            self.arriving.make(place, time_ns, packet, self.snap_bytes);
        }
    }

    /// That packet is dropped.
    pub(crate) fn refused(&mut self, reason: DropReason) {
        self.arriving.drop(reason);
    }

    /// That packet is in the queue, or dropped.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        push(&mut self.ring, &self.state, &mut self.arriving);
    }

    /// An impairment made a copy at `time_ns`. One that arrives at the link is noted there.
    pub(crate) fn duplicated(&mut self, time_ns: u64, link: u16, copy: &Packet<Frame>) {
        if self.arriving.count == 0 {
            self.note(Place::LinkOut(link), time_ns, copy);
        }
    }

    /// A packet that left a link is lost behind it.
    pub(crate) fn lost(&mut self, time_ns: u64, link: u16, packet: &Packet<Frame>) {
        self.note_drop(
            Place::LinkOut(link),
            time_ns,
            packet,
            DropReason::Impairment,
        );
    }

    /// A packet that waited in a link's queue is dropped at `time_ns`.
    pub(crate) fn dropped(
        &mut self,
        time_ns: u64,
        link: u16,
        packet: &Packet<Frame>,
        reason: DropReason,
    ) {
        self.note_drop(Place::LinkIn(link), time_ns, packet, reason);
    }

    fn note_drop(
        &mut self,
        place: Place,
        time_ns: u64,
        packet: &Packet<Frame>,
        reason: DropReason,
    ) {
        if self.is_wanted(place, packet) {
            self.record.make(place, time_ns, packet, self.snap_bytes);
            self.record.drop(reason);
            push(&mut self.ring, &self.state, &mut self.record);
        }
    }

    /// Everything before `now_ns` has been noted.
    #[inline]
    pub(crate) fn passed(&self, now_ns: u64) {
        self.state.until_ns.store(now_ns, Ordering::Release);
    }

    #[inline]
    fn is_wanted(&self, place: Place, packet: &Packet<Frame>) -> bool {
        let is_wanted = match place {
            Place::Sender => self.points.senders,
            Place::Receiver => self.points.receivers,
            Place::LinkIn(_) | Place::LinkOut(_) => self.points.links,
        };
        // Packets left over from calibration do not belong to a flow or the run.
        is_wanted && packet.header.is_of_flow()
    }
}

impl Record {
    fn new(packet_bytes: usize) -> Self {
        Self {
            bytes: vec![0; HEADER_BYTES + packet_bytes].into_boxed_slice(),
            count: 0,
        }
    }

    #[inline]
    fn make(&mut self, place: Place, time_ns: u64, packet: &Packet<Frame>, snap_bytes: usize) {
        let (frame, bytes) = (&packet.header, packet.header.packet());
        // Headers are always kept: the checksum is made of them.
        let kept_bytes = bytes.len().min(snap_bytes.max(header_bytes(bytes)));
        let header = RecordHeader {
            time_ns,
            group: frame.group,
            way: frame.way,
            packet_bytes: bytes.len() as u16,
            kept_bytes: kept_bytes as u16,
            place,
            has_checksum: frame.is_of_program,
            dropped: None,
        };
        self.count = HEADER_BYTES + kept_bytes;
        let record = &mut self.bytes[..self.count];
        record[..HEADER_BYTES].copy_from_slice(&header.encode());
        record[HEADER_BYTES..].copy_from_slice(&bytes[..kept_bytes]);
        if packet.ecn != frame.ecn() {
            set_ecn(&mut record[HEADER_BYTES..], packet.ecn.bits());
        }
        if frame.is_of_program && frame.needs_checksum() {
            fill_checksum(&mut record[HEADER_BYTES..], bytes);
        }
    }

    /// What it records is a drop.
    fn drop(&mut self, reason: DropReason) {
        if self.count > 0 {
            self.bytes[DROPPED_AT] = number_of(Some(reason));
        }
    }
}

/// Moves a record, if there is one, into the ring.
#[inline]
fn push(ring: &mut Producer<u8>, state: &TapState, record: &mut Record) {
    let count = std::mem::take(&mut record.count);
    if count > 0 && ring.push_entire_slice(&record.bytes[..count]).is_err() {
        state.lost_pkts.fetch_add(1, Ordering::Relaxed);
    }
}

/// Nothing more is recorded.
impl Drop for Tap {
    fn drop(&mut self) {
        self.state.until_ns.store(u64::MAX, Ordering::Release);
    }
}

impl Tapped {
    /// Time up to which the ring's records are complete, ns.
    pub(crate) fn until_ns(&self) -> u64 {
        self.state.until_ns.load(Ordering::Acquire)
    }

    /// Packets that found no room so far.
    pub(crate) fn lost_pkts(&self) -> u64 {
        self.state.lost_pkts.load(Ordering::Relaxed)
    }

    /// Takes the next record: the kept part of its packet replaces the content of `packet`.
    pub(crate) fn take(&mut self, packet: &mut Vec<u8>) -> Option<RecordHeader> {
        let mut bytes = [0; HEADER_BYTES];
        self.ring.pop_entire_slice(&mut bytes).ok()?;
        let header = RecordHeader::decode(&bytes);
        packet.resize(usize::from(header.kept_bytes), 0);
        let popped = self.ring.pop_entire_slice(packet);
        debug_assert!(popped.is_ok(), "records go into the ring whole");
        Some(header)
    }
}

/// Writes all of a new ring once, so that no page fault occurs when the first packet arrives.
fn touch(producer: &mut Producer<u8>, consumer: &mut Consumer<u8>, ring_bytes: usize) {
    let zeros = [0; 4096];
    let mut left_bytes = ring_bytes;
    while left_bytes > 0 {
        let (pushed, _) = producer.push_partial_slice(&zeros[..left_bytes.min(zeros.len())]);
        left_bytes -= pushed.len();
        if let Ok(chunk) = consumer.read_chunk(pushed.len()) {
            chunk.commit_all();
        }
    }
}

/// Bytes of the IP and TCP or UDP headers of a packet, or of the first fields of another protocol.
#[inline]
pub(crate) fn header_bytes(packet: &[u8]) -> usize {
    /// ICMP's header (RFC 792); of most protocols what distinguishes one conversation from another.
    const OTHER_BYTES: usize = 8;
    let Some(ip) = Ip::parse(packet) else {
        return packet.len();
    };
    let transport_bytes = match ip.protocol {
        _ if ip.is_later_fragment => 0,
        PROTOCOL_TCP => Tcp::new(&packet[ip.header_bytes..]).map_or(0, Tcp::header_bytes),
        PROTOCOL_UDP => udp::HEADER_BYTES,
        _ => OTHER_BYTES,
    };
    ip.header_bytes + transport_bytes
}
