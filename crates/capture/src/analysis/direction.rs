//! One direction of a connection at one capture point.

use super::accurate_ecn::{self, AceCounter};
use super::acknowledgment::{Acknowledgment, Samples};
use super::announced::earliest_ns;
use super::duplicate::{CopyTally, RecentPackets};
use super::flight::{Flight, FlightStart, Sent, SentOutcome};
use super::retransmission::RetransmissionKind;
use super::rtt::RttSummary;
use super::sack::duplicate_block;
use super::vantage::EchoProbe;
use super::window::Window;
use crate::packet::{Endpoint, TcpFlags, TcpPacket};
use crate::series::BinSeries;

/// Space that the timestamps option takes with its padding (RFC 7323 appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// If the MSS is unknown, a packet of a jumbo frame counts as one segment.
pub(crate) const UNKNOWN_MSS_BYTES: u32 = 8960;

/// Counts of packets and bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) pkts: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) data_pkts: u64,
    pub(crate) pure_ack_pkts: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) unique_bytes: u64,
    pub(crate) syn: u32,
    pub(crate) fin: u32,
    pub(crate) rst: u32,
    pub(crate) largest_segment_bytes: u32,
    pub(crate) retransmitted_pkts: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) zero_window_probe_pkts: u64,
    pub(crate) keep_alive_pkts: u64,
    pub(crate) fast_retransmitted_pkts: u64,
    pub(crate) rto_retransmitted_pkts: u64,
    pub(crate) tlp_pkts: u64,
    pub(crate) out_of_order_pkts: u64,
    pub(crate) unseen_original_pkts: u64,
    pub(crate) duplicate_pkts: u64,
    pub(crate) sack_pkts: u64,
    pub(crate) sack_blocks: u64,
    pub(crate) dsack_pkts: u64,
    pub(crate) ecn_ect_pkts: u64,
    pub(crate) ecn_ce_pkts: u64,
    pub(crate) ece_pkts: u64,
    pub(crate) cwr_pkts: u64,
    pub(crate) dropped_pkts: u64,
}

/// The SYN of a direction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syn {
    pub(crate) seq: u32,
    pub(super) sent_ns: u64,
    /// Whether it was sent without ACK: by the initiator.
    pub(crate) is_first: bool,
    pub(crate) mss_bytes: Option<u16>,
    /// The offered shift, or none; unknown if the capture cut the options.
    pub(crate) window_scale: Option<Option<u8>>,
    pub(crate) is_sack_permitted: bool,
    pub(crate) has_cut_options: bool,
    /// The ECN flags, which negotiate.
    pub(crate) ecn_flags: u16,
    is_acknowledged: bool,
}

impl Syn {
    /// Whether it has the SACK-permitted option; unknown if the capture cut its options.
    pub(crate) fn permits_sack(&self) -> Option<bool> {
        (self.is_sack_permitted || !self.has_cut_options).then_some(self.is_sack_permitted)
    }
}

/// Everything that one end sent.
#[derive(Debug)]
pub(crate) struct Direction {
    pub(crate) source: Endpoint,
    pub(crate) last_ns: u64,
    pub(crate) idle_max_ns: u64,
    pub(crate) data_first_ns: Option<u64>,
    pub(crate) data_last_ns: u64,
    pub(crate) counts: Counts,
    pub(crate) syn: Option<Syn>,
    pub(crate) has_timestamps: bool,
    /// The capture cut options.
    pub(crate) has_cut_options: bool,
    pub(crate) window: Window,
    pub(crate) echo: EchoProbe,
    pub(crate) ace: AceCounter,
    recent: RecentPackets,
    /// How long it had been silent before its last packet.
    pub(super) idle_ns: u64,
    /// Whether something was repeated that may be a copy or a retransmission.
    pub(crate) has_undecided_repeats: bool,
    /// First sequence number seen, for relative ones.
    pub(crate) first_seq: u32,
    /// The last acknowledgment number that the other side sent, until there is data.
    pub(super) acked: Option<u32>,
    pub(crate) rtt: RttSummary,
    pub(crate) handshake_rtt_ns: Option<u64>,
    /// Its data; allocated when there is some.
    pub(crate) flight: Option<Box<Flight>>,
}

/// What the other direction and the options determine for this one's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataContext {
    /// MSS that the other side announced.
    pub(crate) mss_bytes: Option<u16>,
    pub(crate) is_sack_permitted: bool,
    /// Largest window that the other side can announce.
    pub(crate) window_bytes: Option<u64>,
    /// From the capture to the sender and back.
    pub(crate) near_rtt_ns: Option<u64>,
    pub(crate) interval_ns: Option<u64>,
    pub(crate) series_bins: usize,
}

