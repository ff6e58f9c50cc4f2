//! What BPF reads of a socket.

/// `icsk_ca_priv`, in words.
pub(crate) const CA_PRIV_WORDS: usize = 13;

/// What TCP_INFO does not tell of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketState {
    /// When it was read, CLOCK_MONOTONIC.
    pub(crate) time_ns: u64,
    /// Packets ever marked lost (`tcp_sock.lost`).
    pub(crate) lost_pkts: u32,
    /// Latest RTT sample of RACK; 0: none yet.
    pub(crate) rack_rtt_us: u32,
    /// Who paces it (`sk_pacing_status`): 0 nobody, 1 TCP's own timer, 2 the fq queueing discipline.
    pub(crate) pacing_status: u32,
    /// The congestion control's private state.
    pub(crate) ca_priv: [u64; CA_PRIV_WORDS],
}
