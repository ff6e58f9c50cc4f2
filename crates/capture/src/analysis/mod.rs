//! Analyses what each connection in a capture did, at each of its capture points.
//!
//! A *view* is a connection at one point. Each of its directions counts its packets
//! (`direction.rs`) and, once there is data, follows the sequence space (`flight.rs`): what was
//! sent again and why (`recovery.rs`), what was acknowledged (`acknowledgment.rs`) or SACKed
//! (`sack.rs`), and so what is in flight.

mod accurate_ecn;
pub(crate) mod acknowledgment;
mod announced;
pub(crate) mod direction;
pub(crate) mod duplicate;
mod fin;
pub(crate) mod flight;
mod gaps;
pub(crate) mod inflight;
pub(crate) mod missing;
pub(crate) mod note;
mod one_way;
pub(crate) mod options;
pub(crate) mod recovery;
pub(crate) mod retransmission;
pub(crate) mod rtt;
mod sack;
mod segment_ring;
mod sequence;
mod sorted;
pub(crate) mod source;
pub(crate) mod vantage;
pub(crate) mod views;
pub(crate) mod window;

use dumbbell_table::Batch;

use crate::packet::{Checksum, TcpPacket};
use crate::points::Points;
use crate::segments::SegmentRows;
use crate::tables;
use options::AnalysisOptions;
use sorted::Sorted;
use source::PacketSource;
use views::{Evicted, Views};

/// Largest number of segments followed at once: 40 bytes each. Beyond it, the connection that adds
/// them forgets the older half of its own.
const MAX_HELD_SEGMENTS: isize = 1 << 20;
/// A connection with fewer than this forgets none.
const ALWAYS_HELD_SEGMENTS: usize = 1 << 10;
/// If no ACK was seen, more than this need not be held.
const MAX_UNACKNOWLEDGED_SEGMENTS: usize = 1 << 12;

/// The results of an analysis.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// A row per view and direction.
    pub connections: Batch,
    /// A row per view, direction and bin.
    pub series: Batch,
    /// A row per packet and SACK block of the requested connections.
    pub segments: Vec<Batch>,
    /// Points that count as one, or that should: the two lines of a tap.
    pub joined_points: Vec<Vec<String>>,
    /// Totals that are in no table.
    pub totals: Totals,
}

impl Analysis {
    /// Options with which another analysis of the same capture would be right, if those of this one were not: its
    /// packets are not in the order of their times, or the two lines of a tap are two points.
    pub fn better_options(&self, options: &AnalysisOptions) -> Option<AnalysisOptions> {
        let is_unsorted = self.totals.unsorted_pkts > 0 && !options.sorts;
        let is_apart = self.joined_points != options.joined_points;
        (is_unsorted || is_apart).then(|| AnalysisOptions {
            // The lines of a tap are in order each, and may not be together.
            sorts: true,
            joined_points: self.joined_points.clone(),
            ..options.clone()
        })
    }
}

/// Counts over the whole capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// TCP packets at the requested points.
    pub tcp_pkts: u64,
    /// Packets of TCP with a wrong checksum; receivers drop them, and so does the analysis.
    pub bad_checksum_pkts: u64,
    /// Packets captured after later ones of their connection at the same point.
    pub unsorted_pkts: u64,
    /// Connections, including those given up.
    pub connections: u64,
    /// Views that were given up for lack of room.
    pub evicted: Evicted,
    /// Rows missing from `segments` for lack of room.
    pub dropped_segment_rows: u64,
    /// Time of the first packet, ns since the Unix epoch: the zero of `time_us`.
    pub first_ns: Option<u64>,
    /// Time of the last packet.
    pub last_ns: Option<u64>,
}

/// Analyses a capture from its first packet to its last.
pub fn analyze<S: PacketSource>(
    source: &mut S,
    options: &AnalysisOptions,
) -> Result<Analysis, S::Error> {
    if options.sorts {
        let joined = options.joined_points.clone();
        return analyze_in_order(&mut Sorted::new(source, joined), options);
    }
    analyze_in_order(source, options)
}

