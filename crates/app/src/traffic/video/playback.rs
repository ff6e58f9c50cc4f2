//! The buffer of a player, and what plays of it.

/// Plays in real time what is in the buffer, stalls where nothing is, and resumes with the next chunk.
#[derive(Clone, Debug)]
pub(super) struct Playback {
    chunk_ns: u64,
    /// The rest is as of this time, ns.
    as_of_ns: u64,
    state: State,
    buffer_ns: u64,
    played: Played,
    /// No chunk is to come: an empty buffer is the end.
    has_all: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing has played yet.
    NotStarted,
    Playing,
    Stalled,
    Over,
}

/// What has played so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Played {
    pub(super) stalls: u64,
    pub(super) stall_ns: u64,
    pub(super) played_ns: u64,
}

impl Playback {
    pub(super) fn new(chunk_ns: u64) -> Self {
        Self {
            chunk_ns,
            as_of_ns: 0,
            state: State::NotStarted,
            buffer_ns: 0,
            played: Played::default(),
            has_all: false,
        }
    }

    fn advance(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.as_of_ns);
        self.as_of_ns = self.as_of_ns.max(now_ns);
        match self.state {
            State::Playing => {
                let played_ns = elapsed_ns.min(self.buffer_ns);
                self.buffer_ns -= played_ns;
                self.played.played_ns += played_ns;
                if played_ns < elapsed_ns && self.has_all {
                    self.state = State::Over;
                } else if played_ns < elapsed_ns {
                    self.state = State::Stalled;
                    self.played.stalls += 1;
                    self.played.stall_ns += elapsed_ns - played_ns;
                }
            }
            State::Stalled => self.played.stall_ns += elapsed_ns,
            State::NotStarted | State::Over => {}
        }
    }

    /// A chunk is complete.
    pub(super) fn add_chunk(&mut self, now_ns: u64) {
        self.advance(now_ns);
        self.buffer_ns += self.chunk_ns;
        self.state = State::Playing;
    }

    /// No other chunk will come.
    pub(super) fn end(&mut self, now_ns: u64) {
        self.advance(now_ns);
        self.has_all = true;
        if self.state == State::Stalled {
            self.state = State::Over;
        }
    }

    /// What the buffer holds, ns.
    pub(super) fn buffer_ns(&mut self, now_ns: u64) -> u64 {
        self.advance(now_ns);
        self.buffer_ns
    }

    /// What has played by `now_ns`.
    pub(super) fn at(&self, now_ns: u64) -> Played {
        let mut then = self.clone();
        then.advance(now_ns);
        then.played
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stalls_where_the_buffer_is_empty_and_resumes_with_a_chunk() {
        let mut playback = Playback::new(4000);
        assert_eq!(playback.at(1000), Played::default(), "starting is no stall");
        playback.add_chunk(1000);
        assert_eq!(playback.buffer_ns(2500), 2500);
        playback.add_chunk(5000);
        assert_eq!(playback.at(5000).stalls, 0, "just in time");
        let stalled = Played {
            stalls: 1,
            stall_ns: 500,
            played_ns: 8000,
        };
        assert_eq!(playback.at(9500), stalled);
        playback.add_chunk(9700);
        playback.end(9700);
        let whole = Played {
            stalls: 1,
            stall_ns: 700,
            played_ns: 12_000,
        };
        assert_eq!(playback.at(99_000), whole, "the end is no stall");
    }
}
