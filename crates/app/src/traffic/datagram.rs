//! Datagrams at a constant rate, whether or not they arrive.

use dumbbell_declare::{choices, settings};
use dumbbell_net::Ecn;

use super::periodic::Periodic;
use super::{ApplicationSettings, Facts, MAX_NS, Preset};
use crate::delays::Delays;
use crate::voice_quality::{Codec, mos_milli};
use crate::{Application, Command, Event, Outcome, Transfer};

choices! {
    /// The ECN codepoint of datagrams (RFC 3168 §5): whether a queue may mark them, and which queue of a
    /// dual-queue discipline they wait in (RFC 9331 §5.1).
    pub enum Codepoint {
        /// Not ECN-capable: congestion can only drop them.
        not_ect,
        /// ECT(0), as of classic traffic.
        ect0,
        /// ECT(1), as of L4S traffic.
        ect1,
    }
}

impl From<Codepoint> for Ecn {
    fn from(codepoint: Codepoint) -> Self {
        match codepoint {
            Codepoint::not_ect => Self::NotEct,
            Codepoint::ect0 => Self::Ect0,
            Codepoint::ect1 => Self::Ect1,
        }
    }
}

settings! {
    /// Datagrams at a constant rate that responds to nothing: voice, a call, a flood.
    pub struct Config {
        /// Payload of a datagram.
        size_bytes: u64 = 160, in 1..=65_507;
        /// Datagrams that are sent together.
        burst: u64 = 1, in 1..=100_000;
        /// Time between bursts; off: as `rate` says.
        interval_ns: Option<u64> = None, in 1..=MAX_NS;
        /// Payload rate; off: as `interval` says.
        rate_bps: Option<u64> = None, in 1..=1_000_000_000_000;
        /// Later than this after it was sent a datagram is of no use.
        deadline_ns: u64 = 150_000_000, in 1..=MAX_NS;
        /// Voice codec, for a rating of the call: `none`, `g711` or `g729a`.
        codec: Codec = Codec::none;
        /// ECN codepoint: `not_ect`, `ect0` or `ect1`. Marks are counted; the source does not respond to them.
        ecn: Codepoint = Codepoint::not_ect;
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        sends_datagrams: true,
        ..Facts::ONE_WAY
    };

    type Application = Datagrams;

    fn check_together(&self) -> Result<(), String> {
        match (self.interval_ns, self.rate_bps) {
            (None, None) => Err("set `rate_bps` or `interval_ns`".to_owned()),
            (Some(_), Some(_)) => {
                Err("`rate_bps` and `interval_ns` are both set; set one of them".to_owned())
            }
            _ => Ok(()),
        }
    }

    fn presets() -> Vec<Preset<Self>> {
        vec![
            Preset {
                name: "voip",
                doc: "A voice call of G.711: 160 bytes every 20 ms.",
                settings: Self {
                    interval_ns: Some(20_000_000),
                    codec: Codec::g711,
                    ..Self::default()
                },
            },
            Preset {
                name: "hd_call",
                doc: "A video call: 8 datagrams of 900 bytes every 50 ms, 1.15 Mbit/s.",
                settings: Self {
                    size_bytes: 900,
                    burst: 8,
                    interval_ns: Some(50_000_000),
                    ..Self::default()
                },
            },
        ]
    }

    fn build(&self, _seed: u64) -> Datagrams {
        let bursts = match self.rate_bps {
            Some(rate_bps) => Periodic::at_rate(self.size_bytes * self.burst, rate_bps),
            None => Periodic::every(self.interval_ns.unwrap_or(MAX_NS)),
        };
        Datagrams {
            size_bytes: self.size_bytes as u32,
            burst: self.burst,
            deadline_ns: self.deadline_ns,
            codec: self.codec,
            ecn: self.ecn.into(),
            bursts,
            sent: 0,
            received: 0,
            first_not_expected: 0,
            arrived: [0; WORDS as usize],
            late: 0,
            delays: Delays::default(),
        }
    }
}

/// A source of datagrams and where they arrive.
#[derive(Debug)]
pub struct Datagrams {
    size_bytes: u32,
    burst: u64,
    deadline_ns: u64,
    codec: Codec,
    ecn: Ecn,
    bursts: Periodic,
    sent: u64,
    received: u64,
    /// Above the numbers of all that arrived.
    first_not_expected: u64,
    /// A bit for each of the latest numbers: whether it arrived.
    arrived: [u64; WORDS as usize],
    late: u64,
    delays: Delays,
}

