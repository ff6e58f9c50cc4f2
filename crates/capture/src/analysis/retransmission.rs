//! Retransmissions: the kind that each appears to be, and which turned out to be unnecessary.

use std::collections::VecDeque;

use super::sequence::is_before;

/// A log never holds more.
const MAX_LOG: usize = 1 << 12;
/// How many are checked for one report of a duplicate.
const MAX_LOOKED_AT: usize = 1 << 8;
/// An acknowledged retransmission is kept this long, for a report that may still arrive.
const KEPT_NS: u64 = 10_000_000_000;

/// What made the sender retransmit, as far as can be inferred from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetransmissionKind {
    /// Something sent later had been delivered (RFC 8985 §6), or three duplicate ACKs had come
    /// (RFC 5681 §3.2).
    Fast,
    /// The retransmission timer (RFC 6298 §5), and what was sent again until the data that was
    /// outstanding then was acknowledged.
    Timeout,
    /// A tail loss probe (RFC 8985 §7).
    Probe,
    /// Nothing in the capture explains it.
    Unexplained,
}

/// A retransmission whose necessity is not yet known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) sent_ns: u64,
    pub(crate) tsval: Option<u32>,
    is_spurious: bool,
}

/// Retransmissions in the order of sending, numbered.
#[derive(Clone, Debug, Default)]
pub(crate) struct RetransmissionLog {
    entries: VecDeque<Retransmission>,
    /// Number of the first entry.
    first: u32,
    /// Number of the first that may be reported by D-SACK: reports come in the order of arrival.
    next_report: u32,
    /// Number of the first that has not been checked for its own loss.
    next_loss: u32,
    spurious_pkts: u64,
}

impl RetransmissionLog {
    /// Number of those that turned out to be unnecessary.
    pub(crate) fn spurious_pkts(&self) -> u64 {
        self.spurious_pkts
    }

    /// Adds one; everything below `acked` is acknowledged. Returns its number.
    pub(crate) fn push(
        &mut self,
        start: u64,
        end: u64,
        sent_ns: u64,
        tsval: Option<u32>,
        acked: u64,
    ) -> u32 {
        for _ in 0..2 {
            let is_done = self.entries.front().is_some_and(|first| {
                first.end <= acked && sent_ns.saturating_sub(first.sent_ns) > KEPT_NS
            });
            if is_done || self.entries.len() >= MAX_LOG {
                self.entries.pop_front();
                self.first = self.first.wrapping_add(1);
            }
        }
        self.entries.push_back(Retransmission {
            start,
            end,
            sent_ns,
            tsval,
            is_spurious: false,
        });
        self.first.wrapping_add(self.entries.len() as u32 - 1)
    }

    /// Keeps the count only.
    pub(crate) fn close(&mut self) {
        self.entries = VecDeque::new();
    }

    fn index_of(&self, number: u32) -> Option<usize> {
        let index = number.wrapping_sub(self.first) as usize;
        (index < self.entries.len()).then_some(index)
    }

    /// The index to continue from, for a number whose entry may no longer be held.
    fn resume(&self, number: u32) -> usize {
        if is_before(number, self.first) {
            return 0;
        }
        (number.wrapping_sub(self.first) as usize).min(self.entries.len())
    }

    /// Eifel detection (RFC 3522 §3.2): the ACK that first acknowledges the retransmission echoes a
    /// timestamp from before it, so the original had arrived. Returns whether that is so.
    pub(crate) fn on_echo(&mut self, number: u32, echoed: u32) -> bool {
        let entry = self
            .index_of(number)
            .and_then(|index| self.entries.get_mut(index));
        let Some(entry) =
            entry.filter(|entry| entry.tsval.is_some_and(|tsval| is_before(echoed, tsval)))
        else {
            return false;
        };
        self.spurious_pkts += u64::from(!entry.is_spurious);
        entry.is_spurious = true;
        true
    }

    /// The receiver reports `start..end` as received twice (RFC 2883 §4, RFC 3708).
    pub(crate) fn on_duplicate_report(&mut self, start: u64, end: u64) {
        let from = self.resume(self.next_report);
        let mut last_match = None;
        let looked_at = self
            .entries
            .iter_mut()
            .enumerate()
            .skip(from)
            .take(MAX_LOOKED_AT);
        for (index, entry) in looked_at {
            if entry.start < end && start < entry.end {
                if !entry.is_spurious {
                    entry.is_spurious = true;
                    self.spurious_pkts += 1;
                }
                last_match = Some(index);
                if entry.end >= end {
                    break;
                }
            }
        }
        if let Some(index) = last_match {
            self.next_report = self.first.wrapping_add(index as u32);
        }
    }

    /// The next retransmission that was sent before `delivered_sent_ns`, when something was sent
    /// that has been delivered; each is returned once.
    pub(crate) fn next_overtaken(&mut self, delivered_sent_ns: u64) -> Option<Retransmission> {
        let index = self.resume(self.next_loss);
        let entry = *self
            .entries
            .get(index)
            .filter(|entry| entry.sent_ns < delivered_sent_ns)?;
        self.next_loss = self.first.wrapping_add(index as u32 + 1);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(count: u64) -> RetransmissionLog {
        let mut log = RetransmissionLog::default();
        for index in 0..count {
            let (start, sent_ns) = (index * 100, index * 10);
            log.push(start, start + 100, sent_ns, Some(index as u32), 0);
        }
        log
    }

    #[test]
    fn a_report_counts_each_retransmission_once() {
        let mut log = log(10);
        log.on_duplicate_report(200, 300);
        log.on_duplicate_report(200, 300);
        assert_eq!(log.spurious_pkts(), 1);
        log.on_duplicate_report(500, 800);
        assert_eq!(log.spurious_pkts(), 4, "one report of three segments");
        log.on_echo(5, 1);
        assert_eq!(log.spurious_pkts(), 4, "known already");
    }

    #[test]
    fn eifel_needs_an_older_timestamp() {
        let mut log = log(3);
        log.on_echo(1, 1);
        assert_eq!(
            log.spurious_pkts(),
            0,
            "the retransmission itself was echoed"
        );
        log.on_echo(1, 0);
        assert_eq!(log.spurious_pkts(), 1);
    }

    #[test]
    fn overtaken_ones_come_once_and_in_order() {
        let mut log = log(4);
        assert_eq!(log.next_overtaken(15).map(|r| r.start), Some(0));
        assert_eq!(log.next_overtaken(15).map(|r| r.start), Some(100));
        assert!(log.next_overtaken(15).is_none());
        assert_eq!(log.next_overtaken(100).map(|r| r.start), Some(200));
    }

    #[test]
    fn memory_is_bounded() {
        let log = log(3 * MAX_LOG as u64);
        assert!(log.entries.len() <= MAX_LOG);
    }
}
