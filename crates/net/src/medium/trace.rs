//! A delivery trace, as mahimahi's `mm-link` plays it: at given milliseconds one packet's bytes may pass.

use std::sync::Arc;

use dumbbell_declare::settings;

use super::{
    Account, Carry, Channel, MediumSettings, MediumSite, Opportunities, Opportunity,
    OpportunitySource, Port,
};
use crate::ETHERNET_HEADER_BYTES;
const NS_PER_MS: u64 = 1_000_000;

settings! {
    /// A delivery trace in mahimahi's format: at each of its times some bytes may pass, and unused ones are lost.
    pub struct Config {
        /// The times: pairs of the milliseconds since the last one and how many opportunities there are then.
        opportunities: Vec<(u64, u64)> = Vec::new();
        /// What an opportunity carries, of IP packets: Ethernet's header does not count.
        opportunity_bytes: u64 = 1504, in 1..=1_000_000;
        /// Whether nothing passes after the end, instead of the same again.
        once: bool = false;
    }
}

impl Config {
    /// How long the trace is, ms: its last time.
    fn length_ms(&self) -> u64 {
        let gaps_ms = self.opportunities.iter().map(|&(gap_ms, _)| gap_ms);
        gaps_ms.fold(0, u64::saturating_add)
    }

    /// Opportunities of the whole trace.
    fn count(&self) -> u64 {
        let counts = self.opportunities.iter().map(|&(_, count)| count);
        counts.fold(0, u64::saturating_add)
    }
}

impl MediumSettings for Config {
    type Element = Trace;

    fn build(&self, site: &MediumSite) -> Trace {
        let length_ns = self.length_ms() * NS_PER_MS;
        let runs = Runs {
            runs: self.opportunities.as_slice().into(),
            opportunity_bytes: self.opportunity_bytes,
            once: self.once,
            length_ns,
            trace_bytes: self.count() * self.opportunity_bytes,
            index: 0,
            // One that is played again and again was played before the run, too.
            at_ns: if self.once {
                site.start_ns
            } else {
                site.start_ns % length_ns.max(1)
            },
        };
        Trace(Opportunities::new(runs, ETHERNET_HEADER_BYTES))
    }

    fn check_together(&self) -> Result<(), String> {
        /// A trace beyond this is a mistake: three years.
        const MAX_LENGTH_MS: u64 = 100_000_000_000;
        if self.length_ms() == 0 || self.length_ms() > MAX_LENGTH_MS {
            return Err(format!(
                "the trace ends after {} ms; use 1 to {MAX_LENGTH_MS} ms",
                self.length_ms()
            ));
        }
        if self.opportunities.iter().any(|&(_, count)| count == 0) || self.count() > 1 << 40 {
            return Err(
                "the trace has no opportunity, or too many, at one of its times".to_owned(),
            );
        }
        let later = self.opportunities.iter().skip(1);
        if later.clone().any(|&(gap_ms, _)| gap_ms == 0) {
            return Err("the trace has a time twice; write both as one".to_owned());
        }
        Ok(())
    }

    fn peak_bps(&self, link_rate_bps: u64) -> u64 {
        let most = self.opportunities.iter().map(|&(_, count)| count).max();
        let per_ms = most.unwrap_or(0).saturating_mul(self.opportunity_bytes);
        per_ms.saturating_mul(8_000).max(link_rate_bps)
    }

    fn offered_bytes(&self, duration_ns: u64) -> Option<u64> {
        let length_ns = self.length_ms() * NS_PER_MS;
        let times = if self.once {
            u64::from(duration_ns >= length_ns)
        } else {
            duration_ns / length_ns.max(1)
        };
        let mut count = times * self.count();
        if !self.once || times == 0 {
            let mut at_ns = times * length_ns;
            for &(gap_ms, here) in &self.opportunities {
                at_ns += gap_ms * NS_PER_MS;
                if at_ns > duration_ns {
                    break;
                }
                count += here;
            }
        }
        Some(count * self.opportunity_bytes)
    }

    fn uncounted_bytes(&self) -> u64 {
        u64::from(ETHERNET_HEADER_BYTES)
    }
}

/// A trace that is played.
#[derive(Clone, Debug)]
pub struct Trace(Opportunities<Runs>);

/// The opportunities of a trace, one after the other.
#[derive(Clone, Debug)]
struct Runs {
    runs: Arc<[(u64, u64)]>,
    opportunity_bytes: u64,
    once: bool,
    length_ns: u64,
    trace_bytes: u64,
    index: usize,
    at_ns: u64,
}

impl OpportunitySource for Runs {
    fn next(&mut self) -> Opportunity {
        let Some(&(gap_ms, count)) = self.runs.get(self.index) else {
            if self.once {
                return Opportunity {
                    at_ns: u64::MAX,
                    bytes: 0,
                    pkts: 0,
                };
            }
            self.index = 0;
            return self.next();
        };
        self.index += 1;
        self.at_ns += gap_ms * NS_PER_MS;
        Opportunity {
            at_ns: self.at_ns,
            bytes: count * self.opportunity_bytes,
            pkts: u64::MAX,
        }
    }

