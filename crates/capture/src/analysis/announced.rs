//! What a direction's SYN and the other side's ACKs say of the packets that may come: where data begins, what comes next,
//! what only keeps the connection alive, and how soon anything can be sent again.

use super::direction::{DataContext, Direction, payload_seq};
use super::flight::Flight;
use super::rtt::RttSummary;
use crate::packet::{TcpFlags, TcpPacket};

/// A sender that was silent for this long, and has nothing outstanding, keeps its connection alive: the shortest
/// interval that systems offer.
const KEEP_ALIVE_IDLE_NS: u64 = 900_000_000;

impl Direction {
    /// Bytes that the other side has acknowledged and the capture has not seen; a last sequence number alone is a FIN.
    pub(crate) fn missing_bytes(&self) -> u64 {
        if let Some(flight) = &self.flight {
            return flight.missing_bytes();
        }
        let (Some(syn), Some(acked)) = (self.syn, self.acked) else {
            return 0;
        };
        let bytes = acked.wrapping_sub(syn.seq.wrapping_add(1)).cast_signed();
        u64::try_from(bytes).map_or(0, |bytes| if bytes == 1 { 0 } else { bytes })
    }

    /// The sequence number behind what was sent, as far as it is known.
    pub(crate) fn next_seq(&self) -> u32 {
        match (&self.flight, self.syn) {
            (Some(flight), _) => flight.highest as u32,
            (None, Some(syn)) => syn.seq.wrapping_add(1),
            (None, None) => self.first_seq,
        }
    }

    /// Whether a packet repeats the sequence number before the next one, which has been acknowledged, only to have an
    /// answer (RFC 9293 §3.8.4): without payload, or with a byte of it.
    pub(super) fn is_keep_alive(&self, packet: &TcpPacket) -> bool {
        let next = packet.seq.wrapping_add(1);
        packet.payload_bytes <= 1
            && !packet
                .flags
                .has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST)
            && self.acked == Some(next)
            && self.idle_ns >= KEEP_ALIVE_IDLE_NS
            && self
                .flight
                .as_ref()
                .is_none_or(|flight| flight.highest as u32 == next)
    }

    /// Whether the first data can belong to the sequence space that the SYN announced: it is not before it, and not
    /// further into it than a window per round trip since then.
    pub(super) fn may_start(
        &self,
        announced: u32,
        packet: &TcpPacket,
        context: &DataContext,
    ) -> bool {
        let ahead = payload_seq(packet).wrapping_sub(announced).cast_signed();
        let Ok(ahead_bytes) = u64::try_from(ahead) else {
            return ahead == -1;
        };
        let (Some(window_bytes), Some(rtt_ns), Some(syn)) =
            (context.window_bytes, self.handshake_rtt_ns, self.syn)
        else {
            return true;
        };
        let elapsed_ns = packet.time_ns.saturating_sub(syn.sent_ns);
        let round_trips = elapsed_ns / rtt_ns.max(1) + 2;
        ahead_bytes <= window_bytes.saturating_mul(round_trips)
    }
}

/// How soon after a packet its sender may send it again: at once if there is evidence of loss; otherwise after the
/// shortest round trip, SACKed data's included.
pub(super) fn earliest_ns(rtt: &RttSummary, flight: Option<&Flight>) -> Option<u64> {
    if flight.is_some_and(|flight| flight.dup_ack_run > 0) {
        return Some(0);
    }
    let of_flight = flight.map(|flight| flight.rtt_min_ns).filter(|&ns| ns > 0);
    let of_direction = (rtt.count > 0).then_some(rtt.min_ns);
    of_flight.into_iter().chain(of_direction).min()
}
