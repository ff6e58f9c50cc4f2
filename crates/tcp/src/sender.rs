//! The sending endpoint: its state and its verbs.
//!
//! The algorithm is spread over files by concept, each adding to [`Sender`]:
//! `establish` (handshake), `stream` (what the application writes), `close` (FIN), `ack` (an ACK arrives), `sack` (the scoreboard),
//! `rack` (loss detection), `recovery` (the congestion states, PRR), `undo`,
//! `transmit` (what may leave, pacing, TSO), `super_packet` (a burst as one packet) and `timers` (RTO, TLP, RACK's window).

use dumbbell_cc::{Flow, Sock};
use dumbbell_net::Packet;

use crate::accecn_sender::AccEcnSender;
use crate::behaviour::Behaviour;
use crate::counters::SenderCounters;
use crate::ecn::EcnMode;
use crate::output::Output;
use crate::packet::Segment;
use crate::rack::Rack;
use crate::recovery::Recovery;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::segments::Segments;
use crate::stream::Stream;
use crate::timers::Timers;

/// The direction of an endpoint's data, of a connection's two.
///
/// A connection in which both ends send is two halves, each with a [`Sender`] and a
/// [`Receiver`](crate::Receiver), as RFC 9293 §3.3.1 keeps separate variables for each direction.
/// Only what a host piggybacks on its data is modelled apart: an ACK is always a packet of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Half {
    /// The only one: the receiver sends nothing, and closes as soon as the sender has.
    #[default]
    Only,
    /// One of two, from the flow's sender to its receiver. Each half closes by itself.
    Forward,
    /// One of two, from the flow's receiver to its sender. Each half closes by itself.
    Reverse,
}

/// How a sender sends.
#[derive(Clone, Copy, Debug)]
pub struct SenderConfig {
    /// Number of the flow, stamped on its packets.
    pub flow: u32,
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// The direction of its data.
    pub half: Half,
    /// Bytes to send from the start, more may be written; `None`: without end.
    pub size_bytes: Option<u64>,
    /// The application closes when it has written everything or is stopped; otherwise the
    /// connection stays open.
    pub closes: bool,
    /// Largest unacknowledged payload in the send buffer, segments.
    pub sndbuf_pkts: u32,
    /// The send buffer grows up to that with cwnd.
    pub tunes_sndbuf: bool,
    /// The application keeps the send buffer full, which counts where memory is limited; otherwise what was sent counts.
    pub fills_sndbuf: bool,
    /// Segmentation offload: segments leave in bursts as Linux sizes them.
    pub tso: bool,
    /// Whether a burst of new segments stays one packet, a super-packet, on its way.
    pub gso: bool,
    /// What the SYN requests.
    pub ecn: EcnMode,
    /// Whether a short segment waits while another is unacknowledged (RFC 1122 §4.2.3.4, as Linux
    /// without `TCP_NODELAY`).
    pub nagle: bool,
    /// `tcp_slow_start_after_idle`: whether cwnd falls when the application pauses or leaves it
    /// unused (RFC 5681 §4.1, RFC 2861).
    pub slow_start_after_idle: bool,
    /// The rules of the release of Linux that it is.
    pub behaviour: Behaviour,
    /// How late each pacing timer fires, ns.
    pub timer_lateness_ns: u64,
    /// The tick of the host's other timers, ns; 0: they are exact.
    pub tick_ns: u64,
    /// Where the receiver's timestamps begin (RFC 7323 §5.4), ms: Linux draws it for each connection, and an algorithm that
    /// reads `rcv_tsval` sees it.
    pub peer_clock_ms: u32,
}

impl SenderConfig {
    /// Linux's defaults for a connection that sends `size_bytes` in segments of `mss_bytes`, closes
    /// after them, and is limited by nothing but its congestion control algorithm.
    pub fn new(flow: u32, mss_bytes: u32, size_bytes: Option<u64>) -> Self {
        Self {
            flow,
            mss_bytes,
            half: Half::Only,
            size_bytes,
            closes: true,
            sndbuf_pkts: u32::MAX >> 2,
            tunes_sndbuf: false,
            fills_sndbuf: false,
            tso: true,
            gso: false,
            ecn: EcnMode::Off,
            nagle: true,
            slow_start_after_idle: true,
            behaviour: Behaviour::default(),
            timer_lateness_ns: 0,
            tick_ns: 0,
            peer_clock_ms: 0,
        }
    }
}

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Closed,
    SynSent,
    /// Open; also while the sender's FIN is on its way (FIN-WAIT-1 and FIN-WAIT-2 of RFC 9293).
    Established,
    /// Both directions are closed.
    TimeWait,
}

/// A TCP sender. What it sends is in its configuration, as for a bulk transfer, or comes from an
/// application that calls [`Sender::write`] and [`Sender::close`].
///
/// Sans-IO: [`Sender::start`] or [`Sender::open`], these, [`Sender::on_ack`] and [`Sender::on_timer`] take events in,
/// [`Sender::poll_transmit`] returns packets and must follow each of them;
/// [`Sender::next_timer_ns`] returns when to call again.
pub struct Sender {
    pub(crate) config: SenderConfig,
    /// The socket and the congestion control algorithm that runs on it.
    pub(crate) cc: Flow,
    pub(crate) phase: Phase,
    /// When the first SYN left, ns.
    pub(crate) started_ns: u64,
    pub(crate) segments: Segments,
    /// Oldest unacknowledged segment (SND.UNA).
    pub(crate) una: u32,
    /// Next new segment (SND.NXT).
    pub(crate) nxt: u32,
    /// What the application writes.
    pub(crate) stream: Stream,
    /// What is known to have arrived or to be lost.
    pub(crate) scoreboard: Scoreboard,
    pub(crate) rack: Rack,
    /// The current episode of loss recovery.
    pub(crate) recovery: Recovery,
    pub(crate) rtt: RttEstimator,
    pub(crate) timers: Timers,
    /// What may leave, and what waits to be fetched.
    pub(crate) output: Output,
    /// The connection's clock as TCP timestamps count, ms.
    pub(crate) now_ms: u32,
    /// The receiver's clock as last received, ms (TS.Recent of RFC 7323).
    pub(crate) ts_recent_ms: u32,
    pub(crate) accecn: AccEcnSender,
    pub(crate) counters: SenderCounters,
    /// RTT of the last ACK that gave a sample, µs.
    pub(crate) latest_rtt_us: u32,
}

