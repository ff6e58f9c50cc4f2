//! What is reported of a flow.

use std::collections::BTreeMap;

use dumbbell_declare::{IF_ANY, KERNEL, SIMULATOR, records};

records! {
    /// One flow over its life.
    pub struct FlowSummary: "flow" {
        /// Number of the flow.
        flow: u32;
        /// Index of its group.
        group: u32;
        /// Name of the congestion control algorithm that its socket used.
        cc: String;
        /// The path's propagation round trip; the smallest, if `rtt_steps` change it.
        base_rtt_us: u64;
        /// When it started.
        start_us: u64;
        /// When all that a flow with a size or a stop time had to send was acknowledged, else the end of the run.
        end_us: u64;
        /// Whether a flow with a size or a stop time had all of it acknowledged.
        finished: bool;
        /// Payload that the receiving application got, in order. Of programs, payload that reached the client or the
        /// server, whose part is in `requests`; what TCP already had counts again.
        received_bytes: u64;
        /// `received_bytes` over the flow's time.
        goodput_bps: f64;
        /// Wire bytes of the flow that crossed the last link of its route, over its time.
        throughput_bps: f64;
        /// Mean of the RTT samples; 0 without any.
        rtt_mean_us: f64;
        /// The smallest RTT sample.
        rtt_min_us: u64;
        /// Median of the RTT samples. Percentiles are the upper ends of histogram bins at most 1/128 wide, capped at
        /// the maximum.
        rtt_p50_us: u64;
        /// 95th percentile of the RTT samples.
        rtt_p95_us: u64;
        /// 99th percentile of the RTT samples.
        rtt_p99_us: u64;
        /// The largest RTT sample.
        rtt_max_us: u64;
        /// Time average of the kernel's count: out, not SACKed, not lost, plus retransmitted.
        inflight_mean_pkts: f64;
        /// Time average of tcptrace's count: highest sent minus cumulatively acknowledged.
        outstanding_mean_pkts: f64;
        /// Time average of the congestion window.
        cwnd_mean_pkts: f64;
        /// Largest cwnd that was sampled.
        cwnd_max_pkts: Option<u64>, IF_ANY.and(KERNEL);
        /// Largest ssthresh that was sampled, without "unlimited".
        ssthresh_max_pkts: Option<u64>, IF_ANY.and(KERNEL);
        /// Data packets sent, retransmissions included.
        sent_pkts: u64;
        /// Retransmitted data packets.
        retransmitted_pkts: u64;
        /// Sent packets that the links of the flow's route dropped.
        dropped_pkts: u64;
        /// Data packets that the links of the flow's route marked CE; only if one can mark.
        marked_pkts: Option<u64>, IF_ANY;
        /// Data packets that reached the receiver with CE; only if a link can mark.
        ce_arrived_pkts: Option<u64>, IF_ANY;
        /// Packets from the receiver, which are ACKs, that the links of the flow's way back dropped; only if there
        /// were any.
        acks_dropped: Option<u64>, IF_ANY;
        /// Copies of the flow's data packets that impairments made; only if there were any. Sent packets and copies
        /// together are dropped, arrived or on the path.
        duplicated_pkts: Option<u64>, IF_ANY;
        /// Packets that the sender declared lost.
        lost_pkts: Option<u64>;
        /// Sent packets that reached the receiver, duplicates included.
        arrived_pkts: u64;
        /// Sent packets that are still on the path at the end.
        on_path_pkts: u64;
        /// Retransmissions of data that the receiver already had (D-SACK, RFC 2883); on the kernel engine Linux's count
        /// of D-SACKs, which are also of copies that a path made (`duplicated_pkts`).
        spurious_retransmits: u64;
        /// Fast recoveries that the sender began.
        fast_recovery_count: Option<u64>, SIMULATOR;
        /// Fast recoveries undone because nothing was lost (timestamps or D-SACK).
        spurious_recovery_count: Option<u64>, SIMULATOR;
        /// SYNs that were sent again.
        syn_retransmits: Option<u64>;
        /// Data packets that arrived when the receiver had them already.
        duplicate_pkts: Option<u64>, SIMULATOR;
        /// Data packets that arrived and that the receiver dropped, beyond the group's `ooo_limit`; only if there were
        /// any. They count as arrived.
        ooo_dropped_pkts: Option<u64>, IF_ANY.and(SIMULATOR);
        /// Retransmission timeouts of the sender.
        rto_count: Option<u64>;
        /// Retransmission timeouts undone as spurious (F-RTO or timestamps).
        spurious_rto_count: Option<u64>, SIMULATOR;
        /// Tail-loss probes that were sent.
        tlp_count: Option<u64>, SIMULATOR;
        /// Longest time without progress after a timeout.
        rto_stall_max_us: Option<u64>, SIMULATOR;
        /// Total time without progress after timeouts.
        rto_stall_us: Option<u64>, SIMULATOR;
        /// Longest time for which every reaction to an ACK left cwnd at 0; only if that happened.
        cwnd_zero_max_us: Option<u64>, IF_ANY.and(SIMULATOR);
        /// Time in which cwnd held the sender back.
        cwnd_limited_us: u64;
        /// Time in which the receive window held the sender back.
        rwnd_limited_us: u64;
        /// Time in which the send buffer held the sender back.
        sndbuf_limited_us: u64;
        /// Connections that its application opened; only of groups with `traffic`.
        connections: Option<u64>, IF_ANY;
        /// What its connections carried from receiver to sender, or its programs from client to server; only if they
        /// did. All other counts are of the direction from sender to receiver.
        requests: Option<RequestSummary>, IF_ANY;
        /// What the application measured by itself, by names with units; only if it did.
        application: BTreeMap<&'static str, i64>, IF_ANY;
        /// When and why an error of a QUIC stack ended its connection; only if one did.
        failure: Option<String>, IF_ANY.and(SIMULATOR);
    }
}

records! {
    /// What the receiver's end of a flow wrote.
    pub struct RequestSummary: "request" {
        /// Payload that the sender's end got, in order; of programs, that reached the server.
        received_bytes: u64;
        /// Wire bytes of any packet to the sender's end that crossed the last link back, over the flow's time; only of
        /// programs with a link on the way back.
        throughput_bps: Option<f64>, IF_ANY.and(KERNEL);
        /// Data packets sent, retransmissions included.
        sent_pkts: u64;
        /// Retransmitted data packets.
        retransmitted_pkts: u64;
        /// Sent packets that links dropped.
        dropped_pkts: u64;
        /// Copies that impairments made; only if there were any.
        duplicated_pkts: Option<u64>, IF_ANY;
        /// Sent packets that reached the sender's end, duplicates included.
        arrived_pkts: u64;
        /// Arrived packets that the sender's end dropped, beyond the group's `ooo_limit`; only if there were any.
        ooo_dropped_pkts: Option<u64>, IF_ANY.and(SIMULATOR);
        /// Sent packets that are still on the path at the end.
        on_path_pkts: u64;
        /// Retransmission timeouts of the receiver's end; null of programs.
        rto_count: Option<u64>;
    }
}
