//! The disciplines a second time, straight from their papers, RFCs and what is known of Linux's, in floating
//! point where those have real numbers, and step by step against ours: the same packets, the same random numbers,
//! every drop, mark and departure and the controllers' state.

mod cake;
mod codel;
mod drr;
mod dualpi2;
mod dummynet;
mod fq;
mod fq_codel;
mod fq_pie;
mod harness;
mod pie;
mod red;
mod sfq;
mod step;
mod tbf;
mod turns;

pub(crate) use self::harness::{Draws, Fate, LINK_RATE_BPS, Model, Traffic, Waiting, compare};
