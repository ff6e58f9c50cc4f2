//! A connection of one version of a stack: both endpoints, and the application that sends one stream.
//!
//! This file is compiled once for each version. `super::proto` is the version's crate, `super::stack` the adapter of its
//! stack, which has what differs between stacks.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use dumbbell_cc::Flow;
use dumbbell_net::Ecn;

use super::connection_ids::connection_id;
use super::host::{Host, PEER, server_config, transport};
use super::keys::Crypto;
use super::proto::{
    ClientConfig, Connection, ConnectionError, DatagramEvent, Dir, EcnCodepoint, Event, StreamEvent, StreamId, VarInt,
};
use super::stack;
use crate::datapath::Datapath;
use crate::gauges::Gauges;
use crate::pair::{Datagram, End, Pair, Progress, State};
use crate::settings::Settings;
use crate::spec::Controller;

/// What is written at once: large, because a stack walks the list of what is not acknowledged.
const CHUNK_BYTES: usize = 1 << 20;
/// What several datagrams are kept in, so that few are allocated: a batch of ten at an MTU of 1452.
const ARENA_BYTES: usize = 1 << 14;
const NS_PER_S: u64 = 1_000_000_000;

/// A connection between two hosts.
struct Connected {
    /// What virtual time 0 is for the stack.
    base: Instant,
    settings: Settings,
    hosts: [Host; 2],
    client: ClientConfig,
    gauges: Arc<Gauges>,
    /// An algorithm of ours behind the stack's controller.
    own: Option<Datapath>,
    /// The sender's stream, once it is open.
    stream: Option<StreamId>,
    /// Bytes still to be written; `None`: no end.
    left_bytes: Option<u64>,
    /// It is not finished when nothing is left: more may come.
    stays_open: bool,
    is_closed_for_writing: bool,
    progress: Progress,
    failure: Option<String>,
    buffer: Vec<u8>,
    /// Room for datagrams.
    arena: BytesMut,
    chunk: Bytes,
}

/// A connection before its start.
pub(crate) fn pair(settings: &Settings, controller: Controller, flow: Option<Flow>) -> Box<dyn Pair> {
    let base = Instant::now(); // only differences matter
    let gauges = Gauges::new(base);
    let own = flow.map(|flow| Datapath::new(flow, settings.is_paced));
    let mailbox = own.as_ref().map(Datapath::mailbox);
    let mut transport = transport(settings);
    transport.congestion_controller_factory(stack::factory(controller, &gauges, mailbox));
    let mut client = ClientConfig::new(Arc::new(Crypto));
    client.transport_config(Arc::new(transport));
    let seed = settings.seed;
    client.initial_dst_cid_provider(Arc::new(move || connection_id(seed, 2, 0)));
    Box::new(Connected {
        base,
        hosts: [
            Host::new(settings, End::Sender, None),
            Host::new(settings, End::Receiver, Some(server_config(settings))),
        ],
        client,
        gauges,
        own,
        stream: None,
        left_bytes: settings.size_bytes,
        stays_open: false,
        is_closed_for_writing: false,
        progress: Progress::default(),
        failure: None,
        buffer: Vec::new(),
        arena: BytesMut::with_capacity(ARENA_BYTES),
        chunk: Bytes::from(vec![0; CHUNK_BYTES]),
        settings: settings.clone(),
    })
}

impl Connected {
    fn instant(&self, now_ns: u64) -> Instant {
        self.base + Duration::from_nanos(now_ns)
    }

    fn connection(&mut self, end: End) -> Option<&mut Connection> {
        let (_, connection) = self.hosts[end.index()].connection.as_mut()?;
        Some(connection)
    }

    /// Does what follows an event at an end: what endpoint and connection have for each other, what the application reads
    /// and writes.
    fn settle(&mut self, end: End, now_ns: u64) {
        self.hosts[end.index()].timer_ns = None;
        loop {
            let host = &mut self.hosts[end.index()];
            let Some((handle, connection)) = &mut host.connection else {
                return;
            };
            if let Some(event) = connection.poll_endpoint_events() {
                if let Some(event) = host.endpoint.handle_event(*handle, event) {
                    connection.handle_event(event);
                }
                continue;
            }
            match connection.poll() {
                Some(event) => self.on_event(end, event, now_ns),
                None => break,
            }
        }
        self.run_own(end, now_ns);
    }

    /// Passes on to an algorithm of ours what the controller was called with.
    fn run_own(&mut self, end: End, now_ns: u64) {
        if end == End::Sender
            && let Some(own) = &mut self.own
        {
            own.process(now_ns);
        }
    }

