//! A connection as seen at one capture point.

use crate::analysis::acknowledgment::Acknowledgment;
use crate::analysis::direction::{DataContext, Direction, Syn, is_pure_ack};
use crate::analysis::duplicate::CopyTally;
use crate::analysis::flight::SentOutcome;
use crate::analysis::options::AnalysisOptions;
use crate::analysis::window::Scaling;
use crate::ends::ViewKey;
use crate::network::NetworkId;
use crate::packet::{Endpoint, TcpFlags, TcpPacket};

/// A series with at most this many bins keeps them.
const ALWAYS_HELD_BINS: usize = 32;

/// A connection at one capture point.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) key: ViewKey,
    /// Number of the connection, the same at every point.
    pub(crate) connection: u64,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// Indexed by [`Ends::of`]; `None` until a packet of the direction is seen.
    pub(crate) directions: [Option<Box<Direction>>; 2],
    /// The network of the direction that is not in the key's, if that is so.
    pub(crate) other_network: Option<NetworkId>,
    destination: [Endpoint; 2],
    first_direction: usize,
    /// How often packets without an IP id were captured twice.
    copies: CopyTally,
    /// Packets captured after later ones.
    pub(crate) unsorted_pkts: u64,
    /// Last acknowledgment number for a direction of which nothing has been seen.
    early_ack: Option<u32>,
    /// Whether its packets are kept.
    pub(crate) is_recorded: bool,
    /// Its part of `Views::held_bytes`.
    pub(crate) counted_bytes: usize,
}

/// The effect of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Effect {
    /// Seen before: it is not counted further.
    pub(crate) is_repeated: bool,
    pub(crate) sent: SentOutcome,
    /// Change in the number of segments held.
    pub(crate) held_segments: isize,
}

impl View {
    pub(crate) fn new(key: ViewKey, connection: u64, packet: &TcpPacket, direction: usize) -> Self {
        let mut destination = [packet.source; 2];
        destination[direction] = packet.destination;
        Self {
            key,
            connection,
            first_ns: packet.time_ns,
            last_ns: packet.time_ns,
            directions: [None, None],
            other_network: None,
            destination,
            first_direction: direction,
            copies: CopyTally::default(),
            unsorted_pkts: 0,
            early_ack: None,
            is_recorded: false,
            counted_bytes: 0,
        }
    }

    /// Whether a packet opens another connection between the same ends (RFC 9293 §3.6.1): a SYN
    /// with a sequence number that cannot belong to this one.
    pub(crate) fn is_reopened_by(&self, packet: &TcpPacket, direction: usize) -> bool {
        if !packet.flags.has(TcpFlags::SYN) {
            return false;
        }
        let other_syn = self.directions[1 - direction]
            .as_ref()
            .and_then(|other| other.syn);
        let answers = other_syn.is_some_and(|syn| packet.ack == syn.seq.wrapping_add(1));
        if packet.flags.has(TcpFlags::ACK) && answers {
            return false;
        }
        match &self.directions[direction] {
            None => self.is_closed(),
            Some(this) => match this.syn {
                Some(syn) => syn.seq != packet.seq,
                // A SYN that the capture has after the first data.
                None => packet.seq.wrapping_add(1) != this.first_seq,
            },
        }
    }

    /// Whether a packet is of the direction that was not seen yet: it continues what the other direction has sent and
    /// acknowledged. Some mirror ports tag one direction only, or each with a VLAN of its own.
    pub(crate) fn is_answered_by(&self, packet: &TcpPacket, direction: usize) -> bool {
        const NEAR_BYTES: u32 = 1 << 22;
        let (None, Some(other)) = (&self.directions[direction], &self.directions[1 - direction])
        else {
            return false;
        };
        let is_near = |seq: u32, expected: u32| {
            seq.wrapping_sub(expected).cast_signed().unsigned_abs() <= NEAR_BYTES
        };
        let acknowledges = packet.flags.has(TcpFlags::ACK) && is_near(packet.ack, other.next_seq());
        acknowledges && self.early_ack.is_none_or(|ack| is_near(packet.seq, ack))
    }

    fn is_closed(&self) -> bool {
        let directions = self.directions.iter().flatten();
        directions.fold(0, |ends, this| ends + this.counts.fin + this.counts.rst) > 0
    }

    /// Whether any payload was seen.
    pub(crate) fn has_payload(&self) -> bool {
        self.directions
            .iter()
            .flatten()
            .any(|this| this.counts.data_pkts > 0)
    }

