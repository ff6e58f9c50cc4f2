//! dumbbell's kernel engine: the scenario on this machine's Linux TCP.
//!
//! Hosts are network namespaces, flows are sockets, and the path between them is
//! `dumbbell-path`'s, driven on the monotonic clock.

mod error;

pub use error::Error;