    fn on_event(&mut self, end: End, event: Event, now_ns: u64) {
        match (end, event) {
            (End::Sender, Event::Connected) => {
                self.progress.is_established = true;
                if let Some(own) = &mut self.own {
                    own.establish(now_ns);
                }
                self.stream = self.connection(end).and_then(|it| it.streams().open(Dir::Uni));
                self.write();
            }
            (End::Sender, Event::Stream(StreamEvent::Writable { .. })) => self.write(),
            (End::Sender, Event::Stream(StreamEvent::Finished { .. })) => {
                self.progress.is_finished = true;
                let now = self.instant(now_ns);
                if let Some(connection) = self.connection(end) {
                    connection.close(now, VarInt::from_u32(0), Bytes::new());
                }
            }
            (End::Receiver, Event::Stream(StreamEvent::Opened { dir: Dir::Uni })) => {
                self.accept_stream();
            }
            (End::Receiver, Event::Stream(StreamEvent::Readable { id })) => self.read(id),
            (_, Event::ConnectionLost { reason }) => self.fail(&reason, now_ns),
            _ => {}
        }
    }

    /// Notes the first error that ends the connection; the end that finds it comes before the other.
    fn fail(&mut self, reason: &ConnectionError, now_ns: u64) {
        let is_wanted = matches!(
            reason,
            ConnectionError::ApplicationClosed(_) | ConnectionError::LocallyClosed
        );
        if !is_wanted && self.failure.is_none() {
            let at_s = now_ns as f64 / NS_PER_S as f64;
            self.failure = Some(format!("at {at_s:.3} s: {reason}"));
        }
    }

    fn accept_stream(&mut self) {
        let accepted = self.connection(End::Receiver).and_then(|it| it.streams().accept(Dir::Uni));
        if let Some(id) = accepted {
            self.read(id);
        }
    }

    /// Writes until the stack takes no more.
    fn write(&mut self) {
        let (Some(id), false) = (self.stream, self.is_closed_for_writing) else {
            return;
        };
        let Some((_, connection)) = &mut self.hosts[End::Sender.index()].connection else {
            return;
        };
        let mut stream = connection.send_stream(id);
        loop {
            let left_bytes = self.left_bytes.unwrap_or(u64::MAX);
            if left_bytes == 0 && self.stays_open {
                return;
            }
            if left_bytes == 0 {
                self.is_closed_for_writing = true;
                let _ = stream.finish(); // an error says that the peer stopped it
                return;
            }
            let bytes = usize::try_from(left_bytes).map_or(CHUNK_BYTES, |left| left.min(CHUNK_BYTES));
            let Some(written) = stack::write(&mut stream, self.chunk.slice(..bytes)) else {
                return;
            };
            if let Some(left_bytes) = &mut self.left_bytes {
                *left_bytes -= written as u64;
            }
        }
    }

    fn read(&mut self, id: StreamId) {
        let Some((_, connection)) = &mut self.hosts[End::Receiver.index()].connection else {
            return;
        };
        let mut stream = connection.recv_stream(id);
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.progress.received_bytes += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize(); // `transmit` follows in any case
    }

    fn accept(&mut self, now: Instant, incoming: super::proto::Incoming) {
        let host = &mut self.hosts[End::Receiver.index()];
        if host.connection.is_some() {
            return host.endpoint.ignore(incoming);
        }
        self.buffer.clear();
        // One that cannot be accepted is not: its sender tries again.
        host.connection = host.endpoint.accept(incoming, now, &mut self.buffer, None).ok();
    }
}

impl Pair for Connected {
    fn connect(&mut self, now_ns: u64) {
        let now = self.instant(now_ns);
        let host = &mut self.hosts[End::Sender.index()];
        rand::seed(self.settings.seed);
        let connected = host.endpoint.connect(now, self.client.clone(), PEER, "receiver");
        rand::unseed();
        host.connection = connected.ok();
        self.settle(End::Sender, now_ns);
    }

