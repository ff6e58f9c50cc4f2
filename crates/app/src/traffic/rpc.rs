//! Requests and responses of a client that waits for each.

use dumbbell_declare::settings;

use super::pending::Pending;
use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS, Preset};
use crate::distribution::Sampler;
use crate::random::Random;
use crate::{Application, Command, Distribution, End, Event, Outcome, Transfer, TransferKind};

settings! {
    /// A client sends a request, waits for the response, thinks, and sends the next (a closed loop).
    pub struct Config {
        /// Size of a request.
        request_bytes: Distribution = Distribution::Constant(1), in 1..=MAX_BYTES;
        /// Size of a response.
        response_bytes: Distribution = Distribution::Constant(1), in 1..=MAX_BYTES;
        /// Time from the end of a response to the next request.
        think_ns: Distribution = Distribution::Constant(0), in 0..=MAX_NS;
        /// Whether one connection serves all requests; off: each has its own.
        persistent: bool = true;
        /// How many requests each flow sends at most.
        count: Option<u64> = None, in 1..=u32::MAX.into();
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        has_requests: true,
        ..Facts::ONE_WAY
    };

    type Application = Rpc;

    fn presets() -> Vec<Preset<Self>> {
        vec![Preset {
            name: "tcp_rr",
            doc: "One byte each way on one connection, as netperf's TCP_RR.",
            settings: Self::default(),
        }]
    }

    fn build(&self, seed: u64) -> Rpc {
        let sampler = |distribution, stream, range| {
            Sampler::new(distribution, Random::new(seed, stream), range)
        };
        Rpc {
            requests: sampler(&self.request_bytes, 0, 1..=MAX_BYTES),
            responses: sampler(&self.response_bytes, 1, 1..=MAX_BYTES),
            thinking: sampler(&self.think_ns, 2, 0..=MAX_NS),
            is_persistent: self.persistent,
            left: self.count.unwrap_or(u64::MAX),
            state: State::NotBegun,
            next_ns: u64::MAX,
            is_stopped: false,
            connections: 0,
            asked_bytes: 0,
            answered_bytes: 0,
            pending: Pending::new(TransferKind::Request, 0),
        }
    }
}

/// A client and its server.
#[derive(Debug)]
pub struct Rpc {
    requests: Sampler,
    responses: Sampler,
    thinking: Sampler,
    is_persistent: bool,
    /// Requests that are still to come.
    left: u64,
    state: State,
    /// When the next request goes, ns.
    next_ns: u64,
    is_stopped: bool,
    /// Connections opened; the last is in use.
    connections: u32,
    /// What the connection in use has carried, with what is under way, bytes.
    asked_bytes: u64,
    answered_bytes: u64,
    pending: Pending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotBegun,
    /// The request is on its way; the response has these bytes.
    Asking(u64),
    /// The server has written the response.
    Answering,
    Thinking,
    Over,
}

impl Rpc {
    fn connection(&self) -> u32 {
        self.connections - 1
    }

    fn ask(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.connections == 0 || !self.is_persistent {
            let connection = self.connections;
            self.connections += 1;
            (self.asked_bytes, self.answered_bytes) = (0, 0);
            self.pending = Pending::new(TransferKind::Request, connection);
            let by = End::Receiver;
            outcome.commands.push(Command::Open { connection, by });
        }
        let bytes = self.requests.draw();
        let response_bytes = self.responses.draw();
        self.asked_bytes += bytes;
        self.answered_bytes += response_bytes;
        self.left -= 1;
        (self.state, self.next_ns) = (State::Asking(response_bytes), u64::MAX);
        let both_bytes = bytes + response_bytes;
        self.pending.push(self.answered_bytes, both_bytes, now_ns);
        outcome.commands.push(Command::Write {
            connection: self.connection(),
            from: End::Receiver,
            bytes,
        });
    }

    fn answer(&mut self, response_bytes: u64, outcome: &mut Outcome) {
        self.state = State::Answering;
        outcome.commands.push(Command::Write {
            connection: self.connection(),
            from: End::Sender,
            bytes: response_bytes,
        });
    }

    /// The response is there.
    fn rest(&mut self, now_ns: u64, outcome: &mut Outcome) {
        let is_last = self.is_stopped || self.left == 0;
        if is_last || !self.is_persistent {
            self.close(outcome);
        }
        if is_last {
            (self.state, self.next_ns) = (State::Over, u64::MAX);
        } else {
            self.state = State::Thinking;
            self.next_ns = now_ns.saturating_add(self.thinking.draw());
            self.ask_if_due(now_ns, outcome);
        }
    }

    fn ask_if_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.state == State::Thinking && self.next_ns <= now_ns {
            self.ask(now_ns, outcome);
        }
    }

    fn close(&self, outcome: &mut Outcome) {
        let connection = self.connection();
        let ends = [End::Receiver, End::Sender];
        let closes = ends.map(|from| Command::Close { connection, from });
        outcome.commands.extend(closes);
    }

    fn stop(&mut self, outcome: &mut Outcome) {
        self.is_stopped = true;
        if self.state == State::Thinking {
            if self.is_persistent {
                self.close(outcome);
            }
            (self.state, self.next_ns) = (State::Over, u64::MAX);
        }
    }
}

impl Application for Rpc {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::Start if self.state == State::NotBegun => self.ask(now_ns, outcome),
            Event::Timer => self.ask_if_due(now_ns, outcome),
            Event::Stop => self.stop(outcome),
            Event::Received {
                connection,
                at,
                bytes,
            } => {
                if connection != self.connection() {
                    return;
                }
                match (at, self.state) {
                    (End::Sender, State::Asking(response_bytes)) if bytes >= self.asked_bytes => {
                        self.answer(response_bytes, outcome);
                    }
                    (End::Receiver, State::Answering) if bytes >= self.answered_bytes => {
                        self.pending.complete(now_ns, bytes, &mut outcome.transfers);
                        self.rest(now_ns, outcome);
                    }
                    _ => {}
                }
            }
            Event::Closed { connection } => {
                let is_in_use = matches!(self.state, State::Asking(_) | State::Answering);
                if is_in_use && connection == self.connection() {
                    outcome.transfers.extend(self.pending.take());
                    (self.state, self.next_ns) = (State::Over, u64::MAX);
                }
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.next_ns
    }

    fn unfinished(&self, transfers: &mut Vec<Transfer>) {
        transfers.extend(self.pending.unfinished());
    }
}
