//! The socket a congestion control algorithm sees: Rust's mirror of `struct tcp_sock` in
//! `cc/include/vmlinux.h`.
//!
//! Field names and units are the kernel's. The simulated TCP keeps its own state
//! in these fields, so a congestion control algorithm reads what the sender uses, not a copy.
//! [`LAYOUT`] is compared with the offsets that `native.c` exports.

use core::mem::{offset_of, size_of};
use core::net::SocketAddrV4;

/// Private state of a congestion control algorithm, in `u64` words (104 bytes, as in Linux).
pub const CA_PRIV_WORDS: usize = 13;

/// `ssthresh` before the first loss: no limit to slow start.
pub const TCP_INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Pacing is done by TCP itself (`enum sk_pacing`).
pub const SK_PACING_NEEDED: u32 = 1;
/// Pacing is done beneath TCP: in Linux by the qdisc `fq`.
pub const SK_PACING_FQ: u32 = 2;

const AF_INET: u16 = 2;
/// Linux's guess of the peer's MSS until data arrives, bytes.
const TCP_MSS_DEFAULT: u16 = 536;
/// `sk_state` of an open connection.
const TCP_ESTABLISHED: u8 = 1;
/// Timestamps are in use and were seen, and so is SACK (`rx_opt_bits`).
const TIMESTAMPS_AND_SACK: u16 = 0b111;
/// A kernel module called `tcp_enter_cwr`.
const ENTER_CWR: u32 = 1;

/// `enum tcp_ca_state`: what loss recovery is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum CaState {
    /// No sign of loss or congestion.
    Open = 0,
    /// Duplicate ACKs or SACKs seen, nothing declared lost yet.
    Disorder = 1,
    /// Reducing cwnd after ECN or local congestion.
    Cwr = 2,
    /// In fast recovery.
    Recovery = 3,
    /// After a retransmission timeout.
    Loss = 4,
}

/// Linux's `enum tcp_ca_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CaEvent {
    /// First transmit when nothing was in flight.
    TxStart = 0,
    /// cwnd restart after idle.
    CwndRestart = 1,
    /// End of a cwnd reduction.
    CompleteCwr = 2,
    /// A retransmission timeout.
    Loss = 3,
    /// ECN is in use and this packet was not marked.
    EcnNoCe = 4,
    /// A packet marked CE arrived.
    EcnIsCe = 5,
    /// A loss probe repaired a loss; only kernels patched for BBRv2 and BBRv3 report it.
    TlpRecovery = 6,
}

/// `struct minmax`: a windowed minimum or maximum with two runners-up, after
/// Kathleen Nichols. Times and values are both µs here.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    /// Best, second and third best: `(time, value)`.
    pub samples: [(u32, u32); 3],
}

/// `struct tcp_sock`. Windows and counters are packets, times µs, sequence
/// numbers and sizes bytes, rates bytes per second, unless said otherwise.
#[repr(C)]
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "fields are Linux's, documented in vmlinux.h")]
pub struct Sock {
    pub sk_pacing_rate: u64,
    pub sk_max_pacing_rate: u64,
    pub sk_pacing_status: u32,
    pub sk_gso_max_size: u32,
    pub sk_gso_max_segs: u16,
    pub sk_pacing_shift: u8,
    pub sk_state: u8,
    pub sk_family: u16,
    /// In network byte order, as the addresses and `sk_sport`.
    pub sk_dport: u16,
    pub sk_daddr: u32,
    pub sk_rcv_saddr: u32,
    pub sk_sport: u16,
    pub sk_num: u16,
    /// `struct sock` is nested in C and ends on a multiple of eight bytes.
    sk_padding: u32,
    pub icsk_rto: u32,
    /// Linux's `icsk_ca_state:5` and `icsk_ca_initialized:1`.
    pub icsk_ca_bits: u8,
    pub icsk_retransmits: u8,
    pub icsk_backoff: u8,
    pub icsk_reserved: u8,
    pub icsk_ca_priv: [u64; CA_PRIV_WORDS],
    /// Address of a kernel module's own table, which it may replace in `init`; zero without one.
    #[doc(hidden)]
    pub icsk_ca_ops: usize,
    pub icsk_ack_pending: u8,
    pub icsk_ack_quick: u8,
    pub icsk_ack_rcv_mss: u16,
    pub icsk_ack_ato: u32,
    pub bytes_acked: u64,
    pub bytes_sent: u64,
    pub tcp_mstamp: u64,
    pub tcp_clock_cache: u64,
    pub tcp_wstamp_ns: u64,
    pub delivered_mstamp: u64,
    pub first_tx_mstamp: u64,
    pub rtt_min: MinMax,
    pub srtt_us: u32,
    pub mdev_us: u32,
    pub rttvar_us: u32,
    pub mss_cache: u32,
    pub advmss: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub write_seq: u32,
    pub high_seq: u32,
    pub snd_wnd: u32,
    pub snd_cwnd: u32,
    pub snd_cwnd_cnt: u32,
    pub snd_cwnd_stamp: u32,
    pub snd_ssthresh: u32,
    pub snd_cwnd_clamp: u32,
    pub snd_cwnd_used: u32,
    pub prior_cwnd: u32,
    pub prior_ssthresh: u32,
    pub packets_out: u32,
    pub retrans_out: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub max_packets_out: u32,
    pub cwnd_usage_seq: u32,
    pub prr_delivered: u32,
    pub prr_out: u32,
    pub delivered: u32,
    pub delivered_ce: u32,
    pub lost: u32,
    pub app_limited: u32,
    pub rate_delivered: u32,
    pub rate_interval_us: u32,
    pub total_retrans: u32,
    pub data_segs_out: u32,
    pub reordering: u32,
    pub undo_marker: u32,
    pub undo_retrans: i32,
    pub lsndtime: u32,
    /// `is_cwnd_limited:1`, `rate_app_limited:1`, `tlp_orig_data_app_limited:1`.
    pub limited_bits: u8,
    pub ecn_flags: u8,
    pub tp_reserved: u16,
    pub rcv_tsval: u32,
    pub rcv_tsecr: u32,
    /// `saw_tstamp:1`, `tstamp_ok:1`, `sack_ok:3` of `rx_opt`.
    pub rx_opt_bits: u16,
    pub rx_reserved: u16,
    pub rcv_nxt: u32,
    pub rcv_tstamp: u32,
    pub retrans_stamp: u32,
    pub bytes_retrans: u32,
    pub reord_seen: u32,
    /// The highest sequence number that was SACKed; kept for kernel modules only.
    pub highest_sack: u32,
    /// Requests made by kernel functions during a call, `DUMBBELL_*` of `linux-module/tcp.h`.
    #[doc(hidden)]
    pub host_requests: u32,
    /// Address of the `bpf_sk_storage` value, by which maps identify the socket; owned by the flow.
    #[doc(hidden)]
    pub host_storage: u64,
}

