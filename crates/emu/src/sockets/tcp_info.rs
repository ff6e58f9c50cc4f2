//! What the kernel reports about a TCP socket: `struct tcp_info` of `linux/tcp.h`, whose layout
//! only grows at its end.

use serde::{Deserialize, Serialize};

/// Bytes to request from the kernel: more than any kernel so far returns.
pub(crate) const TCP_INFO_MAX_BYTES: usize = 512;

/// Bytes up to and with `tcpi_delivery_rate` (Linux 4.9): less is not enough to sample a flow.
const REQUIRED_BYTES: usize = 168;

/// `enum tcp_state` of `net/tcp_states.h`: the states used here.
const TCP_FIN_WAIT2: u8 = 5;
const TCP_TIME_WAIT: u8 = 6;
const TCP_CLOSE: u8 = 7;

/// One answer of `getsockopt(TCP_INFO)`. `None`: this kernel is too old to report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TcpInfo {
    /// State, of Linux's `enum tcp_state`.
    pub(crate) state: u8,
    /// State, of Linux's `enum tcp_ca_state`.
    pub(crate) ca_state: u8,
    /// Timeouts in a row without progress.
    pub(crate) retransmits: u8,
    pub(crate) rto_us: u32,
    pub(crate) snd_mss_bytes: u32,
    /// Sent and not cumulatively acknowledged.
    pub(crate) unacked_pkts: u32,
    pub(crate) sacked_pkts: u32,
    /// Marked lost now; not a count of losses.
    pub(crate) lost_pkts: u32,
    /// Retransmitted and neither acknowledged nor lost again.
    pub(crate) retrans_pkts: u32,
    /// The size to which the receiver lets its window grow.
    pub(crate) rcv_ssthresh_bytes: u32,
    /// Smoothed RTT, µs.
    pub(crate) rtt_us: u32,
    pub(crate) rttvar_us: u32,
    /// Slow-start threshold; [`dumbbell_cc::TCP_INFINITE_SSTHRESH`] if there is none.
    pub(crate) snd_ssthresh_pkts: u32,
    pub(crate) snd_cwnd_pkts: u32,
    /// Retransmissions since the start, SYNs included.
    pub(crate) total_retrans_pkts: u32,
    /// `u64::MAX`: not paced.
    pub(crate) pacing_rate_bytes_per_s: u64,
    /// SYN and FIN count as a byte each.
    pub(crate) acked_bytes: u64,
    /// In order; a FIN counts as a byte.
    pub(crate) received_bytes: u64,
    pub(crate) sent_segs: u32,
    /// Written by the application and not yet sent.
    pub(crate) notsent_bytes: u32,
    /// `u32::MAX`: no sample yet.
    pub(crate) min_rtt_us: u32,
    pub(crate) received_data_segs: u32,
    pub(crate) sent_data_segs: u32,
    pub(crate) delivery_rate_bytes_per_s: u64,
    /// Time with data to send or unacknowledged.
    pub(crate) busy_us: Option<u64>,
    pub(crate) rwnd_limited_us: Option<u64>,
    pub(crate) sndbuf_limited_us: Option<u64>,
    pub(crate) delivered_pkts: Option<u32>,
    pub(crate) delivered_ce_pkts: Option<u32>,
    pub(crate) sent_bytes: Option<u64>,
    pub(crate) retransmitted_bytes: Option<u64>,
    /// Duplicates that the receiver reported (RFC 2883).
    pub(crate) dsack_dups: Option<u32>,
    pub(crate) reordering_seen: Option<u32>,
    /// Packets that arrived out of order.
    pub(crate) out_of_order_pkts: Option<u32>,
    /// The peer's receive window.
    pub(crate) snd_wnd_bytes: Option<u32>,
    /// The receive window that was advertised last.
    pub(crate) rcv_wnd_bytes: Option<u32>,
    /// Retransmission timeouts, those of SYNs included.
    pub(crate) rto_count: Option<u16>,
}

impl TcpInfo {
    /// Reads the kernel's answer; `None` if it is shorter than Linux 4.9's.
    pub(crate) fn parse(answer: &[u8]) -> Option<Self> {
        if answer.len() < REQUIRED_BYTES {
            return None;
        }
        let required_u32 = |offset| u32_at(answer, offset).unwrap_or(0);
        let required_u64 = |offset| u64_at(answer, offset).unwrap_or(0);
        Some(Self {
            state: answer[0],
            ca_state: answer[1],
            retransmits: answer[2],
            rto_us: required_u32(8),
            snd_mss_bytes: required_u32(16),
            unacked_pkts: required_u32(24),
            sacked_pkts: required_u32(28),
            lost_pkts: required_u32(32),
            retrans_pkts: required_u32(36),
            rcv_ssthresh_bytes: required_u32(64),
            rtt_us: required_u32(68),
            rttvar_us: required_u32(72),
            snd_ssthresh_pkts: required_u32(76),
            snd_cwnd_pkts: required_u32(80),
            total_retrans_pkts: required_u32(100),
            pacing_rate_bytes_per_s: required_u64(104),
            acked_bytes: required_u64(120),
            received_bytes: required_u64(128),
            sent_segs: required_u32(136),
            notsent_bytes: required_u32(144),
            min_rtt_us: required_u32(148),
            received_data_segs: required_u32(152),
            sent_data_segs: required_u32(156),
            delivery_rate_bytes_per_s: required_u64(160),
            busy_us: u64_at(answer, 168),
            rwnd_limited_us: u64_at(answer, 176),
            sndbuf_limited_us: u64_at(answer, 184),
            delivered_pkts: u32_at(answer, 192),
            delivered_ce_pkts: u32_at(answer, 196),
            sent_bytes: u64_at(answer, 200),
            retransmitted_bytes: u64_at(answer, 208),
            dsack_dups: u32_at(answer, 216),
            reordering_seen: u32_at(answer, 220),
            out_of_order_pkts: u32_at(answer, 224),
            snd_wnd_bytes: u32_at(answer, 228),
            rcv_wnd_bytes: u32_at(answer, 232),
            rto_count: u16_at(answer, 240),
        })
    }

