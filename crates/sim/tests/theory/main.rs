//! Flows alone, or among their like, against what theory says of them. Each test states its
//! source and its tolerance; `docs/fidelity.md` has the figures that they find.

#![allow(clippy::print_stdout, reason = "--nocapture shows the figures")]

#[path = "../common/mod.rs"]
mod common;

mod bbr;
mod copa;
mod cubic;
mod dctcp;
mod deterministic_loss;
mod reno;
mod sharing;
mod slow_start;
mod vegas;
mod windows;
