//! The C compiler checks every field that [`dumbbell_cc_abi::LAYOUT`] only samples.

use std::fs;
use std::mem::offset_of;

use dumbbell_cc_abi::{AckSample, LostSegment, ModuleOps, RateSample, Sock};

use crate::build::artifact::Target;
use crate::build::find::find;
use crate::host::field_watch::PROTECTED;

/// Lists fields with their offsets, as [`PROTECTED`] does.
macro_rules! fields {
    ($structure:ident: $($field:ident)+) => {
        [$((stringify!($field), offset_of!($structure, $field))),+]
    };
}

/// Fields of [`PROTECTED`] that are bit fields or padding in C, or the host's own.
const NOT_IN_C: [&str; 10] = [
    "icsk_ca_bits",
    "icsk_reserved",
    "sk_sport",
    "limited_bits",
    "tp_reserved",
    "rx_opt_bits",
    "rx_reserved",
    "highest_sack",
    "host_requests",
    "host_storage",
];

/// A field of `struct tcp_sock` as C reaches it.
fn in_c(field: &str) -> String {
    let structure = match field {
        "rcv_tsval" | "rcv_tsecr" => "rx_opt.",
        _ if field.starts_with("sk_") => "inet_conn.icsk_inet.sk.",
        _ if field.starts_with("icsk_") => "inet_conn.",
        _ => "",
    };
    let field = field.replace("icsk_ack_", "icsk_ack.");
    format!("{structure}{field}")
}

#[test]
fn every_field_lies_where_c_has_it() {
    let writable = fields!(Sock: sk_pacing_rate sk_pacing_status icsk_ca_priv icsk_ack_pending
        snd_cwnd snd_cwnd_cnt snd_cwnd_stamp snd_ssthresh app_limited ecn_flags);
    let rate_sample = fields!(RateSample: prior_mstamp prior_delivered prior_delivered_ce delivered
        delivered_ce interval_us snd_interval_us rcv_interval_us rtt_us losses acked_sacked
        prior_in_flight last_end_seq is_app_limited is_retrans is_ack_delayed);
    let ack_sample = fields!(AckSample: pkts_acked rtt_us in_flight);
    let assert_offset = |structure: &str, field: &str, offset: usize| {
        format!(
            "_Static_assert(__builtin_offsetof(struct {structure}, {field}) == {offset}, \"{field}\");\n"
        )
    };
    let sock = PROTECTED.iter().chain(&writable);
    let asserts: String = sock
        .filter(|(field, _)| !NOT_IN_C.contains(field))
        .map(|(field, offset)| assert_offset("tcp_sock", &in_c(field), *offset))
        .chain(rate_sample.map(|(field, offset)| assert_offset("rate_sample", field, offset)))
        .chain(ack_sample.map(|(field, offset)| assert_offset("ack_sample", field, offset)))
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("offsets.bpf.c");
    fs::write(&file, asserts).unwrap();
    if let Err(error) = find(file.to_str().unwrap(), Target::Native) {
        panic!("{error}");
    }
}

#[test]
fn what_only_modules_see_lies_where_c_has_it() {
    let rate_sample = fields!(RateSample: is_ack_delayed is_ece is_acking_tlp_retrans_seq prior_lost
        tx_in_flight lost);
    let segment = [
        ("__cb.seq", offset_of!(LostSegment, seq)),
        ("__cb.end_seq", offset_of!(LostSegment, end_seq)),
        ("__cb.sacked", offset_of!(LostSegment, sacked)),
        (
            "__cb.tx.is_app_limited",
            offset_of!(LostSegment, is_app_limited),
        ),
        (
            "__cb.tx.delivered_ce",
            offset_of!(LostSegment, delivered_ce),
        ),
        ("__cb.tx.delivered", offset_of!(LostSegment, delivered)),
        ("__cb.tx.lost", offset_of!(LostSegment, lost)),
        (
            "__cb.tx.first_tx_mstamp",
            offset_of!(LostSegment, first_tx_mstamp),
        ),
        (
            "__cb.tx.delivered_mstamp",
            offset_of!(LostSegment, delivered_mstamp),
        ),
        ("__cb.tx.in_flight", offset_of!(LostSegment, in_flight)),
        ("__cb.__pcount", offset_of!(LostSegment, pcount)),
    ];
    let table = fields!(ModuleOps: tso_segs skb_marked_lost);
    let sock = PROTECTED.iter().filter(|(field, _)| {
        // Of the union's and the renamed members, too.
        !NOT_IN_C.contains(field)
    });
    let assert_offset = |structure: &str, field: &str, offset: usize| {
        format!(
            "_Static_assert(__builtin_offsetof(struct {structure}, {field}) == {offset}, \"{field}\");\n"
        )
    };
    let asserts: String = (sock
        .map(|(field, offset)| assert_offset("tcp_sock", &in_c(field), *offset)))
    .chain(rate_sample.map(|(field, offset)| assert_offset("rate_sample", field, offset)))
    .chain(segment.map(|(field, offset)| assert_offset("sk_buff", field, offset)))
    .chain(table.map(|(field, offset)| assert_offset("tcp_congestion_ops", field, offset)))
    .collect();
    let dir = tempfile::tempdir().unwrap();
    for old in ["", "static u32 f(void) { return tcp_time_stamp; }"] {
        let file = dir.path().join(format!("tcp_offsets{}.c", old.len()));
        let text = format!(
            "#include <net/tcp.h>\n{asserts}\n{old}\nstatic int start(void) {{ return 0; }}\nmodule_init(start);"
        );
        fs::write(&file, text).unwrap();
        if let Err(error) = find(file.to_str().unwrap(), Target::Native) {
            panic!("{error}");
        }
    }
}
