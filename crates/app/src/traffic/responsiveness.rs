//! Responsiveness under load: a load that fills the link, and probes next to it and on it.

mod round_trips;
mod saturation;

use std::collections::BTreeMap;

use dumbbell_declare::settings;

use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS, NS_PER_S};
use crate::{Application, Command, End, Event, Outcome, Transfer, TransferKind};
use round_trips::{RoundTrips, per_minute};
use saturation::Saturation;

settings! {
    /// Responsiveness under load (draft-ietf-ippm-responsiveness): downloads until the link is full, then
    /// probes on connections of their own and on the loaded ones.
    pub struct Config {
        /// Time after which it looks at its goodput, and adds a connection where that still changes. Seven
        /// of them pass before it probes: a shorter run measures nothing.
        interval_ns: u64 = 5 * NS_PER_S, in 10_000_000..=MAX_NS;
        /// Connections of the load at most.
        max_connections: u64 = 16, in 1..=1000;
        /// Size of a probe's response on a connection of its own.
        foreign_bytes: u64 = 5000, in 1..=MAX_BYTES;
        /// Size of a probe's response on a connection of the load.
        self_bytes: u64 = 1000, in 1..=MAX_BYTES;
        /// Size of a request.
        request_bytes: u64 = 328, in 1..=MAX_BYTES;
    }
}

/// Shortest time between two pairs of probes: at most 100 a second.
const MIN_PROBE_GAP_NS: u64 = 10_000_000;
/// Probes are at most one part in this many of the goodput: 5 %.
const GOODPUT_PER_PROBES: u64 = 20;
/// Probes of each kind that may be under way.
const MAX_PROBES: usize = 100;

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        has_requests: true,
        ..Facts::ONE_WAY
    };

    type Application = Responsiveness;

    fn build(&self, _seed: u64) -> Responsiveness {
        Responsiveness {
            config: self.clone(),
            connections: 0,
            loads: Vec::new(),
            foreign: BTreeMap::new(),
            saturation: Saturation::default(),
            interval_end_ns: u64::MAX,
            interval_bytes: 0,
            next_probe_ns: u64::MAX,
            probe_gap_ns: 0,
            next_load: 0,
            is_stopped: false,
            is_saturated: false,
            connecting: RoundTrips::default(),
            fetching: RoundTrips::default(),
            fetching_under_load: RoundTrips::default(),
        }
    }
}

/// A client that loads and probes, and its server.
#[derive(Debug)]
pub struct Responsiveness {
    config: Config,
    /// Connections opened so far.
    connections: u32,
    loads: Vec<Load>,
    /// Probes on connections of their own that are under way, by connection.
    foreign: BTreeMap<u32, Foreign>,
    saturation: Saturation,
    interval_end_ns: u64,
    /// What the loads carried in the interval, bytes.
    interval_bytes: u64,
    /// When the next probes go, ns; `u64::MAX`: the link is not known to be full.
    next_probe_ns: u64,
    probe_gap_ns: u64,
    /// The load that has the next probe.
    next_load: usize,
    is_stopped: bool,
    /// Whether the goodput was found to be stable: it probes.
    is_saturated: bool,
    /// Handshakes, responses on connections of their own, and on those of the load.
    connecting: RoundTrips,
    fetching: RoundTrips,
    fetching_under_load: RoundTrips,
}

/// A download without end.
#[derive(Clone, Copy, Debug)]
struct Load {
    connection: u32,
    /// Requests so far, bytes.
    asked_bytes: u64,
    received_bytes: u64,
    step: Step,
    /// When the probe that is under way was sent, ns.
    probe_start_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The server has not yet been asked.
    Asking,
    /// It sends without end.
    Loading,
    /// A probe's request is on its way.
    ProbeAsked,
    /// The server pauses, to put the response where it is.
    Pausing,
    /// The response ends with this byte of the connection.
    ProbeAnswered(u64),
}

/// A probe on a connection of its own.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    start_ns: u64,
    connected_ns: Option<u64>,
    is_answered: bool,
}

impl Responsiveness {
    fn open(&mut self, outcome: &mut Outcome) -> u32 {
        let connection = self.connections;
        self.connections += 1;
        let (by, from) = (End::Receiver, End::Receiver);
        outcome.commands.push(Command::Open { connection, by });
        outcome.commands.push(Command::Write {
            connection,
            from,
            bytes: self.config.request_bytes,
        });
        connection
    }

