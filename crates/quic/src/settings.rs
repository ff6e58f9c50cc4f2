//! How a QUIC host is set up.

/// What both hosts of a connection have. `None`: as the stack has it by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Determines connection IDs and random numbers.
    pub seed: u64,
    /// Bytes of the stream; `None`: it has no end.
    pub size_bytes: Option<u64>,
    /// Whether the IP header's ECN field reaches the stack and its own goes out.
    pub has_ecn: bool,
    /// UDP payload, bytes, from the start and without discovery.
    pub mtu_bytes: Option<u16>,
    /// How long the receiver delays an ACK, by the ACK frequency extension, µs.
    pub ack_delay_us: Option<u64>,
    /// How many packets an ACK is for, by the ACK frequency extension.
    pub ack_threshold_pkts: Option<u32>,
    /// Datagrams that the stack hands down at once.
    pub gso_batch_pkts: usize,
    /// Receive window of stream and connection, bytes; the send window is eight of it.
    pub window_bytes: Option<u64>,
    /// Timers fire at multiples of this, ns.
    pub timer_granularity_ns: u64,
    /// Whether the stack paces an algorithm of ours that asks for no rate.
    pub is_paced: bool,
}
