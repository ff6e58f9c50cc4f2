//! Wi-Fi with aggregation (A-MPDU): packets wait for a turn on the channel and go in batches.

use std::collections::VecDeque;

use dumbbell_declare::settings;

use super::{Carry, Channel, MediumSettings, MediumSite, Port};
use crate::random::Random;

const NS_PER_S: u64 = 1_000_000_000;

settings! {
    /// Wi-Fi: packets wait for a turn on the channel, which the links of one number share, and go in aggregates.
    pub struct Config {
        /// Number of the radio channel; links with the same number share its airtime.
        channel: u64 = 0, in 0..=255;
        /// Packets of an aggregate at most, and from the oldest that is not acknowledged: the Block Ack window.
        mpdus: u64 = 64, in 1..=1024;
        /// Bytes of an aggregate at most.
        ampdu_bytes: u64 = 65_535, in 1..=6_500_631;
        /// Airtime of an aggregate at most; one packet may take longer.
        txop_ns: u64 = 5_484_000, in 1..=1_000_000_000;
        /// How long the channel is idle before the backoff is counted.
        aifs_ns: u64 = 43_000, in 0..=1_000_000_000;
        /// Largest backoff before a turn.
        backoff_ns: u64 = 135_000, in 0..=1_000_000_000;
        /// Airtime that an aggregate takes in addition to its bits: preamble, SIFS and Block Ack.
        overhead_ns: u64 = 150_000, in 0..=1_000_000_000;
        /// Probability that a packet of an aggregate has to be sent again.
        error_ppb: u64 = 0, in 0..=999_999_999;
        /// How often a packet is sent before it is given up.
        tries: u64 = 7, in 1..=255;
        /// Other stations on the channel that always have something to send.
        stations: u64 = 0, in 0..=255;
        /// Airtime of each of their turns.
        station_airtime_ns: u64 = 3_000_000, in 1..=1_000_000_000;
    }
}

impl MediumSettings for Config {
    type Element = Station;

    fn build(&self, site: &MediumSite) -> Station {
        Station::new(self.clone(), site)
    }

    fn channel(&self) -> Option<(u64, Channel)> {
        let others = Channel::new(
            self.stations as usize,
            self.station_airtime_ns,
            self.aifs_ns,
            self.backoff_ns,
        );
        Some((self.channel, others))
    }
}

/// A packet that was sent and is not yet passed on.
#[derive(Clone, Copy, Debug)]
struct Mpdu {
    wire_bytes: u32,
    tries: u64,
    fate: Fate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// On the air, or to be sent again.
    Open,
    /// Received; it waits for those before it.
    Received,
    /// Given up after too many attempts.
    Lost,
}

/// A station that sends the packets of one link.
#[derive(Clone, Debug)]
pub struct Station {
    config: Config,
    link_rate_bps: u64,
    seed: u64,
    random: Random,
    /// Its place on the channel, once it has joined.
    place: Option<usize>,
    /// What was sent and is not passed on, in order: the receiver holds what is behind a gap.
    window: VecDeque<Mpdu>,
    /// Until when the aggregate is on the air, ns.
    air_until_ns: Option<u64>,
    busy_until_ns: u64,
    /// The largest packet so far, bytes: an aggregate ends when another one might not fit.
    largest_bytes: u64,
}

impl Station {
    fn new(config: Config, site: &MediumSite) -> Self {
        Self {
            config,
            link_rate_bps: site.link_rate_bps,
            seed: site.seed,
            random: Random::new(site.seed),
            place: None,
            window: VecDeque::new(),
            air_until_ns: None,
            busy_until_ns: 0,
            largest_bytes: 0,
        }
    }

    fn place(&mut self, channel: &mut Channel) -> usize {
        let seed = self.seed;
        *self.place.get_or_insert_with(|| channel.join(seed))
    }

    fn airtime_ns(&self, bytes: u64) -> u64 {
        (bytes * 8 * NS_PER_S).div_ceil(self.link_rate_bps) + self.config.overhead_ns
    }

