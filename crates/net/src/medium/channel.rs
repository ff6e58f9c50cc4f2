//! A radio channel: one station at a time sends, and who is next is drawn.
//!
//! Each station that has something to send waits until the channel has been idle for a fixed time and
//! a random backoff more; what it has counted down of its backoff stays counted while another sends
//! (IEEE 802.11-2020 §10.23.2, EDCA). Collisions are left out: of equal backoffs the first goes first.

use crate::random::Random;

/// A station of the network that has something to send.
#[derive(Clone, Copy, Debug)]
struct Contender {
    /// What is left of its backoff, ns.
    backoff_ns: u64,
    /// How long it waits before it counts, ns.
    aifs_ns: u64,
    /// Since when it contends, ns.
    since_ns: u64,
}

/// A channel and who contends for it.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Since or from when nothing is sent, ns.
    free_ns: u64,
    /// Stations of the network, by their place; `None`: has nothing to send.
    contenders: Vec<Option<Contender>>,
    /// Other stations, which always have something to send.
    others: Vec<Contender>,
    other_airtime_ns: u64,
    aifs_ns: u64,
    backoff_ns: u64,
    random: Random,
}

impl Default for Channel {
    fn default() -> Self {
        Self::new(0, 0, 0, 0)
    }
}

impl Channel {
    /// An idle channel with `others` other stations, each of which sends for `other_airtime_ns` when it is
    /// its turn, and waits `aifs_ns` and up to `backoff_ns` for it.
    pub fn new(others: usize, other_airtime_ns: u64, aifs_ns: u64, backoff_ns: u64) -> Self {
        let other = Contender {
            backoff_ns: 0,
            aifs_ns,
            since_ns: 0,
        };
        Self {
            free_ns: 0,
            contenders: Vec::new(),
            others: vec![other; others],
            other_airtime_ns,
            aifs_ns,
            backoff_ns,
            random: Random::new(0),
        }
    }

    /// Another member of the network; its place. The seeds of all decide who is next.
    pub(crate) fn join(&mut self, seed: u64) -> usize {
        let mixed = self.random.bits() ^ seed;
        self.random = Random::new(mixed);
        for other in &mut self.others {
            other.backoff_ns = self.random.between(0, self.backoff_ns);
        }
        self.contenders.push(None);
        self.contenders.len() - 1
    }

    /// The other stations of a member's settings: the channel has the most that any has said.
    pub fn widen(&mut self, other: &Self) {
        if other.others.len() > self.others.len() {
            self.others.clone_from(&other.others);
            self.other_airtime_ns = other.other_airtime_ns;
            (self.aifs_ns, self.backoff_ns) = (other.aifs_ns, other.backoff_ns);
        }
    }

    /// Member `place` has something to send at `now_ns`: it contends, if it does not yet.
    pub(crate) fn contend(&mut self, place: usize, now_ns: u64, aifs_ns: u64, backoff_ns: u64) {
        if self.contenders[place].is_none() {
            self.others_send_until(now_ns);
            let backoff_ns = self.random.between(0, backoff_ns);
            self.contenders[place] = Some(Contender {
                backoff_ns,
                aifs_ns,
                since_ns: now_ns,
            });
        }
    }

    /// Member `place` has nothing to send any more.
    pub(crate) fn give_up(&mut self, place: usize) {
        self.contenders[place] = None;
    }

    /// When it may be the turn of member `place` or another station has its turn before, ns;
    /// `u64::MAX`: the member does not contend.
    pub(crate) fn next_ns(&self, place: usize) -> u64 {
        let Some(contender) = &self.contenders[place] else {
            return u64::MAX;
        };
        let own_ns = self.turn_ns(contender);
        self.next_other()
            .map_or(own_ns, |(at_ns, _)| own_ns.min(at_ns))
    }

    /// Whether it is the turn of member `place` at `now_ns`; other stations have theirs first.
    pub(crate) fn is_turn_of(&mut self, place: usize, now_ns: u64) -> bool {
        loop {
            let own = self.contenders[place].as_ref();
            let own_ns = own.map_or(u64::MAX, |contender| self.turn_ns(contender));
            match self.next_other() {
                Some((at_ns, other)) if at_ns <= now_ns && at_ns < own_ns => {
                    self.other_sends(at_ns, other);
                }
                _ => return own_ns <= now_ns,
            }
        }
    }

    /// Member `place` sends from `now_ns` to `until_ns`; then it has to contend again.
    pub(crate) fn send(&mut self, place: usize, now_ns: u64, until_ns: u64) {
        self.contenders[place] = None;
        self.occupy(now_ns, until_ns);
    }