    /// No more packets follow.
    pub(crate) fn close(&mut self) {
        for flight in self
            .directions
            .iter_mut()
            .flatten()
            .filter_map(|this| this.flight.as_mut())
        {
            flight.close();
        }
    }

    /// Halves the number of bins of long series.
    pub(crate) fn coarsen_series(&mut self) {
        for this in self.directions.iter_mut().flatten() {
            if let Some(flight) = &mut this.flight
                && flight.series.bins().len() > ALWAYS_HELD_BINS
            {
                flight.series.coarsen();
            }
        }
    }

    /// Memory that it holds, without segments, which have their own limit.
    #[inline]
    pub(crate) fn held_bytes(&self) -> usize {
        let directions = self.directions.iter().flatten().map(|this| {
            let flight = this.flight.as_ref();
            size_of::<Direction>() + flight.map_or(0, |flight| flight.held_bytes())
        });
        size_of::<Self>() + directions.sum::<usize>()
    }

    /// Segments held in both directions.
    pub(crate) fn held_segments(&self) -> usize {
        let flights = self
            .directions
            .iter()
            .flatten()
            .filter_map(|this| this.flight.as_ref());
        flights.map(|flight| flight.held_segments()).sum()
    }

    /// A packet of this connection at this point; `since_ns` after the capture's first.
    pub(crate) fn on_packet(
        &mut self,
        packet: &TcpPacket,
        direction: usize,
        since_ns: u64,
        options: &AnalysisOptions,
    ) -> Effect {
        self.unsorted_pkts += u64::from(packet.time_ns < self.last_ns);
        self.last_ns = self.last_ns.max(packet.time_ns);
        let early_ack = self.early_ack;
        let this = self.directions[direction]
            .get_or_insert_with(|| Box::new(Direction::new(packet, early_ack)));
        if !this.count(packet, &mut self.copies) {
            return Effect {
                is_repeated: true,
                ..Effect::default()
            };
        }
        if packet.flags.has(TcpFlags::SYN) {
            this.on_syn(packet);
        }
        let mut effect = Effect::default();
        let is_same_window = self.on_window(packet, direction);
        self.on_timestamps(packet, direction, since_ns);
        if packet.flags.has(TcpFlags::ACK) {
            self.on_ack(packet, direction, since_ns, is_same_window, &mut effect);
        }
        if packet.payload_bytes > 0 || packet.flags.has(TcpFlags::FIN) {
            self.on_data(packet, direction, since_ns, options, &mut effect);
        }
        effect
    }

    /// Whether the window is unchanged. That of a reset has no meaning (RFC 9293 §3.8.6).
    #[inline]
    fn on_window(&mut self, packet: &TcpPacket, direction: usize) -> bool {
        let scaling = self.scaling(direction);
        match &mut self.directions[direction] {
            Some(this) if !packet.flags.has(TcpFlags::RST) => {
                let is_syn = packet.flags.has(TcpFlags::SYN);
                this.window.on_packet(packet.window, is_syn, scaling)
            }
            _ => false,
        }
    }

    #[inline]
    pub(crate) fn scaling(&self, direction: usize) -> Scaling {
        let offer = |side: usize| {
            let syn = self.directions[side].as_ref()?.syn?;
            syn.window_scale
        };
        Scaling::of(offer(direction), offer(1 - direction))
    }

    #[inline]
    fn on_timestamps(&mut self, packet: &TcpPacket, direction: usize, since_ns: u64) {
        let Some((tsval, tsecr)) = packet.timestamps else {
            if packet.has_cut_options
                && let Some(this) = &mut self.directions[direction]
            {
                this.has_cut_options = true;
            }
            return;
        };
        if let Some(this) = &mut self.directions[direction] {
            this.has_timestamps = true;
            this.echo.on_tsval(tsval, packet.time_ns);
        }
        if let Some(other) = &mut self.directions[1 - direction]
            && packet.flags.has(TcpFlags::ACK)
        {
            let near_rtt_ns = other.echo.on_tsecr(tsecr, packet.time_ns);
            if let Some(near_rtt_ns) = near_rtt_ns
                && packet.payload_bytes > 0
                && let Some(this) = &mut self.directions[direction]
                && let Some(flight) = &mut this.flight
            {
                let bin = flight.series.at(since_ns);
                bin.near_rtt_count += 1;
                bin.near_rtt_sum_ns = bin.near_rtt_sum_ns.saturating_add(near_rtt_ns);
            }
        }
    }

