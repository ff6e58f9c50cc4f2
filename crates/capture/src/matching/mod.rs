//! Two captures of the same traffic: what was lost, delayed and reordered between them.
//!
//! A packet of the first capture and one of the second are the same if ends, sequence and
//! acknowledgment number, length, flags, TSval and IP id are; the n-th of equal ones matches the
//! n-th. Clocks are not adjusted: between machines the delay has an unknown offset, and only what
//! exceeds the smallest delay means anything.

mod delays;
mod table;
mod translated;
mod waiting;

use std::collections::{HashMap, HashSet};

use dumbbell_table::Batch;
use foldhash::fast::RandomState;

use crate::analysis::source::PacketSource;
use crate::ends::Ends;
use crate::packet::{Endpoint, TcpFlags, TcpPacket};
use crate::points::Points;
use delays::Delays;
use table::PacketRows;
pub use translated::Translated;
use waiting::{PacketKey, Waiting, WaitingRoom};

/// Captures that begin further apart are assumed to have different clocks, and are aligned at their
/// first packets for the order of reading.
const SAME_CLOCK_NS: u64 = 3_600_000_000_000;

/// How far ahead the first capture is read, so that packets are matched in the order of the second
/// even if its clock is behind.
const LEAD_NS: i128 = 100_000_000;

/// Options of a matching.
#[derive(Clone, Debug)]
pub struct MatchOptions {
    /// Point of the first capture; `None`: all of it.
    pub before_point: Option<String>,
    /// Point of the second capture.
    pub after_point: Option<String>,
    /// A packet that is not seen again for this long was dropped.
    pub max_wait_ns: u64,
    /// Largest number of waiting packets; beyond it, the oldest counts as dropped.
    pub max_waiting_pkts: usize,
    /// Largest number of rows of `packets`.
    pub max_packet_rows: usize,
    /// Connections that are matched by everything but addresses and ports.
    #[doc(hidden)]
    pub translated: Translated,
}

impl Default for MatchOptions {
    fn default() -> Self {
        Self {
            before_point: None,
            after_point: None,
            max_wait_ns: 60_000_000_000,
            max_waiting_pkts: 1 << 19,
            max_packet_rows: 20_000_000,
            translated: Translated::default(),
        }
    }
}

/// What happened between two points.
#[derive(Clone, Debug)]
pub struct Matching {
    /// A row per connection and direction.
    pub matches: Batch,
    /// A row per packet of the first capture.
    pub packets: Vec<Batch>,
    /// Totals that are in no table.
    pub totals: MatchTotals,
    one_sided: HashSet<Ends, RandomState>,
}

impl Matching {
    /// Options with which another matching of the same captures may find more: there are connections in one capture
    /// only, on either side, as where addresses or ports are translated between them (NAT).
    pub fn better_options(&self, options: &MatchOptions) -> Option<MatchOptions> {
        let is_new = !self.one_sided.is_empty() && options.translated.is_empty();
        is_new.then(|| MatchOptions {
            translated: Translated::new(self.one_sided.clone()),
            ..options.clone()
        })
    }
}

/// Counts over both captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchTotals {
    /// TCP packets of the first capture.
    pub before_pkts: u64,
    /// TCP packets of the second capture.
    pub after_pkts: u64,
    /// Packets in both captures.
    pub matched_pkts: u64,
    /// Directions of connections whose addresses or ports differ between the captures.
    pub translated_directions: u64,
    /// Packets whose wait was cut short for lack of room.
    pub hurried_pkts: u64,
    /// Rows missing from `packets` for lack of room.
    pub dropped_rows: u64,
}

/// A direction of a connection.
#[derive(Debug)]
struct Flow {
    connection: u64,
    source: Endpoint,
    destination: Endpoint,
    is_initiator: bool,
    first_seq: u32,
    /// Packets so far, before and after.
    places: [u64; 2],
    /// Most payload in a packet, before and after.
    largest_bytes: [u32; 2],
    /// Furthest place before it that was matched.
    furthest: u64,
    only_after_pkts: u64,
    dropped_pkts: u64,
    undecided_pkts: u64,
    reordered_pkts: u64,
    delays: Delays,
    /// The flow that it is in the other capture, with other addresses or ports.
    merged_into: Option<usize>,
}

/// The capture that a packet is in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before = 0,
    After = 1,
}

