//! A command that reads or is foreign code: confined, bounded in time and output, and ended with
//! all that it started, however this process ends.

use std::env;
use std::ffi::{CString, OsStr};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use object::Endianness;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::sandbox::confinement::Confinement;
use crate::sandbox::files::Files;
use crate::sandbox::limits::Limits;
use crate::sandbox::supervisor::{Plan, REPORT_BYTES, Stop, UNWANTED, fork_confined};
use crate::sandbox::{is_off, system_calls};

/// Environment variables that a program of foreign code gets.
const KEPT_VARIABLES: [&str; 3] = ["LANG", "LC_ALL", "LD_LIBRARY_PATH"];
/// How long after the command's time the supervisor may take.
const GRACE: Duration = Duration::from_secs(10);

/// What kind of command it is, which decides what it can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandKind {
    /// It reads foreign code, and may start programs.
    Compiler,
    /// It is foreign code.
    Program,
}

/// A command, what it can read and write, and its bounds.
#[derive(Debug)]
pub struct ConfinedCommand {
    command: Command,
    kind: CommandKind,
    files: Files,
    scratch: Option<PathBuf>,
    /// Limit of wall-clock time.
    pub time: Duration,
    /// CPU time of each process.
    pub cpu_s: u64,
    /// Address space of each process; `None` for programs with sanitizers, which need it all.
    pub address_space_bytes: Option<u64>,
    /// Memory in use by the command itself.
    pub resident_bytes: Option<u64>,
    /// Size of each file that it writes.
    pub file_bytes: u64,
    /// How much of standard output and of standard error is read; it is ended if it writes more.
    pub output_bytes: [usize; 2],
}

/// What became of a command.
#[derive(Debug)]
#[non_exhaustive]
pub struct Ended {
    /// Exit status of the command.
    pub status: ExitStatus,
    /// What it wrote.
    pub stdout: Vec<u8>,
    /// What it reported.
    pub stderr: Vec<u8>,
    /// The bound at which it was ended, in words that complete "it"; `None` if it ended by itself.
    pub stopped: Option<String>,
}

impl ConfinedCommand {
    /// A program with nothing but the system's libraries to read, and generous bounds.
    fn new(program: impl AsRef<OsStr>, kind: CommandKind) -> Self {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        if kind == CommandKind::Program && !is_off() {
            // Others may hold passwords and tokens.
            let kept = KEPT_VARIABLES.map(|name| (name, env::var_os(name)));
            command.env_clear();
            command.envs(
                kept.into_iter()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
        }
        Self {
            command,
            kind,
            files: Files {
                own_proc: kind == CommandKind::Program,
                ..Files::libraries()
            },
            scratch: None,
            time: Duration::from_secs(30),
            cpu_s: 60,
            address_space_bytes: None,
            resident_bytes: None,
            file_bytes: 256 << 20,
            output_bytes: [64 << 20, 1 << 20],
        }
    }

    /// A compiler, or another program that is to be trusted but for what it reads; it can start
    /// programs that it may execute.
    pub fn compiler(program: impl AsRef<OsStr>) -> Self {
        Self::new(program, CommandKind::Compiler)
    }

    /// A program made of foreign code, which can execute only itself.
    pub fn program(program: &Path) -> Self {
        let mut command = Self::new(program, CommandKind::Program);
        command
            .execute([program.to_owned()])
            .execute(interpreter(program));
        command
    }

    /// Appends an argument.
    pub fn arg(&mut self, argument: impl AsRef<OsStr>) -> &mut Self {
        self.command.arg(argument);
        self
    }

    /// Appends arguments to the command.
    pub fn args(&mut self, arguments: impl IntoIterator<Item: AsRef<OsStr>>) -> &mut Self {
        self.command.args(arguments);
        self
    }

    /// Sets an environment variable.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.command.env(name, value);
        self
    }

