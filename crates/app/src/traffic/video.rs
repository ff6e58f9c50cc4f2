//! Adaptive video: a player that asks for chunks at rates of its choice.

mod playback;
mod rules;

use dumbbell_declare::{choices, settings};

use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS, NS_PER_S, Preset};
use crate::random::Random;
use crate::{Application, Command, End, Event, Outcome, Transfer, TransferKind};
use playback::Playback;
use rules::{Outlook, choose};

choices! {
    /// How a player chooses the rate of the next chunk.
    pub enum Rule {
        /// By the buffer alone (BBA-0, Huang et al. 2014): the lowest rate below the reservoir, the
        /// highest above the cushion, in between as the buffer grows.
        bba,
        /// By the throughput alone: the highest rate below 85 % of the harmonic mean of the last five
        /// chunks' (as FESTIVE, Jiang et al. 2012).
        rate,
        /// By model-predictive control over five chunks (RobustMPC, Yin et al. 2015).
        mpc,
        /// By Lyapunov optimisation of the buffer (BOLA, Spiteri et al. 2016).
        bola,
    }
}

settings! {
    /// A video player: it asks for one chunk after the other at a rate that it chooses, and pauses where
    /// its buffer is full.
    pub struct Config {
        /// What a chunk plays.
        chunk_ns: u64 = 4 * NS_PER_S, in 1_000_000..=MAX_NS;
        /// Rates of which it chooses, the lowest first.
        ladder_bps: Vec<u64> = vec![300_000, 750_000, 1_200_000, 1_850_000, 2_850_000, 4_300_000], in 1..=1_000_000_000_000;
        /// What the buffer holds at most.
        buffer_ns: u64 = 60 * NS_PER_S, in 1_000_000..=MAX_NS;
        /// How it chooses: `bba` by the buffer, `rate` by the throughput, `mpc` by both over five chunks,
        /// `bola` by the buffer's Lyapunov function.
        rule: Rule = Rule::bba;
        /// With `bba`: up to this much in the buffer it takes the lowest rate.
        reservoir_ns: u64 = 5 * NS_PER_S, in 0..=MAX_NS;
        /// With `bba`: at this level above the reservoir it takes the highest rate.
        cushion_ns: u64 = 10 * NS_PER_S, in 1..=MAX_NS;
        /// Rate of the first chunk, by its place in the ladder from 0.
        first_rung: u64 = 0, in 0..=100;
        /// Sizes of chunks are up to this much below or above their rate.
        variation_ppb: u64 = 0, in 0..=999_999_999;
        /// Size of a request.
        request_bytes: u64 = 328, in 1..=MAX_BYTES;
        /// Chunks of the video; off: it does not end.
        chunks: Option<u64> = None, in 1..=u32::MAX.into();
    }
}

/// Rates that MPC tries in all combinations.
const MAX_MPC_RUNGS: usize = 10;

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        has_requests: true,
        ..Facts::ONE_WAY
    };

    type Application = Video;

    fn check_together(&self) -> Result<(), String> {
        if self.ladder_bps.is_empty() {
            return Err("`ladder_bps` is empty; give at least one rate".to_owned());
        }
        if let Some(pair) = self.ladder_bps.windows(2).find(|pair| pair[0] >= pair[1]) {
            return Err(format!(
                "`ladder_bps` has {} before {}; sort its rates, the lowest first, none twice",
                pair[0], pair[1]
            ));
        }
        if self.buffer_ns < self.chunk_ns {
            return Err(format!(
                "`buffer_ns` is {}; use at least a chunk, {}",
                self.buffer_ns, self.chunk_ns
            ));
        }
        if self.first_rung >= self.ladder_bps.len() as u64 {
            return Err(format!(
                "`first_rung` is {}; use less than {}, the number of rates",
                self.first_rung,
                self.ladder_bps.len()
            ));
        }
        if self.rule == Rule::mpc && self.ladder_bps.len() > MAX_MPC_RUNGS {
            // In words: numbers are shown in the unit of the first parameter that is named.
            return Err("`ladder_bps` has more rates than `mpc` takes, which are ten".to_owned());
        }
        Ok(())
    }

    fn presets() -> Vec<Preset<Self>> {
        let pensieve = Self {
            rule: Rule::mpc,
            first_rung: 1,
            variation_ppb: 200_000_000,
            chunks: Some(48),
            ..Self::default()
        };
        let bba = Self {
            buffer_ns: 240 * NS_PER_S,
            reservoir_ns: 90 * NS_PER_S,
            cushion_ns: 126 * NS_PER_S,
            ..Self::default()
        };
        vec![
            Preset {
                name: "pensieve",
                doc: "Pensieve's video: 48 chunks of 4 s in six rates, sizes ±20 %, RobustMPC (Mao et al. 2017).",
                settings: pensieve,
            },
            Preset {
                name: "bba2014",
                doc: "BBA-0 with a buffer of 240 s, a reservoir of 90 s and a cushion up to 216 s (Huang et al. 2014).",
                settings: bba,
            },
        ]
    }

    fn build(&self, seed: u64) -> Video {
        Video {
            config: self.clone(),
            random: Random::new(seed, 0),
            start_ns: 0,
            playback: Playback::new(self.chunk_ns),
            throughputs_bps: Vec::new(),
            errors_ppm: Vec::new(),
            predicted_bps: None,
            rung: self.first_rung as usize,
            chunk: None,
            next_ns: u64::MAX,
            asked_bytes: 0,
            wanted_bytes: 0,
            left: self.chunks.unwrap_or(u64::MAX),
            state: State::NotBegun,
            counts: Counts::default(),
        }
    }
}

