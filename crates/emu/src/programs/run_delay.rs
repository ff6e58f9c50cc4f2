//! How long a program was ready to run and did not, as the scheduler counts it.

use std::collections::BTreeMap;
use std::fs;

/// Threads that are followed; more would take too long.
const MOST_THREADS: usize = 512;

/// The times of all threads of a program and what it started, read now and then: of a thread that has ended, the last.
#[derive(Clone, Debug, Default)]
pub(super) struct RunDelay {
    /// Delay of each thread, ns.
    delays_ns: BTreeMap<i32, u64>,
}

impl RunDelay {
    /// Reads the times of the descendants of `init`.
    pub(super) fn read(&mut self, init: i32) {
        let mut processes = vec![init];
        let mut next = 0;
        while let Some(&process) = processes.get(next) {
            next += 1;
            let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else {
                continue; // it has ended
            };
            for thread in threads.flatten() {
                let path = thread.path();
                let number = thread
                    .file_name()
                    .to_str()
                    .and_then(|name| name.parse().ok());
                let delay_ns = fs::read_to_string(path.join("schedstat")).ok();
                let delay_ns = delay_ns.as_deref().and_then(waited_ns);
                if let (Some(number), Some(delay_ns), false) = (number, delay_ns, process == init) {
                    self.delays_ns.insert(number, delay_ns);
                }
                let children = fs::read_to_string(path.join("children")).unwrap_or_default();
                processes.extend(
                    children
                        .split_ascii_whitespace()
                        .filter_map(|it| it.parse::<i32>().ok()),
                );
            }
            processes.truncate(MOST_THREADS);
        }
    }

    /// All of them together, µs.
    pub(super) fn total_us(&self) -> u64 {
        self.delays_ns.values().sum::<u64>() / 1000
    }
}

/// The second number of `schedstat`: time spent waiting for a CPU, ns.
fn waited_ns(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_time_waited() {
        assert_eq!(waited_ns("81234567 4567 12\n"), Some(4567));
        assert_eq!(waited_ns(""), None);
    }
}
