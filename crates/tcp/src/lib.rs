//! Linux's TCP for the simulator: a [`Sender`] and a [`Receiver`]. One pair is a connection in which one host sends
//! data. Two pairs, one per direction, are a connection in which both hosts send.
//!
//! Both are sans-IO: they take the time and incoming packets, and return outgoing packets and deadlines.
//! The sender keeps its state in the `tcp_sock` fields ([`dumbbell_cc::Sock`]) that the congestion control algorithm
//! reads.
//!
//! | file | what |
//! |---|---|
//! | `packet` | headers on the path, wire sizes |
//! | `sender`, `establish`, `close` | the sender's state and calls, handshake, FIN |
//! | `stream`, `boundaries` | the application's byte stream, divided into segments |
//! | `nagle` | when a short segment waits: Nagle's algorithm, `TCP_CORK` |
//! | `ack` | processes an ACK: scoreboard, RTT, rate sample, congestion control |
//! | `scoreboard`, `segments`, `sack` | which segments have arrived or are lost (RFC 2018, 2883, 6675) |
//! | `sack_store` | SACK blocks of the ACKs in the network |
//! | `rack` | loss detection (RFC 8985) |
//! | `behaviour`, `dupthresh`, `retransmit_hint` | what earlier releases of Linux did differently |
//! | `recovery`, `loss`, `undo` | congestion states, PRR (RFC 9937), F-RTO (RFC 5682), undo (RFC 4015, 3708) |
//! | `newreno` | loss detection without SACK (RFC 6582) |
//! | `transmit`, `output`, `pacing` | which segments cwnd and the receive window allow to be sent; pacing, TSO bursts |
//! | `retransmit` | what is sent again |
//! | `cwnd_validation` | cwnd after idle and application-limited periods (RFC 2861, RFC 5681 §4.1) |
//! | `timers`, `timer_wheel`, `rtt` | SRTT and RTO (RFC 6298), TLP (RFC 8985 §7), minimum RTT |
//! | `persist` | the persist timer: zero-window probes (RFC 9293 §3.8.6.1) |
//! | `delivery_rate` | rate samples |
//! | `ecn`, `ecn_echo` | ECN at the sender and at the receiver (RFC 3168, RFC 8257) |
//! | `accecn`, `accecn_sender`, `accecn_receiver` | Accurate ECN (RFC 9768) |
//! | `receiver`, `reassembly`, `reader` | reassembly of segments, SACK generation; the application that reads |
//! | `memory`, `receive_buffer`, `send_buffer` | what packets take of the socket buffers, and the receive window that remains |
//! | `receiver_rules` | when receivers of FreeBSD and of earlier releases of Linux send ACKs, and what these report |
//! | `delayed_ack` | how long an ACK may wait (RFC 1122 §4.2.3.2, RFC 5681 §4.2) |
//! | `gro` | receive offload (GRO): segments that reach TCP as one |
//! | `passive` | the receiver's part in handshake and close |
//! | `super_packet` | bursts that stay one packet in the network |
//! | `counters` | what a sender counts |
//! | `invariants` | what tests check between events |
//!
//! Invariants:
//!
//! - `packets_out = nxt − una`.
//! - `sacked_out`, `lost_out` and `retrans_out` are the numbers of segments that are marked SACKed, lost or retransmitted.
//! - Work per ACK is proportional to the segments that it newly (S)ACKs or finds lost, never to the window. Only a
//!   timeout and an undo walk the window, once.
//!
//! Sequence numbers count segments, so the scoreboard is an array. `boundaries` converts segments to bytes. As in
//! Linux, cwnd and `packets_out` count segments; the receive window and fields such as `bytes_sent` count bytes.
//! The receiver counts bytes too, to decide when two full-sized segments have arrived and an ACK is due.
//!
//! Where an application writes (`stream`), the sender validates cwnd as Linux does (`cwnd_validation`). After an idle
//! period cwnd falls to the restart window. A cwnd that was not used is reduced. Rate samples are marked
//! application-limited. None of this applies to a bulk transfer: its writer always has more data than the send buffer
//! holds.
//!
//! Where both hosts send, each direction has its own sender, receiver and FIN. Linux piggybacks an ACK on data. Here
//! the host's receiver sends that ACK as a separate packet before the data (`Receiver::on_answer`). The
//! receiver also records whether its host sent data soon after receiving some. If so, that was an answer, and later ACKs
//! are delayed as in Linux's pingpong mode.

#![forbid(unsafe_code)]

mod accecn;
mod accecn_receiver;
mod accecn_sender;
mod ack;
mod behaviour;
mod boundaries;
mod close;
mod counters;
mod cwnd_validation;
mod delayed_ack;
mod delivery_rate;
mod dupthresh;
mod ecn;
mod ecn_echo;
mod establish;
mod gro;
mod invariants;
mod loss;
mod memory;
mod nagle;
mod newreno;
mod outbox;
mod output;
mod pacing;
mod packet;
mod passive;
mod persist;
mod rack;
mod reader;
mod reassembly;
mod receive_buffer;
mod receiver;
mod receiver_rules;
mod recovery;
mod retransmit;
mod retransmit_hint;
mod rtt;
mod sack;
mod sack_store;
mod scoreboard;
mod segments;
mod send_buffer;
mod sender;
mod stream;
mod super_packet;
mod timer_wheel;
mod timers;
mod transmit;
mod undo;

pub use accecn::{AccEcn, AccEcnCounters, AccEcnFeedback, AccEcnOption};
pub use behaviour::{Behaviour, Detection, Pacing, RackWindow};
pub use boundaries::Boundaries;
pub use counters::{Limit, SenderCounters};
pub use delivery_rate::{Measured, RateSampler};
pub use ecn::EcnMode;
pub use establish::{INITIAL_CWND, INITIAL_REORDERING};
pub use memory::{TcpMemory, packet_memory_bytes};
pub use packet::{
    ACK_BYTES, AckHeader, AckInfo, AckKind, DATA_HEADER_BYTES, DATAGRAM_HEADER_BYTES, DataHeader,
    DataInfo, DatagramHeader, Offload, SYN_BYTES, Segment, SegmentKind,
};
pub use reader::Reader;
pub use receiver::{Receiver, ReceiverConfig, ReceiverCounters};
pub use receiver_rules::ReceiverRules;
pub use rtt::{RTO_INITIAL_US, RTO_MAX_US, RTO_MIN_US, RttEstimator, empty_min, update_min_rtt};
pub use sack_store::{MAX_SACK_BLOCKS, SackBlock, SackBlocks, SackSlot, SackStore};
pub use segments::{DeliveredCe, Segment as SentSegment};
pub use sender::{Half, Sender, SenderConfig};
pub use timer_wheel::TICK_NS;
