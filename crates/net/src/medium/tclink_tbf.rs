//! Mininet's TCLink with `use_tbf`: a token-bucket filter, with a netem below it that holds the delay.
//!
//! As with `tclink_htb` packets wait out the delay in the queue first (Mininet 2.2.2 `link.py`). Then each leaves
//! when the bucket has tokens for all of it (Linux 4.15 `sch_tbf.c`, `tbf_dequeue`): at the end of its service
//! time, or at once while the bucket has some saved up. A super-packet larger than the bucket is cut into its
//! segments before it joins the queue (`tbf_segment`). `latency` has no effect: it is the limit of the queue that
//! netem replaces.

use dumbbell_declare::settings;

use super::{Carry, Channel, MediumSettings, MediumSite, Port};
use crate::Head;
use crate::token_bucket::{TokenBucket, nbits};

settings! {
    /// Mininet's TCLink with `use_tbf`: the delay passes in the queue, whose limit counts delayed packets as netem's does, and a token bucket then lets packets out at the link's rate.
    pub struct Config {
        /// Whether the link's delay passes in its queue; off: behind the link, as with a netem elsewhere, and the limit is for waiting packets alone.
        delay_in_queue: bool = true;
        /// Bytes that may leave at once after idleness; larger super-packets are cut into their segments.
        burst_bytes: u64 = 15_000, in 1..=1 << 32;
    }
}

impl MediumSettings for Config {
    type Element = TclinkTbf;

    fn build(&self, site: &MediumSite) -> TclinkTbf {
        TclinkTbf {
            bucket: TokenBucket::new(site.link_rate_bps, self.burst_bytes),
            counted_ns: site.start_ns,
            delay_ns: if self.delay_in_queue {
                site.delay_ns
            } else {
                0
            },
            last_bytes: 0,
        }
    }

    fn saved_up_bytes(&self, _link_rate_bps: u64) -> u64 {
        self.burst_bytes
    }

    fn holds_delay(&self) -> bool {
        self.delay_in_queue
    }

    fn needs_head(&self) -> bool {
        true
    }

    fn uncut_bytes(&self) -> Option<u64> {
        Some(self.burst_bytes)
    }

    fn largest_bytes(&self) -> Option<u64> {
        Some(self.burst_bytes)
    }
}

/// A bucket, below which packets wait out their delay.
#[derive(Clone, Debug)]
pub struct TclinkTbf {
    bucket: TokenBucket,
    /// When the tokens were counted, ns.
    counted_ns: u64,
    /// What passes in the queue, ns.
    delay_ns: u64,
    /// Wire bytes of the packet that left last.
    last_bytes: u64,
}

impl Carry for TclinkTbf {
    fn next_event_ns(&mut self, _: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.unwrap_or(u64::MAX)
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        let Some(wire_bytes) = port.take() else {
            return;
        };
        self.last_bytes = u64::from(wire_bytes);
        self.bucket.fill(now_ns - self.counted_ns);
        self.bucket.tokens_nbits -= nbits(self.last_bytes);
        self.counted_ns = now_ns;
        port.deliver(now_ns, 0);
    }

    fn ready_ns(&self, head: &Head) -> u64 {
        let delayed_ns = head.arrived_ns.saturating_add(self.delay_ns);
        let wait_ns = self.bucket.wait_ns(u64::from(head.wire_bytes));
        delayed_ns.max(self.counted_ns + wait_ns)
    }

    fn held_ns(&self) -> u64 {
        self.delay_ns
    }

    /// Until another packet of the same size could leave.
    fn busy_until_ns(&self) -> u64 {
        self.counted_ns + self.bucket.wait_ns(self.last_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const MS: u64 = 1_000_000;

    /// 15,000 bytes are nine packets of 1514 and 1374 of the tenth, which waits for 140 bytes: 22.4 µs at
    /// 50 Mbit/s. Each after it takes its whole service time of 242.24 µs.
    #[test]
    fn a_full_bucket_lets_nine_packets_out_at_once_when_their_delay_is_over() {
        let mut bench = Bench::with_delay(&Config::default().into(), 50_000_000, 20 * MS);
        bench.fill(0, 12, 1514);
        let out_ns = bench.run(u64::MAX);
        assert_eq!(out_ns[..9], [20 * MS; 9]);
        let tenth_ns = 20 * MS + 140 * 160;
        assert_eq!(out_ns[9..], [0, 1, 2].map(|more| tenth_ns + more * 242_240));
    }

    /// 2.4 ms at 50 Mbit/s: what came in that time into an empty link did not wait.
    #[test]
    fn the_bucket_is_full_again_after_its_size_over_the_rate() {
        let mut bench = Bench::of(&Config::default().into(), 50_000_000);
        bench.fill(0, 9, 1514);
        bench.fill(2_400_000, 9, 1514);
        let out_ns = bench.run(u64::MAX);
        assert_eq!(out_ns[8..10], [0, 2_400_000]);
        assert_eq!(out_ns[17], 2_400_000);
    }

    #[test]
    fn in_the_long_run_it_carries_its_rate() {
        let mut bench = Bench::of(&Config::default().into(), 50_000_000);
        bench.fill(0, 20_000, 1514);
        let last_ns = *bench.run(u64::MAX).last().expect("packets pass");
        assert_eq!(last_ns, (20_000 * 1514 - 15_000) * 160);
    }
}
