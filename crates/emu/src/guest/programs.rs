//! Programs in a guest: what its kernel starts, what they print, how they ended.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;

use dumbbell_results::ProgramSummary;
use dumbbell_scenario::{Port, Scenario};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::files;
use super::requested::{RequestedProgram, RequestedPrograms};
use crate::error::Error;
use crate::programs::{Exit, Output, Side, described, listed};

/// What is written at a time: a pipe that can be written takes as much at once (`PIPE_BUF`).
const PIECE_BYTES: usize = 4096;

const NO_TIME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// A program that the guest's kernel is to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedProgram {
    /// The executable file.
    pub path: CString,
    /// The command: its name, and arguments.
    pub words: Vec<CString>,
    /// Variables, each as `NAME=value`.
    pub environment: Vec<CString>,
    /// Where it works.
    pub directory: CString,
    /// The number of its host.
    pub host: u32,
    /// Whether it starts before the run.
    pub is_server: bool,
    /// Otherwise: after the start of the run.
    pub start_ns: u64,
    /// What must be open before the next is started.
    pub ready: Vec<Port>,
    /// How long that may take.
    pub ready_within_ns: u64,
}

/// The programs of a run.
pub(super) struct Programs {
    planned: Vec<PlannedProgram>,
    all: Vec<State>,
    /// Clients that have not ended.
    clients: usize,
    /// Whether they were asked to end.
    are_ending: bool,
}

struct State {
    requested: RequestedProgram,
    output: Output,
    started_ns: u64,
    ended: Option<(Exit, u64)>,
    /// Whether it still ran when it had to end.
    was_ended: bool,
}

impl Programs {
    /// Those that were requested.
    pub(super) fn new(requested: RequestedPrograms, scenario: &Scenario) -> Result<Self, Error> {
        let text = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| Error::Refused("a command has a zero byte".to_owned()))
        };
        let environment = requested.environment.iter().map(|it| text(it));
        let environment: Vec<CString> = environment.collect::<Result<_, _>>()?;
        let directory = text(requested.directory.as_os_str().as_bytes())?;
        let planned = requested.programs.iter().map(|program| {
            let flows = scenario.groups[..program.group].iter();
            let flow = flows.map(|group| group.flows).sum();
            let words = program.words.iter().map(|word| text(word.as_bytes()));
            Ok(PlannedProgram {
                path: text(program.path.as_os_str().as_bytes())?,
                words: words.collect::<Result<_, _>>()?,
                environment: environment.clone(),
                directory: directory.clone(),
                host: 2 * program.group as u32 + u32::from(program.side == Side::Client),
                is_server: program.side == Side::Server,
                // Those of a scenario start when it says, others at once.
                start_ns: match program.standard {
                    None => scenario.groups[program.group].start_of(scenario.seed, flow),
                    Some(_) => 0,
                },
                ready: program.ready.clone(),
                ready_within_ns: program.ready_within.as_nanos() as u64,
            })
        });
        let planned = planned.collect::<Result<_, Error>>()?;
        let of_clients = |it: &&RequestedProgram| it.side == Side::Client;
        Ok(Self {
            planned,
            clients: requested.programs.iter().filter(of_clients).count(),
            all: (requested.programs.into_iter())
                .map(|requested| State {
                    requested,
                    output: Output::default(),
                    started_ns: 0,
                    ended: None,
                    was_ended: false,
                })
                .collect(),
            are_ending: false,
        })
    }

    pub(super) fn planned(&self) -> &[PlannedProgram] {
        &self.planned
    }

    /// A program prints to its stream 1 or 2: how many bytes were taken, or an error of the kernel.
    pub(super) fn write(&mut self, program: u32, stream: u32, bytes: &[u8]) -> i64 {
        let Some(state) = self.all.get(program as usize) else {
            return errno(Errno::BADF);
        };
        match state.requested.standard {
            None => {
                state.output.add(bytes);
                bytes.len() as i64
            }
            Some(standard) => write_all(borrowed(standard[stream as usize % 3]), bytes),
        }
    }

    /// A program reads its standard input: how many bytes there were, or an error of the kernel.
    pub(super) fn read(&mut self, program: u32, buffer: &mut [u8]) -> i64 {
        let state = self.all.get(program as usize);
        match state.and_then(|state| state.requested.standard) {
            None => 0,
            Some([input, ..]) => read_some(borrowed(input), buffer),
        }
    }

    pub(super) fn started(&mut self, now_ns: u64, program: u32) {
        if let Some(state) = self.all.get_mut(program as usize) {
            state.started_ns = now_ns;
        }
    }

    /// A program has ended, by its status as wait(2) has it, or could not be started because of an error of the kernel. Whether it was the
    /// last client.
    ///
    /// # Errors
    ///
    /// It could not be started, or it is a server that has ended before its ports were open.
    pub(super) fn ended(
        &mut self,
        now_ns: u64,
        program: u32,
        status: i32,
        error: i32,
        has_begun: bool,
    ) -> Result<bool, Error> {
        let Some(state) = self.all.get_mut(program as usize) else {
            return Ok(false);
        };
        if error != 0 {
            let reason = io::Error::from_raw_os_error(error.abs());
            return Err(Error::Refused(format!(
                "cannot start `{}`: {reason}",
                state.requested.words[0]
            )));
        }
        let exit = Exit::of_status(status);
        state.ended = Some((exit, now_ns));
        state.was_ended = self.are_ending;
        if state.requested.side == Side::Client {
            self.clients -= 1;
            return Ok(self.clients == 0);
        }
        if !has_begun && exit != Exit::Code(0) {
            return Err(Error::Refused(state.server_ended(exit)));
        }
        Ok(false)
    }

    /// The error for a server that has not opened its ports in time.
    pub(super) fn not_ready(&self, program: u32) -> Error {
        let state = &self.all[program as usize];
        Error::Refused(format!(
            "nothing listens at {} of the server after {:?}{}; {}",
            listed(&state.requested.ready),
            state.requested.ready_within,
            state.printed(),
            match state.requested.standard {
                Some(_) => "see what it printed, or use `--ready-timeout`",
                None => "change `ready`",
            }
        ))
    }

    /// What still runs is asked to end.
    pub(super) fn ending(&mut self) {
        self.are_ending = true;
    }

    /// What became of them, in the order in which they started, in a run that began at `epoch_ns` and ends now.
    pub(super) fn summaries(&self, epoch_ns: u64, now_ns: u64) -> Vec<ProgramSummary> {
        let us = |at_ns: u64| (at_ns as i64 - epoch_ns as i64) / 1000;
        let started = self.all.iter().filter(|state| state.started_ns > 0);
        let summary = |state: &State| {
            let (exit_code, signal) = match state.ended {
                Some((Exit::Code(code), _)) => (Some(code), None),
                Some((Exit::Signal(signal), _)) => (None, Some(signal.cast_unsigned())),
                None => (None, Some(libc::SIGKILL.cast_unsigned())),
            };
            ProgramSummary {
                group: state.requested.group as u32,
                side: state.requested.side.name(),
                command: state.requested.words.clone(),
                start_us: us(state.started_ns),
                end_us: us(state.ended.map_or(now_ns, |(_, at_ns)| at_ns)),
                exit_code,
                signal,
                was_ended: state.was_ended || state.ended.is_none(),
                cpu_us: None,
                run_delay_us: 0,
                output: match state.requested.standard {
                    Some(_) => None,
                    None => Some(state.output.text()),
                },
                measured: None,
            }
        };
        started.map(summary).collect()
    }
}

