//! RFC 8033 §4.2, §4.3 and §5 with Linux's constants, with real numbers.

use std::collections::VecDeque;

use dumbbell_net::queue::pie::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::{Draws, Fate, Model, Traffic, Waiting, compare};

/// Linux's scheduling clock, s.
const TICK: f64 = 64e-9;

/// What decides of the packets of one queue.
#[derive(Clone)]
pub(crate) struct Controller {
    config: Config,
    /// Above which packets that can be marked are dropped too.
    ecn_prob: f64,
    pub(crate) probability: f64,
    accumulated: f64,
    burst_allowance: f64,
    delay: f64,
    old_delay: f64,
    last_departure: Option<f64>,
    /// Bytes << 8 per tick of 64 ns, whole as in Linux; 0: not measured yet.
    departure_rate: f64,
    /// When the measurement began, and what has left since.
    measurement: Option<(f64, f64)>,
    /// What may have come of times being cut off to 64 ns since the probability was 0 or 1.
    rounding: f64,
}

impl Controller {
    pub(crate) fn new(config: &Config, ecn_prob: f64) -> Self {
        Self {
            config: config.clone(),
            ecn_prob,
            probability: 0.0,
            accumulated: 0.0,
            burst_allowance: 0.15,
            delay: 0.0,
            old_delay: 0.0,
            last_departure: None,
            departure_rate: 0.0,
            measurement: None,
            rounding: 0.0,
        }
    }

    fn target(&self) -> f64 {
        self.config.target_ns as f64 / 1e9
    }

    /// The periodic update (§4.2), with `backlog` bytes in the queue.
    pub(crate) fn update(&mut self, backlog: f64) {
        let p = self.probability;
        if self.config.dq_rate_estimator {
            // §5.2: the backlog at the rate of departures.
            self.old_delay = self.delay;
            let ticks = (backlog * 256.0 / self.departure_rate.max(1.0)).floor();
            self.delay = if self.departure_rate > 0.0 {
                ticks * TICK
            } else {
                0.0
            };
        }
        // §4.2: auto-tuning.
        let scale = match p {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 1e-1 => 2.0,
            _ => 1.0,
        };
        let (alpha, beta) = (
            self.config.alpha as f64 / 16.0,
            self.config.beta as f64 / 16.0,
        );
        let mut step = alpha * (self.delay - self.target()) + beta * (self.delay - self.old_delay);
        step /= scale;
        if p >= 0.1 {
            step = step.min(0.02);
        }
        if self.delay > 0.25 {
            step += 0.02;
        }
        self.probability = (p + step).clamp(0.0, 1.0);
        self.rounding += 64e-9 * (alpha + beta) / scale;
        if self.probability % 1.0 == 0.0 {
            self.rounding = 0.0;
        }
        if self.delay == 0.0 && self.old_delay == 0.0 && backlog == 0.0 {
            self.probability *= 63.0 / 64.0;
        }
        let half = self.target() / 2.0;
        // Below one part in 2⁵⁶ a probability is none.
        if self.probability < 2_f64.powi(-56) {
            self.probability = 0.0;
        }
        let has_rate = !self.config.dq_rate_estimator || self.departure_rate > 0.0;
        if self.delay < half && self.old_delay < half && self.probability == 0.0 && has_rate {
            self.departure_rate = 0.0;
            self.measurement = None;
            self.burst_allowance = 0.15;
            self.accumulated = 0.0;
            self.last_departure = None;
        }
        if !self.config.dq_rate_estimator {
            self.old_delay = self.delay;
        }
    }

    /// §5.2: how long 16 KiB take to leave while as much waits. Linux's average is of whole numbers, an eighth of
    /// each cut off.
    fn measure(&mut self, now: f64, bytes: f64, backlog: f64) {
        let is_long = backlog >= 16_384.0;
        if is_long && self.measurement.is_none() {
            self.measurement = Some((now, 0.0));
        }
        let Some((since, left)) = &mut self.measurement else {
            return;
        };
        *left += bytes;
        let tick_of = |time: f64| (time / TICK + 1e-6).floor();
        let ticks = tick_of(now) - tick_of(*since);
        if *left < 16_384.0 || ticks == 0.0 {
            return;
        }
        let rate = (*left * 256.0 / ticks).floor();
        let average = self.departure_rate;
        self.departure_rate = if average == 0.0 {
            rate
        } else {
            average - (average / 8.0).floor() + (rate / 8.0).floor()
        };
        self.measurement = is_long.then_some((now, 0.0));
        self.burst_allowance = (self.burst_allowance - ticks * TICK).max(0.0);
        if self.burst_allowance < 1e-12 {
            self.burst_allowance = 0.0;
        }
    }

