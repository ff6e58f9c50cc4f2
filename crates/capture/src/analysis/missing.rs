//! Ranges below the oldest outstanding byte that the capture has not seen: lost by the capture, or
//! yet to come if its packets are in another order than the network's.

/// Largest number of ranges kept: beyond it the oldest count as missing permanently.
const MAX_RANGES: usize = 1 << 10;

#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// This does not hold for what was sent before the capture began.
    is_missing: bool,
}

/// Ranges not seen, in order of sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingRanges {
    ranges: Vec<Range>,
    bytes: u64,
}

impl MissingRanges {
    /// Everything in the last `bytes` before `first`: the capture began there.
    pub(crate) fn before_capture(first: u64, bytes: u64) -> Self {
        let all = Range {
            start: first - bytes,
            end: first,
            is_missing: false,
        };
        Self {
            ranges: vec![all],
            bytes: 0,
        }
    }

    /// Bytes that are missing.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the last range is the one sequence number before `end`.
    pub(crate) fn ends_with_one(&self, end: u64) -> bool {
        self.ranges
            .last()
            .is_some_and(|last| last.is_missing && last.end == end && last.start + 1 == end)
    }

    /// Keeps the count, and the last range for [`MissingRanges::ends_with_one`].
    pub(crate) fn close(&mut self) {
        self.ranges = self.ranges.pop().into_iter().collect();
    }

    /// A range, above all others, has been passed by without being seen.
    pub(crate) fn add(&mut self, start: u64, end: u64) {
        self.bytes += end - start;
        if let Some(last) = self
            .ranges
            .last_mut()
            .filter(|last| last.end == start && last.is_missing)
        {
            last.end = end;
            return;
        }
        if self.ranges.len() >= MAX_RANGES {
            self.ranges.drain(..MAX_RANGES / 2);
        }
        self.ranges.push(Range {
            start,
            end,
            is_missing: true,
        });
    }

    /// `start..end` is seen; returns how many bytes of it had not been seen.
    pub(crate) fn fill(&mut self, start: u64, end: u64) -> u64 {
        let mut filled = 0;
        let mut index = self.ranges.partition_point(|range| range.end <= start);
        while let Some(range) = self
            .ranges
            .get(index)
            .copied()
            .filter(|range| range.start < end)
        {
            let (from, to) = (range.start.max(start), range.end.min(end));
            filled += to - from;
            if range.is_missing {
                self.bytes -= to - from;
            }
            let left = Range { end: from, ..range };
            let right = Range { start: to, ..range };
            let rest: Vec<Range> = [left, right]
                .into_iter()
                .filter(|r| r.start < r.end)
                .collect();
            let kept = rest.len();
            self.ranges.splice(index..=index, rest);
            index += kept;
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filled_once_and_no_more() {
        let mut missing = MissingRanges::default();
        missing.add(100, 200);
        missing.add(300, 400);
        assert_eq!(missing.bytes(), 200);
        assert_eq!(missing.fill(150, 350), 100, "50 of each");
        assert_eq!(missing.fill(150, 350), 0);
        assert_eq!(missing.bytes(), 100);
        assert_eq!(missing.fill(0, 1000), 100);
        assert_eq!(missing.bytes(), 0);
    }

    #[test]
    fn what_was_before_the_capture_is_not_missing_but_new_when_seen() {
        let mut missing = MissingRanges::before_capture(1000, 500);
        assert_eq!(missing.bytes(), 0);
        assert_eq!(missing.fill(900, 1100), 100);
        assert_eq!(missing.fill(900, 1100), 0);
        assert_eq!(missing.fill(400, 600), 100);
    }

    #[test]
    fn memory_is_bounded() {
        let mut missing = MissingRanges::default();
        for index in 0..10_000 {
            missing.add(index * 10, index * 10 + 5);
        }
        assert!(missing.ranges.len() <= MAX_RANGES);
        assert_eq!(missing.bytes(), 50_000);
    }
}