impl State {
    fn server_ended(&self, exit: Exit) -> String {
        format!(
            "the server `{}` {} before the run began{}",
            self.requested.words[0],
            described(exit),
            self.printed()
        )
    }

    /// Its last words, for a message.
    fn printed(&self) -> String {
        let line = self.output.last_line();
        line.map_or_else(String::new, |line| format!("; it printed `{line}`"))
    }
}

/// A descriptor that was given to this process.
fn borrowed<'a>(descriptor: i32) -> BorrowedFd<'a> {
    // SAFETY: the process that started this one has it open until this one ends; if not, the kernel refuses it.
    unsafe { BorrowedFd::borrow_raw(descriptor) }
}

/// Writes all of it, however long that takes: how much a reader takes at a time must not show in the guest.
fn write_all(to: BorrowedFd<'_>, bytes: &[u8]) -> i64 {
    for mut piece in bytes.chunks(PIECE_BYTES) {
        while !piece.is_empty() {
            wait_for(to, PollFlags::OUT);
            match rustix::io::write(to, piece) {
                Ok(written) => piece = &piece[written..],
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return errno(error),
            }
        }
    }
    bytes.len() as i64
}

fn read_some(from: BorrowedFd<'_>, buffer: &mut [u8]) -> i64 {
    loop {
        wait_for(from, PollFlags::IN);
        match rustix::io::read(from, &mut *buffer) {
            Ok(bytes) => return bytes as i64,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return errno(error),
        }
    }
}

/// Waits until something can be read or written, in real time, which the file [`files::WAITING`] says meanwhile.
fn wait_for(descriptor: BorrowedFd<'_>, flags: PollFlags) {
    let poll = |timeout| poll(&mut [PollFd::new(&descriptor, flags)], timeout);
    let is_ready = |polled: rustix::io::Result<usize>| polled.is_ok_and(|ready| ready > 0);
    if is_ready(poll(Some(&NO_TIME))) {
        return;
    }
    // Without it the run is taken for one that stands still, if this takes long.
    let _ = fs::write(files::WAITING, []);
    while !is_ready(poll(None)) {}
    let _ = fs::remove_file(files::WAITING);
}

fn errno(error: Errno) -> i64 {
    -i64::from(error.raw_os_error())
}