    fn skip(&mut self, now_ns: u64) -> u64 {
        if self.once {
            return 0;
        }
        let times = now_ns.saturating_sub(self.at_ns + 1) / self.length_ns;
        self.at_ns += times * self.length_ns;
        times * self.trace_bytes
    }
}

impl Carry for Trace {
    fn next_event_ns(&mut self, now_ns: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| self.0.next_ns(now_ns, from_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        self.0.happen(now_ns, port, |_| 0);
    }

    fn busy_until_ns(&self) -> u64 {
        self.0.busy_until_ns()
    }

    fn account(&mut self, now_ns: u64) -> Option<Account> {
        Some(self.0.account(now_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    fn trace(opportunities: &[(u64, u64)], once: bool) -> Config {
        Config {
            opportunities: opportunities.to_vec(),
            once,
            ..Config::default()
        }
    }

    const MS: u64 = NS_PER_MS;

    /// "1" is 12.032 Mbit/s of IP bytes: 1504 of each ms, so every 1500 bytes a ms, but one more in
    /// 375 ms.
    #[test]
    fn a_trace_of_one_line_carries_a_packet_every_ms_within_one_packet_of_a_wire() {
        let mut bench = Bench::of(&trace(&[(1, 1)], false).into(), 12_032_000);
        bench.fill(0, 2_000, 1514);
        let done_ns = bench.run(u64::MAX);
        for (number, &at_ns) in (1_u64..).zip(&done_ns) {
            let wire_ns = number * 1500 * 8_000_000_000 / 12_032_000;
            assert_eq!(
                at_ns,
                wire_ns.div_ceil(MS) * MS,
                "the next line after the wire"
            );
        }
    }

    #[test]
    fn what_is_not_used_is_lost_and_what_comes_at_the_time_uses_it() {
        let mut bench = Bench::of(&trace(&[(5, 2), (3, 1)], false).into(), 1_000_000);
        bench.fill(5 * MS, 1, 1518);
        assert_eq!(bench.run(6 * MS), [5 * MS], "it came at the time");
        bench.fill(6 * MS, 3, 1518);
        // 8, then the trace again: two at 13.
        assert_eq!(bench.run(u64::MAX), [8 * MS, 13 * MS, 13 * MS]);
    }

    #[test]
    fn a_packet_is_through_with_its_last_byte() {
        let mut bench = Bench::of(&trace(&[(1, 1)], false).into(), 1_000_000);
        bench.fill(0, 1, 3_022); // 3008 bytes of IP
        bench.fill(0, 4, 66); // four of 52
        bench.fill(0, 1, 1_514);
        let (two, three) = (2 * MS, 3 * MS);
        assert_eq!(
            bench.run(u64::MAX),
            [two, three, three, three, three, 4 * MS]
        );
    }

    #[test]
    fn it_wraps_at_its_last_time_without_a_gap() {
        // Times 0, 1 and 2, so the trace is 2 ms long: two opportunities at 2, 4, …
        let mut bench = Bench::of(&trace(&[(0, 1), (1, 1), (1, 1)], false).into(), 1_000_000);
        bench.fill(0, 8, 1518);
        let ms = bench.run(u64::MAX).into_iter().map(|at_ns| at_ns / MS);
        assert!(ms.eq([0, 1, 2, 2, 3, 4, 4, 5]));
    }

    #[test]
    fn played_once_it_ends() {
        let mut bench = Bench::of(&trace(&[(1, 2), (1, 1)], true).into(), 1_000_000);
        bench.fill(0, 5, 1518);
        assert_eq!(bench.run(u64::MAX), [MS, MS, 2 * MS]);
        assert_eq!(bench.waiting(), 2, "the others wait for ever");
    }

    #[test]
    fn what_is_offered_is_known_before() {
        for once in [false, true] {
            let config = trace(&[(0, 1), (7, 3), (2, 2)], once);
            for duration_ms in 0..60 {
                let mut bench = Bench::of(&config.clone().into(), 1_000_000);
                let offered = bench.account(duration_ms * MS).offered_bytes;
                assert_eq!(
                    Some(offered),
                    config.offered_bytes(duration_ms * MS),
                    "{duration_ms}"
                );
            }
        }
    }

    #[test]
    fn a_trace_that_cannot_be_is_refused() {
        for (wrong, message) in [
            (&[][..], "the trace ends after 0 ms"),
            (&[(0, 5)], "the trace ends after 0 ms"),
            (&[(1, 0)], "no opportunity"),
            (&[(1, 1), (0, 1)], "a time twice"),
        ] {
            let refused = trace(wrong, false)
                .check_together()
                .expect_err("it is wrong");
            assert!(refused.contains(message), "{refused}");
        }
    }
}
