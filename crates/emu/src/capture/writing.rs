//! The thread that writes a capture.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dumbbell_capture::{CaptureConfig, CapturePoint, CaptureWriter, dropped_comment};
use dumbbell_net::ETHERNET_HEADER_BYTES;

use super::CaptureReport;
use super::frame::write_frame;
use super::merge::{Merge, Record};
use super::record::{Place, RecordHeader};
use super::tap::{Tapped, header_bytes};

/// How often the rings are emptied: rarely enough to cost little, often enough that little waits.
const EVERY: Duration = Duration::from_millis(10);

/// There and back.
const WAYS: usize = 2;

/// Empties the rings into a file.
pub(crate) struct Writing<W: Write> {
    writer: CaptureWriter<W>,
    config: CaptureConfig,
    /// From the monotonic clock to the time of day.
    wall_clock_offset_ns: u64,
    tapped: Vec<Tapped>,
    /// Names of the links.
    links: Vec<String>,
    /// Places that a packet can pass.
    places: usize,
    merge: Merge,
    /// The frame that is written.
    frame: Vec<u8>,
    captured_pkts: u64,
}

impl<W: Write> Writing<W> {
    pub(crate) fn new(
        writer: CaptureWriter<W>,
        config: &CaptureConfig,
        wall_clock_offset_ns: u64,
        tapped: Vec<Tapped>,
        links: Vec<String>,
    ) -> Self {
        let places = Place::count(links.len());
        Self {
            writer,
            config: config.clone(),
            wall_clock_offset_ns,
            merge: Merge::new(tapped.len() * WAYS * places),
            tapped,
            links,
            places,
            frame: Vec::new(),
            captured_pkts: 0,
        }
    }

    /// Writes until `stop`, and then what is left.
    pub(crate) fn run(mut self, stop: &AtomicBool) -> io::Result<CaptureReport> {
        loop {
            // Read first: everything recorded before is in the rings.
            let is_last = stop.load(Ordering::Acquire);
            if is_last {
                return self.finish();
            }
            self.write_some()?;
            std::thread::park_timeout(EVERY);
        }
    }

    /// Empties the rings and writes what is complete.
    pub(crate) fn write_some(&mut self) -> io::Result<()> {
        let until_ns = self.tapped.iter().map(Tapped::until_ns).min();
        self.empty_rings();
        self.write_before(until_ns.unwrap_or(0))
    }

    /// Writes what is left, after the taps are closed.
    pub(crate) fn finish(mut self) -> io::Result<CaptureReport> {
        self.empty_rings();
        self.write_before(u64::MAX)?;
        self.writer.finish()?;
        Ok(CaptureReport {
            captured_pkts: self.captured_pkts,
            lost_pkts: self.tapped.iter().map(Tapped::lost_pkts).sum(),
        })
    }

    /// What goes one way passes each place of a part of the network in order of time.
    fn empty_rings(&mut self) {
        for (part, tapped) in self.tapped.iter_mut().enumerate() {
            let mut packet = self.merge.space();
            while let Some(header) = tapped.take(&mut packet) {
                let of_way = WAYS * part + header.way as usize;
                let stream = of_way * self.places + usize::from(header.place.number());
                self.merge.push(stream, Record { header, packet });
                packet = self.merge.space();
            }
            self.merge.give_back(packet);
        }
    }

    fn write_before(&mut self, until_ns: u64) -> io::Result<()> {
        while let Some(Record { header, packet }) = self.merge.pop_before(until_ns) {
            self.write(&header, &packet)?;
            self.merge.give_back(packet);
        }
        Ok(())
    }

    fn write(&mut self, header: &RecordHeader, packet: &[u8]) -> io::Result<()> {
        let ethernet_bytes = ETHERNET_HEADER_BYTES as usize;
        let packet_bytes = usize::from(header.packet_bytes);
        write_frame(&mut self.frame, packet, packet_bytes, header.has_checksum);
        let frame_bytes = ethernet_bytes + packet_bytes;
        let kept_bytes = self
            .config
            .kept_bytes(ethernet_bytes + header_bytes(packet), frame_bytes);
        let comment = match (header.place, header.dropped) {
            (Place::LinkIn(link) | Place::LinkOut(link), Some(reason)) => Some(dropped_comment(
                &self.links[usize::from(link)],
                reason.note(),
            )),
            _ => None,
        };
        self.captured_pkts += 1;
        self.writer.record(
            point(header),
            self.wall_clock_offset_ns + header.time_ns,
            &self.frame[..kept_bytes],
            frame_bytes as u32,
            comment.as_deref(),
        )
    }
}

fn point(header: &RecordHeader) -> CapturePoint {
    let group = u32::from(header.group);
    match header.place {
        Place::Sender => CapturePoint::Sender(group),
        Place::Receiver => CapturePoint::Receiver(group),
        Place::LinkIn(link) => CapturePoint::LinkIn(u32::from(link)),
        Place::LinkOut(link) => CapturePoint::LinkOut(u32::from(link)),
    }
}
