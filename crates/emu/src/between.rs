//! Interfaces of this machine, between which packets of others cross the path.

use std::path::PathBuf;

use serde::Deserialize;

pub use crate::relay::{Rebind, Rebound};

/// Where the hosts of a scenario's first group are, if they are machines of their own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// The interface to the client.
    pub client: String,
    /// The interface to the server.
    pub server: String,
    /// Whether clients are behind a NAT that forgets its bindings.
    #[serde(default)]
    pub rebind: Option<Rebind>,
    /// Where what passes these interfaces is captured: the client's, the server's.
    #[serde(default)]
    pub captures: Option<[PathBuf; 2]>,
}
