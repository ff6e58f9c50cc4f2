//! What BPF reads of a socket.

/// `icsk_ca_priv`, in words.
pub(crate) const CA_PRIV_WORDS: usize = 13;

/// Who paces a socket (`sk_pacing_status`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pacing {
    /// Nobody.
    None,
    /// TCP's own timer.
    Internal,
    /// The fq queueing discipline.
    Fq,
}

/// What TCP_INFO does not tell of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketState {
    /// When it was read, CLOCK_MONOTONIC.
    pub(crate) time_ns: u64,
    /// Packets ever marked lost (`tcp_sock.lost`).
    pub(crate) lost_pkts: u32,
    /// Latest RTT sample of RACK; 0: none yet.
    pub(crate) rack_rtt_us: u32,
    pub(crate) pacing: Pacing,
    /// The congestion control's private state.
    pub(crate) ca_priv: [u64; CA_PRIV_WORDS],
}