    /// Whether an aggregate of `bytes` has room for another packet.
    fn has_room(&self, bytes: u64) -> bool {
        let larger_bytes = bytes + self.largest_bytes;
        bytes == 0
            || (larger_bytes <= self.config.ampdu_bytes
                && self.airtime_ns(larger_bytes) <= self.config.txop_ns)
    }

    /// Puts an aggregate on the air: what has to be sent again, then what waits.
    fn send(&mut self, now_ns: u64, port: &mut dyn Port) -> Option<u64> {
        let mut bytes = 0;
        // All of them were in the last aggregate, so they fit in this one.
        for mpdu in &mut self.window {
            if mpdu.fate == Fate::Open {
                bytes += u64::from(mpdu.wire_bytes);
                mpdu.tries += 1;
            }
        }
        while (self.window.len() as u64) < self.config.mpdus && self.has_room(bytes) {
            let Some(wire_bytes) = port.take() else {
                break;
            };
            self.largest_bytes = self.largest_bytes.max(u64::from(wire_bytes));
            bytes += u64::from(wire_bytes);
            self.window.push_back(Mpdu {
                wire_bytes,
                tries: 1,
                fate: Fate::Open,
            });
        }
        (bytes > 0).then(|| now_ns + self.airtime_ns(bytes))
    }

    /// The aggregate is through: what the receiver has in order is passed on.
    fn receive(&mut self, now_ns: u64, port: &mut dyn Port) {
        for mpdu in &mut self.window {
            if mpdu.fate == Fate::Open {
                if !self.random.happens(self.config.error_ppb) {
                    mpdu.fate = Fate::Received;
                } else if mpdu.tries >= self.config.tries {
                    mpdu.fate = Fate::Lost;
                }
            }
        }
        while let Some(first) = self.window.front() {
            match first.fate {
                Fate::Open => break,
                Fate::Received => port.deliver(now_ns, 0),
                Fate::Lost => port.lose(now_ns),
            }
            self.window.pop_front();
        }
    }

    fn has_to_send(&self, waiting: bool) -> bool {
        let is_open = |mpdu: &Mpdu| mpdu.fate == Fate::Open;
        self.window.iter().any(is_open)
            || (waiting && (self.window.len() as u64) < self.config.mpdus)
    }
}

impl Carry for Station {
    fn next_event_ns(
        &mut self,
        now_ns: u64,
        waiting_ns: Option<u64>,
        channel: &mut Channel,
    ) -> u64 {
        let place = self.place(channel);
        if let Some(until_ns) = self.air_until_ns {
            return until_ns;
        }
        match waiting_ns {
            // A queue that holds its packets back is asked when it wants to be.
            Some(from_ns) if from_ns > now_ns && !self.has_to_send(false) => return from_ns,
            _ if !self.has_to_send(waiting_ns.is_some()) => {
                channel.give_up(place);
                return u64::MAX;
            }
            _ => {}
        }
        channel.contend(place, now_ns, self.config.aifs_ns, self.config.backoff_ns);
        channel.next_ns(place)
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, channel: &mut Channel) {
        let place = self.place(channel);
        if let Some(until_ns) = self.air_until_ns {
            if until_ns <= now_ns {
                self.air_until_ns = None;
                self.receive(now_ns, port);
            }
            return;
        }
        if !channel.is_turn_of(place, now_ns) {
            return;
        }
        match self.send(now_ns, port) {
            Some(until_ns) => {
                channel.send(place, now_ns, until_ns);
                self.air_until_ns = Some(until_ns);
                self.busy_until_ns = until_ns;
            }
            None => channel.give_up(place),
        }
    }

