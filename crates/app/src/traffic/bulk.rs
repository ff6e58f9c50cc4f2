//! One transfer without end.

use dumbbell_declare::settings;

use super::{ApplicationSettings, Facts};
use crate::{Application, Command, End, Event, Outcome, Transfer};

settings! {
    /// One connection that always has more to send, or sends the group's size.
    pub struct Config {}
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts::ONE_WAY;

    type Application = Bulk;

    fn build(&self, _seed: u64) -> Bulk {
        Bulk { is_open: false }
    }
}

/// One connection, written to without end.
#[derive(Clone, Debug)]
pub struct Bulk {
    is_open: bool,
}

const CONNECTION: u32 = 0;

impl Application for Bulk {
    fn on_event(&mut self, _now_ns: u64, event: Event, outcome: &mut Outcome) {
        let (connection, by, from) = (CONNECTION, End::Sender, End::Sender);
        match event {
            Event::Start => {
                self.is_open = true;
                let bytes = u64::MAX;
                outcome.commands.extend([
                    Command::Open { connection, by },
                    Command::Write {
                        connection,
                        from,
                        bytes,
                    },
                ]);
            }
            Event::Stop if self.is_open => {
                self.is_open = false;
                outcome.commands.push(Command::Close { connection, from });
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        u64::MAX
    }

    fn unfinished(&self, _transfers: &mut Vec<Transfer>) {}
}
