//! The table `series`: a row per bin of each direction with data.

use dumbbell_table::Batch;

use super::{maybe_uints, micros, point_column, rows, uints};
use crate::connection::View;
use crate::points::Points;

/// The table of rates and RTTs by time.
pub(crate) fn series(views: &[View], points: &Points) -> Batch {
    let rows = rows(views);
    let bins: Vec<_> = rows
        .iter()
        .filter_map(|row| Some((row, row.flight?)))
        .flat_map(|(row, flight)| {
            let width_ns = flight.series.width_ns();
            let has_ack = flight.has_ack();
            flight
                .series
                .bins()
                .iter()
                .map(move |bin| (row, width_ns, has_ack, bin))
        })
        .collect();
    let interfaces = bins.iter().map(|bin| bin.0.view.key.place());
    let is_initiator = bins
        .iter()
        .map(|(row, ..)| row.view.initiator() == row.side);
    Batch::part(vec![
        ("connection", uints(&bins, |bin| bin.0.view.connection)),
        ("point", point_column(interfaces, points)),
        ("is_initiator", is_initiator.collect()),
        (
            "time_us",
            micros(&bins, |(_, width_ns, _, bin)| {
                Some(bin.index as f64 * *width_ns as f64)
            }),
        ),
        (
            "bin_us",
            micros(&bins, |(_, width_ns, ..)| Some(*width_ns as f64)),
        ),
        (
            "rtt_us",
            micros(&bins, |(.., bin)| {
                (bin.rtt_count > 0).then(|| bin.rtt_sum_ns as f64 / f64::from(bin.rtt_count))
            }),
        ),
        (
            "rtt_max_us",
            micros(&bins, |(.., bin)| {
                (bin.rtt_count > 0).then_some(bin.rtt_max_ns as f64)
            }),
        ),
        (
            "near_rtt_us",
            micros(&bins, |(.., bin)| {
                let count = f64::from(bin.near_rtt_count);
                (count > 0.0).then(|| bin.near_rtt_sum_ns as f64 / count)
            }),
        ),
        (
            "inflight_bytes",
            maybe_uints(&bins, |(_, _, has_ack, bin)| {
                has_ack.then_some(bin.inflight_bytes)
            }),
        ),
        (
            "inflight_sack_bytes",
            maybe_uints(&bins, |(_, _, has_ack, bin)| {
                has_ack.then_some(bin.inflight_sack_bytes)
            }),
        ),
        ("payload_bytes", uints(&bins, |(.., bin)| bin.payload_bytes)),
        ("unique_bytes", uints(&bins, |(.., bin)| bin.unique_bytes)),
        (
            "retransmitted_pkts",
            uints(&bins, |(.., bin)| bin.retransmitted_pkts.into()),
        ),
        (
            "unseen_original_pkts",
            uints(&bins, |(.., bin)| bin.unseen_original_pkts.into()),
        ),
        (
            "window_bytes",
            maybe_uints(&bins, |(.., bin)| bin.window_bytes()),
        ),
    ])
}
