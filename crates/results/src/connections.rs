//! Connections of programs: what crossed the path between two ports.

use std::net::SocketAddr;
use std::sync::Arc;

use arrow_array::{ArrayRef, StringArray};
use arrow_schema::ArrowError;

use crate::table::{Table, column_i64, column_u32, column_u64, dictionary, table};

/// What a connection can be, in the order of their codes.
const PROTOCOLS: [&str; 3] = ["tcp", "udp", "other"];

/// What went one way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WayCounts {
    /// That entered the path.
    pub pkts: u64,
    /// Their wire bytes.
    pub bytes: u64,
    /// Dropped by a link.
    pub dropped_pkts: u64,
    /// Marked CE by a link.
    pub marked_pkts: u64,
}

/// A connection of programs as the whole path saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Index of its group.
    pub group: u32,
    /// `None`: all packets of the group that have no ports: of ICMP, fragments, other protocols.
    pub ends: Option<ConnectionEnds>,
    /// From the server to the client.
    pub down: WayCounts,
    /// From the client to the server.
    pub up: WayCounts,
    /// When the first packet entered, ns from the start of the run.
    pub first_ns: u64,
    /// When the last one did.
    pub last_ns: u64,
}

/// Between what a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// Of TCP, otherwise of UDP.
    pub is_tcp: bool,
    /// At the group's server.
    pub server: SocketAddr,
    /// At its client.
    pub client: SocketAddr,
}

impl Connection {
    /// The table `connections`, a row for each.
    ///
    /// # Errors
    ///
    /// Columns that do not fit together.
    pub fn table_of(connections: &[Self]) -> Result<Table, ArrowError> {
        let code = |connection: &Self| match connection.ends {
            Some(ConnectionEnds { is_tcp: true, .. }) => 0,
            Some(_) => 1,
            None => 2,
        };
        let address = |of: fn(&ConnectionEnds) -> SocketAddr| -> ArrayRef {
            let ends = connections.iter().map(|connection| &connection.ends);
            let addresses = ends.map(|ends| ends.as_ref().map(|ends| of(ends).to_string()));
            Arc::new(StringArray::from_iter(addresses))
        };
        let count = |of: fn(&Self) -> u64| column_u64(connections.iter().map(of).collect());
        let time_us = |of: fn(&Self) -> u64| {
            let times_us = connections.iter().map(|it| (of(it) / 1000) as i64);
            column_i64(times_us.collect())
        };
        table(
            "connections".to_owned(),
            vec![
                (
                    "group",
                    column_u32(connections.iter().map(|it| it.group).collect()),
                ),
                (
                    "protocol",
                    dictionary(connections.iter().map(code).collect(), PROTOCOLS)?,
                ),
                ("server", address(|ends| ends.server)),
                ("client", address(|ends| ends.client)),
                ("down_pkts", count(|it| it.down.pkts)),
                ("down_bytes", count(|it| it.down.bytes)),
                ("down_dropped_pkts", count(|it| it.down.dropped_pkts)),
                ("down_marked_pkts", count(|it| it.down.marked_pkts)),
                ("up_pkts", count(|it| it.up.pkts)),
                ("up_bytes", count(|it| it.up.bytes)),
                ("up_dropped_pkts", count(|it| it.up.dropped_pkts)),
                ("up_marked_pkts", count(|it| it.up.marked_pkts)),
                ("first_us", time_us(|it| it.first_ns)),
                ("last_us", time_us(|it| it.last_ns)),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int64Type, UInt8Type, UInt64Type};

    use super::*;

    #[test]
    fn what_has_no_ports_has_no_ends() {
        let rest = Connection {
            group: 2,
            ends: None,
            down: WayCounts::default(),
            up: WayCounts {
                pkts: 3,
                bytes: 294,
                ..WayCounts::default()
            },
            first_ns: 1_999,
            last_ns: 7_000_000,
        };
        let connection = Connection {
            ends: Some(ConnectionEnds {
                is_tcp: false,
                server: "[fd64:756d:6262::a00:1]:443".parse().expect("an address"),
                client: "[fd64:756d:6262::a00:2]:50000".parse().expect("an address"),
            }),
            ..rest
        };
        let table = Connection::table_of(&[rest, connection]).expect("columns of a length");
        let batch = table.batch;
        let protocols = batch["protocol"].as_dictionary::<UInt8Type>();
        assert_eq!(protocols.keys().values(), &[2, 1]);
        let servers = batch["server"].as_string::<i32>();
        assert_eq!(
            (servers.is_null(0), servers.value(1)),
            (true, "[fd64:756d:6262::a00:1]:443")
        );
        let up = batch["up_bytes"].as_primitive::<UInt64Type>();
        assert_eq!(up.values(), &[294, 294]);
        let first_us = batch["first_us"].as_primitive::<Int64Type>();
        assert_eq!(first_us.values(), &[1, 1]);
    }
}