    fn receive(&mut self, end: End, now_ns: u64, bytes: BytesMut, ecn: Ecn) {
        let now = self.instant(now_ns);
        let ecn = EcnCodepoint::from_bits(ecn.bits()).filter(|_| self.settings.has_ecn);
        self.buffer.clear();
        let host = &mut self.hosts[end.index()];
        match stack::handle(&mut host.endpoint, now, ecn, bytes, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((own, connection)) = &mut host.connection
                    && *own == handle
                {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.accept(now, incoming);
            }
            // Answers to what belongs to no connection: resets, other versions.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        self.settle(end, now_ns);
    }

    fn wake(&mut self, end: End, now_ns: u64) {
        let now = self.instant(now_ns);
        if let Some(connection) = self.connection(end) {
            connection.handle_timeout(now);
        }
        self.settle(end, now_ns);
    }

    fn transmit(&mut self, end: End, now_ns: u64, take: &mut dyn FnMut(Datagram)) {
        let now = self.instant(now_ns);
        let batch = self.settings.gso_batch_pkts;
        let mut has_sent = false;
        loop {
            self.buffer.clear();
            let Some((_, connection)) = &mut self.hosts[end.index()].connection else {
                return;
            };
            let Some(sent) = stack::poll_transmit(connection, now, batch, &mut self.buffer) else {
                break;
            };
            has_sent = true;
            let ecn = sent.ecn.filter(|_| self.settings.has_ecn);
            let ecn = ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
            let segment_bytes = sent.segment_size.unwrap_or(sent.size).max(1);
            for segment in self.buffer[..sent.size].chunks(segment_bytes) {
                self.arena.extend_from_slice(segment);
                take(Datagram { bytes: self.arena.split(), ecn });
            }
            self.run_own(end, now_ns);
        }
        if has_sent {
            self.settle(end, now_ns);
        } else {
            // What sends nothing makes no events, but may set the pacer's timer.
            self.hosts[end.index()].timer_ns = None;
            self.run_own(end, now_ns);
        }
    }

    fn next_timer_ns(&mut self, end: End) -> u64 {
        let base = self.base;
        let host = &mut self.hosts[end.index()];
        let Some((_, connection)) = &mut host.connection else {
            return u64::MAX;
        };
        if let Some(timer_ns) = host.timer_ns {
            return timer_ns;
        }
        let due_ns = connection.poll_timeout().map(|at| {
            let due = at.saturating_duration_since(base);
            due.as_secs().saturating_mul(NS_PER_S).saturating_add(due.subsec_nanos().into())
        });
        let granularity_ns = self.settings.timer_granularity_ns;
        let timer_ns = due_ns.map_or(u64::MAX, |due_ns| host.fires_ns(due_ns, granularity_ns));
        host.timer_ns = Some(timer_ns);
        timer_ns
    }

    fn offer(&mut self, now_ns: u64, bytes: Option<u64>) {
        self.stays_open = true;
        self.left_bytes = bytes.map(|more| self.left_bytes.unwrap_or(0) + more);
        if self.stream.is_some() {
            self.write();
        }
        self.settle(End::Sender, now_ns);
    }

    fn abandon(&mut self, now_ns: u64) {
        self.stays_open = true;
        self.left_bytes = Some(0);
        if let Some(id) = self.stream
            && let Some(connection) = self.connection(End::Sender)
        {
            let _ = connection.send_stream(id).reset(VarInt::from_u32(0)); // an error says that it is finished
            self.stream = connection.streams().open(Dir::Uni);
        }
        self.settle(End::Sender, now_ns);
    }

    fn describe_controller(&mut self, text: &mut dyn fmt::Write) -> fmt::Result {
        match self.connection(End::Sender) {
            Some(connection) => stack::describe_controller(connection, text),
            None => Ok(()),
        }
    }

    fn stop(&mut self, now_ns: u64) {
        self.stays_open = false;
        self.left_bytes = Some(0);
        if self.stream.is_some() {
            self.write();
        }
        self.settle(End::Sender, now_ns);
    }

    fn state(&mut self) -> State {
        let mut state = State {
            congestion_events: self.gauges.congestion_events(),
            recoveries: self.gauges.recoveries(),
            ..State::default()
        };
        self.renew(&mut state);
        if let Some(connection) = self.connection(End::Sender) {
            stack::complete(connection, &mut state);
        }
        state
    }

    fn renew(&mut self, state: &mut State) {
        (state.latest_rtt_us, state.rtt_count) = self.gauges.rtt();
        state.inflight_bytes = self.gauges.inflight_bytes();
        state.mtu_bytes = self.gauges.mtu_bytes();
        let connection = self.connection(End::Sender);
        state.cwnd_bytes = connection.map_or(0, |connection| stack::window_bytes(connection));
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn own_flow(&self) -> Option<&Flow> {
        self.own.as_ref().map(Datapath::flow)
    }
}
