//! A connection between two hosts, whichever stack they have.

use std::fmt;

use bytes::BytesMut;
use dumbbell_cc::Flow;
use dumbbell_net::Ecn;

/// An end of a connection: a client that sends a stream, a server that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client, which sends the stream.
    Sender,
    /// The server, which reads it.
    Receiver,
}

impl End {
    /// Its place among both ends.
    pub(crate) fn index(self) -> usize {
        self as usize
    }
}

/// A UDP payload that an end sends.
#[derive(Debug)]
pub struct Datagram {
    /// The payload itself.
    pub bytes: BytesMut,
    /// The ECN field that the stack wants.
    pub ecn: Ecn,
}

/// What a sender's stack says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold, bytes; `None`: none yet.
    pub ssthresh_bytes: Option<u64>,
    /// Rate of the pacer, where the congestion controller sets it, bytes/s.
    pub pacing_rate: Option<u64>,
    /// Bytes in flight as the stack counts them.
    pub inflight_bytes: u64,
    /// Smoothed RTT, µs.
    pub srtt_us: u32,
    /// The latest RTT sample (ACK delay included), µs; 0 before the first.
    pub latest_rtt_us: u32,
    /// How many samples there were, modulo 2³².
    pub rtt_count: u32,
    /// Largest UDP payload that it sends, bytes.
    pub mtu_bytes: u32,
    /// Packets that it has declared lost; the frames of each go into another packet.
    pub lost_pkts: u64,
    /// Losses and marks that its congestion controller was to react to.
    pub congestion_events: u64,
    /// How many of these began a recovery: of what was sent after the one before began (RFC 9002 §7.3.2).
    pub recoveries: u64,
}

/// How far a connection has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The sender's handshake is complete.
    pub is_established: bool,
    /// Everything is acknowledged; there is an end.
    pub is_finished: bool,
    /// Stream bytes that the receiver read, in order.
    pub received_bytes: u64,
}

/// A connection and both its hosts, sans-IO: time is an argument, ns.
///
/// [`Pair::connect`], [`Pair::receive`], [`Pair::wake`] and [`Pair::stop`] take events in. [`Pair::transmit`] must follow
/// each of them at its end; [`Pair::next_timer_ns`] says when to call [`Pair::wake`].
pub trait Pair {
    /// The sender begins the handshake.
    fn connect(&mut self, now_ns: u64);

    /// A datagram arrives at an end.
    fn receive(&mut self, end: End, now_ns: u64, bytes: BytesMut, ecn: Ecn);

    /// A timer of an end is due.
    fn wake(&mut self, end: End, now_ns: u64);

    /// Hands what an end sends to `take`.
    fn transmit(&mut self, end: End, now_ns: u64, take: &mut dyn FnMut(Datagram));

    /// When an end wants to be woken, ns; `u64::MAX`: never.
    fn next_timer_ns(&mut self, end: End) -> u64;

    /// The sender writes no more; what is written is still sent.
    fn stop(&mut self, now_ns: u64);

    /// The sender writes this many bytes more, or without end, and leaves its stream open.
    fn offer(&mut self, now_ns: u64, bytes: Option<u64>);

    /// The sender drops what it has written and not sent, and goes on with another stream.
    fn abandon(&mut self, now_ns: u64);

    /// Writes what the sender's congestion controller says of itself, in its own words; nothing if it has none.
    fn describe_controller(&mut self, text: &mut dyn fmt::Write) -> fmt::Result;

    /// What the sender's stack says of itself.
    fn state(&mut self) -> State;

    /// Renews of a state what each event changes: window, flight, MTU and the latest RTT.
    fn renew(&mut self, state: &mut State);

    /// How far it has come.
    fn progress(&self) -> Progress;

    /// When and why the connection ended by an error of a stack, if it did.
    fn failure(&self) -> Option<&str>;

    /// The socket of an algorithm of ours that runs behind the stack's controller.
    fn own_flow(&self) -> Option<&Flow>;
}