    fn other_sends(&mut self, at_ns: u64, other: usize) {
        self.others[other].backoff_ns = 0;
        self.occupy(at_ns, at_ns + self.other_airtime_ns);
        self.others[other].backoff_ns = self.random.between(0, self.backoff_ns);
    }

    /// What the others sent while no station of the network wanted to.
    fn others_send_until(&mut self, now_ns: u64) {
        if !self.contenders.iter().all(Option::is_none) {
            return;
        }
        // After a long time it does not matter when exactly each sent.
        let turn_ns = self.other_airtime_ns + self.aifs_ns + self.backoff_ns;
        let long_ns = 1_000 * turn_ns.max(1);
        if now_ns.saturating_sub(self.free_ns) > long_ns {
            self.free_ns = now_ns - self.random.between(long_ns / 2, long_ns);
        }
        while let Some((at_ns, other)) = self.next_other() {
            if at_ns > now_ns {
                break;
            }
            self.other_sends(at_ns, other);
        }
    }

    /// The channel is taken; what the contenders have counted down stays counted.
    fn occupy(&mut self, now_ns: u64, until_ns: u64) {
        let free_ns = self.free_ns;
        for contender in self.contenders.iter_mut().flatten().chain(&mut self.others) {
            let counting_ns = free_ns.max(contender.since_ns) + contender.aifs_ns;
            let counted_ns = now_ns.saturating_sub(counting_ns);
            contender.backoff_ns = contender.backoff_ns.saturating_sub(counted_ns);
        }
        self.free_ns = until_ns;
    }

    /// When it is a contender's turn if no station sends before, ns.
    fn turn_ns(&self, contender: &Contender) -> u64 {
        self.free_ns.max(contender.since_ns) + contender.aifs_ns + contender.backoff_ns
    }

    /// The other station that sends next, and when, ns.
    fn next_other(&self) -> Option<(u64, usize)> {
        let others = self.others.iter().enumerate();
        let turns = others.map(|(other, each)| (self.turn_ns(each), other));
        turns.min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    /// Who of the members sends when, each for 1 ms, until 2 s.
    fn turns(channel: &mut Channel, members: usize) -> Vec<(u64, usize)> {
        let mut turns = Vec::new();
        let mut now_ns = 0;
        for place in 0..members {
            assert_eq!(channel.join(place as u64), place);
        }
        while now_ns < 2_000_000_000 {
            for place in 0..members {
                channel.contend(place, now_ns, 43 * US, 135 * US);
            }
            let at_ns = (0..members).map(|place| channel.next_ns(place)).min();
            let at_ns = at_ns.expect("there are members");
            now_ns = at_ns;
            for place in 0..members {
                if channel.is_turn_of(place, at_ns) {
                    turns.push((at_ns, place));
                    now_ns = at_ns + 1_000 * US;
                    channel.send(place, at_ns, now_ns);
                    break;
                }
            }
        }
        turns
    }

    #[test]
    fn one_station_waits_for_its_fixed_time_and_half_the_backoff_on_average() {
        let turns = turns(&mut Channel::default(), 1);
        let mean_us = 2_000_000.0 / turns.len() as f64;
        // 1000 + 43 + 135 / 2; the mean of 1800 uniform draws has a standard deviation of 0.9 µs.
        assert!((mean_us - 1110.5).abs() < 4.0, "{mean_us}");
        let gaps = turns.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let (least, most) = (gaps.clone().min(), gaps.max());
        assert!(least >= Some(1_043 * US) && most <= Some(1_178 * US + 1));
    }

    #[test]
    fn stations_have_as_many_turns_each_and_never_at_once() {
        for others in [0, 1, 3] {
            let mut channel = Channel::new(others, 1_000 * US, 43 * US, 135 * US);
            let turns = turns(&mut channel, 2);
            assert!(
                turns
                    .windows(2)
                    .all(|pair| pair[1].0 >= pair[0].0 + 1_043 * US)
            );
            let of_first = turns.iter().filter(|(_, place)| *place == 0).count() as f64;
            let share = of_first / turns.len() as f64;
            assert!((share - 0.5).abs() < 0.03, "{share}");
            // Both of n + 2 stations that share the time alike.
            let airtime = turns.len() as f64 * 0.001 / 2.0;
            let fair = 2.0 / (2.0 + others as f64);
            assert!(airtime < fair && airtime > 0.9 * fair, "{airtime}, {fair}");
        }
    }
}
