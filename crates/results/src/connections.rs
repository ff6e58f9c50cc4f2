//! Connections of programs: what crossed the path between two ports.

use std::net::SocketAddr;

use dumbbell_table::Column;

use crate::table::{Table, labelled, table};

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
    pub fn table_of(connections: &[Self]) -> Table {
        let code = |connection: &Self| match connection.ends {
            Some(ConnectionEnds { is_tcp: true, .. }) => 0_u8,
            Some(_) => 1,
            None => 2,
        };
        let protocols: Column = connections.iter().map(code).collect();
        let address = |of: fn(&ConnectionEnds) -> SocketAddr| -> Column {
            let ends = connections.iter().map(|connection| &connection.ends);
            let addresses = ends.map(|ends| ends.as_ref().map(|ends| of(ends).to_string()));
            Column::texts_with_gaps(addresses)
        };
        let count = |of: fn(&Self) -> u64| connections.iter().map(of).collect();
        let time_us = |of: fn(&Self) -> u64| {
            let times_us = connections.iter().map(|it| (of(it) / 1000) as i64);
            times_us.collect()
        };
        table(
            "connections".to_owned(),
            vec![
                ("group", connections.iter().map(|it| it.group).collect()),
                ("protocol", labelled(protocols, PROTOCOLS)),
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
        let batch = Connection::table_of(&[rest, connection]).batch;
        let protocols = [0, 1].map(|row| batch["protocol"].text(row));
        assert_eq!(protocols, [Some("other"), Some("udp")]);
        let servers = [0, 1].map(|row| batch["server"].text(row));
        assert_eq!(servers, [None, Some("[fd64:756d:6262::a00:1]:443")]);
        assert_eq!(batch["up_bytes"].numbers::<u64>(), [294, 294]);
        assert_eq!(batch["first_us"].numbers::<i64>(), [1, 1]);
    }
}
