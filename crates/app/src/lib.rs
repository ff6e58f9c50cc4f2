//! Applications: what flows have to send, and when. Sans-IO, in integers.
//!
//! An [`Application`] plays both ends of its connections, as both engines run both ends: it is told
//! what happens and returns what to do. Time is an argument. The same object drives simulated
//! endpoints in virtual time and real sockets on the kernel.

#![forbid(unsafe_code)]

mod application;

pub use application::{Application, Command, End, Event, Outcome, Transfer, TransferKind};
