//! What happened to every packet at every link: queued, sent, marked, dropped, and behind how many others.
//!
//! Read from a capture of a run, which has each packet where it arrives at a link (`NAME-in`) and where it leaves it
//! (`NAME-out`). A packet that leaves is the first of those with the same bytes that waits there, apart from what a link changes:
//! the ECN field and IPv4's checksum.

mod header;
mod table;

use std::collections::{HashMap, VecDeque};

use dumbbell_table::Batch;
use foldhash::fast::RandomState;
use foldhash::quality::FixedState;

use crate::error::Error;
use crate::reader::{Interface, Reader, Record};
use crate::writer::DROPPED;
use header::{Ecn, Header};
use table::Rows;

/// Ends of the names of a link's capture points.
const SIDES: [(&str, Side); 2] = [("-in", Side::In), ("-out", Side::Out)];

/// The log of a capture.
#[derive(Clone, Debug)]
pub struct PacketLog {
    /// A row per event, in the order of the capture.
    pub packets: Vec<Batch>,
    /// A row per flow: protocol, addresses and ports of one direction.
    pub flows: Batch,
    /// Totals that are in no table.
    pub totals: PacketLogTotals,
}

/// Counts over the whole capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketLogTotals {
    /// Time of the first packet at a link, ns since the Unix epoch: the zero of `time_us`.
    pub first_ns: Option<u64>,
    /// Packets that left a link without having arrived there: the capture begins or is damaged in between.
    pub unmatched_pkts: u64,
    /// Rows missing from `packets` for lack of room.
    pub dropped_rows: u64,
}

/// What happens to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// It joins the queue.
    Enqueue = 0,
    /// Its last bit is on the wire.
    Dequeue = 1,
    /// It is dropped: at once, or when it had waited.
    Drop = 2,
    /// It is lost behind the link.
    Loss = 3,
}

/// Where a packet is seen at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    In,
    Out,
}

/// A link, and what is in it.
#[derive(Debug, Default)]
struct Link {
    name: String,
    waiting: HashMap<u64, VecDeque<Waiting>, RandomState>,
    backlog_pkts: u64,
    backlog_bytes: u64,
}

/// A packet in a link.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    since_ns: u64,
    wire_bytes: u32,
    ecn: Ecn,
}

/// A row of the log.
#[derive(Clone, Copy, Debug)]
struct Row {
    time_ns: u64,
    link: u16,
    event: Event,
    /// Number of the reason for a drop, in the list of reasons.
    reason: Option<u8>,
    flow: u32,
    wire_bytes: u32,
    /// The field as it arrived.
    ecn: Ecn,
    /// The link set CE.
    is_marked: bool,
    /// Since it arrived.
    in_link_ns: Option<u64>,
    /// Packets that are in the link afterwards.
    backlog_pkts: u64,
    backlog_bytes: u64,
}

/// Reads the log of a capture, of at most `max_rows` events.
pub fn packet_log(reader: &mut Reader, max_rows: usize) -> Result<PacketLog, Error> {
    let mut log = Log::new(max_rows);
    reader.for_each_record(|interface, record| log.push(interface, record))?;
    Ok(log.rows.finish(&log.links, log.totals))
}

struct Log {
    links: Vec<Link>,
    /// The link and the side of each interface by its number; `None`: no link's.
    points: Vec<Option<(usize, Side)>>,
    /// The same in every run, so that so is the log.
    hash: FixedState,
    rows: Rows,
    totals: PacketLogTotals,
}

impl Log {
    fn new(max_rows: usize) -> Self {
        Self {
            links: Vec::new(),
            points: Vec::new(),
            hash: FixedState::default(),
            rows: Rows::new(max_rows),
            totals: PacketLogTotals::default(),
        }
    }

    fn push(&mut self, interface: &Interface, record: &Record<'_>) {
        let Some((link, side)) = self.point(interface, record.interface as usize) else {
            return;
        };
        let Some(header) = Header::parse(interface.link_type, record) else {
            return;
        };
        self.totals.first_ns.get_or_insert(record.time_ns);
        let key = header.key(&self.hash);
        let flow = self.rows.flow(&header.flow);
        let reason = record
            .drop_comment
            .map(|comment| self.rows.reason(reason_of(comment)));
        let state = &mut self.links[link];
        let (event, was) = match (side, reason) {
            (Side::In, None) => {
                state.add(key, record, header.ecn);
                (Event::Enqueue, None)
            }
            // Without one that waits it was refused.
            (Side::In, Some(_)) => (Event::Drop, state.take(key)),
            (Side::Out, None) => (Event::Dequeue, state.take(key)),
            // It has left the link; that it has is another row.
            (Side::Out, Some(_)) => (Event::Loss, None),
        };
        self.totals.unmatched_pkts += u64::from(event == Event::Dequeue && was.is_none());
        self.rows.push(Row {
            time_ns: record.time_ns,
            link: link as u16,
            event,
            reason,
            flow,
            wire_bytes: record.wire_bytes,
            ecn: was.map_or(header.ecn, |was| was.ecn),
            is_marked: header.ecn == Ecn::Ce && was.is_some_and(|was| was.ecn != Ecn::Ce),
            in_link_ns: was.map(|was| record.time_ns.saturating_sub(was.since_ns)),
            backlog_pkts: state.backlog_pkts,
            backlog_bytes: state.backlog_bytes,
        });
    }

    /// The link and the side of an interface.
    fn point(&mut self, interface: &Interface, number: usize) -> Option<(usize, Side)> {
        for number in self.points.len()..=number {
            debug_assert!(number <= usize::from(u16::MAX), "the reader has a limit");
            self.points.push(None);
        }
        if let Some(known) = self.points[number] {
            return Some(known);
        }
        let name = interface.name.as_deref()?;
        let (link, side) = SIDES
            .iter()
            .find_map(|&(end, side)| Some((name.strip_suffix(end)?, side)))?;
        let known = self.links.iter().position(|each| each.name == link);
        let index = known.unwrap_or_else(|| {
            self.links.push(Link {
                name: link.to_owned(),
                ..Link::default()
            });
            self.links.len() - 1
        });
        self.points[number] = Some((index, side));
        self.points[number]
    }
}

impl Link {
    fn add(&mut self, key: u64, record: &Record<'_>, ecn: Ecn) {
        self.backlog_pkts += 1;
        self.backlog_bytes += u64::from(record.wire_bytes);
        self.waiting.entry(key).or_default().push_back(Waiting {
            since_ns: record.time_ns,
            wire_bytes: record.wire_bytes,
            ecn,
        });
    }

    fn take(&mut self, key: u64) -> Option<Waiting> {
        let alike = self.waiting.get_mut(&key)?;
        let first = alike.pop_front()?;
        if alike.is_empty() {
            self.waiting.remove(&key);
        }
        self.backlog_pkts -= 1;
        self.backlog_bytes -= u64::from(first.wire_bytes);
        Some(first)
    }
}

/// The reason in the comment of a dropped packet; a full queue has none.
fn reason_of(comment: &[u8]) -> &str {
    const FULL: &str = "full queue";
    let text = std::str::from_utf8(comment).unwrap_or_default();
    let reason = text
        .strip_prefix(DROPPED)
        .and_then(|rest| rest.split_once(": "));
    reason.map_or(
        FULL,
        |(_, reason)| if reason.is_empty() { FULL } else { reason },
    )
}