    /// Where it runs.
    pub fn current_dir(&mut self, directory: &Path) -> &mut Self {
        self.command.current_dir(directory);
        self
    }

    /// Lets it read files; a directory with all below it.
    pub fn read(&mut self, paths: impl IntoIterator<Item = PathBuf>) -> &mut Self {
        self.files.read.extend(paths);
        self
    }

    /// Lets it read and execute files.
    pub fn execute(&mut self, paths: impl IntoIterator<Item = PathBuf>) -> &mut Self {
        self.files.execute.extend(paths);
        self
    }

    /// Lets it write files.
    pub fn write(&mut self, paths: impl IntoIterator<Item = PathBuf>) -> &mut Self {
        self.files.write.extend(paths);
        self
    }

    /// A directory that is removed if this process dies meanwhile.
    pub fn remove_if_killed(&mut self, directory: &Path) -> &mut Self {
        self.scratch = Some(directory.to_owned());
        self
    }

    /// A directory that it can write, and that is removed if this process dies meanwhile.
    pub fn scratch(&mut self, directory: &Path) -> &mut Self {
        self.remove_if_killed(directory)
            .write([directory.to_owned()])
    }

    /// Runs it to its end, once.
    pub fn output(&mut self) -> io::Result<Ended> {
        let (mut ours, theirs) = UnixStream::pair()?;
        let plan = self.plan(&theirs)?;
        // It holds the plan of one run.
        let mut command = mem::replace(&mut self.command, Command::new(""));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: `fork_confined` makes system calls only, and allocates nothing; all that it needs
        // was prepared in `plan`.
        unsafe { command.pre_exec(move || fork_confined(&plan)) };
        let mut supervisor = command.spawn()?;
        drop(theirs);
        let pipes = (supervisor.stdout.take(), supervisor.stderr.take());
        let until = Instant::now() + self.time + GRACE;
        let mut outputs = Outputs {
            stdout: Pipe::new(pipes.0.map(Into::into), self.output_bytes[0]),
            stderr: Pipe::new(pipes.1.map(Into::into), self.output_bytes[1]),
        };
        let ended = outputs
            .read(&mut ours, until)
            .and_then(|()| read_report(&mut ours, until));
        if ended.is_err() {
            // Also if it was killed itself; what it started dies with it.
            let _ = supervisor.kill();
        }
        supervisor.wait()?;
        let (status, stop) = ended?;
        let too_much = outputs.too_much();
        let stopped = too_much.or_else(|| self.stopped(stop));
        Ok(Ended {
            status,
            stdout: outputs.stdout.data,
            stderr: outputs.stderr.data,
            stopped,
        })
    }

    fn plan(&self, socket: &UnixStream) -> io::Result<Plan> {
        let cleanup = self.scratch.as_ref().map(|directory| {
            let directory = CString::new(directory.as_os_str().as_bytes());
            directory.map(|directory| [c"rm".into(), c"-rf".into(), c"--".into(), directory])
        });
        Ok(Plan {
            confinement: self.confinement()?,
            time_ms: i64::try_from(self.time.as_millis()).unwrap_or(i64::MAX / 2),
            resident_bytes: self.resident_bytes,
            socket: socket.as_raw_fd(),
            requester: rustix::process::getpid().as_raw_pid(),
            cleanup: cleanup.transpose()?,
        })
    }

    fn confinement(&self) -> io::Result<Confinement> {
        if is_off() {
            return Ok(Confinement::none());
        }
        Ok(Confinement {
            is_off: false,
            limits: Limits {
                cpu_s: Some(self.cpu_s),
                address_space_bytes: self.address_space_bytes,
                file_bytes: Some(self.file_bytes),
                open_files: Some(1024),
            },
            files: self.files.rules()?,
            system_calls: match self.kind {
                CommandKind::Compiler => system_calls::of_a_compiler(),
                CommandKind::Program => system_calls::of_a_program(),
            },
        })
    }