    fn add_load(&mut self, outcome: &mut Outcome) {
        let connection = self.open(outcome);
        self.loads.push(Load {
            connection,
            asked_bytes: self.config.request_bytes,
            received_bytes: 0,
            step: Step::Asking,
            probe_start_ns: 0,
        });
    }

    fn end_interval(&mut self, now_ns: u64, outcome: &mut Outcome) {
        let bytes = std::mem::take(&mut self.interval_bytes);
        let is_stable = self.saturation.add_interval(bytes);
        let has_all = self.loads.len() as u64 >= self.config.max_connections;
        let probe_bytes = self.config.foreign_bytes + self.config.self_bytes;
        let gap_ns = u128::from(self.config.interval_ns)
            * u128::from(probe_bytes * GOODPUT_PER_PROBES)
            / u128::from(bytes.max(1));
        self.probe_gap_ns = u64::try_from(gap_ns)
            .unwrap_or(MAX_NS)
            .max(MIN_PROBE_GAP_NS);
        if !self.is_saturated {
            if is_stable {
                self.is_saturated = true;
                self.next_probe_ns = now_ns;
            } else if !has_all {
                self.add_load(outcome);
            }
        }
        self.interval_end_ns = now_ns.saturating_add(self.config.interval_ns);
    }

    /// A probe on a connection of its own, and one on a load that has none.
    fn probe(&mut self, now_ns: u64, outcome: &mut Outcome) {
        self.next_probe_ns = now_ns.saturating_add(self.probe_gap_ns);
        if self.foreign.len() < MAX_PROBES {
            let connection = self.open(outcome);
            let probe = Foreign {
                start_ns: now_ns,
                connected_ns: None,
                is_answered: false,
            };
            self.foreign.insert(connection, probe);
        }
        let count = self.loads.len();
        let in_turn = (0..count).map(|step| (self.next_load + step) % count);
        let free = in_turn
            .into_iter()
            .find(|&index| self.loads[index].step == Step::Loading);
        let Some(index) = free else { return };
        self.next_load = (index + 1) % count;
        let (load, bytes) = (&mut self.loads[index], self.config.request_bytes);
        load.step = Step::ProbeAsked;
        load.asked_bytes += bytes;
        load.probe_start_ns = now_ns;
        outcome.commands.push(Command::Write {
            connection: load.connection,
            from: End::Receiver,
            bytes,
        });
    }

    fn run_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.interval_end_ns <= now_ns {
            self.end_interval(now_ns, outcome);
        }
        if self.next_probe_ns <= now_ns {
            self.probe(now_ns, outcome);
        }
    }

    fn load_mut(&mut self, connection: u32) -> Option<&mut Load> {
        self.loads
            .iter_mut()
            .find(|load| load.connection == connection)
    }

    /// The server has `received_bytes` of a load's requests.
    fn serve_load(&mut self, connection: u32, received_bytes: u64, outcome: &mut Outcome) {
        let is_stopped = self.is_stopped;
        let Some(load) = self.load_mut(connection) else {
            return;
        };
        let from = End::Sender;
        if is_stopped || received_bytes < load.asked_bytes {
            return;
        }
        match load.step {
            Step::Asking => {
                load.step = Step::Loading;
                let bytes = u64::MAX;
                outcome.commands.push(Command::Write {
                    connection,
                    from,
                    bytes,
                });
            }
            Step::ProbeAsked => {
                load.step = Step::Pausing;
                outcome.commands.push(Command::Pause { connection, from });
            }
            _ => {}
        }
    }

    /// The server has paused: the response, then what was there before.
    fn answer_on_load(&mut self, connection: u32, written_bytes: u64, outcome: &mut Outcome) {
        let (self_bytes, is_stopped) = (self.config.self_bytes, self.is_stopped);
        let paused = self
            .load_mut(connection)
            .filter(|load| load.step == Step::Pausing);
        let Some(load) = paused.filter(|_| !is_stopped) else {
            return;
        };
        load.step = Step::ProbeAnswered(written_bytes + self_bytes);
        outcome
            .commands
            .extend([self_bytes, u64::MAX].map(|bytes| Command::Write {
                connection,
                from: End::Sender,
                bytes,
            }));
    }

    /// The client has received `bytes` on a load.
    fn receive_load(&mut self, now_ns: u64, connection: u32, bytes: u64) {
        let Some(load) = self.load_mut(connection) else {
            return;
        };
        let new_bytes = bytes - std::mem::replace(&mut load.received_bytes, bytes);
        let probed = match load.step {
            Step::ProbeAnswered(end_byte) if end_byte <= bytes => {
                load.step = Step::Loading;
                Some(now_ns - load.probe_start_ns)
            }
            _ => None,
        };
        self.interval_bytes += new_bytes;
        probed
            .into_iter()
            .for_each(|time_ns| self.fetching_under_load.add(time_ns));
    }

    /// Bytes of a probe on a connection of its own have arrived.
    fn receive_foreign(
        &mut self,
        now_ns: u64,
        connection: u32,
        at: End,
        bytes: u64,
        outcome: &mut Outcome,
    ) {
        let Some(probe) = self.foreign.get_mut(&connection) else {
            return;
        };
        match at {
            End::Sender if bytes >= self.config.request_bytes && !probe.is_answered => {
                probe.is_answered = true;
                outcome.commands.push(Command::Write {
                    connection,
                    from: End::Sender,
                    bytes: self.config.foreign_bytes,
                });
            }
            End::Receiver if bytes >= self.config.foreign_bytes => {
                let probe = *probe;
                self.foreign.remove(&connection);
                let connected_ns = probe.connected_ns.unwrap_or(now_ns);
                self.connecting.add(connected_ns - probe.start_ns);
                self.fetching.add(now_ns - connected_ns);
                outcome
                    .transfers
                    .push(self.row(connection, probe, Some(now_ns)));
                close(connection, outcome);
            }
            _ => {}
        }
    }

    fn row(&self, connection: u32, probe: Foreign, end_ns: Option<u64>) -> Transfer {
        Transfer {
            kind: TransferKind::Request,
            connection,
            bytes: self.config.request_bytes + self.config.foreign_bytes,
            start_ns: probe.start_ns,
            end_ns,
        }
    }

    fn stop(&mut self, outcome: &mut Outcome) {
        (self.interval_end_ns, self.next_probe_ns) = (u64::MAX, u64::MAX);
        if !std::mem::replace(&mut self.is_stopped, true) {
            self.loads
                .iter()
                .for_each(|load| close(load.connection, outcome));
        }
    }
}