    fn on_ack(
        &mut self,
        packet: &TcpPacket,
        direction: usize,
        since_ns: u64,
        is_same_window: bool,
        effect: &mut Effect,
    ) {
        let window = self.directions[direction]
            .as_ref()
            .and_then(|this| this.window.last_bytes);
        let Some(other) = &mut self.directions[1 - direction] else {
            self.early_ack = Some(packet.ack);
            return;
        };
        let before = other
            .flight
            .as_ref()
            .map_or(0, |flight| flight.held_segments());
        let is_pure = packet.payload_bytes == 0 && is_pure_ack(packet.flags);
        let samples = other.on_ack(&Acknowledgment {
            now_ns: packet.time_ns,
            ack: packet.ack,
            sack: &packet.sack,
            echoed: packet.timestamps.map(|(_, tsecr)| tsecr),
            may_be_duplicate: is_pure && is_same_window,
        });
        if let Some(flight) = &mut other.flight {
            flight.record_inflight(packet.time_ns, since_ns, window);
            if let Some(rtt_ns) = samples.rtt_ns {
                let bin = flight.series.at(since_ns);
                bin.rtt_count += 1;
                bin.rtt_sum_ns = bin.rtt_sum_ns.saturating_add(rtt_ns);
                bin.rtt_max_ns = bin.rtt_max_ns.max(rtt_ns);
            }
            effect.held_segments += flight.held_segments().cast_signed() - before.cast_signed();
        }
    }

    fn on_data(
        &mut self,
        packet: &TcpPacket,
        direction: usize,
        since_ns: u64,
        options: &AnalysisOptions,
        effect: &mut Effect,
    ) {
        let other = self.directions[1 - direction].as_ref();
        let window = other.and_then(|other| other.window.last_bytes);
        let is_window_closed = other.is_some_and(|other| other.window.is_zero());
        let is_first =
            (self.directions[direction].as_ref()).is_some_and(|this| this.flight.is_none());
        let context = is_first.then(|| self.data_context(direction, options));
        let Some(this) = &mut self.directions[direction] else {
            return;
        };
        let before = this
            .flight
            .as_ref()
            .map_or(0, |flight| flight.held_segments());
        effect.sent = this.on_data(packet, context.as_ref(), is_window_closed);
        if let Some(flight) = &mut this.flight {
            flight.record_inflight(packet.time_ns, since_ns, window);
            let bin = flight.series.at(since_ns);
            bin.payload_bytes += u64::from(packet.payload_bytes);
            bin.unique_bytes += effect.sent.unique_bytes;
            bin.retransmitted_pkts += u32::from(effect.sent.retransmission.is_some());
            bin.unseen_original_pkts += u32::from(effect.sent.is_of_unseen_original);
            effect.held_segments += flight.held_segments().cast_signed() - before.cast_signed();
        }
    }

    /// What the other side announced before a direction's first data.
    #[cold]
    fn data_context(&self, direction: usize, options: &AnalysisOptions) -> DataContext {
        let other = self.directions[1 - direction].as_ref();
        let syn = other.and_then(|other| other.syn);
        let own_syn = self.directions[direction]
            .as_ref()
            .and_then(|this| this.syn);
        let may_sack = |syn: Option<Syn>| syn.and_then(|syn| syn.permits_sack()).unwrap_or(true);
        DataContext {
            mss_bytes: syn.and_then(|syn| syn.mss_bytes),
            is_sack_permitted: may_sack(syn) && may_sack(own_syn),
            window_bytes: self.scaling(1 - direction).most_bytes(),
            near_rtt_ns: other.and_then(|other| other.handshake_rtt_ns),
            interval_ns: options.interval_ns,
            series_bins: options.series_bins,
        }
    }

    /// The end that a direction goes to.
    pub(crate) fn destination(&self, direction: usize) -> Endpoint {
        self.destination[direction]
    }

    /// The direction of the end that opened the connection; of the first packet where no SYN
    /// was seen.
    pub(crate) fn initiator(&self) -> usize {
        let syn = |side: usize| self.directions[side].as_ref().and_then(|this| this.syn);
        match (syn(0), syn(1)) {
            (Some(zero), Some(one)) if zero.is_first == one.is_first => self.first_direction,
            (Some(zero), _) => usize::from(!zero.is_first),
            (None, Some(one)) => usize::from(one.is_first),
            (None, None) => self.first_direction,
        }
    }

    /// Whether no SYN of a direction was seen.
    pub(crate) fn began_before_capture(&self, direction: usize) -> bool {
        self.directions[direction]
            .as_ref()
            .is_none_or(|this| this.syn.is_none())
    }
}