    fn stopped(&self, stop: Stop) -> Option<String> {
        match stop {
            Stop::None => None,
            Stop::Time => Some(format!("did not end within {} s", self.time.as_secs_f64())),
            Stop::Memory => Some(format!(
                "used more than {} MB of memory",
                self.resident_bytes.unwrap_or(0) >> 20
            )),
            Stop::Unwanted => Some("was ended".to_owned()),
        }
    }
}

/// The dynamic linker that a program names.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let content = std::fs::read(program).ok()?;
    let elf = ElfFile64::<Endianness>::parse(&*content).ok()?;
    let mut headers = elf.elf_program_headers().iter();
    let name = headers.find_map(|header| header.interpreter(elf.endian(), &*content).ok()?)?;
    Some(PathBuf::from(OsStr::from_bytes(name)))
}

/// Waits for the supervisor's report; its socket ends without one if it was killed.
fn read_report(socket: &mut UnixStream, until: Instant) -> io::Result<(ExitStatus, Stop)> {
    let left = until.saturating_duration_since(Instant::now());
    socket.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
    let mut report = [0_u8; REPORT_BYTES];
    socket
        .read_exact(&mut report)
        .map_err(|error| io::Error::other(format!("the process that watches it ended: {error}")))?;
    let word = |at: usize| i32::from_ne_bytes(report[at..at + 4].try_into().expect("four bytes"));
    let stop = match word(4) {
        0 => Stop::None,
        1 => Stop::Time,
        2 => Stop::Memory,
        _ => Stop::Unwanted,
    };
    Ok((ExitStatus::from_raw(word(0)), stop))
}

/// One output of the command.
struct Pipe {
    /// `None` once it has ended.
    file: Option<std::fs::File>,
    data: Vec<u8>,
    most: usize,
}

impl Pipe {
    fn new(file: Option<std::os::fd::OwnedFd>, most: usize) -> Self {
        Self {
            file: file.map(Into::into),
            data: Vec::new(),
            most,
        }
    }

    /// Reads what is there; what is too much is counted only.
    fn read(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut part = [0_u8; 1 << 16];
        let length = file.read(&mut part)?;
        if length == 0 {
            self.file = None;
        }
        let room = (self.most + 1).saturating_sub(self.data.len());
        self.data.extend(&part[..length.min(room)]);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.data.len() > self.most
    }
}

struct Outputs {
    stdout: Pipe,
    stderr: Pipe,
}

impl Outputs {
    /// Reads both to their ends; has the command ended if it writes too much.
    fn read(&mut self, supervisor: &mut UnixStream, until: Instant) -> io::Result<()> {
        let mut is_wanted = true;
        loop {
            for pipe in [&mut self.stdout, &mut self.stderr] {
                if is_readable(pipe)? {
                    pipe.read()?;
                }
            }
            if is_wanted && self.too_much().is_some() {
                is_wanted = false;
                supervisor.write_all(&[UNWANTED])?;
            }
            if self.stdout.file.is_none() && self.stderr.file.is_none() {
                return Ok(());
            }
            self.wait(until)?;
        }
    }

    fn wait(&self, until: Instant) -> io::Result<()> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::other(
                "the process that watches it does not answer",
            ));
        }
        let files = [&self.stdout.file, &self.stderr.file];
        let mut watched: Vec<PollFd<'_>> = files
            .into_iter()
            .flatten()
            .map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN))
            .collect();
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        match poll(&mut watched, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn too_much(&self) -> Option<String> {
        let over = [&self.stdout, &self.stderr]
            .into_iter()
            .find(|pipe| pipe.is_over())?;
        Some(format!("wrote more than {} MB of output", over.most >> 20))
    }
}

fn is_readable(pipe: &Pipe) -> io::Result<bool> {
    let Some(file) = &pipe.file else {
        return Ok(false);
    };
    let mut watched = [PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN)];
    match poll(&mut watched, Some(&Timespec::default())) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
