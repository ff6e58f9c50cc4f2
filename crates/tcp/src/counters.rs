//! What a sender counts about itself.

/// What limited the sender when it last tried to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// Nothing, pacing, or no more data.
    #[default]
    None,
    /// The congestion window.
    Cwnd,
    /// The receiver's window.
    Rwnd,
    /// The send buffer.
    Sndbuf,
}

/// Counts and time integrals over a connection's life.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    /// Data packets sent, including retransmissions.
    pub sent_pkts: u64,
    /// Number of retransmissions among them.
    pub retransmitted_pkts: u64,
    /// Data packets declared lost; a retransmission lost again counts again.
    pub lost_pkts: u64,
    /// Duplicates the receiver reported (D-SACK).
    pub spurious_retransmits: u64,
    /// Entries into fast recovery.
    pub fast_recovery_count: u64,
    /// Fast recoveries undone: the loss was spurious.
    pub spurious_recovery_count: u64,
    /// Reductions of the window because of echoed ECN marks.
    pub ecn_reduction_count: u64,
    /// Number of retransmission timeouts.
    pub rto_count: u64,
    /// Timeouts undone (F-RTO, timestamps or D-SACK).
    pub spurious_rto_count: u64,
    /// Tail loss probes.
    pub tlp_count: u64,
    /// SYNs sent again.
    pub syn_retransmits: u64,
    /// Longest wait from a timeout to the next cumulative progress, counted from the last progress, ns.
    pub rto_stall_max_ns: u64,
    /// Sum of those waits, ns.
    pub rto_stall_ns: u64,
    /// Time since the SYN, ns.
    pub active_ns: u64,
    /// ∫ packets in flight dt, packet·ns.
    pub inflight_pkt_ns: u128,
    /// ∫ (highest sent − cumulatively acknowledged) dt, packet·ns.
    pub outstanding_pkt_ns: u128,
    /// ∫ cwnd dt, packet·ns.
    pub cwnd_pkt_ns: u128,
    /// Time limited by cwnd, ns.
    pub cwnd_limited_ns: u64,
    /// Time limited by the receive window, ns.
    pub rwnd_limited_ns: u64,
    /// Time limited by the send buffer, ns.
    pub sndbuf_limited_ns: u64,
}

impl SenderCounters {
    /// Adds another connection's: sums, and of the longest stalls the longer.
    pub fn add(&mut self, other: &Self) {
        self.sent_pkts += other.sent_pkts;
        self.retransmitted_pkts += other.retransmitted_pkts;
        self.lost_pkts += other.lost_pkts;
        self.spurious_retransmits += other.spurious_retransmits;
        self.fast_recovery_count += other.fast_recovery_count;
        self.spurious_recovery_count += other.spurious_recovery_count;
        self.ecn_reduction_count += other.ecn_reduction_count;
        self.rto_count += other.rto_count;
        self.spurious_rto_count += other.spurious_rto_count;
        self.tlp_count += other.tlp_count;
        self.syn_retransmits += other.syn_retransmits;
        self.rto_stall_max_ns = self.rto_stall_max_ns.max(other.rto_stall_max_ns);
        self.rto_stall_ns += other.rto_stall_ns;
        self.active_ns += other.active_ns;
        self.inflight_pkt_ns += other.inflight_pkt_ns;
        self.outstanding_pkt_ns += other.outstanding_pkt_ns;
        self.cwnd_pkt_ns += other.cwnd_pkt_ns;
        self.cwnd_limited_ns += other.cwnd_limited_ns;
        self.rwnd_limited_ns += other.rwnd_limited_ns;
        self.sndbuf_limited_ns += other.sndbuf_limited_ns;
    }

    /// Charges `elapsed_ns` during which the given values stood.
    #[inline]
    pub fn charge(
        &mut self,
        elapsed_ns: u64,
        inflight: u32,
        outstanding: u32,
        cwnd: u32,
        limit: Limit,
    ) {
        self.active_ns += elapsed_ns;
        self.inflight_pkt_ns += u128::from(elapsed_ns) * u128::from(inflight);
        self.outstanding_pkt_ns += u128::from(elapsed_ns) * u128::from(outstanding);
        self.cwnd_pkt_ns += u128::from(elapsed_ns) * u128::from(cwnd);
        match limit {
            Limit::None => {}
            Limit::Cwnd => self.cwnd_limited_ns += elapsed_ns,
            Limit::Rwnd => self.rwnd_limited_ns += elapsed_ns,
            Limit::Sndbuf => self.sndbuf_limited_ns += elapsed_ns,
        }
    }
}