fn close(connection: u32, outcome: &mut Outcome) {
    let closes = [End::Receiver, End::Sender].map(|from| Command::Close { connection, from });
    outcome.commands.extend(closes);
}

impl Application for Responsiveness {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::Start => {
                self.add_load(outcome);
                self.interval_end_ns = now_ns.saturating_add(self.config.interval_ns);
            }
            Event::Timer => self.run_due(now_ns, outcome),
            Event::Stop => self.stop(outcome),
            Event::Connected { connection } => {
                if let Some(probe) = self.foreign.get_mut(&connection) {
                    probe.connected_ns = Some(now_ns);
                }
            }
            Event::Received {
                connection,
                at,
                bytes,
            } => {
                match at {
                    End::Sender => self.serve_load(connection, bytes, outcome),
                    End::Receiver => self.receive_load(now_ns, connection, bytes),
                }
                self.receive_foreign(now_ns, connection, at, bytes, outcome);
            }
            Event::Paused {
                connection, bytes, ..
            } => {
                self.answer_on_load(connection, bytes, outcome);
            }
            Event::Closed { connection } => {
                if let Some(probe) = self.foreign.remove(&connection) {
                    outcome.transfers.push(self.row(connection, probe, None));
                }
                self.loads.retain(|load| load.connection != connection);
                self.next_load = 0;
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.interval_end_ns.min(self.next_probe_ns)
    }

    fn unfinished(&self, transfers: &mut Vec<Transfer>) {
        let rows = self.foreign.iter();
        transfers.extend(rows.map(|(&connection, &probe)| self.row(connection, probe, None)));
    }

    fn measurements(&self, _now_ns: u64) -> Vec<(&'static str, i64)> {
        let mut all = vec![("load_connections", self.loads.len() as u64)];
        let times = [&self.connecting, &self.fetching, &self.fetching_under_load];
        if let [Some(connecting_us), Some(fetching_us), Some(under_load_us)] =
            times.map(RoundTrips::trimmed_mean_us)
        {
            let foreign_rpm = per_minute((connecting_us + fetching_us) / 2);
            let self_rpm = per_minute(under_load_us);
            all.extend([
                ("handshake_mean_us", connecting_us),
                ("foreign_mean_us", fetching_us),
                ("self_mean_us", under_load_us),
                ("foreign_rpm", foreign_rpm),
                ("self_rpm", self_rpm),
                ("rpm", (foreign_rpm + self_rpm) / 2),
            ]);
        }
        all.into_iter()
            .map(|(name, value)| (name, value.cast_signed()))
            .collect()
    }
}
