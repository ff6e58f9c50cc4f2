//! What a program prints: the end of it is kept.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};

use crate::error::Error;

/// How much of the output is kept, bytes.
const KEPT_BYTES: usize = 65_536;

/// Longest wait for the thread that reads it.
const PATIENCE: Duration = Duration::from_secs(1);

/// The last of what a program has printed, to its output and errors together, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output(Arc<(Mutex<Kept>, Condvar)>);

#[derive(Debug, Default)]
struct Kept {
    bytes: VecDeque<u8>,
    /// Whether its beginning is no longer there.
    is_cut: bool,
    /// Whether nothing can follow.
    is_complete: bool,
}

impl Output {
    /// One, and the descriptor to print to. A thread reads until no process can print any more.
    pub(crate) fn open() -> Result<(Self, OwnedFd), Error> {
        let cannot = |source| Error::System {
            what: "cannot read what a program prints".to_owned(),
            source,
        };
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).map_err(|errno| cannot(errno.into()))?;
        let output = Self::default();
        let kept = Self(Arc::clone(&output.0));
        thread::Builder::new()
            .name("program-output".to_owned())
            .spawn(move || kept.read_all(File::from(read)))
            .map_err(cannot)?;
        Ok((output, write))
    }

    fn read_all(&self, mut from: File) {
        let mut buffer = vec![0; KEPT_BYTES];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => self.add(&buffer[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.lock().is_complete = true;
        self.0.1.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until what programs that have ended printed has been read. If another has the descriptor, that never is.
    pub(super) fn settle(&self) {
        let incomplete = |kept: &mut Kept| !kept.is_complete;
        let waited = self
            .0
            .1
            .wait_timeout_while(self.lock(), PATIENCE, incomplete);
        drop(waited);
    }

    /// Keeps these bytes too, and drops the oldest that are too many.
    pub(crate) fn add(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        kept.bytes.extend(bytes);
        let surplus = kept.bytes.len().saturating_sub(KEPT_BYTES);
        kept.bytes.drain(..surplus);
        kept.is_cut |= surplus > 0;
    }

    /// What is kept, from the beginning of a line.
    pub(crate) fn text(&self) -> String {
        let mut kept = self.lock();
        let is_cut = kept.is_cut;
        let bytes = &*kept.bytes.make_contiguous();
        let line = match bytes.iter().position(|&byte| byte == b'\n') {
            Some(end) if is_cut => &bytes[end + 1..],
            _ => bytes,
        };
        String::from_utf8_lossy(line).into_owned()
    }

    /// Its last line that says something, for a message.
    pub(crate) fn last_line(&self) -> Option<String> {
        let text = self.text();
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        let shown: String = line.trim().chars().take(200).collect();
        Some(shown.escape_debug().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_in_whole_lines() {
        let output = Output::default();
        assert_eq!(output.text(), "");
        assert_eq!(output.last_line(), None);
        output.add(b"first\n");
        assert_eq!(output.text(), "first\n");
        for number in 0..20_000 {
            output.add(format!("line {number}\n").as_bytes());
        }
        output.add(b"\n");
        let text = output.text();
        assert!(text.len() <= KEPT_BYTES && text.starts_with("line "));
        assert!(text.ends_with("line 19999\n\n"));
        assert_eq!(output.last_line().as_deref(), Some("line 19999"));
    }
}