impl Sender {
    /// A closed connection that will run `cc`.
    pub fn new(config: SenderConfig, mut cc: Flow) -> Self {
        cc.set_number(config.flow);
        let mut segments = Segments::new();
        if cc.records_transmit_state() {
            segments.record_transmit_states();
        }
        let mut sender = Self {
            config,
            output: Output::new(&config, &cc),
            cc,
            phase: Phase::Closed,
            started_ns: 0,
            segments,
            una: 0,
            nxt: 0,
            stream: Stream::new(&config),
            scoreboard: Scoreboard::new(),
            rack: Rack::new(),
            recovery: Recovery::new(),
            rtt: RttEstimator::new(),
            timers: Timers::new(),
            now_ms: 0,
            ts_recent_ms: 0,
            accecn: AccEcnSender::new(),
            counters: SenderCounters::default(),
            latest_rtt_us: 0,
        };
        sender.set_written(config.size_bytes.unwrap_or(u64::MAX));
        sender.prepare_socket();
        sender
    }

    /// Asks for memory that the next ACK will need beyond this one's own, which must be there already.
    #[inline]
    pub fn fetch_ahead(&self) {
        self.segments.fetch_ahead(self.una);
        self.segments.fetch_ahead(self.nxt);
        self.output.outbox.fetch_ahead();
    }

    /// Reports of faults name flow number `flow` of the run, where packets carry another number.
    #[must_use]
    pub fn reported_as(mut self, flow: u32) -> Self {
        self.cc.set_number(flow);
        self
    }

    /// Packets that may leave at `now_ns`.
    pub fn poll_transmit(&mut self, now_ns: u64) -> &[Packet<Segment>] {
        self.set_now(now_ns);
        if self.phase == Phase::Established {
            if self.stream.wrote {
                self.note_writes();
            }
            if self.config.tunes_sndbuf {
                self.tune_sndbuf();
            }
            self.transmit();
        }
        if self.output.memory.is_some() {
            self.charge_memory();
        }
        self.output.outbox.fetch()
    }

    /// When to call [`Sender::on_timer`], ns; `u64::MAX`: never.
    #[inline]
    pub fn next_timer_ns(&self) -> u64 {
        self.timers.next_ns()
    }

    /// From now on no tail loss probes are sent (`tcp_early_retrans = 0`).
    pub fn disable_loss_probes(&mut self) {
        self.recovery.sends_loss_probes = false;
    }

    /// The flow it belongs to.
    #[inline]
    pub fn flow(&self) -> u32 {
        self.config.flow
    }

    /// The socket the congestion control algorithm works on.
    #[inline]
    pub fn sock(&self) -> &Sock {
        &self.cc.sock
    }

    /// The congestion control algorithm at work.
    #[inline]
    pub fn congestion_control(&self) -> &Flow {
        &self.cc
    }

    /// The counters so far.
    #[inline]
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// Highest sent minus cumulatively acknowledged, packets: tcptrace's in-flight.
    #[inline]
    pub fn outstanding_pkts(&self) -> u32 {
        self.nxt - self.una
    }

    /// RTT of the last ACK that gave a sample, µs; 0 before the first.
    #[inline]
    pub fn latest_rtt_us(&self) -> u32 {
        self.latest_rtt_us
    }

    /// Settles the counters at `now_ns`: time averages, limited times and an ongoing stall extend
    /// to it.
    pub fn settle(&mut self, now_ns: u64) {
        self.set_now(now_ns);
        self.timers.close_stall(now_ns, &mut self.counters);
    }

    /// Moves the connection's clock to `now_ns`, charging the elapsed time to the averages.
    #[inline]
    pub(crate) fn set_now(&mut self, now_ns: u64) {
        let sock = &mut self.cc.sock;
        let elapsed_ns = now_ns - sock.tcp_clock_cache;
        if elapsed_ns > 0 {
            // A connection that is done has no averages to run on.
            if self.phase != Phase::Closed && self.una < self.stream.end {
                let inflight =
                    sock.packets_out - sock.sacked_out - sock.lost_out + sock.retrans_out;
                self.counters.charge(
                    elapsed_ns,
                    inflight,
                    self.nxt - self.una,
                    sock.snd_cwnd,
                    self.output.limit,
                );
            }
            sock.tcp_clock_cache = now_ns;
            sock.tcp_mstamp = now_ns / 1000;
            self.now_ms = (sock.tcp_mstamp / 1000) as u32;
        }
    }

    /// The connection's clock, ns.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        self.cc.sock.tcp_clock_cache
    }
}

impl std::fmt::Debug for Sender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sender")
            .field("flow", &self.config.flow)
            .field("cc", &self.cc.name())
            .field("una", &self.una)
            .field("nxt", &self.nxt)
            .field("state", &self.cc.sock.ca_state())
            .field("cwnd", &self.cc.sock.snd_cwnd)
            .finish_non_exhaustive()
    }
}