impl Sock {
    /// A socket as Linux creates it before the handshake: everything zero except `ssthresh`, the
    /// clamp and the pacing defaults.
    #[allow(clippy::new_without_default, reason = "only the host creates sockets")]
    pub fn new() -> Self {
        // SAFETY: every field is an integer or an array of integers, for which
        // all-zero bytes are a valid value.
        let mut sock: Self = unsafe { core::mem::zeroed() };
        sock.snd_ssthresh = TCP_INFINITE_SSTHRESH;
        sock.snd_cwnd_clamp = u32::MAX;
        sock.sk_pacing_rate = u64::MAX;
        sock.sk_max_pacing_rate = u64::MAX;
        sock.sk_pacing_shift = 10;
        sock.sk_gso_max_size = 65536;
        sock.sk_gso_max_segs = 65535;
        sock.sk_state = TCP_ESTABLISHED;
        sock.sk_family = AF_INET;
        sock.icsk_ack_rcv_mss = TCP_MSS_DEFAULT;
        sock.rx_opt_bits = TIMESTAMPS_AND_SACK;
        sock
    }

    /// Sets the connection's addresses and ports.
    pub fn set_addresses(&mut self, own: SocketAddrV4, peer: SocketAddrV4) {
        self.sk_rcv_saddr = own.ip().to_bits().to_be();
        self.sk_daddr = peer.ip().to_bits().to_be();
        self.sk_num = own.port();
        self.sk_sport = own.port().to_be();
        self.sk_dport = peer.port().to_be();
    }

    /// Loss recovery's state, `icsk_ca_state`.
    #[inline]
    pub fn ca_state(&self) -> CaState {
        match self.icsk_ca_bits & 0x1f {
            0 => CaState::Open,
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            _ => CaState::Loss,
        }
    }

    /// Sets `icsk_ca_state` without calling the congestion control algorithm.
    #[inline]
    pub fn set_ca_state(&mut self, state: CaState) {
        self.icsk_ca_bits = (self.icsk_ca_bits & !0x1f) | state as u8;
    }

    /// Whether cwnd limited sending in the last window (`is_cwnd_limited`).
    #[inline]
    pub fn is_cwnd_limited(&self) -> bool {
        self.limited_bits & 1 != 0
    }

    /// Sets the bit `is_cwnd_limited`.
    #[inline]
    pub fn set_cwnd_limited(&mut self, limited: bool) {
        self.limited_bits = (self.limited_bits & !1) | u8::from(limited);
    }

    /// Sets `rate_app_limited`: the last delivery-rate sample was application-limited.
    #[inline]
    pub fn set_rate_app_limited(&mut self, limited: bool) {
        self.limited_bits = (self.limited_bits & !2) | (u8::from(limited) << 1);
    }

