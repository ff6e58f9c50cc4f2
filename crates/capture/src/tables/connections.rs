//! The table `connections`: a row per view and direction.

use dumbbell_table::{Batch, Column};

use super::{Row, bools, floats, labelled, maybe_uints, micros, point_column, rows, uints};
use crate::analysis::vantage::Vantage;
use crate::analysis::window::Scaling;
use crate::connection::View;
use crate::points::Points;

/// Name and values.
type Named = (&'static str, Column);

/// The table `connections`.
pub(crate) fn connections(views: &[View], points: &Points) -> Batch {
    let rows = rows(views);
    let mut columns = identity_columns(&rows, points);
    columns.extend(packet_columns(&rows));
    columns.extend(loss_columns(&rows));
    columns.extend(option_columns(&rows));
    columns.extend(rtt_columns(&rows));
    columns.extend(inflight_columns(&rows));
    columns.push(("notes", notes_column(&rows)));
    Batch::part(columns)
}

fn identity_columns(rows: &[Row<'_>], points: &Points) -> Vec<Named> {
    let interfaces = rows.iter().map(|row| row.view.key.place());
    let vantages = rows
        .iter()
        .map(|row| row.view.vantage(row.side) as u8)
        .collect();
    let text = |of: &dyn Fn(&Row<'_>) -> String| -> Column { Column::texts(rows.iter().map(of)) };
    let port = |of: &dyn Fn(&Row<'_>) -> u16| -> Column { rows.iter().map(of).collect() };
    vec![
        ("connection", uints(rows, |row| row.view.connection)),
        ("point", point_column(interfaces, points)),
        ("vantage", labelled(vantages, Vantage::NAMES)),
        ("source", text(&|row| row.this.source.address.to_string())),
        ("source_port", port(&|row| row.this.source.port)),
        (
            "destination",
            text(&|row| row.view.destination(row.side).address.to_string()),
        ),
        (
            "destination_port",
            port(&|row| row.view.destination(row.side).port),
        ),
        (
            "is_initiator",
            bools(rows, |row| Some(row.view.initiator() == row.side)),
        ),
        (
            "began_before_capture",
            bools(rows, |row| Some(row.view.began_before_capture(row.side))),
        ),
        ("syn_count", uints(rows, |row| row.this.counts.syn.into())),
        ("fin_count", uints(rows, |row| row.this.counts.fin.into())),
        ("rst_count", uints(rows, |row| row.this.counts.rst.into())),
        ("first_ns", uints(rows, |row| row.view.first_ns)),
        ("last_ns", uints(rows, |row| row.view.last_ns)),
        (
            "duration_us",
            micros(rows, |row| Some(row.duration_ns() as f64)),
        ),
        (
            "data_duration_us",
            micros(rows, |row| {
                let first_ns = row.this.data_first_ns?;
                Some(row.this.data_last_ns.saturating_sub(first_ns) as f64)
            }),
        ),
    ]
}

fn packet_columns(rows: &[Row<'_>]) -> Vec<Named> {
    vec![
        ("pkts", uints(rows, |row| row.this.counts.pkts)),
        ("data_pkts", uints(rows, |row| row.this.counts.data_pkts)),
        (
            "pure_ack_pkts",
            uints(rows, |row| row.this.counts.pure_ack_pkts),
        ),
        (
            "payload_bytes",
            uints(rows, |row| row.this.counts.payload_bytes),
        ),
        (
            "unique_bytes",
            uints(rows, |row| row.this.counts.unique_bytes),
        ),
        ("wire_bytes", uints(rows, |row| row.this.counts.wire_bytes)),
        (
            "goodput_bps",
            floats(rows, |row| row.rate_bps(row.this.counts.unique_bytes)),
        ),
        (
            "throughput_bps",
            floats(rows, |row| row.rate_bps(row.this.counts.wire_bytes)),
        ),
    ]
}

fn loss_columns(rows: &[Row<'_>]) -> Vec<Named> {
    let counts = |row: &Row<'_>| row.this.counts;
    vec![
        (
            "retransmitted_pkts",
            uints(rows, |row| counts(row).retransmitted_pkts),
        ),
        (
            "retransmitted_bytes",
            uints(rows, |row| counts(row).retransmitted_bytes),
        ),
        (
            "fast_retransmitted_pkts",
            uints(rows, |row| counts(row).fast_retransmitted_pkts),
        ),
        (
            "rto_retransmitted_pkts",
            uints(rows, |row| counts(row).rto_retransmitted_pkts),
        ),
        ("tlp_pkts", uints(rows, |row| counts(row).tlp_pkts)),
        (
            "rto_count",
            uints(rows, |row| {
                let syn_count = u64::from(counts(row).syn.saturating_sub(1));
                syn_count + row.flight.map_or(0, |flight| flight.recovery.rto_count)
            }),
        ),
        (
            "spurious_retransmitted_pkts",
            uints(rows, |row| {
                row.flight
                    .map_or(0, |flight| flight.retransmissions.spurious_pkts())
            }),
        ),
        (
            "out_of_order_pkts",
            uints(rows, |row| counts(row).out_of_order_pkts),
        ),
        (
            "unseen_original_pkts",
            uints(rows, |row| counts(row).unseen_original_pkts),
        ),
        (
            "duplicate_pkts",
            uints(rows, |row| counts(row).duplicate_pkts),
        ),
        ("missing_bytes", uints(rows, |row| row.this.missing_bytes())),
        ("dropped_pkts", uints(rows, |row| counts(row).dropped_pkts)),
        (
            "dup_acks",
            uints(rows, |row| row.flight.map_or(0, |flight| flight.dup_acks)),
        ),
        (
            "triple_dup_acks",
            uints(rows, |row| {
                row.flight.map_or(0, |flight| flight.triple_dup_acks)
            }),
        ),
        ("sack_pkts", uints(rows, |row| counts(row).sack_pkts)),
        ("sack_blocks", uints(rows, |row| counts(row).sack_blocks)),
        ("dsack_pkts", uints(rows, |row| counts(row).dsack_pkts)),
    ]
}

fn option_columns(rows: &[Row<'_>]) -> Vec<Named> {
    let counts = |row: &Row<'_>| row.this.counts;
    let window = |row: &Row<'_>| row.this.window.range_bytes(row.view.scaling(row.side));
    vec![
        (
            "zero_window_pkts",
            uints(rows, |row| row.this.window.zero_pkts),
        ),
        (
            "zero_window_probe_pkts",
            uints(rows, |row| counts(row).zero_window_probe_pkts),
        ),
        (
            "keep_alive_pkts",
            uints(rows, |row| counts(row).keep_alive_pkts),
        ),
        (
            "window_min_bytes",
            maybe_uints(rows, |row| Some(window(row)?.0)),
        ),
        (
            "window_max_bytes",
            maybe_uints(rows, |row| Some(window(row)?.1)),
        ),
        (
            "window_scale",
            maybe_uints(rows, |row| match row.view.scaling(row.side) {
                Scaling::Shift(shift) => Some(shift.into()),
                Scaling::None => Some(0),
                Scaling::Unknown => None,
            }),
        ),
        (
            "mss_bytes",
            maybe_uints(rows, |row| Some(row.this.syn?.mss_bytes?.into())),
        ),
        (
            "largest_segment_bytes",
            uints(rows, |row| counts(row).largest_segment_bytes.into()),
        ),
        (
            "has_timestamps",
            bools(rows, |row| {
                let this = row.this;
                (this.has_timestamps || !this.has_cut_options).then_some(this.has_timestamps)
            }),
        ),
        (
            "sack_permitted",
            bools(rows, |row| row.this.syn?.permits_sack()),
        ),
        ("offload", bools(rows, |row| row.view.has_offload(row.side))),
        ("ecn_ect_pkts", uints(rows, |row| counts(row).ecn_ect_pkts)),
        ("ecn_ce_pkts", uints(rows, |row| counts(row).ecn_ce_pkts)),
        (
            "ece_pkts",
            maybe_uints(rows, |row| {
                (!row.view.has_accurate_ecn()).then_some(counts(row).ece_pkts)
            }),
        ),
        (
            "cwr_pkts",
            maybe_uints(rows, |row| {
                (!row.view.has_accurate_ecn()).then_some(counts(row).cwr_pkts)
            }),
        ),
        (
            "accecn_ce_pkts",
            maybe_uints(rows, |row| row.view.reported_ce_pkts(row.side)),
        ),
        (
            "idle_max_us",
            micros(rows, |row| {
                (counts(row).pkts > 1).then_some(row.this.idle_max_ns as f64)
            }),
        ),
    ]
}

fn rtt_columns(rows: &[Row<'_>]) -> Vec<Named> {
    let known = |count: u64, ns: u64| (count > 0).then_some(ns as f64);
    // A percentile comes from a histogram, with an error of up to 1 %; clamp it to the extremes.
    let quantile = |row: &Row<'_>, quantile: f64| match row.flight {
        Some(flight) => flight
            .rtt
            .quantile_ns(quantile)
            .map(|ns| ns.clamp(row.this.rtt.min_ns, row.this.rtt.max_ns) as f64),
        // A SYN's sample, and no data.
        None => known(row.this.rtt.count, row.this.rtt.min_ns),
    };
    let by_ts = |row: &Row<'_>| row.flight.map(|flight| flight.rtt_ts).unwrap_or_default();
    vec![
        ("rtt_count", uints(rows, |row| row.this.rtt.count)),
        (
            "rtt_min_us",
            micros(rows, |row| known(row.this.rtt.count, row.this.rtt.min_ns)),
        ),
        ("rtt_mean_us", micros(rows, |row| row.this.rtt.mean_ns())),
        ("rtt_p50_us", micros(rows, |row| quantile(row, 0.5))),
        ("rtt_p95_us", micros(rows, |row| quantile(row, 0.95))),
        (
            "rtt_max_us",
            micros(rows, |row| known(row.this.rtt.count, row.this.rtt.max_ns)),
        ),
        (
            "rtt_stddev_us",
            micros(rows, |row| row.this.rtt.stddev_ns()),
        ),
        (
            "rtt_handshake_us",
            micros(rows, |row| row.this.handshake_rtt_ns.map(|ns| ns as f64)),
        ),
        ("rtt_ts_count", uints(rows, |row| by_ts(row).count)),
        (
            "rtt_ts_min_us",
            micros(rows, |row| known(by_ts(row).count, by_ts(row).min_ns)),
        ),
        ("rtt_ts_mean_us", micros(rows, |row| by_ts(row).mean_ns())),
        (
            "rtt_ts_max_us",
            micros(rows, |row| known(by_ts(row).count, by_ts(row).max_ns)),
        ),
    ]
}

fn inflight_columns(rows: &[Row<'_>]) -> Vec<Named> {
    vec![
        (
            "inflight_max_bytes",
            maybe_uints(rows, |row| Some(row.acked_flight()?.inflight.max())),
        ),
        (
            "inflight_mean_bytes",
            floats(rows, |row| {
                row.acked_flight()?.inflight.mean_until(row.view.last_ns)
            }),
        ),
        (
            "inflight_sack_max_bytes",
            maybe_uints(rows, |row| Some(row.acked_flight()?.inflight_sack.max())),
        ),
        (
            "inflight_sack_mean_bytes",
            floats(rows, |row| {
                row.acked_flight()?
                    .inflight_sack
                    .mean_until(row.view.last_ns)
            }),
        ),
    ]
}

/// Names of the notes, separated by spaces.
fn notes_column(rows: &[Row<'_>]) -> Column {
    let notes = rows.iter().map(|row| {
        let names: Vec<&str> = row
            .view
            .notes(row.side)
            .iter()
            .map(|note| note.name())
            .collect();
        names.join(" ")
    });
    Column::texts(notes)
}
