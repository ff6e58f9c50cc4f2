//! The C compiler checks every field that [`layout`] only samples.

use std::fs;
use std::mem::offset_of;

use crate::catalog;
use crate::sock::{AckSample, RateSample, Sock};

/// `_Static_assert`s that fields lie in C where they lie in Rust.
macro_rules! assert_offsets {
    ($rust:ident, $c:literal, $prefix:literal, [$($field:ident),+ $(,)?]) => {
        [$(format!(
            "_Static_assert(__builtin_offsetof({}, {}{}) == {}, \"{}\");\n",
            $c, $prefix, stringify!($field), offset_of!($rust, $field), stringify!($field),
        )),+].concat()
    };
}

#[test]
fn every_field_lies_where_c_has_it() {
    let asserts = [
        assert_offsets!(
            Sock,
            "struct tcp_sock",
            "inet_conn.icsk_inet.sk.",
            [
                sk_pacing_rate,
                sk_max_pacing_rate,
                sk_pacing_status,
                sk_gso_max_size,
                sk_gso_max_segs,
                sk_pacing_shift,
                sk_state,
            ]
        ),
        assert_offsets!(
            Sock,
            "struct tcp_sock",
            "inet_conn.",
            [
                icsk_rto,
                icsk_retransmits,
                icsk_backoff,
                icsk_ca_priv,
                icsk_ca_ops,
            ]
        ),
        assert_offsets!(
            Sock,
            "struct tcp_sock",
            "",
            [
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
                snd_cwnd,
                snd_cwnd_cnt,
                snd_cwnd_stamp,
                snd_ssthresh,
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
                app_limited,
                rate_delivered,
                rate_interval_us,
                total_retrans,
                data_segs_out,
                reordering,
                undo_marker,
                undo_retrans,
                lsndtime,
                ecn_flags,
                rcv_nxt,
                rcv_tstamp,
                retrans_stamp,
                bytes_retrans,
            ]
        ),
        assert_offsets!(Sock, "struct tcp_sock", "rx_opt.", [rcv_tsval, rcv_tsecr]),
        assert_offsets!(
            RateSample,
            "struct rate_sample",
            "",
            [
                prior_mstamp,
                prior_delivered,
                prior_delivered_ce,
                delivered,
                delivered_ce,
                interval_us,
                snd_interval_us,
                rcv_interval_us,
                rtt_us,
                losses,
                acked_sacked,
                prior_in_flight,
                last_end_seq,
                is_app_limited,
                is_retrans,
                is_ack_delayed,
            ]
        ),
        assert_offsets!(
            AckSample,
            "struct ack_sample",
            "",
            [pkts_acked, rtt_us, in_flight]
        ),
    ]
    .concat();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("offsets.bpf.c");
    fs::write(&file, asserts).unwrap();
    if let Err(error) = catalog::find(file.to_str().unwrap(), catalog::Target::Native) {
        panic!("{error}");
    }
}