    fn busy_until_ns(&self) -> u64 {
        self.busy_until_ns
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    /// 43 packets of 1514 bytes are 65,102 bytes; one more is too much.
    const AGGREGATE_PKTS: usize = 43;

    fn batches(done_ns: &[u64]) -> Vec<usize> {
        let batches = done_ns.chunk_by(|one, other| one == other);
        batches.map(<[u64]>::len).collect()
    }

    #[test]
    fn aggregates_are_as_large_as_the_first_of_their_limits_allows() {
        for (config, wire_bytes, most) in [
            (Config::default(), 1514, AGGREGATE_PKTS),
            (Config::default(), 66, 64),
            // 1 ms at 100 Mbit/s is 12,500 bytes, less 150 µs: 10,625.
            (
                Config {
                    txop_ns: 1_000_000,
                    ..Config::default()
                },
                1514,
                7,
            ),
            (
                Config {
                    mpdus: 1,
                    ..Config::default()
                },
                1514,
                1,
            ),
        ] {
            let mut bench = Bench::of(&config.into(), 100_000_000);
            bench.fill(0, 500, wire_bytes);
            let batches = batches(&bench.run(u64::MAX));
            let (last, full) = batches.split_last().expect("there are some");
            assert!(
                full.iter().all(|&pkts| pkts == most) && *last <= most,
                "{batches:?}"
            );
        }
    }

    /// A turn takes 43 µs, half of 135 µs, 150 µs and the bits of 43 packets.
    #[test]
    fn its_rate_is_that_of_the_aggregates_and_what_they_wait_for() {
        let mut bench = Bench::of(&Config::default().into(), 100_000_000);
        bench.fill(0, 43_000, 1514);
        let done_ns = bench.run(u64::MAX);
        let turn_ns = 43_000.0 + 67_500.0 + 150_000.0 + 43.0 * 1514.0 * 80.0;
        let ours = done_ns[42_999] as f64 / (1_000.0 * turn_ns);
        assert!((ours - 1.0).abs() < 1e-3, "{ours}");
    }

    #[test]
    fn what_fails_comes_again_and_what_is_behind_it_waits() {
        let config = Config {
            error_ppb: 100_000_000,
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 100_000_000);
        bench.fill(0, 20_000, 1514);
        let done_ns = bench.run(u64::MAX);
        assert_eq!(
            (done_ns.len() as u64 + bench.lost(), bench.waiting()),
            (20_000, 0)
        );
        assert!(bench.lost() <= 1, "10⁻⁷ each");
        let sizes = batches(&done_ns);
        assert!(
            sizes.iter().any(|&pkts| pkts < 10),
            "a gap holds up the rest"
        );
        // The air carries each packet 1/(1 − 0.1) times.
        let bits_ns = 20_000.0 * 1514.0 * 80.0;
        assert!(done_ns[done_ns.len() - 1] as f64 > bits_ns / 0.9);
    }

    #[test]
    fn a_packet_is_given_up_after_its_tries() {
        let config = Config {
            error_ppb: 500_000_000,
            tries: 2,
            ..Config::default()
        };
        let mut bench = Bench::of(&config.into(), 100_000_000);
        bench.fill(0, 10_000, 1514);
        let delivered = bench.run(u64::MAX).len() as u64;
        assert_eq!(delivered + bench.lost(), 10_000);
        // A quarter; four standard deviations of √1875.
        assert!((2_327..=2_673).contains(&bench.lost()), "{}", bench.lost());
    }

    /// Each of n + 1 stations has as many turns; theirs are 3 ms, ours a full aggregate.
    #[test]
    fn other_stations_take_their_share_of_the_airtime() {
        for stations in [1, 4] {
            let config = Config {
                stations,
                ..Config::default()
            };
            let mut bench = Bench::of(&config.into(), 100_000_000);
            bench.fill(0, 43_000, 1514);
            let took_ns = *bench.run(u64::MAX).last().expect("it ends") as f64;
            let ours_ns = 150_000.0 + 43.0 * 1514.0 * 80.0;
            let least_ns = 1_000.0 * (ours_ns + stations as f64 * 3e6);
            // Besides, each turn waits for 43 to 178 µs.
            let turns = 1_000.0 * (1 + stations) as f64;
            let (low, high) = (least_ns + turns * 43_000.0, least_ns + turns * 178_000.0);
            assert!(
                took_ns > 0.95 * low && took_ns < 1.05 * high,
                "{took_ns}: {low}, {high}"
            );
        }
    }
}
