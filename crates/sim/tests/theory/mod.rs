//! Flows alone, or among their like, against what theory says of them. Each test states its
//! source and its tolerance; `docs/notes/fidelity.md` has the figures that they find.

#![allow(clippy::print_stdout, reason = "--nocapture shows the figures")]

mod applications;
mod bbr;
mod cake;
mod codel;
mod copa;
mod cubic;
mod dctcp;
mod dualpi2;
mod fq_codel;
mod generic_fairness;
mod incast;
mod ledbat;
mod nagi;
mod narrow_uplink;
mod parking_lot;
mod pie;
mod prague;
mod reno;
mod sharing;
mod short_flows;
mod slow_start;
mod vegas;
mod windows;
