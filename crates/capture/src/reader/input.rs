//! The bytes of a capture, a window at a time: memory does not depend on what a file claims.

use std::io::{self, Read};

/// How much of the input is in memory. It holds a whole packet of any Ethernet capture (at most
/// 262,144 bytes in libpcap and Wireshark) and fits in a core's own cache. Fuzzing uses a small
/// one, to reach its edges.
pub(super) const WINDOW_BYTES: usize = if cfg!(fuzzing) { 1 << 8 } else { 1 << 19 };

/// Buffer for reads of the input.
pub(super) struct Input {
    source: Box<dyn Read + Send>,
    window: Box<[u8]>,
    /// `window[start..end]` has been read but not taken.
    start: usize,
    end: usize,
    /// Bytes of the input before `window[start]`.
    offset: u64,
    /// Remainder of what was taken and did not fit into the window.
    skip_bytes: u64,
    is_at_end: bool,
}

impl Input {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Self {
            source,
            window: vec![0; WINDOW_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            offset: 0,
            skip_bytes: 0,
            is_at_end: false,
        }
    }

    /// Bytes of the input before the next one.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next `length` bytes, without taking them; fewer only at the end of the input.
    #[inline]
    pub(super) fn peek(&mut self, length: usize) -> io::Result<&[u8]> {
        if self.end - self.start < length {
            self.fill(length)?;
        }
        let end = self.end.min(self.start + length);
        Ok(&self.window[self.start..end])
    }

    /// Takes the next `length` bytes; `None` if the input ends before. If they do not fit into the
    /// window, returns what fits and skips the rest.
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> io::Result<Option<&[u8]>> {
        let held = length.min(WINDOW_BYTES);
        if self.end - self.start < held {
            self.fill(held)?;
            if self.end - self.start < held {
                return Ok(None);
            }
        }
        let start = self.start;
        self.start += held;
        self.offset += held as u64;
        self.skip_bytes = (length - held) as u64;
        Ok(Some(&self.window[start..start + held]))
    }

    /// Whether the input ended while something was still to be skipped.
    pub(super) fn ended_while_skipping(&self) -> bool {
        self.skip_bytes > 0 && self.is_at_end
    }

    /// Whether everything has been taken.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_at_end && self.start == self.end
    }

    /// Returns the source, preceded by what was read but not taken.
    pub(super) fn into_source(self) -> Box<dyn Read + Send> {
        let rest = self.window[self.start..self.end].to_vec();
        Box::new(io::Cursor::new(rest).chain(self.source))
    }

    /// Reads until the window has `length` bytes or the input ends.
    #[cold]
    fn fill(&mut self, length: usize) -> io::Result<()> {
        debug_assert!(length <= WINDOW_BYTES);
        self.skip()?;
        self.window.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < length && !self.is_at_end {
            let count = read(&mut self.source, &mut self.window[self.end..])?;
            self.is_at_end = count == 0;
            self.end += count;
        }
        Ok(())
    }

    fn skip(&mut self) -> io::Result<()> {
        while self.skip_bytes > 0 && !self.is_at_end {
            if self.start == self.end {
                self.start = 0;
                self.end = read(&mut self.source, &mut self.window)?;
                self.is_at_end = self.end == 0;
            }
            let held = (self.end - self.start) as u64;
            let skipped = self.skip_bytes.min(held);
            // `skipped` is at most the window's length.
            self.start += skipped as usize;
            self.offset += skipped;
            self.skip_bytes -= skipped;
        }
        Ok(())
    }
}

/// One read, retried after a signal.
fn read(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
