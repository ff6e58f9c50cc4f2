//! Waiting for the next packet or the next due time, punctually and without eating the CPU.
//!
//! A sleeping thread wakes some tens of µs late. Where packets are far apart the thread therefore
//! asks to be woken early and polls until the due time. Polling takes CPU from the hosts, so it
//! has an allowance, a share of the time that passes; when that is used up, which happens where
//! packets are close together, the thread sleeps for a short while and then deals with all that
//! has become due in one go.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::machine::clock::monotonic_ns;

/// How much too early the thread asks to be woken, ns. Measured on two virtual CPUs with real-time
/// priority: a sleeper woke 15 µs late half of the time, 30 to 60 µs at the 99th percentile.
const EARLY_NS: u64 = 50_000;

/// Polling may take one part in this many of the time that passes.
const ALLOWANCE_DIVISOR: u64 = 5;

/// The allowance does not grow beyond this, ns.
const MAX_ALLOWANCE_NS: u64 = 500_000;

/// The sleep of a thread without allowance, ns.
const NAP_NS: u64 = 40_000;

/// The longest sleep, ns: how soon a request to stop is noticed.
const MAX_SLEEP_NS: u64 = 20_000_000;

/// With so few devices a thread in a hurry reads each of them, rather than asking which has anything.
const FEW_DEVICES: usize = 4;

/// What to do until the next due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plan {
    /// Look whether there is something to read, and go on.
    Look,
    /// Sleep until something can be read, this long at most.
    Sleep(u64),
    /// Poll until something can be read or the due time has come.
    Poll,
    /// Sleep this long, even if something can be read.
    Nap(u64),
}

/// Time that may be spent polling.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    left_ns: u64,
    counted_ns: u64,
}

impl Allowance {
    fn earn(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.counted_ns);
        self.left_ns = (self.left_ns + passed_ns / ALLOWANCE_DIVISOR).min(MAX_ALLOWANCE_NS);
        self.counted_ns = now_ns;
    }

    fn spend(&mut self, spent_ns: u64) {
        self.left_ns = self.left_ns.saturating_sub(spent_ns);
    }
}

fn plan(now_ns: u64, due_ns: u64, allowance_ns: u64) -> Plan {
    let left_ns = due_ns.saturating_sub(now_ns);
    if left_ns == 0 {
        Plan::Look
    } else if left_ns > EARLY_NS {
        Plan::Sleep((left_ns - EARLY_NS).min(MAX_SLEEP_NS))
    } else if left_ns <= allowance_ns {
        Plan::Poll
    } else {
        Plan::Nap(left_ns.max(NAP_NS))
    }
}

/// Waits on behalf of one loop.
pub(crate) struct Waiter<'a> {
    /// Devices, and last what wakes the loop.
    descriptors: Vec<PollFd<'a>>,
    allowance: Allowance,
    /// None has been polled: any may have something to read.
    is_unknown: bool,
}

impl<'a> Waiter<'a> {
    /// Waits for any of `devices` to have something to read, or for `waker`.
    pub(crate) fn new(
        devices: impl Iterator<Item = BorrowedFd<'a>>,
        waker: BorrowedFd<'a>,
    ) -> Self {
        Self {
            descriptors: devices
                .chain([waker])
                .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
                .collect(),
            allowance: Allowance {
                left_ns: MAX_ALLOWANCE_NS,
                counted_ns: monotonic_ns(),
            },
            is_unknown: true,
        }
    }

    /// Waits until something can be read or `due_ns` has come, or almost: the caller asks again.
    pub(crate) fn wait(&mut self, due_ns: u64) -> io::Result<()> {
        let now_ns = monotonic_ns();
        self.allowance.earn(now_ns);
        self.is_unknown = false;
        match plan(now_ns, due_ns, self.allowance.left_ns) {
            Plan::Look => self.look(),
            Plan::Sleep(sleep_ns) => self.poll(sleep_ns).map(drop),
            Plan::Poll => {
                while !self.poll(0)? && monotonic_ns() < due_ns {}
                self.allowance.spend(monotonic_ns() - now_ns);
                Ok(())
            }
            Plan::Nap(nap_ns) => {
                nap(nap_ns);
                self.look()
            }
        }
    }

    /// Whether device `index` may have something to read since [`Waiter::wait`] returned.
    #[inline]
    pub(crate) fn is_readable(&self, index: usize) -> bool {
        self.is_unknown || !self.descriptors[index].revents().is_empty()
    }

    fn look(&mut self) -> io::Result<()> {
        self.is_unknown = self.descriptors.len() - 1 <= FEW_DEVICES;
        if self.is_unknown {
            return Ok(());
        }
        self.poll(0).map(drop)
    }

    fn poll(&mut self, timeout_ns: u64) -> io::Result<bool> {
        match poll(&mut self.descriptors, Some(&timespec(timeout_ns))) {
            Ok(readable) => Ok(readable > 0),
            Err(Errno::INTR) => {
                for descriptor in &mut self.descriptors {
                    descriptor.clear_revents();
                }
                Ok(false)
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

fn nap(nap_ns: u64) {
    // Woken early by a signal: the caller looks at the clock anyway.
    let _ = rustix::thread::nanosleep(&timespec(nap_ns));
}

fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn far_from_the_due_time_it_sleeps_and_near_it_it_polls() {
        assert_eq!(plan(0, 242_000, 500_000), Plan::Sleep(192_000));
        assert_eq!(plan(200_000, 242_000, 500_000), Plan::Poll);
        assert_eq!(plan(200_000, 242_000, 10_000), Plan::Nap(42_000));
        assert_eq!(plan(230_000, 242_000, 0), Plan::Nap(NAP_NS));
        assert_eq!(plan(242_000, 242_000, 0), Plan::Look);
        assert_eq!(plan(0, u64::MAX, 0), Plan::Sleep(MAX_SLEEP_NS));
    }

    proptest! {
        #[test]
        fn polling_never_takes_more_than_its_share(gaps_ns in prop::collection::vec(1_u64..60_000, 100..2000)) {
            let mut allowance = Allowance { left_ns: MAX_ALLOWANCE_NS, counted_ns: 0 };
            let (mut now_ns, mut polled_ns) = (0, 0);
            for gap_ns in gaps_ns {
                allowance.earn(now_ns);
                let due_ns = now_ns + gap_ns;
                match plan(now_ns, due_ns, allowance.left_ns) {
                    Plan::Poll => {
                        allowance.spend(gap_ns);
                        polled_ns += gap_ns;
                        now_ns = due_ns;
                    }
                    Plan::Sleep(ns) | Plan::Nap(ns) => now_ns += ns,
                    Plan::Look => {}
                }
                prop_assert!(polled_ns <= MAX_ALLOWANCE_NS + now_ns / ALLOWANCE_DIVISOR);
            }
        }
    }
}