impl Direction {
    /// A direction with its first packet, and what the other side has acknowledged before that.
    pub(crate) fn new(packet: &TcpPacket, acked: Option<u32>) -> Self {
        Self {
            source: packet.source,
            last_ns: packet.time_ns,
            idle_max_ns: 0,
            data_first_ns: None,
            data_last_ns: 0,
            counts: Counts::default(),
            syn: None,
            has_timestamps: false,
            has_cut_options: false,
            window: Window::default(),
            echo: EchoProbe::default(),
            ace: AceCounter::default(),
            recent: RecentPackets::default(),
            idle_ns: 0,
            has_undecided_repeats: false,
            first_seq: packet.seq,
            acked,
            rtt: RttSummary::default(),
            handshake_rtt_ns: None,
            flight: None,
        }
    }

    /// Counts a packet; `false` if it is a copy and must not be counted further. `copies`: of the connection.
    #[inline]
    pub(crate) fn count(&mut self, packet: &TcpPacket, copies: &mut CopyTally) -> bool {
        let idle_ns = packet.time_ns.saturating_sub(self.last_ns);
        self.idle_ns = idle_ns;
        self.idle_max_ns = self.idle_max_ns.max(idle_ns);
        self.last_ns = self.last_ns.max(packet.time_ns);
        let counts = &mut self.counts;
        counts.pkts += 1;
        counts.wire_bytes += u64::from(packet.wire_bytes);
        counts.dropped_pkts += u64::from(packet.is_marked_dropped);
        let earliest = || earliest_ns(&self.rtt, self.flight.as_deref());
        if self.recent.is_copy(packet, earliest, copies) {
            counts.duplicate_pkts += 1;
            return false;
        }
        let flags = packet.flags;
        match packet.ecn {
            1 | 2 => counts.ecn_ect_pkts += 1,
            3 => counts.ecn_ce_pkts += 1,
            _ => {}
        }
        let is_syn = flags.has(TcpFlags::SYN);
        self.ace.on_packet(flags, packet.ack, self.syn.as_ref());
        if flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST | TcpFlags::ECE | TcpFlags::CWR)
        {
            counts.syn += u32::from(is_syn);
            counts.fin += u32::from(flags.has(TcpFlags::FIN));
            counts.rst += u32::from(flags.has(TcpFlags::RST));
            // On a SYN they negotiate (RFC 3168 §6.1.1).
            counts.ece_pkts += u64::from(flags.has(TcpFlags::ECE) && !is_syn);
            counts.cwr_pkts += u64::from(flags.has(TcpFlags::CWR) && !is_syn);
        }
        if packet.payload_bytes > 0 {
            counts.data_pkts += 1;
            counts.payload_bytes += u64::from(packet.payload_bytes);
            counts.largest_segment_bytes = counts.largest_segment_bytes.max(packet.payload_bytes);
            self.data_first_ns.get_or_insert(packet.time_ns);
            self.data_last_ns = packet.time_ns;
        } else if is_pure_ack(flags) {
            counts.pure_ack_pkts += 1;
            if self.acked == Some(packet.seq.wrapping_add(1)) && self.is_keep_alive(packet) {
                self.counts.keep_alive_pkts += 1;
            }
        }
        let counts = &mut self.counts;
        let blocks = packet.sack.as_slice();
        if !blocks.is_empty() {
            counts.sack_pkts += 1;
            counts.sack_blocks += blocks.len() as u64;
            counts.dsack_pkts += u64::from(duplicate_block(blocks, packet.ack).is_some());
        }
        true
    }

    /// A SYN: it takes a sequence number, and is sent again only by a timer.
    pub(crate) fn on_syn(&mut self, packet: &TcpPacket) {
        if self.syn.is_some_and(|syn| syn.seq == packet.seq) {
            self.counts.retransmitted_pkts += 1;
            self.counts.rto_retransmitted_pkts += 1;
            return;
        }
        self.first_seq = packet.seq;
        self.syn = Some(Syn {
            seq: packet.seq,
            sent_ns: packet.time_ns,
            is_first: !packet.flags.has(TcpFlags::ACK),
            mss_bytes: packet.mss,
            window_scale: (packet.window_scale.is_some() || !packet.has_cut_options)
                .then_some(packet.window_scale),
            is_sack_permitted: packet.sack_permitted,
            has_cut_options: packet.has_cut_options,
            ecn_flags: packet.flags.0 & accurate_ecn::FLAGS,
            is_acknowledged: false,
        });
    }

    /// Payload or FIN. A single byte into a closed window is a probe (RFC 9293 §3.8.6.1), and not a
    /// sign of loss when it is sent again. `context` of the first data.
    pub(crate) fn on_data(
        &mut self,
        packet: &TcpPacket,
        context: Option<&DataContext>,
        is_window_closed: bool,
    ) -> SentOutcome {
        if packet.payload_bytes == 1 && self.is_keep_alive(packet) {
            self.counts.keep_alive_pkts += 1;
            return SentOutcome::default();
        }
        if let Some(context) = context {
            self.flight = Some(Box::new(self.start_flight(packet, context)));
        }
        let Some(flight) = self.flight.as_mut() else {
            return SentOutcome::default();
        };
        let is_probe =
            is_window_closed && packet.payload_bytes == 1 && !packet.flags.has(TcpFlags::FIN);
        let mut outcome = flight.on_sent(&Sent {
            now_ns: packet.time_ns,
            seq: payload_seq(packet),
            payload_bytes: packet.payload_bytes,
            is_fin: packet.flags.has(TcpFlags::FIN),
            tsval: packet.timestamps.map(|(tsval, _)| tsval),
            is_probe,
        });
        let counts = &mut self.counts;
        if is_probe {
            counts.zero_window_probe_pkts += 1;
            outcome.retransmission = None;
        }
        counts.unique_bytes += outcome.unique_bytes;
        counts.out_of_order_pkts += u64::from(outcome.is_out_of_order);
        counts.unseen_original_pkts += u64::from(outcome.is_of_unseen_original);
        if let Some(kind) = outcome.retransmission {
            counts.retransmitted_pkts += 1;
            counts.retransmitted_bytes += u64::from(packet.payload_bytes) - outcome.unique_bytes;
            match kind {
                RetransmissionKind::Fast => counts.fast_retransmitted_pkts += 1,
                RetransmissionKind::Timeout => counts.rto_retransmitted_pkts += 1,
                RetransmissionKind::Probe => counts.tlp_pkts += 1,
                RetransmissionKind::Unexplained => {
                    self.has_undecided_repeats |= self.recent.may_be_copy(packet);
                }
            }
        }
        outcome
    }

    fn start_flight(&self, packet: &TcpPacket, context: &DataContext) -> Flight {
        // RFC 9293 §3.7.1: the option does not count the options of a segment.
        let option_bytes = if packet.timestamps.is_some() {
            TIMESTAMPS_BYTES
        } else {
            0
        };
        let seq = payload_seq(packet);
        let announced = self
            .syn
            .map(|syn| syn.seq.wrapping_add(1))
            .filter(|&announced| self.may_start(announced, packet, context));
        let start = FlightStart {
            seq: announced.unwrap_or(seq),
            is_from_syn: announced.is_some(),
            is_unannounced: self.syn.is_some() && announced.is_none(),
            acked: self
                .acked
                .filter(|&acked| announced.is_some() || self.syn.is_none() || acked == seq),
            syn_rtt_ns: self.handshake_rtt_ns,
            near_rtt_ns: context.near_rtt_ns,
            mss_limit_bytes: context.mss_bytes.map_or(UNKNOWN_MSS_BYTES, |mss_bytes| {
                u32::from(mss_bytes).saturating_sub(option_bytes)
            }),
            is_sack_permitted: context.is_sack_permitted,
        };
        Flight::new(
            &start,
            BinSeries::new(context.interval_ns, context.series_bins),
        )
    }

    /// The other side acknowledges what this one sent.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: &Acknowledgment<'_>) -> Samples {
        self.acked = Some(ack.ack);
        if let Some(syn) = self.syn.as_mut().filter(|syn| !syn.is_acknowledged)
            && ack.ack.wrapping_sub(syn.seq) as i32 > 0
        {
            syn.is_acknowledged = true;
            if ack.ack == syn.seq.wrapping_add(1) && self.counts.syn == 1 {
                let rtt_ns = ack.now_ns.saturating_sub(syn.sent_ns);
                self.handshake_rtt_ns = Some(rtt_ns);
                self.rtt.record(rtt_ns);
            }
        }
        let Some(flight) = self.flight.as_mut() else {
            return Samples::default();
        };
        let samples = flight.on_ack(ack);
        if let Some(rtt_ns) = samples.rtt_ns {
            self.rtt.record(rtt_ns);
        }
        samples
    }
}

/// ACK and neither SYN, FIN nor RST; the caller checks for payload.
#[inline]
pub(crate) fn is_pure_ack(flags: TcpFlags) -> bool {
    flags.has(TcpFlags::ACK) && !flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST)
}

/// Where the payload starts: after a SYN, if it has one.
pub(super) fn payload_seq(packet: &TcpPacket) -> u32 {
    packet
        .seq
        .wrapping_add(u32::from(packet.flags.has(TcpFlags::SYN)))
}
