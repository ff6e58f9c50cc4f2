//! Programs of the user in a group's hosts, instead of flows of ours.

use serde::{Deserialize, Serialize};

/// Ethernet's MTU (IEEE 802.3).
const DEFAULT_MTU_BYTES: u32 = 1500;

/// Smallest and largest MTU: what IPv6 needs (RFC 8200 §5), and what a TUN device carries.
const MTU_BYTES: std::ops::RangeInclusive<u32> = 1280..=65_000;

/// Commands that run in the hosts of a group. The server's is the group's sender and the client's its receiver, so
/// that the group's links carry the download.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// What runs at the client, by its words; empty: nothing by itself.
    #[serde(default)]
    pub client: Vec<String>,
    /// What runs at the server; empty: nothing by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub server: Vec<String>,
    /// What must listen at the server before a client starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<Port>,
    /// Largest IP packet of both hosts' devices, bytes.
    pub mtu_bytes: u32,
}

/// A port of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Port {
    /// Listens for connections.
    Tcp(u16),
    /// Is bound to.
    Udp(u16),
}

impl Default for Program {
    /// Hosts without a program of their own.
    fn default() -> Self {
        Self {
            client: Vec::new(),
            server: Vec::new(),
            ready: Vec::new(),
            mtu_bytes: DEFAULT_MTU_BYTES,
        }
    }
}

impl Program {
    /// Refuses what no host can run.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !MTU_BYTES.contains(&self.mtu_bytes) {
            return Err(format!(
                "the MTU is {} bytes; use {} to {}",
                self.mtu_bytes,
                MTU_BYTES.start(),
                MTU_BYTES.end()
            ));
        }
        if self.server.is_empty() && !self.ready.is_empty() {
            return Err("`ready` waits for a `server`, and there is none; add one".to_owned());
        }
        let with_zero = (self.client.iter().chain(&self.server)).find(|word| word.contains('\0'));
        match with_zero {
            Some(word) => Err(format!("`{}` contains a zero byte", word.escape_default())),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Port {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(port) => write!(formatter, "tcp:{port}"),
            Self::Udp(port) => write!(formatter, "udp:{port}"),
        }
    }
}

impl std::str::FromStr for Port {
    type Err = String;

    /// Reads a port like `tcp:80`.
    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("`{}` is not a port; use e.g. `tcp:80`", text.escape_debug());
        let (protocol, number) = text.split_once(':').ok_or_else(invalid)?;
        let number = number.parse().ok().filter(|&number| number > 0);
        match (protocol, number) {
            ("tcp", Some(number)) => Ok(Self::Tcp(number)),
            ("udp", Some(number)) => Ok(Self::Udp(number)),
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_read_as_they_are_written() {
        for port in [Port::Tcp(80), Port::Udp(65_535)] {
            assert_eq!(port.to_string().parse(), Ok(port));
        }
        for text in ["80", "sctp:80", "tcp:0", "tcp:65536", "tcp:+80x", ""] {
            let expected = Err(format!("`{text}` is not a port; use e.g. `tcp:80`"));
            assert_eq!(text.parse::<Port>(), expected);
        }
    }

    #[test]
    fn what_no_host_can_run_is_refused() {
        let refusal = |program: Program| program.check().err();
        assert_eq!(refusal(Program::default()), None);
        let small = Program {
            mtu_bytes: 576,
            ..Program::default()
        };
        let expected = "the MTU is 576 bytes; use 1280 to 65000";
        assert_eq!(refusal(small).as_deref(), Some(expected));
        let waiting = Program {
            ready: vec![Port::Tcp(80)],
            ..Program::default()
        };
        let expected = "`ready` waits for a `server`, and there is none; add one";
        assert_eq!(refusal(waiting).as_deref(), Some(expected));
    }
}
