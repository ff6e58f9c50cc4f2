//! Linux's `fq` without senders' time stamps: bands in turn by weight, flows in turn in each, and no flow above
//! its rate.

use std::collections::VecDeque;

use dumbbell_net::queue::fq::Config;
use dumbbell_net::{Ecn, QueueConfig};

use crate::recomputed::harness::{Labels, nanoseconds};
use crate::recomputed::{Fate, Model, Traffic, Waiting, compare};

const FLOWS: u32 = 15;
/// DSCPs and their bands: default, CS1 (default, for its three upper bits are not asked), TOS's "low delay" as of
/// AF22, "high throughput" as of AF11, and both as EF has them.
const DSCPS: [(u8, usize); 5] = [(0, 1), (8, 1), (20, 0), (10, 2), (46, 1)];

struct Flow {
    band: usize,
    credit: i64,
    queue: VecDeque<Waiting>,
    /// When it may send again.
    next: i64,
    place: Place,
    /// When it was last on no list.
    idle_since: i64,
}

#[derive(PartialEq)]
enum Place {
    Nowhere,
    Listed,
    /// Since the number of times that flows had to wait.
    Throttled(u64),
}

#[derive(Default)]
struct Band {
    weight: i64,
    credit: i64,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
}

struct Fq {
    config: Config,
    flows: Vec<Flow>,
    bands: Vec<Band>,
    band: usize,
    throttlings: u64,
    marks: f64,
}

impl Fq {
    fn new(config: &Config) -> Self {
        let flow = |number: u32| Flow {
            band: DSCPS[number as usize % 5].1,
            credit: config.initial_quantum_bytes as i64,
            queue: VecDeque::new(),
            next: 0,
            place: Place::Nowhere,
            idle_since: i64::MAX / 2,
        };
        let band = |&weight: &u64| Band {
            weight: weight as i64,
            ..Band::default()
        };
        Self {
            config: config.clone(),
            flows: (0..FLOWS).map(flow).collect(),
            bands: config.weights.iter().map(band).collect(),
            band: 0,
            throttlings: 0,
            marks: 0.0,
        }
    }

    fn waiting_in(&self, band: usize) -> usize {
        let flows = self.flows.iter().filter(|flow| flow.band == band);
        flows.map(|flow| flow.queue.len()).sum()
    }

    /// Flows whose time has come are the last of their bands' old ones.
    fn release(&mut self, now: i64) {
        let mut due: Vec<_> = (0..self.flows.len())
            .filter_map(|number| match self.flows[number].place {
                Place::Throttled(order) if self.flows[number].next <= now => {
                    Some((self.flows[number].next, order, number))
                }
                _ => None,
            })
            .collect();
        due.sort_unstable();
        for (_, _, number) in due {
            let flow = &mut self.flows[number];
            flow.place = Place::Listed;
            self.bands[flow.band].old.push_back(number);
        }
    }

    /// Goes to a band that has credit and flows; `None` when every band in turn has credit and no flows.
    fn choose_band(&mut self) -> Option<()> {
        let mut in_vain = 0;
        loop {
            let band = &self.bands[self.band];
            if band.credit > 0 && band.new.len() + band.old.len() > 0 {
                return Some(());
            }
            in_vain += 1;
            while in_vain <= self.bands.len() {
                self.band = (self.band + 1) % self.bands.len();
                let band = &mut self.bands[self.band];
                band.credit = band.weight.min(band.credit + band.weight);
                if band.credit > 0 {
                    break;
                }
                in_vain = 1;
            }
            if in_vain > self.bands.len() {
                return None;
            }
        }
    }

    /// How long the flow has to wait after it sent `bytes`.
    fn pace(&mut self, number: usize, bytes: i64, now: i64) {
        let Some(rate) = self.config.maxrate_bps else {
            return;
        };
        let flow = &mut self.flows[number];
        let mut charged = bytes;
        if rate <= self.config.low_rate_threshold_bps {
            flow.credit = 0;
        } else {
            if flow.credit > 0 {
                return;
            }
            charged = bytes.max(self.config.quantum_bytes as i64);
        }
        let mut wait = (charged * 8 * 1_000_000_000 / rate as i64).min(1_000_000_000);
        if flow.next != 0 {
            wait -= (wait / 2).min(now - flow.next);
        }
        flow.next = now + wait;
    }
}

