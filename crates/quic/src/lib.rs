//! QUIC stacks as flows in virtual time.
//!
//! The stacks are the published crates, unchanged. They are sans-IO: a [`Pair`] holds both endpoints of a connection and
//! gives them the time, each other's datagrams, and an application that sends one stream. What a stack would take from
//! its machine comes from a seed: connection IDs and random numbers (`entropy/` beside this crate's sources). Its
//! cryptography is ours (`seal`, `handshake`): packets have QUIC's sizes, and no secrets.
//!
//! | module | what |
//! |---|---|
//! | `spec` | what `quic/noq@1.1.0:bbr3` names: stacks, versions, algorithms |
//! | `params` | parameters of the hosts |
//! | `pair` | a connection between two hosts, whichever stack they have |
//! | `driver` | that, for one version of a stack; compiled once for each |
//! | `host` | an endpoint of a version, its configuration and timers; likewise |
//! | `quinn`, `noq` | what differs between the stacks: calls, keys, controllers; compiled once for each version |
//! | `keys`, `connection_ids` | what does not, but names a version's types; likewise |
//! | `datapath` | an algorithm of ours, `struct tcp_congestion_ops`, behind a stack's controller |
//! | `mailbox` | what goes to and fro between that and the controller |

#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "stacks"),
    allow(dead_code, reason = "it is there for stacks")
)]

#[cfg(feature = "stacks")]
mod datapath;
mod error;
#[cfg(feature = "stacks")]
mod gauges;
#[cfg(feature = "stacks")]
mod handshake;
#[cfg(feature = "stacks")]
mod mailbox;
mod pair;
mod params;
#[cfg(feature = "stacks")]
mod random;
#[cfg(feature = "stacks")]
mod seal;
mod settings;
mod spec;
#[cfg(feature = "stacks")]
mod versions;

pub use error::Error;
pub use pair::{Datagram, End, Pair, Progress, State};
pub use params::{Chosen, choose_params, params, settings};
#[cfg(feature = "stacks")]
#[doc(hidden)]
pub use seal::open_all;
pub use settings::Settings;
pub use spec::{Spec, describe, names, series, series_of, stand_in};
