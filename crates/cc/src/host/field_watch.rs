//! Detects writes that the kernel's verifier rejects, but that a cast hid from the compiler.
//!
//! A BPF source may write a few fields of the socket; our headers make the others const. The
//! simulation would work, but the same source could not be loaded into the kernel.

use std::mem::offset_of;

use dumbbell_cc_abi::{CALLBACKS, Sock};

use crate::host::running::Op;

/// The first calls of each op are all watched, later ones occasionally.
const FIRST_CALLS: u32 = 100;
const THEN_EVERY: u32 = 64;

/// Names the fields that a BPF congestion control may not write (`net/ipv4/bpf_tcp_ca.c`).
macro_rules! protected {
    ($($field:ident),+ $(,)?) => {
        /// Their names and offsets.
        pub(crate) const PROTECTED: &[(&str, usize)] =
            &[$((stringify!($field), offset_of!(Sock, $field))),+];

        /// The first of them that differs between two sockets.
        fn difference(a: &Sock, b: &Sock) -> Option<&'static str> {
            $(if a.$field != b.$field {
                return Some(stringify!($field));
            })+
            None
        }
    };
}

protected![
    sk_max_pacing_rate,
    sk_gso_max_size,
    sk_gso_max_segs,
    sk_pacing_shift,
    sk_state,
    sk_family,
    sk_dport,
    sk_daddr,
    sk_rcv_saddr,
    sk_sport,
    sk_num,
    icsk_rto,
    icsk_ca_bits,
    icsk_retransmits,
    icsk_backoff,
    icsk_reserved,
    icsk_ca_ops,
    icsk_ack_quick,
    icsk_ack_rcv_mss,
    icsk_ack_ato,
    bytes_acked,
    bytes_sent,
    tcp_mstamp,
    tcp_clock_cache,
    tcp_wstamp_ns,
    delivered_mstamp,
    first_tx_mstamp,
    rtt_min,
    srtt_us,
    mdev_us,
    rttvar_us,
    mss_cache,
    advmss,
    snd_una,
    snd_nxt,
    write_seq,
    high_seq,
    snd_wnd,
    snd_cwnd_clamp,
    snd_cwnd_used,
    prior_cwnd,
    prior_ssthresh,
    packets_out,
    retrans_out,
    sacked_out,
    lost_out,
    max_packets_out,
    cwnd_usage_seq,
    prr_delivered,
    prr_out,
    delivered,
    delivered_ce,
    lost,
    rate_delivered,
    rate_interval_us,
    total_retrans,
    data_segs_out,
    reordering,
    undo_marker,
    undo_retrans,
    lsndtime,
    limited_bits,
    tp_reserved,
    rcv_tsval,
    rcv_tsecr,
    rx_opt_bits,
    rx_reserved,
    rcv_nxt,
    rcv_tstamp,
    retrans_stamp,
    bytes_retrans,
    reord_seen,
    highest_sack,
    host_requests,
    host_storage,
];

/// One flow's calls.
#[derive(Debug, Default)]
pub(crate) struct FieldWatch {
    calls: [u32; CALLBACKS.len()],
    /// The socket before the call, if it is watched.
    before: Option<Sock>,
}

impl FieldWatch {
    pub(crate) fn enter(&mut self, op: Op, sock: &Sock) {
        let calls = &mut self.calls[op as usize];
        *calls = calls.wrapping_add(1);
        if *calls <= FIRST_CALLS || calls.is_multiple_of(THEN_EVERY) {
            self.before = Some(sock.clone());
        }
    }

    /// A protected field that the call has written.
    pub(crate) fn leave(&mut self, sock: &Sock) -> Option<&'static str> {
        // Not `take`, which would move a whole socket after each call that is not watched.
        let found = difference(self.before.as_ref()?, sock);
        self.before = None;
        found
    }
}