/// Matches two captures of the same traffic.
pub fn match_captures<S: PacketSource>(
    before: &mut S,
    after: &mut S,
    options: &MatchOptions,
) -> Result<Matching, S::Error> {
    let mut inputs = [
        Input::new(before, options.before_point.clone()),
        Input::new(after, options.after_point.clone()),
    ];
    for input in &mut inputs {
        input.advance()?;
    }
    let mut matcher = Matcher::new(options.clone());
    if let [Some(first), Some(second)] = [&inputs[0].next, &inputs[1].next]
        && first.time_ns.abs_diff(second.time_ns) > SAME_CLOCK_NS
    {
        matcher.offset_ns += i128::from(first.time_ns) - i128::from(second.time_ns);
    }
    loop {
        let side = match [&inputs[0].next, &inputs[1].next] {
            [Some(first), Some(second)] => {
                let aligned_ns = i128::from(second.time_ns) + matcher.offset_ns;
                let is_first = i128::from(first.time_ns) <= aligned_ns;
                if is_first { Side::Before } else { Side::After }
            }
            [Some(_), None] => Side::Before,
            [None, Some(_)] => Side::After,
            [None, None] => break,
        };
        let input = &mut inputs[side as usize];
        if let Some(packet) = input.next.take() {
            matcher.push(&packet, side);
        }
        input.advance()?;
    }
    Ok(matcher.finish())
}

/// A capture and its next packet at the selected point.
struct Input<'a, S> {
    source: &'a mut S,
    points: Points,
    next: Option<TcpPacket>,
}

impl<'a, S: PacketSource> Input<'a, S> {
    fn new(source: &'a mut S, point: Option<String>) -> Self {
        Self {
            source,
            points: Points::new(point.map(|name| vec![name])),
            next: None,
        }
    }

    fn advance(&mut self) -> Result<(), S::Error> {
        while let Some(packet) = self.source.next_packet()? {
            let source = &*self.source;
            if self
                .points
                .has(packet.interface, |interface| source.point_name(interface))
            {
                self.next = Some(packet);
                return Ok(());
            }
        }
        Ok(())
    }
}

struct Matcher {
    options: MatchOptions,
    flows: Vec<Flow>,
    by_ends: HashMap<Ends, [Option<usize>; 2], RandomState>,
    rooms: [WaitingRoom; 2],
    last_ns: [u64; 2],
    first_ns: Option<u64>,
    /// Offset added to times of the second capture to decide which is read next.
    offset_ns: i128,
    rows: PacketRows,
    totals: MatchTotals,
    connections: u64,
}

impl Matcher {
    fn new(options: MatchOptions) -> Self {
        Self {
            flows: Vec::new(),
            by_ends: HashMap::default(),
            rooms: [WaitingRoom::default(), WaitingRoom::default()],
            last_ns: [0; 2],
            first_ns: None,
            offset_ns: LEAD_NS,
            rows: PacketRows::new(options.max_packet_rows),
            totals: MatchTotals::default(),
            connections: 0,
            options,
        }
    }

    fn push(&mut self, packet: &TcpPacket, side: Side) {
        let here = side as usize;
        let (ends, direction) = Ends::of(packet);
        let flow = self.flow(packet, ends, direction);
        let flow = self.flows[flow].merged_into.unwrap_or(flow);
        let key = if self.options.translated.has(&ends) {
            PacketKey::of_translated(packet)
        } else {
            PacketKey::of(packet, ends, direction)
        };
        match side {
            Side::Before => {
                self.totals.before_pkts += 1;
                self.first_ns.get_or_insert(packet.time_ns);
            }
            Side::After => self.totals.after_pkts += 1,
        }
        self.last_ns[here] = self.last_ns[here].max(packet.time_ns);
        let place = self.flows[flow].places[here];
        self.flows[flow].places[here] += 1;
        let largest_bytes = &mut self.flows[flow].largest_bytes[here];
        *largest_bytes = packet.payload_bytes.max(*largest_bytes);
        let first_seq = self.flows[flow].first_seq;
        let waiting = Waiting {
            key,
            time_ns: packet.time_ns,
            place,
            is_marked_dropped: packet.is_marked_dropped,
            seq: i64::from(packet.seq.wrapping_sub(first_seq).cast_signed()),
            flow,
        };
        match self.rooms[1 - here].take(&key) {
            Some(other) if side == Side::Before => {
                let behind_ns = i128::from(waiting.time_ns) - i128::from(other.time_ns);
                self.offset_ns = self.offset_ns.max(behind_ns + LEAD_NS);
                self.pair(&waiting, &other);
            }
            Some(other) => self.pair(&other, &waiting),
            None => self.rooms[here].add(waiting),
        }
        self.expire(side);
    }