const CONNECTION: u32 = 0;

/// A player and its server.
#[derive(Debug)]
pub struct Video {
    config: Config,
    random: Random,
    start_ns: u64,
    playback: Playback,
    /// Throughputs of the last chunks, the latest last, bit/s.
    throughputs_bps: Vec<u64>,
    /// How far predictions were off, in parts per million of what came.
    errors_ppm: Vec<u64>,
    predicted_bps: Option<u64>,
    /// Place of the latest rate in the ladder.
    rung: usize,
    /// The chunk that is under way.
    chunk: Option<Chunk>,
    /// When it asks for the next chunk, ns.
    next_ns: u64,
    /// What the connection has carried of requests and of chunks, with what is under way, bytes.
    asked_bytes: u64,
    wanted_bytes: u64,
    /// Chunks that are still to come.
    left: u64,
    state: State,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    NotBegun,
    Loading,
    /// Asks for nothing more.
    Closed,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    bytes: u64,
    start_ns: u64,
    /// Whether the server has the request.
    is_answered: bool,
}

/// What is measured of complete chunks.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    chunks: u64,
    switches: u64,
    /// Sums of rates, and of their changes, bit/s.
    rates_bps: u64,
    changes_bps: u64,
    last_bps: Option<u64>,
    startup_ns: Option<u64>,
}

impl Video {
    fn ask(&mut self, now_ns: u64, outcome: &mut Outcome) {
        self.next_ns = u64::MAX;
        self.left -= 1;
        self.choose(now_ns);
        let bytes = self.chunk_bytes();
        self.asked_bytes += self.config.request_bytes;
        self.wanted_bytes += bytes;
        self.chunk = Some(Chunk {
            bytes,
            start_ns: now_ns,
            is_answered: false,
        });
        outcome.commands.push(Command::Write {
            connection: CONNECTION,
            from: End::Receiver,
            bytes: self.config.request_bytes,
        });
    }

    /// Chooses the rate of the next chunk; the first has its own.
    fn choose(&mut self, now_ns: u64) {
        if self.throughputs_bps.is_empty() {
            return;
        }
        let outlook = Outlook {
            config: &self.config,
            buffer_ns: self.playback.buffer_ns(now_ns),
            throughputs_bps: &self.throughputs_bps,
            errors_ppm: &self.errors_ppm,
            last_rung: self.rung,
        };
        self.rung = choose(&outlook);
        self.predicted_bps = outlook.mean_bps();
    }

    /// Size of the next chunk at the rate that was chosen, bytes.
    fn chunk_bytes(&mut self) -> u64 {
        let (rate_bps, chunk_ns) = (self.config.ladder_bps[self.rung], self.config.chunk_ns);
        let all_ppb = 1_000_000_000;
        let share_ppb = all_ppb - self.config.variation_ppb
            + self.random.below(2 * self.config.variation_ppb + 1);
        let nominal_bytes = u128::from(rate_bps) * u128::from(chunk_ns) / u128::from(8 * NS_PER_S);
        let bytes = nominal_bytes * u128::from(share_ppb) / u128::from(all_ppb);
        u64::try_from(bytes).unwrap_or(u64::MAX).clamp(1, MAX_BYTES)
    }

    /// The last byte of the chunk is there.
    fn complete(&mut self, chunk: Chunk, now_ns: u64, outcome: &mut Outcome) {
        self.chunk = None;
        outcome.transfers.push(row(chunk, Some(now_ns)));
        self.count(now_ns);
        self.learn(chunk, now_ns);
        self.playback.add_chunk(now_ns);
        if self.left == 0 {
            self.close(now_ns, outcome);
        } else {
            let buffer_ns = self.playback.buffer_ns(now_ns);
            let room_ns = self.config.buffer_ns - self.config.chunk_ns;
            self.next_ns = now_ns + buffer_ns.saturating_sub(room_ns);
            self.ask_if_due(now_ns, outcome);
        }
    }

    fn count(&mut self, now_ns: u64) {
        let (counts, rate_bps) = (&mut self.counts, self.config.ladder_bps[self.rung]);
        counts.chunks += 1;
        counts.rates_bps += rate_bps;
        counts.startup_ns.get_or_insert(now_ns - self.start_ns);
        if let Some(last_bps) = counts.last_bps.replace(rate_bps) {
            counts.changes_bps += last_bps.abs_diff(rate_bps);
            counts.switches += u64::from(last_bps != rate_bps);
        }
    }

