//! The path between senders and receivers: links, delay lines, queue disciplines.
//!
//! Every element is sans-IO. It owns no clock, no thread and no socket: `now` is
//! an argument, packets go in and come out, and an element says when it next
//! wants to be asked. The simulator drives these elements in virtual time; an
//! emulator can drive the very same code on the monotonic clock, because the
//! packet's header `H` is a parameter: a simulated TCP header there, bytes from a
//! TUN device here.
//!
//! - [`Packet`]: what travels. Sizes are wire bytes. [`Ecn`]: what it says of congestion.
//! - [`Queue`]: the contract of a queue discipline; [`Fifo`] is `bfifo` and `pfifo`,
//!   with a threshold for ECN marks if one is wanted.
//! - [`Link`]: a rate, with a queue in front of it.
//! - [`DelayLine`]: propagation delay, constant or in steps.
//! - [`RandomLoss`]: packets that a noisy link loses.
//!
//! Invariants: integers only; packets are conserved (every packet offered is
//! forwarded, dropped or still inside); times handed in never go back.

#![forbid(unsafe_code)]

mod delay_line;
mod ecn;
mod fifo;
mod link;
mod packet;
mod queue;
mod random_loss;

pub use delay_line::{DelayLine, DelayStep};
pub use ecn::Ecn;
pub use fifo::{Fifo, Limit};
pub use link::{Departure, Link};
pub use packet::{
    DATA_HEADER_BYTES, ETHERNET_HEADER_BYTES, Header, IPV4_HEADER_BYTES, Packet, TCP_HEADER_BYTES,
    TIMESTAMPS_BYTES,
};
pub use queue::Queue;
pub use random_loss::RandomLoss;