    fn flow(&mut self, packet: &TcpPacket, ends: Ends, direction: usize) -> usize {
        let is_new = !self.by_ends.contains_key(&ends);
        let known = self.by_ends.entry(ends).or_default();
        if let Some(flow) = known[direction] {
            return flow;
        }
        let connection = match known[1 - direction] {
            Some(other) => self.flows[other].connection,
            None => self.connections,
        };
        self.connections += u64::from(is_new);
        let is_answer = packet.flags.has(TcpFlags::SYN) && packet.flags.has(TcpFlags::ACK);
        let is_initiator = match known[1 - direction] {
            Some(other) => !self.flows[other].is_initiator,
            None => !is_answer,
        };
        known[direction] = Some(self.flows.len());
        self.flows.push(Flow {
            connection,
            source: packet.source,
            destination: packet.destination,
            is_initiator,
            first_seq: if packet.flags.has(TcpFlags::SYN) {
                packet.seq
            } else {
                packet.seq.wrapping_sub(1)
            },
            places: [0; 2],
            largest_bytes: [0; 2],
            furthest: 0,
            only_after_pkts: 0,
            dropped_pkts: 0,
            undecided_pkts: 0,
            reordered_pkts: 0,
            delays: Delays::default(),
            merged_into: None,
        });
        self.flows.len() - 1
    }

    /// One packet, seen at both points. It is reordered if one that was sent later has arrived
    /// before (RFC 4737 §3.3).
    fn pair(&mut self, before: &Waiting, after: &Waiting) {
        let delay_ns = after.time_ns.wrapping_sub(before.time_ns).cast_signed();
        self.merge(after.flow, before.flow);
        let flow = &mut self.flows[before.flow];
        flow.reordered_pkts += u64::from(before.place < flow.furthest);
        flow.furthest = flow.furthest.max(before.place);
        flow.delays.record(delay_ns);
        self.totals.matched_pkts += 1;
        self.push_row(before, Some(delay_ns));
    }

    fn push_row(&mut self, before: &Waiting, delay_ns: Option<i64>) {
        let flow = &self.flows[before.flow];
        let since_ns = before.time_ns.saturating_sub(self.first_ns.unwrap_or(0));
        self.rows.push(flow, since_ns, before.seq, delay_ns);
    }

    /// Gives up packets that have waited too long, or take too much room.
    fn expire(&mut self, side: Side) {
        let here = side as usize;
        let room = &mut self.rooms[here];
        let mut gone =
            room.take_older_than(self.last_ns[here].saturating_sub(self.options.max_wait_ns));
        if gone.is_none() && room.count() > self.options.max_waiting_pkts {
            gone = room.take_older_than(u64::MAX);
            self.totals.hurried_pkts += 1;
        }
        if let Some(gone) = gone {
            self.give_up(&gone, side);
        }
    }

    fn give_up(&mut self, gone: &Waiting, side: Side) {
        if side == Side::After {
            let flow = self.flows[gone.flow].merged_into.unwrap_or(gone.flow);
            self.flows[flow].only_after_pkts += 1;
            return;
        }
        self.flows[gone.flow].dropped_pkts += 1;
        self.push_row(gone, None);
    }

    fn finish(mut self) -> Matching {
        while let Some(gone) = self.rooms[Side::After as usize].take_older_than(u64::MAX) {
            self.give_up(&gone, Side::After);
        }
        while let Some(gone) = self.rooms[Side::Before as usize].take_older_than(u64::MAX) {
            if self.is_undecided(&gone) {
                self.flows[gone.flow].undecided_pkts += 1;
            } else {
                self.give_up(&gone, Side::Before);
            }
        }
        self.totals.dropped_rows = self.rows.dropped_rows();
        let one_sided = self.one_sided();
        self.flows.retain(|flow| flow.merged_into.is_none());
        Matching {
            matches: table::matches(&self.flows),
            packets: self.rows.finish(),
            totals: self.totals,
            one_sided,
        }
    }

    /// Whether the second capture may have ended before the packet arrived: nothing sent later has
    /// arrived, and less time was left than the slowest packet took.
    fn is_undecided(&self, gone: &Waiting) -> bool {
        let flow = &self.flows[gone.flow];
        let slowest_ns = flow.delays.max_ns().unwrap_or(0.0);
        let is_overtaken = gone.place < flow.furthest;
        let had_time = gone.time_ns as f64 + slowest_ns < self.last_ns[Side::After as usize] as f64;
        !(gone.is_marked_dropped || is_overtaken || had_time)
    }
}
