//! A pipe of FreeBSD's dummynet: everything happens at ticks of the kernel's clock.
//!
//! A pipe has a credit, to which each tick adds what the bandwidth gives; packets leave the queue while it is
//! not negative, several at one tick if the bandwidth allows. The last of them, whose bits are not all earned,
//! comes out after as many ticks as it takes to earn them, and no other leaves the queue before. A pipe that was
//! idle begins with nothing (FreeBSD 10.4 `ip_dn_io.c`, `serve_sched` and `dummynet_io`, with `io_fast` and
//! `burst` off). The delay line follows, apart from the queue.
//!
//! A packet that comes to an idle pipe between two ticks is served as of the earlier one. Where it is then due at
//! that tick it leaves here when it came, so that none is faster than the link's delay.

use dumbbell_declare::settings;

use super::{Carry, Channel, MediumSettings, MediumSite, Port};
use crate::ETHERNET_HEADER_BYTES;
use crate::token_bucket::nbits;

settings! {
    /// A pipe of FreeBSD's dummynet: packets leave at ticks of its clock, at the link's rate.
    pub struct Config {
        /// Time from a tick to the next: 1 ms where HZ is 1000.
        tick_ns: u64 = 1_000_000, in 1_000..=1_000_000_000;
        /// Bytes of each packet that the rate does not count: the Ethernet header, as a pipe carries IP packets.
        uncounted_bytes: u64 = ETHERNET_HEADER_BYTES as u64, in 0..=ETHERNET_HEADER_BYTES as u64;
    }
}

impl MediumSettings for Config {
    type Element = DummynetPipe;

    fn build(&self, site: &MediumSite) -> DummynetPipe {
        DummynetPipe {
            tick_ns: self.tick_ns,
            uncounted_bytes: self.uncounted_bytes as u32,
            tick_nbits: i128::from(self.tick_ns) * i128::from(site.link_rate_bps),
            start_ns: site.start_ns,
            credit_nbits: 0,
            served_ns: site.start_ns,
            due_ns: site.start_ns,
        }
    }

    fn uncounted_bytes(&self) -> u64 {
        self.uncounted_bytes
    }

    /// A router gets what the sender's network card has cut.
    fn uncut_bytes(&self) -> Option<u64> {
        Some(0)
    }

    /// What a tick gives.
    fn saved_up_bytes(&self, link_rate_bps: u64) -> u64 {
        let bits = u128::from(link_rate_bps) * u128::from(self.tick_ns) / 1_000_000_000;
        bits.div_ceil(8) as u64
    }
}

/// A pipe's credit.
#[derive(Clone, Debug)]
pub struct DummynetPipe {
    tick_ns: u64,
    uncounted_bytes: u32,
    /// What a tick adds, bits/10⁹.
    tick_nbits: i128,
    /// When the run, and the first tick, began, ns.
    start_ns: u64,
    /// Bits/10⁹ that may be sent; negative: that are to be earned.
    credit_nbits: i128,
    /// The tick to which the credit is counted, ns.
    served_ns: u64,
    /// The tick at which it is not negative any more, ns: the pipe is idle from then on if nothing waits.
    due_ns: u64,
}

impl DummynetPipe {
    /// The credit at the tick of `now_ns`.
    fn count(&mut self, now_ns: u64) {
        let tick_ns = now_ns - (now_ns - self.start_ns) % self.tick_ns;
        if tick_ns > self.due_ns {
            self.credit_nbits = 0; // it was idle
        } else {
            let ticks = (tick_ns - self.served_ns) / self.tick_ns;
            self.credit_nbits += i128::from(ticks) * self.tick_nbits;
        }
        self.served_ns = tick_ns;
        self.due_ns = tick_ns;
    }
}

impl Carry for DummynetPipe {
    fn next_event_ns(&mut self, _: u64, waiting_ns: Option<u64>, _: &mut Channel) -> u64 {
        waiting_ns.map_or(u64::MAX, |from_ns| from_ns.max(self.due_ns))
    }

    fn happen(&mut self, now_ns: u64, port: &mut dyn Port, _: &mut Channel) {
        self.count(now_ns);
        let mut has_one = false;
        while self.credit_nbits >= 0
            && let Some(wire_bytes) = port.take()
        {
            if has_one {
                port.deliver(now_ns, 0);
            }
            has_one = true;
            let bytes = wire_bytes.saturating_sub(self.uncounted_bytes);
            self.credit_nbits -= nbits(u64::from(bytes));
        }
        if self.credit_nbits < 0 {
            let ticks = self
                .credit_nbits
                .unsigned_abs()
                .div_ceil(self.tick_nbits as u128);
            self.due_ns += ticks as u64 * self.tick_ns;
        }
        if has_one {
            port.deliver(now_ns.max(self.due_ns), 0);
        }
    }

    fn busy_until_ns(&self) -> u64 {
        self.due_ns
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::Bench;
    use super::*;

    const MS: u64 = 1_000_000;

    /// At 10 Mbit/s a packet of 1500 bytes takes 1.2 ms, a tick 1: the first comes out after two ticks, with 0.8
    /// of a tick saved, and five packets take six ticks.
    #[test]
    fn packets_come_out_at_ticks_and_at_the_rate_over_time() {
        let mut bench = Bench::of(&Config::default().into(), 10_000_000);
        bench.fill(0, 11, 1514);
        let out_ns = bench.run(u64::MAX);
        let ms = [2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 14];
        assert_eq!(out_ns, ms.map(|ms| ms * MS));
    }

    /// At 100 Mbit/s a tick has 12,500 bytes, 8⅓ packets: nine come out at a tick, or eight.
    #[test]
    fn a_fast_pipe_is_a_burst_each_tick() {
        let mut bench = Bench::of(&Config::default().into(), 100_000_000);
        bench.fill(0, 1000, 1514);
        let out_ns = bench.run(u64::MAX);
        let bursts = out_ns.chunk_by(|one, other| one == other);
        let sizes: Vec<usize> = bursts.map(<[u64]>::len).collect();
        assert!(
            sizes[1..sizes.len() - 1]
                .iter()
                .all(|size| (8..=9).contains(size)),
            "{sizes:?}"
        );
        assert_eq!(out_ns[999], 120 * MS);
        assert!(out_ns.iter().all(|ns| ns % MS == 0));
    }

    /// One that comes between ticks to an idle pipe is served as of the tick before: 1.2 ms are two ticks after it.
    #[test]
    fn a_lone_packet_waits_for_a_tick() {
        let mut bench = Bench::of(&Config::default().into(), 10_000_000);
        bench.fill(700_000, 1, 1514);
        bench.fill(50_300_000, 1, 614); // 600 bytes are 0.48 ms
        assert_eq!(bench.run(u64::MAX), [2 * MS, 51 * MS]);
    }

    #[test]
    fn in_the_long_run_it_carries_its_rate_of_ip_packets() {
        let mut bench = Bench::of(&Config::default().into(), 10_000_000);
        bench.fill(0, 20_000, 1514);
        let last_ns = *bench.run(u64::MAX).last().expect("packets pass");
        assert_eq!(last_ns, 24_000 * MS);
    }
}
