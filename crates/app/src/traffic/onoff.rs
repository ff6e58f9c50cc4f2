//! Bursts on one connection, with pauses in between.

use dumbbell_declare::settings;

use super::pending::Pending;
use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS, NS_PER_S};
use crate::distribution::Sampler;
use crate::random::Random;
use crate::{Application, Command, Distribution, End, Event, Outcome, Transfer, TransferKind};

settings! {
    /// Bursts on one connection with pauses in between: on for a time, or until a number of bytes is through.
    pub struct Config {
        /// How long it has something to send.
        on_ns: Distribution = Distribution::Constant(NS_PER_S), in 0..=MAX_NS;
        /// How long it then has nothing to send; after a burst of bytes from the acknowledgement of the last.
        off_ns: Distribution = Distribution::Constant(NS_PER_S), in 0..=MAX_NS;
        /// Size of a burst; off: as much as goes while it is on.
        burst_bytes: Option<Distribution> = None, in 1..=MAX_BYTES;
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts::ONE_WAY;

    type Application = OnOff;

    fn build(&self, seed: u64) -> OnOff {
        let bursts = self.burst_bytes.as_ref();
        OnOff {
            on_times: Sampler::new(&self.on_ns, Random::new(seed, 0), 1..=MAX_NS),
            off_times: Sampler::new(&self.off_ns, Random::new(seed, 1), 1..=MAX_NS),
            bursts: bursts.map(|sizes| Sampler::new(sizes, Random::new(seed, 2), 1..=MAX_BYTES)),
            state: State::NotOpen,
            next_ns: u64::MAX,
            is_stopped: false,
            written_bytes: 0,
            burst_start_ns: 0,
            pending: Pending::new(TransferKind::Burst, CONNECTION),
        }
    }
}

const CONNECTION: u32 = 0;

/// A source that is on and off in turn.
#[derive(Debug)]
pub struct OnOff {
    on_times: Sampler,
    off_times: Sampler,
    bursts: Option<Sampler>,
    state: State,
    /// When the state ends, ns.
    next_ns: u64,
    is_stopped: bool,
    /// What all bursts before the present one wrote.
    written_bytes: u64,
    burst_start_ns: u64,
    pending: Pending,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotOpen,
    /// Writes without end until a time.
    On,
    /// Has to pause, and does not yet know how much it wrote.
    Pausing,
    /// Wrote a burst of bytes that is not yet acknowledged.
    Bursting,
    Off,
    Closed,
}

impl OnOff {
    fn turn_on(&mut self, now_ns: u64, outcome: &mut Outcome) {
        let (connection, from) = (CONNECTION, End::Sender);
        self.burst_start_ns = now_ns;
        let bytes = match &mut self.bursts {
            Some(sizes) => {
                let bytes = sizes.draw();
                self.written_bytes += bytes;
                self.pending.push(self.written_bytes, bytes, now_ns);
                (self.state, self.next_ns) = (State::Bursting, u64::MAX);
                bytes
            }
            None => {
                self.state = State::On;
                self.next_ns = now_ns.saturating_add(self.on_times.draw());
                u64::MAX
            }
        };
        outcome.commands.push(Command::Write {
            connection,
            from,
            bytes,
        });
    }

    fn pause(&mut self, outcome: &mut Outcome) {
        (self.state, self.next_ns) = (State::Pausing, u64::MAX);
        outcome.commands.push(Command::Pause {
            connection: CONNECTION,
            from: End::Sender,
        });
    }

    fn turn_off(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.is_stopped {
            self.close(outcome);
        } else {
            self.state = State::Off;
            self.next_ns = now_ns.saturating_add(self.off_times.draw());
        }
    }

    fn close(&mut self, outcome: &mut Outcome) {
        (self.state, self.next_ns) = (State::Closed, u64::MAX);
        outcome.commands.push(Command::Close {
            connection: CONNECTION,
            from: End::Sender,
        });
    }
}

impl Application for OnOff {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match (event, self.state) {
            (Event::Start, State::NotOpen) => {
                outcome.commands.push(Command::Open {
                    connection: CONNECTION,
                    by: End::Sender,
                });
                self.turn_on(now_ns, outcome);
            }
            (Event::Timer, _) if now_ns < self.next_ns => {}
            (Event::Timer, State::On) => self.pause(outcome),
            (Event::Timer, State::Off) => self.turn_on(now_ns, outcome),
            (Event::Stop, state) => {
                self.is_stopped = true;
                match state {
                    State::On => self.pause(outcome),
                    State::Off => self.close(outcome),
                    _ => {}
                }
            }
            (Event::Paused { bytes, .. }, State::Pausing) => {
                let burst_bytes = bytes - self.written_bytes;
                if burst_bytes > 0 {
                    self.written_bytes = bytes;
                    self.pending.push(bytes, burst_bytes, self.burst_start_ns);
                }
                self.turn_off(now_ns, outcome);
            }
            (Event::Acknowledged { bytes, .. }, state) => {
                self.pending.complete(now_ns, bytes, &mut outcome.transfers);
                if state == State::Bursting && bytes >= self.written_bytes {
                    self.turn_off(now_ns, outcome);
                }
            }
            (Event::Closed { .. }, _) => {
                outcome.transfers.extend(self.pending.take());
                (self.state, self.next_ns) = (State::Closed, u64::MAX);
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
