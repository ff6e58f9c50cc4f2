//! Segment numbers, which this TCP counts in, and the bytes that scripts count in.

/// Where the segments of one direction begin; the first byte is number 1, after the SYN, and a FIN
/// takes one.
#[derive(Debug)]
pub(crate) struct ByteMap {
    /// Segment `n` is `starts[n]..starts[n + 1]`.
    starts: Vec<u32>,
}

impl ByteMap {
    /// No segment yet.
    pub(crate) fn new() -> Self {
        Self { starts: vec![1] }
    }

    /// Segments that begin and end where any of `ranges` does.
    pub(crate) fn of_ranges(ranges: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut starts: Vec<u32> = ranges.flat_map(|(start, end)| [start, end]).collect();
        starts.push(1);
        starts.retain(|&start| start > 0);
        starts.sort_unstable();
        starts.dedup();
        Self { starts }
    }

    /// Adds a segment of `len_bytes` at the end.
    pub(crate) fn push(&mut self, len_bytes: u32) {
        self.starts.push(self.end() + len_bytes);
    }

    /// One past the last byte.
    pub(crate) fn end(&self) -> u32 {
        *self.starts.last().unwrap_or(&1)
    }

    /// How many segments there are.
    pub(crate) fn segments(&self) -> u32 {
        self.starts.len() as u32 - 1
    }

    /// First byte of a segment, or of what follows the last.
    pub(crate) fn start_of(&self, segment: u32) -> u32 {
        self.starts[segment as usize]
    }

    /// How many whole segments lie below `byte`.
    pub(crate) fn whole_below(&self, byte: u32) -> u32 {
        (self.starts.partition_point(|&start| start <= byte) as u32).saturating_sub(1)
    }

    /// The whole segments within `start..end`, as a range of segments.
    pub(crate) fn whole_within(&self, start: u32, end: u32) -> (u32, u32) {
        let first = self.starts.partition_point(|&own| own < start) as u32;
        (first, self.whole_below(end).max(first))
    }
}
