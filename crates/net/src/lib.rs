//! The network between senders and receivers: links, delay lines, queue disciplines.
//!
//! Every element is sans-IO. It owns no clock, no thread and no socket: `now` is
//! an argument, packets go in and come out, and an element says when it next
//! wants to be asked. The simulator drives these elements in virtual time, an
//! emulator on the monotonic clock. Both run the same code. What a
//! packet carries is the type parameter `H`: a simulated TCP header in the simulator,
//! a whole IP packet in the emulator.
//!
//! - [`Packet`]: a packet in the network. Sizes are wire bytes. [`Ecn`]: the packet's ECN field.
//! - [`Network`]: links, delay lines and routes over them, and the order of their events. [`Outlook`]: the earliest
//!   time at which a network can next deliver a packet. [`NetworkChange`]: a change of a link or delay line while
//!   packets are in the network.
//! - [`Link`]: a packet passes its impairments, its queue, its [`medium`] (most often a [`Transmitter`]), and its
//!   propagation delay, in this order.
//! - [`Queue`]: the trait of a queue discipline. [`QueueDiscipline`]: a discipline with what waits in it.
//!   [`QueueConfig`]: its settings. The module [`queue`] lists the disciplines that there are.
//! - [`DelayLine`]: propagation delay, constant or in steps.
//! - [`Observer`]: is called when something happens at the links; [`Meter`] is one that counts.
//! - [`RandomLoss`]: packets that a noisy link loses.
//! - [`RouteFacts`]: the hosts and the DSCP of a route's packets. Simulated headers carry neither.
//! - [`Histogram`]: a distribution of delays in µs, to which each packet adds one.
//!
//! Invariants: integers only; packets are conserved (every packet offered is
//! forwarded, dropped or still inside); times handed in never go back.

#![forbid(unsafe_code)]

mod delay_line;
mod ecn;
pub mod fixed_point;
mod flow_order;
mod histogram;
pub mod impair;
mod link;
pub mod medium;
mod meter;
mod network;
mod observer;
mod packet;
pub mod queue;
mod random;
mod ring;
mod route_facts;
mod token_bucket;
mod tournament;

pub use delay_line::{DelayLine, DelayStep};
pub use ecn::Ecn;
pub use histogram::Histogram;
pub use impair::{Fate, Impair, Impairment, ImpairmentConfig, Order, Place, Policer, RandomLoss};
pub use link::{Departure, Link};
pub use medium::{MediumConfig, MediumSite, RateChange, Transmitter};
pub use meter::{FlowMeter, LinkMeter, Meter};
pub use network::{Event, Exit, Hop, Network, NetworkChange, Outlook, SourceId};
pub use observer::Observer;
pub use packet::{
    DATA_HEADER_BYTES, ETHERNET_HEADER_BYTES, Header, IPV4_HEADER_BYTES, Packet, PureAck,
    SackOrder, TCP_HEADER_BYTES, TIMESTAMPS_BYTES,
};
pub use queue::{
    DropReason, Effect, Effects, Fifo, Head, KernelQueue, Limit, Queue, QueueConfig,
    QueueDiscipline, Site,
};
pub use route_facts::{FactsByHop, RouteFacts};
pub use tournament::Tournament;
