//! Transfers that begin one after the other, each on a new connection.

use std::collections::BTreeMap;

use super::{MAX_BYTES, MAX_NS};
use crate::distribution::Sampler;
use crate::random::Random;
use crate::{Application, Command, Distribution, End, Event, Outcome, Transfer, TransferKind};

/// What the settings of arrivals have in common.
pub(super) struct ArrivalsConfig<'a> {
    /// Times between arrivals.
    pub(super) gap_ns: Distribution,
    /// Whether the first arrives at once, and not after a gap.
    pub(super) begins_at_once: bool,
    /// Sizes of the transfers.
    pub(super) size_bytes: &'a Distribution,
    /// Consecutive sizes, drawn from this number of strata.
    pub(super) strata: u64,
    /// How many transfers.
    pub(super) count: Option<u64>,
}

/// Opens a connection at each arrival, writes the transfer's bytes, and closes it. What is under way
/// at once has no limit.
#[derive(Debug)]
pub struct Arrivals {
    gaps: Sampler,
    sizes: Sampler,
    begins_at_once: bool,
    /// Transfers that are still to come.
    left: u64,
    /// When the next arrives, ns; `u64::MAX`: none does.
    next_ns: u64,
    next_connection: u32,
    /// Those that have begun and not ended, by connection.
    under_way: BTreeMap<u32, UnderWay>,
    opened_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    bytes: u64,
    start_ns: u64,
}

impl UnderWay {
    fn row(self, connection: u32, end_ns: Option<u64>) -> Transfer {
        Transfer {
            kind: TransferKind::Flow,
            connection,
            bytes: self.bytes,
            start_ns: self.start_ns,
            end_ns,
        }
    }
}

impl Arrivals {
    pub(super) fn new(config: &ArrivalsConfig<'_>, seed: u64) -> Self {
        let sizes = Random::new(seed, 1);
        Self {
            gaps: Sampler::new(&config.gap_ns, Random::new(seed, 0), 0..=MAX_NS),
            sizes: Sampler::stratified(config.size_bytes, sizes, 1..=MAX_BYTES, config.strata),
            begins_at_once: config.begins_at_once,
            left: config.count.unwrap_or(u64::MAX),
            next_ns: u64::MAX,
            next_connection: 0,
            under_way: BTreeMap::new(),
            opened_bytes: 0,
        }
    }

    fn begin(&mut self, now_ns: u64, outcome: &mut Outcome) {
        let connection = self.next_connection;
        self.next_connection += 1;
        let bytes = self.sizes.draw();
        self.opened_bytes = self.opened_bytes.saturating_add(bytes);
        let start_ns = now_ns;
        self.under_way
            .insert(connection, UnderWay { bytes, start_ns });
        let (by, from) = (End::Sender, End::Sender);
        outcome.commands.extend([
            Command::Open { connection, by },
            Command::Write {
                connection,
                from,
                bytes,
            },
            Command::Close { connection, from },
        ]);
    }

    /// Begins what has arrived until `now_ns`. Arrivals are counted from each other, not from when the
    /// timer fired: a late timer delays only its own.
    fn begin_arrived(&mut self, now_ns: u64, outcome: &mut Outcome) {
        while self.next_ns <= now_ns {
            self.begin(now_ns, outcome);
            self.left -= 1;
            self.next_ns = match self.left {
                0 => u64::MAX,
                _ => self.next_ns.saturating_add(self.gaps.draw()),
            };
        }
    }
}

impl Application for Arrivals {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::Start => {
                let wait_ns = if self.begins_at_once {
                    0
                } else {
                    self.gaps.draw()
                };
                self.next_ns = now_ns.saturating_add(wait_ns);
                self.begin_arrived(now_ns, outcome);
            }
            Event::Timer => self.begin_arrived(now_ns, outcome),
            Event::Stop => self.next_ns = u64::MAX,
            Event::Acknowledged {
                connection,
                from: End::Sender,
                bytes,
            } => {
                if self
                    .under_way
                    .get(&connection)
                    .is_some_and(|transfer| bytes >= transfer.bytes)
                    && let Some(transfer) = self.under_way.remove(&connection)
                {
                    outcome
                        .transfers
                        .push(transfer.row(connection, Some(now_ns)));
                }
            }
            Event::Closed { connection } => {
                // Before its last byte was acknowledged: it failed.
                if let Some(transfer) = self.under_way.remove(&connection) {
                    outcome.transfers.push(transfer.row(connection, None));
                }
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.next_ns
    }

    fn unfinished(&self, transfers: &mut Vec<Transfer>) {
        let rows = self.under_way.iter();
        transfers.extend(rows.map(|(&connection, transfer)| transfer.row(connection, None)));
    }

    fn measurements(&self, _now_ns: u64) -> Vec<(&'static str, i64)> {
        vec![
            ("offered_transfers", i64::from(self.next_connection)),
            ("offered_bytes", self.opened_bytes.cast_signed()),
        ]
    }
}
