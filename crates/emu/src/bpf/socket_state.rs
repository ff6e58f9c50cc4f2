//! What BPF reads from a socket.

/// `icsk_ca_priv`, in words.
pub(crate) const CA_PRIV_WORDS: usize = 13;

/// What TCP_INFO does not report about a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketState {
    /// When it was read, CLOCK_MONOTONIC.
    pub(crate) time_ns: u64,
    /// Packets ever marked lost (`tcp_sock.lost`).
    pub(crate) lost_pkts: u32,
    /// Latest RTT sample of RACK; 0: none yet.
    pub(crate) rack_rtt_us: u32,
    /// How it is paced (`sk_pacing_status`): 0 not at all, 1 by TCP's own timer, 2 by the fq
    /// queueing discipline.
    pub(crate) pacing_status: u32,
    /// The congestion control algorithm's private state.
    pub(crate) ca_priv: [u64; CA_PRIV_WORDS],
}