fn analyze_in_order<S: PacketSource>(
    source: &mut S,
    options: &AnalysisOptions,
) -> Result<Analysis, S::Error> {
    let mut analyzer = Analyzer::new(options.clone());
    while let Some(packet) = source.next_packet()? {
        analyzer.push(&packet, |interface| source.point_name(interface));
    }
    Ok(analyzer.finish())
}

/// An analysis that receives its packets one by one.
#[derive(Debug)]
pub struct Analyzer {
    options: AnalysisOptions,
    views: Views,
    points: Points,
    segments: SegmentRows,
    totals: Totals,
}

impl Analyzer {
    /// One that has seen nothing.
    pub fn new(options: AnalysisOptions) -> Self {
        Self {
            views: Views::new(options.max_views, options.max_view_bytes),
            points: Points::new(options.points.clone()),
            segments: SegmentRows::new(options.max_segment_rows),
            totals: Totals::default(),
            options,
        }
    }

    /// Adds the next packet of the capture; `point_name` is called once per interface.
    #[inline]
    pub fn push(&mut self, packet: &TcpPacket, point_name: impl FnOnce(u32) -> Option<String>) {
        if !self.points.has(packet.interface, point_name) {
            return;
        }
        self.totals.tcp_pkts += 1;
        if packet.checksum == Checksum::Bad {
            self.totals.bad_checksum_pkts += 1;
            return;
        }
        let first_ns = *self.totals.first_ns.get_or_insert(packet.time_ns);
        self.totals.last_ns = self.totals.last_ns.max(Some(packet.time_ns));
        let since_ns = packet.time_ns.saturating_sub(first_ns);
        let held_segments = self.views.held_segments;
        let (view, direction, is_new) = self.views.of(packet);
        if is_new {
            view.is_recorded = self.options.segments.contains(&view.connection);
        }
        let effect = view.on_packet(packet, direction, since_ns, &self.options);
        if view.is_recorded && !effect.is_repeated {
            self.segments
                .push(view, packet, direction, since_ns, &effect.sent);
        }
        let mut change = effect.held_segments;
        if change > 0 {
            change -= limit(view, direction, held_segments);
        }
        self.views.held_segments += change;
        self.views.count_bytes();
    }

    /// Ends the analysis and makes its tables.
    pub fn finish(mut self) -> Analysis {
        self.totals.connections = self.views.connections();
        self.totals.evicted = self.views.evicted;
        self.totals.dropped_segment_rows = self.segments.dropped_rows();
        let views = self.views.into_sorted();
        self.totals.unsorted_pkts = views.iter().map(|view| view.unsorted_pkts).sum();
        let mut joined_points = self.options.joined_points;
        if joined_points.is_empty() && self.options.points.is_none() {
            joined_points = one_way::pairs(&views, &self.points);
        }
        self.points
            .tell_networks_apart(views.iter().map(|view| view.key.place()));
        Analysis {
            connections: tables::connections(&views, &self.points),
            series: tables::series(&views, &self.points),
            segments: self.segments.finish(&self.points),
            joined_points,
            totals: self.totals,
        }
    }
}

/// Limits what a direction holds; returns how many segments it gave up.
#[inline]
fn limit(view: &mut crate::connection::View, direction: usize, held_by_all: isize) -> isize {
    let mut released = 0;
    for side in [direction, 1 - direction] {
        let Some(flight) = view.directions[side]
            .as_mut()
            .and_then(|this| this.flight.as_mut())
        else {
            continue;
        };
        let held = flight.held_segments();
        let is_endless = held > MAX_UNACKNOWLEDGED_SEGMENTS && !flight.has_ack();
        let is_crowded = held_by_all > MAX_HELD_SEGMENTS && held > ALWAYS_HELD_SEGMENTS;
        if is_endless || is_crowded {
            flight.forget_half(is_crowded);
            released += held.cast_signed() - flight.held_segments().cast_signed();
        }
    }
    released
}