    /// The kernel's count of packets in the network.
    pub(crate) fn inflight_pkts(&self) -> u32 {
        (self.unacked_pkts + self.retrans_pkts)
            .saturating_sub(self.sacked_pkts)
            .saturating_sub(self.lost_pkts)
    }

    /// Time in which only cwnd (or pacing) limited the sender.
    pub(crate) fn cwnd_limited_us(&self) -> Option<u64> {
        let others_us = self.rwnd_limited_us? + self.sndbuf_limited_us?;
        Some(self.busy_us?.saturating_sub(others_us))
    }

    /// Whether a SYN was sent, and the connection is not over.
    pub(crate) fn has_started(&self) -> bool {
        self.state != TCP_CLOSE
    }

    /// Whether the FIN, and so everything written, is acknowledged, if one was sent. The other
    /// side's may have arrived as well; then the kernel waits with a socket of its own, and this
    /// one is closed.
    pub(crate) fn is_fin_acknowledged(&self) -> bool {
        matches!(self.state, TCP_FIN_WAIT2 | TCP_TIME_WAIT | TCP_CLOSE)
    }
}

fn u16_at(answer: &[u8], offset: usize) -> Option<u16> {
    bytes_at(answer, offset).map(u16::from_ne_bytes)
}

fn u32_at(answer: &[u8], offset: usize) -> Option<u32> {
    bytes_at(answer, offset).map(u32::from_ne_bytes)
}

fn u64_at(answer: &[u8], offset: usize) -> Option<u64> {
    bytes_at(answer, offset).map(u64::from_ne_bytes)
}

/// `None` if the kernel's answer ends before it.
fn bytes_at<const BYTES: usize>(answer: &[u8], offset: usize) -> Option<[u8; BYTES]> {
    answer.get(offset..offset + BYTES)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer in which every byte is known: fields are identified by their offsets.
    fn answer(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|offset| offset as u8).collect()
    }

    fn word(offset: u8) -> u32 {
        u32::from_ne_bytes([offset, offset + 1, offset + 2, offset + 3])
    }

    #[test]
    fn fields_lie_where_the_kernel_puts_them() {
        let info = TcpInfo::parse(&answer(256)).expect("long enough");
        assert_eq!((info.state, info.ca_state, info.retransmits), (0, 1, 2));
        assert_eq!(info.rtt_us, word(68));
        assert_eq!(info.snd_cwnd_pkts, word(80));
        assert_eq!(info.min_rtt_us, word(148));
        assert_eq!(
            info.delivery_rate_bytes_per_s,
            u64::from_ne_bytes([160, 161, 162, 163, 164, 165, 166, 167])
        );
        assert_eq!(info.dsack_dups, Some(word(216)));
        assert_eq!(info.rto_count, Some(u16::from_ne_bytes([240, 241])));
    }

    #[test]
    fn an_older_kernel_leaves_the_later_fields_unknown() {
        let info = TcpInfo::parse(&answer(232)).expect("long enough");
        assert!(info.snd_wnd_bytes.is_some());
        assert_eq!(info.rcv_wnd_bytes, None);
        assert_eq!(info.rto_count, None);
        let info = TcpInfo::parse(&answer(REQUIRED_BYTES)).expect("long enough");
        assert_eq!(info.busy_us, None);
        assert_eq!(info.cwnd_limited_us(), None);
        assert_eq!(TcpInfo::parse(&answer(REQUIRED_BYTES - 1)), None);
    }

    #[test]
    fn packets_in_flight_and_limits_are_derived_as_the_kernel_does() {
        let info = TcpInfo {
            unacked_pkts: 20,
            sacked_pkts: 5,
            lost_pkts: 4,
            retrans_pkts: 3,
            busy_us: Some(100),
            rwnd_limited_us: Some(30),
            sndbuf_limited_us: Some(20),
            ..TcpInfo::default()
        };
        assert_eq!(info.inflight_pkts(), 14);
        assert_eq!(info.cwnd_limited_us(), Some(50));
    }
}
