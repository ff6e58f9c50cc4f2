//! Mininet's TCLink with its default rate limiter: `htb`, with a netem below it that holds the delay.
//!
//! Mininet 2.2.2 `link.py` (TCIntf) makes netem the child of the rate limiter: a packet waits out the delay in
//! netem and is then pulled at the link's rate, so netem's limit counts what is still delayed
//! (Linux 4.15 `sch_netem.c`, `netem_enqueue`). `htb` never cuts a packet: it sends when its tokens are not
//! negative and waits afterwards (Linux 4.15 `sch_htb.c`, `htb_class_mode`), so that a packet, however large, is
//! through at the start of its service time.

use dumbbell_declare::settings;

use super::{Carry, Channel, MediumSettings, MediumSite, Port};
use crate::Head;
use crate::token_bucket::{TokenBucket, nbits};

settings! {
    /// Mininet's TCLink: the delay passes in the queue, whose limit counts delayed packets as netem's does, and `htb` then sends whole packets at the link's rate.
    pub struct Config {
        /// Whether the link's delay passes in its queue; off: behind the link, as with a netem elsewhere, and the limit is for waiting packets alone.
        delay_in_queue: bool = true;
        /// Bytes that may leave at once after idleness: `htb`'s `cburst`. What `tc` sets by itself is 1600 and what the rate gives in a nanosecond; Mininet's `burst 15k` is the larger of the two buckets and without effect.
        cburst_bytes: u64 = 1_600, in 1..=1 << 32;
    }
}

impl MediumSettings for Config {
    type Element = TclinkHtb;

    fn build(&self, site: &MediumSite) -> TclinkHtb {
        TclinkHtb {
            bucket: TokenBucket::new(site.link_rate_bps, self.cburst_bytes),
            counted_ns: site.start_ns,
            delay_ns: if self.delay_in_queue {
                site.delay_ns
            } else {
                0
            },
        }
    }

    fn saved_up_bytes(&self, _link_rate_bps: u64) -> u64 {
        self.cburst_bytes
    }

    fn holds_delay(&self) -> bool {
        self.delay_in_queue
    }

    fn needs_head(&self) -> bool {
        self.delay_in_queue
    }
}

/// A bucket, below which packets wait out their delay.
#[derive(Clone, Debug)]
pub struct TclinkHtb {
    bucket: TokenBucket,
    /// When the tokens were counted, ns.
    counted_ns: u64,
    /// What passes in the queue, ns.
    delay_ns: u64,
}

impl TclinkHtb {
    /// When the tokens reach 0, ns.
    fn free_ns(&self) -> u64 {
        self.counted_ns + self.bucket.wait_ns(0)
    }
}

impl Carry for TclinkHtb {
    fn next_event_ns(&mut self, _: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| from_ns.max(self.free_ns()))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        let Some(wire_bytes) = port.take() else {
            return;
        };
        self.bucket.fill(now_ns - self.counted_ns);
        self.bucket.tokens_nbits -= nbits(u64::from(wire_bytes));
        self.counted_ns = now_ns;
        port.deliver(now_ns, 0);
    }

    fn ready_ns(&self, head: &Head) -> u64 {
        head.arrived_ns.saturating_add(self.delay_ns)
    }

    fn held_ns(&self) -> u64 {
        self.delay_ns
    }

    fn busy_until_ns(&self) -> u64 {
        self.free_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const MS: u64 = 1_000_000;

    /// At 50 Mbit/s a packet of 1514 bytes takes 242.24 µs. The bucket of 1600 bytes is full at first: the second
    /// packet leaves with the first, the third when the 1428 bytes are there that the two took in excess.
    #[test]
    fn packets_leave_at_the_start_of_their_service_times_when_their_delay_is_over() {
        let mut bench = Bench::with_delay(&Config::default().into(), 50_000_000, 20 * MS);
        bench.fill(0, 4, 1514);
        let out_ns = bench.run(u64::MAX);
        let third_ns = 20 * MS + 1428 * 160;
        assert_eq!(out_ns, [20 * MS, 20 * MS, third_ns, third_ns + 242_240]);
    }

    /// Five segments of 1514 bytes take 1.2112 ms, and arrive as one at the beginning of that.
    #[test]
    fn a_super_packet_leaves_whole_and_is_paid_for_afterwards() {
        let mut bench = Bench::with_delay(&Config::default().into(), 50_000_000, 20 * MS);
        bench.fill(0, 3, 5 * 1514);
        let out_ns = bench.run(u64::MAX);
        let excess_ns = (5 * 1514 - 1600) * 160;
        let expected = [0, excess_ns, excess_ns + 1_211_200].map(|ns| ns + 20 * MS);
        assert_eq!(out_ns, expected);
    }

    #[test]
    fn in_the_long_run_it_carries_its_rate() {
        let mut bench = Bench::of(&Config::default().into(), 50_000_000);
        bench.fill(0, 20_000, 1514);
        let last_ns = *bench.run(u64::MAX).last().expect("packets pass");
        // All but the bucket's 1600 bytes and the last packet, whose service begins when it leaves.
        assert_eq!(last_ns, (19_999 * 1514 - 1600) * 160);
    }

    /// With a netem elsewhere the queue is the rate limiter's own.
    #[test]
    fn a_delay_apart_is_not_the_medium_s() {
        let config = Config {
            delay_in_queue: false,
            ..Config::default()
        };
        assert!(!config.holds_delay() && !config.needs_head());
        let mut bench = Bench::with_delay(&config.into(), 50_000_000, 20 * MS);
        bench.fill(5 * MS, 1, 1514);
        assert_eq!(bench.run(u64::MAX), [5 * MS]);
    }
}