    /// Remembers the throughput, and how far it was from what was predicted.
    fn learn(&mut self, chunk: Chunk, now_ns: u64) {
        let lasted_ns = (now_ns - chunk.start_ns).max(1);
        let nbits = u128::from(chunk.bytes) * u128::from(8 * NS_PER_S);
        let throughput_bps = u64::try_from(nbits / u128::from(lasted_ns))
            .unwrap_or(u64::MAX)
            .max(1);
        push_of_five(&mut self.throughputs_bps, throughput_bps);
        if let Some(predicted_bps) = self.predicted_bps {
            let off_bps = u128::from(predicted_bps.abs_diff(throughput_bps));
            let error_ppm = off_bps * 1_000_000 / u128::from(throughput_bps);
            push_of_five(
                &mut self.errors_ppm,
                u64::try_from(error_ppm).unwrap_or(u64::MAX),
            );
        }
    }

    fn ask_if_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.next_ns <= now_ns {
            self.ask(now_ns, outcome);
        }
    }

    fn close(&mut self, now_ns: u64, outcome: &mut Outcome) {
        (self.state, self.next_ns) = (State::Closed, u64::MAX);
        self.playback.end(now_ns);
        let closes = [End::Receiver, End::Sender].map(|from| Command::Close {
            connection: CONNECTION,
            from,
        });
        outcome.commands.extend(closes);
    }
}

/// Keeps the latest five.
fn push_of_five(values: &mut Vec<u64>, value: u64) {
    if values.len() == 5 {
        values.remove(0);
    }
    values.push(value);
}

fn row(chunk: Chunk, end_ns: Option<u64>) -> Transfer {
    Transfer {
        kind: TransferKind::Chunk,
        connection: CONNECTION,
        bytes: chunk.bytes,
        start_ns: chunk.start_ns,
        end_ns,
    }
}

impl Application for Video {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::Start => {
                (self.state, self.start_ns) = (State::Loading, now_ns);
                outcome.commands.push(Command::Open {
                    connection: CONNECTION,
                    by: End::Receiver,
                });
                self.ask(now_ns, outcome);
            }
            Event::Timer => self.ask_if_due(now_ns, outcome),
            Event::Stop => {
                // The chunk that is under way is the last.
                self.left = 0;
                if self.state == State::Loading && self.chunk.is_none() {
                    self.close(now_ns, outcome);
                }
            }
            Event::Received { at, bytes, .. } => {
                let Some(chunk) = &mut self.chunk else { return };
                match at {
                    End::Sender if bytes >= self.asked_bytes && !chunk.is_answered => {
                        chunk.is_answered = true;
                        outcome.commands.push(Command::Write {
                            connection: CONNECTION,
                            from: End::Sender,
                            bytes: chunk.bytes,
                        });
                    }
                    End::Receiver if bytes >= self.wanted_bytes => {
                        let chunk = *chunk;
                        self.complete(chunk, now_ns, outcome);
                    }
                    _ => {}
                }
            }
            Event::Closed { .. } => {
                // With a chunk under way the connection failed: there will be no other.
                (self.state, self.next_ns) = (State::Closed, u64::MAX);
                let failed = self.chunk.take();
                outcome
                    .transfers
                    .extend(failed.map(|chunk| row(chunk, None)));
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.next_ns
    }

    fn unfinished(&self, transfers: &mut Vec<Transfer>) {
        transfers.extend(self.chunk.map(|chunk| row(chunk, None)));
    }

    fn measurements(&self, now_ns: u64) -> Vec<(&'static str, i64)> {
        let counts = &self.counts;
        let played = self.playback.at(now_ns);
        let mut all = vec![
            ("chunks", counts.chunks),
            ("switches", counts.switches),
            ("stalls", played.stalls),
            ("stall_us", played.stall_ns / 1000),
            ("played_us", played.played_ns / 1000),
        ];
        all.extend(counts.startup_ns.map(|ns| ("startup_us", ns / 1000)));
        all.extend(
            counts
                .rates_bps
                .checked_div(counts.chunks)
                .map(|bps| ("bitrate_mean_bps", bps)),
        );
        let mut all: Vec<_> = all
            .into_iter()
            .map(|(name, value)| (name, value.cast_signed()))
            .collect();
        // QoE_lin = Σ R − 4.3·stall − Σ |ΔR|, in Mbit/s and seconds (Mao et al. 2017), in thousandths.
        let rates_milli = (counts.rates_bps / 1000).cast_signed();
        let changes_milli = (counts.changes_bps / 1000).cast_signed();
        let stall_milli = (played.stall_ns / 1_000_000).cast_signed() * 43 / 10;
        all.push(("qoe_lin_milli", rates_milli - stall_milli - changes_milli));
        all
    }
}
