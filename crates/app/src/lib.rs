//! Applications: what flows have to send, and when. Sans-IO, in integers.
//!
//! An [`Application`] plays both ends of its connections, as the engines run both ends: it learns
//! what happens and returns what to do. Time is an argument. The same object drives simulated
//! endpoints in virtual time and real sockets on the kernel.
//!
//! - [`traffic`]: the applications, a file each, and [`TrafficConfig`], which a scenario names.
//! - [`distribution`]: the distributions of sizes, times and numbers, a file each.

#![forbid(unsafe_code)]

mod application;
mod delays;
pub mod distribution;
#[cfg(test)]
mod fake_network;
mod random;
pub mod traffic;
pub mod voice_quality;

use dumbbell_net::fixed_point;

pub use application::{Application, Command, End, Event, Outcome, Transfer, TransferKind};
pub use distribution::{Distribution, DistributionDeclaration, distributions};
pub use traffic::{ApplicationDeclaration, Facts, TrafficConfig, applications};
