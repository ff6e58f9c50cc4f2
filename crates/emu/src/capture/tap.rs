//! A tap on one direction of the relay.
//!
//! Packets that pass are copied into a ring that was made before the run, without allocation, lock
//! or system call. Another thread empties the ring. When it does not keep up, packets are not
//! captured, but counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_capture::CapturePoints;
use rtrb::{Consumer, Producer, RingBuffer};

use super::record::{HEADER_BYTES, Place, RecordHeader};
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
    /// Bytes of an IPv4 packet that are kept at least, even if its headers are shorter.
    snap_bytes: usize,
    /// The next record for the ring.
    record: Box<[u8]>,
    record_bytes: usize,
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
    /// Bytes of an IPv4 packet that are kept at least, even if its headers are shorter.
    pub(crate) snap_bytes: usize,
    /// Largest IPv4 packet.
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
            record: vec![0; HEADER_BYTES + config.packet_bytes].into_boxed_slice(),
            record_bytes: 0,
        };
        let tapped = Tapped {
            ring: consumer,
            state,
        };
        (tap, tapped)
    }

    /// A packet passes `place` at `time_ns`.
    #[inline]
    pub(crate) fn note(&mut self, place: Place, time_ns: u64, frame: &Frame) {
        if self.copy(place, time_ns, frame) {
            self.push();
        }
    }

    /// A packet is about to arrive at the bottleneck; [`Tap::arrived`] follows.
    #[inline]
    pub(crate) fn arrives(&mut self, time_ns: u64, frame: &Frame) {
        if !self.copy(Place::BottleneckIn, time_ns, frame) {
            self.record_bytes = 0;
        }
    }

    /// That packet is in the queue, or dropped.
    #[inline]
    pub(crate) fn arrived(&mut self, is_dropped: bool) {
        if self.record_bytes > 0 {
            self.record[HEADER_BYTES - 1] = u8::from(is_dropped);
            self.push();
        }
    }

    /// Everything before `now_ns` has been noted.
    #[inline]
    pub(crate) fn passed(&self, now_ns: u64) {
        self.state.until_ns.store(now_ns, Ordering::Release);
    }

    /// Makes a record; returns whether there is anything to record.
    #[inline]
    fn copy(&mut self, place: Place, time_ns: u64, frame: &Frame) -> bool {
        let is_wanted = match place {
            Place::Sender => self.points.senders,
            Place::Receiver => self.points.receivers,
            Place::BottleneckIn | Place::BottleneckOut => self.points.bottleneck,
        };
        // Packets left over from calibration do not belong to a flow or the run.
        if !is_wanted || !frame.is_of_flow() {
            return false;
        }
        let packet = frame.packet();
        // Headers are always kept: the checksum is made of them.
        let kept_bytes = packet.len().min(self.snap_bytes.max(header_bytes(packet)));
        let header = RecordHeader {
            time_ns,
            group: frame.group,
            packet_bytes: packet.len() as u16,
            kept_bytes: kept_bytes as u16,
            place,
            is_dropped: false,
        };
        self.record_bytes = HEADER_BYTES + kept_bytes;
        let record = &mut self.record[..self.record_bytes];
        record[..HEADER_BYTES].copy_from_slice(&header.encode());
        record[HEADER_BYTES..].copy_from_slice(&packet[..kept_bytes]);
        true
    }

    #[inline]
    fn push(&mut self) {
        let record = &self.record[..self.record_bytes];
        if self.ring.push_entire_slice(record).is_err() {
            self.state.lost_pkts.fetch_add(1, Ordering::Relaxed);
        }
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

/// Bytes of the IPv4 and TCP headers of a packet of a flow.
#[inline]
pub(crate) fn header_bytes(packet: &[u8]) -> usize {
    let words_at = |offset: usize, shift: u32| {
        packet
            .get(offset)
            .map_or(0, |byte| usize::from(byte >> shift & 0x0f) * 4)
    };
    let ip_bytes = words_at(0, 0);
    ip_bytes + words_at(ip_bytes + 12, 4)
}
