//! A constant bit rate over TCP.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use super::periodic::Periodic;
use super::{ApplicationSettings, Facts, MAX_BYTES};
use crate::delays::Delays;
use crate::{Application, Command, End, Event, Outcome, Transfer};

settings! {
    /// Writes at a constant rate on one connection; what TCP cannot send waits.
    pub struct Config {
        /// Payload rate.
        rate_bps: u64 = 0, in 1..=1_000_000_000_000;
        /// Size of a write.
        write_bytes: u64 = 1448, in 1..=MAX_BYTES;
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts::ONE_WAY;

    type Application = Cbr;

    fn build(&self, _seed: u64) -> Cbr {
        Cbr {
            write_bytes: self.write_bytes,
            writes: Periodic::at_rate(self.write_bytes, self.rate_bps),
            is_open: false,
            written_bytes: 0,
            under_way: VecDeque::new(),
            delays: Delays::default(),
        }
    }
}

const CONNECTION: u32 = 0;

/// A source of a constant rate.
#[derive(Debug)]
pub struct Cbr {
    write_bytes: u64,
    writes: Periodic,
    is_open: bool,
    written_bytes: u64,
    /// Writes that have not arrived: the connection's byte that ends each, and when it was written, ns.
    under_way: VecDeque<(u64, u64)>,
    delays: Delays,
}

impl Cbr {
    fn write_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        while self.writes.takes_due(now_ns) {
            self.written_bytes += self.write_bytes;
            self.under_way.push_back((self.written_bytes, now_ns));
            outcome.commands.push(Command::Write {
                connection: CONNECTION,
                from: End::Sender,
                bytes: self.write_bytes,
            });
        }
    }
}

impl Application for Cbr {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        let (connection, by, from) = (CONNECTION, End::Sender, End::Sender);
        match event {
            Event::Start => {
                self.is_open = true;
                outcome.commands.push(Command::Open { connection, by });
                self.writes.start(now_ns);
                self.write_due(now_ns, outcome);
            }
            Event::Timer => self.write_due(now_ns, outcome),
            Event::Stop if self.is_open => {
                self.is_open = false;
                self.writes.stop();
                outcome.commands.push(Command::Close { connection, from });
            }
            Event::Received {
                at: End::Receiver,
                bytes,
                ..
            } => {
                while let Some(&(end_byte, written_ns)) = self.under_way.front()
                    && end_byte <= bytes
                {
                    self.under_way.pop_front();
                    self.delays.record(now_ns.saturating_sub(written_ns));
                }
            }
            Event::Closed { .. } => {
                self.is_open = false;
                self.writes.stop();
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.writes.next_ns()
    }

    fn unfinished(&self, _transfers: &mut Vec<Transfer>) {}

    fn measurements(&self, _now_ns: u64) -> Vec<(&'static str, i64)> {
        let mut all = vec![("offered_bytes", self.written_bytes.cast_signed())];
        all.extend(self.delays.measurements());
        all
    }
}