    fn drop_early(&mut self, backlog: f64, bytes: f64, draws: &mut Draws) -> bool {
        let is_calm = self.delay < self.target() / 2.0 && self.probability < 0.2;
        if self.burst_allowance > 0.0 || is_calm || backlog < 2.0 * 1514.0 {
            return false;
        }
        let p = if self.config.bytemode {
            self.probability * bytes / 1514.0
        } else {
            self.probability
        };
        if p == 0.0 {
            self.accumulated = 0.0;
            return false;
        }
        self.accumulated += p;
        if self.accumulated < 0.85 {
            return false;
        }
        if self.accumulated >= 8.5 {
            return true;
        }
        let drops = draws.next() < p;
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// Whether the packet that arrives may join `backlog` bytes; what becomes of it otherwise, or in addition.
    pub(crate) fn admits(
        &mut self,
        packet: Waiting,
        is_full: bool,
        backlog: f64,
        draws: &mut Draws,
        fates: &mut Vec<Fate>,
    ) -> bool {
        if !is_full && !self.drop_early(backlog, packet.bytes, draws) {
            return true;
        }
        let marks =
            self.config.ecn && packet.ecn != Ecn::NotEct && self.probability <= self.ecn_prob;
        if is_full || !marks {
            self.accumulated = 0.0;
            fates.push(Fate::Dropped(packet.number));
            return false;
        }
        if packet.ecn != Ecn::Ce {
            fates.push(Fate::Marked(packet.number));
        }
        true
    }

    /// A packet left, after which `backlog` bytes wait.
    pub(crate) fn left(&mut self, now: f64, packet: Waiting, backlog: f64) {
        if self.config.dq_rate_estimator {
            self.measure(now, packet.bytes, backlog);
            return;
        }
        self.delay = if backlog == 0.0 {
            0.0
        } else {
            now - packet.since
        };
        let since = self.last_departure.map_or(0.0, |last| now - last);
        self.last_departure = Some(now);
        self.burst_allowance -= since;
        if self.burst_allowance < 1e-12 {
            self.burst_allowance = 0.0;
        }
    }
}

/// When the probabilities are updated.
pub(crate) struct Clock {
    next: f64,
    every: f64,
}

impl Clock {
    pub(crate) fn new(tupdate_ns: u64) -> Self {
        Self {
            next: 0.0,
            every: tupdate_ns as f64 / 1e9,
        }
    }

    /// Whether an update is due that was not yet done.
    pub(crate) fn is_due(&mut self, now: f64) -> bool {
        let is_due = self.next <= now + 1e-12;
        if is_due {
            self.next += self.every;
        }
        is_due
    }
}

struct Pie {
    limit: usize,
    queue: VecDeque<Waiting>,
    draws: Draws,
    clock: Clock,
    controller: Controller,
}

impl Pie {
    fn backlog(&self) -> f64 {
        self.queue.iter().map(|packet| packet.bytes).sum()
    }

    fn update(&mut self, now: f64) {
        while self.clock.is_due(now) {
            self.controller.update(self.backlog());
        }
    }
}

impl Model for Pie {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        self.update(now);
        let mut fates = Vec::new();
        let is_full = self.queue.len() >= self.limit;
        let (backlog, draws) = (self.backlog(), &mut self.draws);
        if self
            .controller
            .admits(packet, is_full, backlog, draws, &mut fates)
        {
            self.queue.push_back(packet);
        }
        fates
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        self.update(now);
        let Some(packet) = self.queue.pop_front() else {
            return Vec::new();
        };
        self.controller.left(now, packet, self.backlog());
        vec![Fate::Sent(packet.number)]
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        // Linux's weights are cut off to whole numbers, at small probabilities by less than 10⁻⁵ of them.
        let ppb = self.controller.probability * 1e9;
        let tolerance = 2.0 + 1e9 * self.controller.rounding + 1e-5 * ppb;
        vec![
            ("prob_ppb", ppb, tolerance),
            ("delay_ns", self.controller.delay * 1e9, 10.0),
            (
                "avg_dq_rate_bps",
                self.controller.departure_rate / 256.0 * 8.0 / TICK,
                10.0,
            ),
        ]
    }
}

#[test]
fn pie_is_what_its_rfc_and_linux_say() {
    for (seed, ecn, bytemode, dq_rate_estimator) in [
        (1, false, false, false),
        (2, true, false, false),
        (3, true, true, false),
        (4, false, false, true),
        (5, true, true, true),
    ] {
        let config = Config {
            ecn,
            bytemode,
            dq_rate_estimator,
            limit_pkts: 300,
            ..Config::default()
        };
        let mut model = Pie {
            limit: 300,
            queue: VecDeque::new(),
            draws: Draws::new(seed),
            clock: Clock::new(config.tupdate_ns),
            controller: Controller::new(&config, 0.1),
        };
        let traffic = Traffic::new(1, &[Ecn::Ect0, Ecn::NotEct]);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), ecn);
    }
}
