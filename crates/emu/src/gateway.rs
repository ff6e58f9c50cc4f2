//! A way out of the hosts: the server's host as a gateway to where the engine runs.

use std::net::Ipv4Addr;

use serde::Deserialize;

/// What is behind the first group's server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gateway {
    /// The address of what the client calls `server`; the host itself, if it is not another.
    #[serde(default)]
    pub server: Option<Ipv4Addr>,
    /// The content of `/etc/resolv.conf` in both hosts.
    pub resolver: String,
}