impl Model for Fq {
    fn arrives(&mut self, now: f64, packet: Waiting) -> Vec<Fate> {
        let number = packet.flow as usize;
        let band = self.flows[number].band;
        let is_full = self.waiting_in(band) >= self.config.limit_pkts as usize;
        let flow = &mut self.flows[number];
        if is_full || flow.queue.len() >= self.config.flow_limit_pkts as usize {
            return vec![Fate::Dropped(packet.number)];
        }
        if flow.place == Place::Nowhere {
            if nanoseconds(now) > flow.idle_since + self.config.refill_delay_ns as i64 {
                flow.credit = flow.credit.max(self.config.quantum_bytes as i64);
            }
            flow.place = Place::Listed;
            self.bands[band].new.push_back(number);
        }
        flow.queue.push_back(packet);
        Vec::new()
    }

    fn leaves(&mut self, now: f64) -> Vec<Fate> {
        let now = nanoseconds(now);
        if self.flows.iter().all(|flow| flow.queue.is_empty()) {
            return Vec::new();
        }
        self.release(now);
        while self.choose_band().is_some() {
            let band = &mut self.bands[self.band];
            let is_new = !band.new.is_empty();
            let list = if is_new { &mut band.new } else { &mut band.old };
            let number = list[0];
            let flow = &mut self.flows[number];
            if flow.credit <= 0 {
                flow.credit += self.config.quantum_bytes as i64;
                list.pop_front();
                band.old.push_back(number);
                continue;
            }
            let Some(&packet) = flow.queue.front() else {
                list.pop_front();
                if is_new {
                    band.old.push_back(number);
                } else {
                    flow.place = Place::Nowhere;
                    flow.idle_since = now;
                }
                continue;
            };
            let due = packet.since_ns().max(flow.next);
            if due > now {
                list.pop_front();
                self.throttlings += 1;
                flow.next = due;
                flow.place = Place::Throttled(self.throttlings);
                continue;
            }
            flow.queue.pop_front();
            flow.credit -= packet.len();
            band.credit -= packet.len();
            let mut fates = Vec::new();
            if let Some(most) = self.config.ce_threshold_ns
                && now - due > most as i64
                && packet.ecn != Ecn::NotEct
            {
                self.marks += 1.0;
                if packet.ecn != Ecn::Ce {
                    fates.push(Fate::Marked(packet.number));
                }
            }
            fates.push(Fate::Sent(packet.number));
            self.pace(number, packet.len(), now);
            return fates;
        }
        Vec::new()
    }

    fn state(&self) -> Vec<(&'static str, f64, f64)> {
        let throttled = |flow: &&Flow| matches!(flow.place, Place::Throttled(_));
        let throttled = self.flows.iter().filter(throttled).count();
        vec![
            ("throttled_flows", throttled as f64, 0.0),
            ("throttled", self.throttlings as f64, 0.0),
            ("band0_pkts", self.waiting_in(0) as f64, 0.0),
            ("band2_pkts", self.waiting_in(2) as f64, 0.0),
        ]
    }
}

#[test]
fn fq_is_what_linux_does() {
    let defaults = || Config {
        limit_pkts: 150,
        flow_limit_pkts: 60,
        ..Config::default()
    };
    for (seed, config) in (1..).zip([
        defaults(),
        Config {
            ce_threshold_ns: Some(10_000_000),
            maxrate_bps: Some(2_000_000),
            ..defaults()
        },
        Config {
            maxrate_bps: Some(400_000),
            ..defaults()
        },
        Config {
            quantum_bytes: 1514,
            initial_quantum_bytes: 3000,
            refill_delay_ns: 5_000_000,
            weights: vec![30_000, 20_000, 16_384],
            maxrate_bps: Some(6_000_000),
            ..defaults()
        },
    ]) {
        let marks = config.ce_threshold_ns.is_some();
        let traffic = Traffic {
            labels: |flow| Labels {
                dscp: DSCPS[flow as usize % 5].0,
                ..Labels::default()
            },
            ..Traffic::new(FLOWS, &[Ecn::Ect0, Ecn::NotEct, Ecn::Ce])
        };
        let mut model = Fq::new(&config);
        let counts = compare(&QueueConfig::from(config), seed, &traffic, &mut model);
        assert!(counts["dropped"] > 200, "{counts:?}");
        assert_eq!(counts.contains_key("marked"), marks);
    }
}
