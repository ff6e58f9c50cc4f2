//! CPU time: of a thread, of this process and of the machine.

use std::fs;
use std::io;

use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;

const NS_PER_S: u64 = 1_000_000_000;

/// CPU time of the calling thread, ns; includes the softirq work done in its system calls.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// CPU time of this process, ns.
pub(crate) fn process_cpu_ns() -> u64 {
    nanoseconds(ClockId::ProcessCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// Time that all CPUs of the machine have spent together since boot, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MachineCpu {
    /// Running anything, interrupts included.
    pub(crate) busy_ns: u64,
    /// Waiting for work.
    pub(crate) idle_ns: u64,
    /// Ready to run while the hypervisor ran something else.
    pub(crate) stolen_ns: u64,
}

impl MachineCpu {
    /// Reads the CPU time used until now.
    pub(crate) fn read() -> Result<Self, Error> {
        const STATISTICS: &str = "/proc/stat";
        let ticks_per_s = rustix::param::clock_ticks_per_second();
        fs::read_to_string(STATISTICS)
            .and_then(|table| {
                Self::parse(&table, ticks_per_s)
                    .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no line `cpu`"))
            })
            .map_err(|source| Error::System {
                what: format!("cannot read the CPU times in {STATISTICS}"),
                source,
            })
    }

    /// The time spent since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        // The kernel's idle time may go back by a tick when a CPU comes and goes.
        Self {
            busy_ns: self.busy_ns.saturating_sub(earlier.busy_ns),
            idle_ns: self.idle_ns.saturating_sub(earlier.idle_ns),
            stolen_ns: self.stolen_ns.saturating_sub(earlier.stolen_ns),
        }
    }

    /// The same, with some of the time in which it was busy taken for idle.
    pub(crate) fn with_idle(self, ns: u64) -> Self {
        Self {
            busy_ns: self.busy_ns.saturating_sub(ns),
            idle_ns: self.idle_ns + ns,
            ..self
        }
    }

    fn parse(table: &str, ticks_per_s: u64) -> Option<Self> {
        let line = table.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Vec<u64> = line
            .split_ascii_whitespace()
            .map(|field| field.parse().ok())
            .collect::<Option<_>>()?;
        // user nice system idle iowait irq softirq steal; guest time is in user and nice already.
        let &[user, nice, system, idle, iowait, irq, softirq, steal, ..] = ticks.as_slice() else {
            return None;
        };
        let ns = |ticks: u64| ticks * (NS_PER_S / ticks_per_s);
        Some(Self {
            busy_ns: ns(user + nice + system + irq + softirq),
            idle_ns: ns(idle + iowait),
            stolen_ns: ns(steal),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_all_cpus_is_summed() {
        let table = "cpu  1 2 3 40 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let times = MachineCpu::parse(table, 100).expect("a line `cpu`");
        assert_eq!(
            times,
            MachineCpu {
                busy_ns: 190_000_000,
                idle_ns: 450_000_000,
                stolen_ns: 80_000_000,
            }
        );
        assert_eq!(MachineCpu::parse("intr 5", 100), None);
    }

    #[test]
    fn work_shows_in_the_thread_and_the_process() {
        // The process first: its time between the two readings must count for the machine, too.
        let process_ns = process_cpu_ns();
        let thread_ns = thread_cpu_ns();
        while thread_cpu_ns() < thread_ns + 1_000_000 {
            std::hint::spin_loop();
        }
        assert!(process_cpu_ns() >= process_ns + 1_000_000);
        assert!(MachineCpu::read().expect("/proc/stat").busy_ns > 0);
    }
}
