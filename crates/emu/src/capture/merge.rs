//! Merges several streams of records, each in order of time.

use std::collections::VecDeque;

use super::record::RecordHeader;

/// A packet that waits to be written.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) header: RecordHeader,
    /// The packet's bytes, as far as they were kept.
    pub(crate) packet: Vec<u8>,
}

/// Waiting records. The space of those that were written is reused.
#[derive(Debug)]
pub(crate) struct Merge {
    /// Records, each with how many came before it.
    streams: Vec<VecDeque<(u64, Record)>>,
    pushed: u64,
    spare: Vec<Vec<u8>>,
}

impl Merge {
    /// Merges this many streams.
    pub(crate) fn new(streams: usize) -> Self {
        Self {
            streams: (0..streams).map(|_| VecDeque::new()).collect(),
            pushed: 0,
            spare: Vec::new(),
        }
    }

    /// Space for a packet, with arbitrary content.
    pub(crate) fn space(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Space that is no longer needed.
    pub(crate) fn give_back(&mut self, space: Vec<u8>) {
        self.spare.push(space);
    }

    /// The next record of `stream`.
    pub(crate) fn push(&mut self, stream: usize, record: Record) {
        let waiting = &mut self.streams[stream];
        debug_assert!(
            waiting
                .back()
                .is_none_or(|(_, last)| last.header.time_ns <= record.header.time_ns)
        );
        waiting.push_back((self.pushed, record));
        self.pushed += 1;
    }

    /// The earliest record, if it is before `until_ns`; of several at once that which was recorded first: in virtual time an
    /// ACK and the data that it lets go are.
    pub(crate) fn pop_before(&mut self, until_ns: u64) -> Option<Record> {
        let first = self
            .streams
            .iter_mut()
            .filter(|waiting| !waiting.is_empty())
            .min_by_key(|waiting| {
                let (number, record) = waiting.front()?;
                Some((record.header.time_ns, *number))
            })?;
        if first.front()?.1.header.time_ns < until_ns {
            first.pop_front().map(|(_, record)| record)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use dumbbell_scenario::Way;

    use super::super::record::Place;
    use super::*;

    fn record(time_ns: u64, place: Place) -> Record {
        Record {
            header: RecordHeader {
                time_ns,
                group: 0,
                packet_bytes: 0,
                kept_bytes: 0,
                place,
                has_checksum: false,
                way: Way::There,
                dropped: None,
            },
            packet: Vec::new(),
        }
    }

    #[test]
    fn of_several_at_once_what_was_recorded_first_comes_first() {
        let mut merge = Merge::new(2);
        // A sender: an ACK arrives (the second stream), data leaves at once, another ACK arrives.
        for (stream, group) in [(1, 0), (0, 1), (1, 2), (0, 3)] {
            let mut passed = record(10, Place::Sender);
            passed.header.group = group;
            merge.push(stream, passed);
        }
        let groups = std::iter::from_fn(|| merge.pop_before(11)).map(|record| record.header.group);
        assert_eq!(groups.collect::<Vec<_>>(), [0, 1, 2, 3]);
    }

    #[test]
    fn the_earliest_comes_first_and_none_too_early() {
        let mut merge = Merge::new(2);
        for (stream, time_ns) in [(0, 10), (0, 30), (1, 10), (1, 20), (0, 40)] {
            merge.push(
                stream,
                record(time_ns, [Place::Sender, Place::Receiver][stream]),
            );
        }
        let until = |merge: &mut Merge, until_ns| -> Vec<_> {
            std::iter::from_fn(|| merge.pop_before(until_ns))
                .map(|record| (record.header.time_ns, record.header.place))
                .collect()
        };
        assert_eq!(
            until(&mut merge, 30),
            [
                (10, Place::Sender),
                (10, Place::Receiver),
                (20, Place::Receiver)
            ]
        );
        // Records of exactly this time may still arrive.
        merge.push(1, record(30, Place::Receiver));
        assert_eq!(
            until(&mut merge, u64::MAX),
            [
                (30, Place::Sender),
                (30, Place::Receiver),
                (40, Place::Sender)
            ]
        );
    }
}
