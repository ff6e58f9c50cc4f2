//! Whether a port of a host is open: what its kernel lists.

use std::fs;
use std::io;

use dumbbell_scenario::Port;

use crate::error::Error;
use crate::hosts::namespace::Namespace;

/// A TCP socket that listens, as the kernel numbers states (tcp_states.h).
const LISTENING: &str = "0A";

/// Whether something listens at each of `ports` in the host of `network`, or is bound to them.
pub(super) fn are_open(ports: &[Port], network: &Namespace) -> Result<bool, Error> {
    let tables = |protocol: &str| -> io::Result<String> {
        // IPv6 sockets may take IPv4 connections too; a kernel without IPv6 has no such table.
        let own = fs::read_to_string(format!("/proc/thread-self/net/{protocol}"))?;
        let other = fs::read_to_string(format!("/proc/thread-self/net/{protocol}6"));
        Ok(own + &other.unwrap_or_default())
    };
    let read = network.within(|| -> io::Result<bool> {
        for port in ports {
            let is_open = match port {
                Port::Tcp(number) => has(&tables("tcp")?, *number, Some(LISTENING)),
                Port::Udp(number) => has(&tables("udp")?, *number, None),
            };
            if !is_open {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    read.map_err(|source| Error::System {
        what: "cannot read which ports of a host are open".to_owned(),
        source,
    })
}

/// Whether a table has a socket with this local port, in a state if one is given.
fn has(table: &str, port: u16, state: Option<&str>) -> bool {
    table.lines().any(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let local = words.next().and_then(|address| address.rsplit_once(':'));
        let its_state = words.nth(1);
        local.is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port))
            && state.is_none_or(|state| its_state == Some(state))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
        0: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n   \
        1: 0100007F:0050 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0\n   \
        2: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 00000000:00000000\n";

    #[test]
    fn a_listening_socket_is_found_and_a_connected_one_is_not() {
        assert!(has(TABLE, 5201, Some(LISTENING)));
        assert!(has(TABLE, 443, Some(LISTENING)));
        assert!(!has(TABLE, 80, Some(LISTENING)));
        assert!(has(TABLE, 80, None));
        assert!(!has(TABLE, 81, None));
    }
}
