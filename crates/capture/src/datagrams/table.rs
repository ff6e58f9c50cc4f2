//! The tables of flows of UDP.

use std::net::IpAddr;

use dumbbell_table::{Batch, Column};

use super::Flow;
use super::bins::Bin;
use crate::network::NetworkId;
use crate::points::Points;
use crate::tables::{micros, point_column, uints};

/// A row per flow: the direction that carries more bytes, and the other one, which acknowledges.
pub(super) fn flows(flows: &[&Flow], points: &Points) -> Batch {
    let places = flows.iter().map(|flow| (flow.interface, NetworkId::NONE));
    let numbers: Vec<u64> = (0..flows.len() as u64).collect();
    let data = |flow: &Flow| flow.data_side();
    let count = |flow: &Flow| flow.sides[data(flow)];
    let ack = |flow: &Flow| flow.sides[1 - data(flow)];
    Batch::part(vec![
        ("flow", uints(&numbers, |number| *number)),
        ("point", point_column(places, points)),
        ("source", addresses(flows, data)),
        ("source_port", ports(flows, data)),
        ("destination", addresses(flows, |flow| 1 - data(flow))),
        ("destination_port", ports(flows, |flow| 1 - data(flow))),
        (
            "is_initiator",
            flows
                .iter()
                .map(|flow| data(flow) == flow.initiator)
                .collect(),
        ),
        ("first_ns", uints(flows, |flow| flow.first_ns)),
        ("last_ns", uints(flows, |flow| flow.last_ns)),
        ("data_pkts", uints(flows, |flow| count(flow).pkts)),
        ("payload_bytes", uints(flows, |flow| count(flow).bytes)),
        (
            "largest_bytes",
            uints(flows, |flow| count(flow).largest_bytes.into()),
        ),
        ("ect_pkts", uints(flows, |flow| count(flow).ect_pkts)),
        ("ce_pkts", uints(flows, |flow| count(flow).ce_pkts)),
        ("ack_pkts", uints(flows, |flow| ack(flow).pkts)),
        ("ack_bytes", uints(flows, |flow| ack(flow).bytes)),
        // From the point to the receiver and back, and to the sender and back.
        (
            "far_rtt_us",
            micros(flows, |flow| {
                flow.round_trip(data(flow)).map(|ns| ns as f64)
            }),
        ),
        (
            "near_rtt_us",
            micros(flows, |flow| {
                flow.round_trip(1 - data(flow)).map(|ns| ns as f64)
            }),
        ),
    ])
}

impl Flow {
    /// The side that sends more bytes.
    fn data_side(&self) -> usize {
        usize::from(self.sides[1].bytes > self.sides[0].bytes)
    }

    /// From the point to the end opposite of a side and back, by the first packets.
    fn round_trip(&self, side: usize) -> Option<u64> {
        if side == self.initiator {
            self.far_ns
        } else {
            self.near_ns
        }
    }
}

fn addresses(flows: &[&Flow], side: impl Fn(&Flow) -> usize) -> Column {
    let address = |flow: &&Flow| -> IpAddr { flow.ends[side(flow)].address };
    Column::texts(flows.iter().map(|flow| address(flow).to_string()))
}

fn ports(flows: &[&Flow], side: impl Fn(&Flow) -> usize) -> Column {
    uints(flows, |flow| flow.ends[side(flow)].port.into())
}

/// A row per bin of each flow.
pub(super) fn series(flows: &[&Flow]) -> Batch {
    let rows: Vec<(u64, u64, usize, &Bin)> = (0u64..)
        .zip(flows)
        .flat_map(|(number, flow)| {
            let (width_ns, side) = (flow.bins.width_ns(), flow.data_side());
            flow.bins
                .all()
                .iter()
                .map(move |bin| (number, width_ns, side, bin))
        })
        .collect();
    Batch::part(vec![
        ("flow", uints(&rows, |row| row.0)),
        (
            "time_us",
            micros(&rows, |row| Some(row.3.index as f64 * row.1 as f64)),
        ),
        ("bin_us", micros(&rows, |row| Some(row.1 as f64))),
        ("data_pkts", uints(&rows, |row| row.3.pkts[row.2].into())),
        ("data_bytes", uints(&rows, |row| row.3.bytes[row.2])),
        ("ack_pkts", uints(&rows, |row| row.3.pkts[1 - row.2].into())),
        ("ack_bytes", uints(&rows, |row| row.3.bytes[1 - row.2])),
        (
            "largest_ack_bytes",
            uints(&rows, |row| row.3.largest_bytes[1 - row.2].into()),
        ),
        // By the data's spin bit (RFC 9000 §17.4): of the whole path, wherever it was captured.
        (
            "spin_rtt_us",
            micros(&rows, |row| row.3.mean_spin_ns(row.2)),
        ),
    ])
}