    /// Sets `tlp_orig_data_app_limited`: the segment that a loss probe repeats was
    /// application-limited (only in kernels patched for BBRv2 and BBRv3).
    #[inline]
    pub fn set_tlp_orig_data_app_limited(&mut self, limited: bool) {
        self.limited_bits = (self.limited_bits & !4) | (u8::from(limited) << 2);
    }

    /// Whether the congestion control algorithm called `tcp_enter_cwr` since this was last asked.
    #[inline]
    pub fn take_enter_cwr(&mut self) -> bool {
        let asked = self.host_requests & ENTER_CWR != 0;
        self.host_requests = 0;
        asked
    }

    /// Whether cwnd is below ssthresh.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.snd_cwnd < self.snd_ssthresh
    }

    /// Packets in flight as Linux counts them: sent, neither SACKed nor lost, plus retransmitted.
    #[inline]
    pub fn packets_in_flight(&self) -> u32 {
        self.packets_out - self.sacked_out - self.lost_out + self.retrans_out
    }

    /// The path's minimum RTT over Linux's five-minute window, µs; `u32::MAX` before a sample.
    #[inline]
    pub fn min_rtt_us(&self) -> u32 {
        self.rtt_min.samples[0].1
    }
}

/// `struct rate_sample`: the delivery-rate sample of one ACK.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "fields are Linux's, documented in vmlinux.h")]
pub struct RateSample {
    pub prior_mstamp: u64,
    pub prior_delivered: u32,
    pub prior_delivered_ce: u32,
    pub delivered: i32,
    pub delivered_ce: i32,
    pub interval_us: i64,
    pub snd_interval_us: u32,
    pub rcv_interval_us: u32,
    pub rtt_us: i64,
    pub losses: i32,
    pub acked_sacked: u32,
    pub prior_in_flight: u32,
    pub last_end_seq: u32,
    pub is_app_limited: bool,
    pub is_retrans: bool,
    pub is_ack_delayed: bool,
    /// This and what follows exist only in kernels patched for BBRv2 and BBRv3.
    pub is_ece: bool,
    pub is_acking_tlp_retrans_seq: bool,
    /// Filled in, as the two below, for kernel modules.
    pub prior_lost: u32,
    pub tx_in_flight: u32,
    pub lost: i32,
}

/// `struct sk_buff` of a segment that was just declared lost, as far as kernels patched for BBRv2 and
/// BBRv3 show it to the congestion control algorithm: `struct tcp_skb_cb` first.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(
    missing_docs,
    reason = "fields are Linux's, documented in linux-module/skb.h"
)]
pub struct LostSegment {
    pub seq: u32,
    pub end_seq: u32,
    pub sacked: u8,
    pub is_app_limited: bool,
    pub reserved: u16,
    pub delivered_ce: u32,
    pub delivered: u32,
    pub lost: u32,
    pub first_tx_mstamp: u64,
    pub delivered_mstamp: u64,
    pub in_flight: u32,
    pub pcount: u32,
}

/// `struct ack_sample`: packets cumulatively or selectively acknowledged, and their RTT.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Packets newly acknowledged cumulatively.
    pub pkts_acked: u32,
    /// RTT of the last acknowledged packet, µs; negative without one.
    pub rtt_us: i32,
    /// Bytes that were in flight when the acknowledged packet left.
    pub in_flight: u32,
}

/// Number of entries in [`LAYOUT`].
pub const LAYOUT_WORDS: usize = 24;

/// Sizes and offsets that the host compares with those in the object (`dumbbell_layout` of
/// `native.c`, in the same order) when it loads one.
pub const LAYOUT: [u32; LAYOUT_WORDS] = {
    let bytes = [
        size_of::<Sock>(),
        offset_of!(Sock, sk_pacing_rate),
        offset_of!(Sock, sk_pacing_status),
        offset_of!(Sock, sk_pacing_shift),
        offset_of!(Sock, icsk_retransmits),
        offset_of!(Sock, icsk_ca_priv),
        offset_of!(Sock, icsk_ca_ops),
        offset_of!(Sock, tcp_mstamp),
        offset_of!(Sock, rtt_min),
        offset_of!(Sock, srtt_us),
        offset_of!(Sock, mss_cache),
        offset_of!(Sock, snd_cwnd),
        offset_of!(Sock, snd_cwnd_clamp),
        offset_of!(Sock, packets_out),
        offset_of!(Sock, delivered),
        offset_of!(Sock, app_limited),
        offset_of!(Sock, lsndtime),
        offset_of!(Sock, ecn_flags),
        offset_of!(Sock, rcv_tsval),
        offset_of!(Sock, host_requests),
        offset_of!(Sock, host_storage),
        offset_of!(RateSample, rtt_us),
        offset_of!(RateSample, is_ack_delayed),
        size_of::<AckSample>(),
    ];
    let mut words = [0; LAYOUT_WORDS];
    let mut i = 0;
    while i < words.len() {
        words[i] = bytes[i] as u32;
        i += 1;
    }
    words
};