/// Words of a bit for each of the latest datagrams: a path that duplicates may deliver this many between one and
/// its copy.
const WORDS: u64 = 64;

impl Datagrams {
    /// Whether a datagram arrives for the first time, as far as is remembered.
    fn is_first(&mut self, number: u64) -> bool {
        let place = |number: u64| ((number / 64 % WORDS) as usize, 1_u64 << (number % 64));
        let latest = WORDS * 64;
        for skipped in self
            .first_not_expected
            .max((number + 1).saturating_sub(latest))..=number
        {
            let (word, bit) = place(skipped);
            self.arrived[word] &= !bit;
        }
        self.first_not_expected = self.first_not_expected.max(number + 1);
        if number + latest < self.first_not_expected {
            return true;
        }
        let (word, bit) = place(number);
        let is_first = self.arrived[word] & bit == 0;
        self.arrived[word] |= bit;
        is_first
    }

    fn send_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        while self.bursts.takes_due(now_ns) {
            let (bytes, ecn) = (self.size_bytes, self.ecn);
            let numbers = self.sent..self.sent + self.burst;
            self.sent = numbers.end;
            let datagrams = numbers.map(|number| Command::Datagram { number, bytes, ecn });
            outcome.commands.extend(datagrams);
        }
    }

    /// What was sent before one that arrived, and did not arrive.
    fn lost(&self) -> u64 {
        self.first_not_expected.saturating_sub(self.received)
    }

    /// The rating of the call: packets play once all but 1 % are there, or at the deadline.
    fn ratings(&self) -> Vec<(&'static str, i64)> {
        let Some(of_no_use_ppm) =
            ((self.lost() + self.late) * 1_000_000).checked_div(self.received + self.lost())
        else {
            return Vec::new();
        };
        let network_us = self.delays.quantile_us(0.99).min(self.deadline_ns / 1000);
        let mouth_to_ear_us = network_us + self.bursts.period_ns() / 1000;
        let r_milli = self.codec.r_milli(mouth_to_ear_us, of_no_use_ppm);
        r_milli.map_or(Vec::new(), |r_milli| {
            vec![("r_milli", r_milli), ("mos_milli", mos_milli(r_milli))]
        })
    }
}

impl Application for Datagrams {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::Start => {
                self.bursts.start(now_ns);
                self.send_due(now_ns, outcome);
            }
            Event::Timer => self.send_due(now_ns, outcome),
            Event::Stop => self.bursts.stop(),
            Event::Datagram {
                number, sent_ns, ..
            } => {
                if !self.is_first(number) {
                    return;
                }
                let delay_ns = now_ns.saturating_sub(sent_ns);
                self.received += 1;
                self.late += u64::from(delay_ns > self.deadline_ns);
                self.delays.record(delay_ns);
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.bursts.next_ns()
    }

    fn unfinished(&self, _transfers: &mut Vec<Transfer>) {}

    fn measurements(&self, _now_ns: u64) -> Vec<(&'static str, i64)> {
        let counts = [
            ("sent_datagrams", self.sent),
            ("received_datagrams", self.received),
            ("lost_datagrams", self.lost()),
            ("late_datagrams", self.late),
        ];
        let mut all = counts
            .map(|(name, count)| (name, count.cast_signed()))
            .to_vec();
        all.extend(self.delays.measurements());
        all.extend(self.ratings());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_datagram_is_not_another_one() {
        let mut datagrams = Config {
            size_bytes: 200,
            ..Config::default()
        }
        .build(1);
        let mut outcome = Outcome::default();
        // Of 5,000 every tenth is lost and every third of the others comes twice, the copy four behind it.
        let arrives = |number: &u64| number % 10 != 9;
        for number in 0..5_000_u64 {
            let copied = number.checked_sub(4).filter(|number| number % 3 == 0);
            let numbers = [Some(number), copied];
            for number in numbers.into_iter().flatten().filter(arrives) {
                let event = Event::Datagram {
                    number,
                    sent_ns: 0,
                    bytes: 200,
                };
                datagrams.on_event(1, event, &mut outcome);
            }
        }
        assert_eq!((datagrams.received, datagrams.lost()), (4_500, 499));
    }
}
