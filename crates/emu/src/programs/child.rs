//! A program that was started, as the engine sees it.

use std::ffi::{CString, OsStr};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags,
    SocketType, recvmsg, send, socketpair,
};

use super::launch::Launch;
use super::messages::{EVENT_BYTES, Event, Order, Step};
use super::names::Names;
use super::spawner::Spawner;
use crate::error::Error;
use crate::hosts::namespace::Namespace;

/// How long a process may take from being forked to being the program: page faults of a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

/// What to run in a host.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// `NAME` and value; `None`: the engine's.
    pub environment: Option<Vec<(String, String)>>,
    /// `None`: the engine's.
    pub directory: Option<PathBuf>,
    /// Whether it has a session of its own, so that a terminal's signals do not reach it.
    pub new_session: bool,
}

impl Command {
    /// With the engine's environment and directory, out of reach of the terminal.
    pub fn new(words: &[String]) -> Self {
        Self {
            words: words.to_vec(),
            environment: None,
            directory: None,
            new_session: true,
        }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
}

impl Exit {
    /// Reads a status of wait(2).
    pub(crate) fn of_status(status: i32) -> Self {
        if libc::WIFSIGNALED(status) {
            Self::Signal(libc::WTERMSIG(status))
        } else {
            Self::Code(libc::WEXITSTATUS(status))
        }
    }
}

/// A program in a host. Dropped, it is killed with all that it started.
#[derive(Debug)]
pub(crate) struct Child {
    /// What it was started by, for messages.
    name: String,
    reports: OwnedFd,
    /// Number of the program's process, or of its namespace's init, as we number processes; 0 if not known.
    process: i32,
    init: i32,
    started_ns: u64,
    exited: Option<(Exit, u64)>,
    cpu_us: Option<u64>,
    is_gone: bool,
    /// Whether a signal asked it to end while it ran.
    was_asked_to_end: bool,
}

/// Signals by which a program is asked to end.
const END_SIGNALS: [i32; 5] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGKILL,
];

impl Child {
    /// Starts a program, with `standard` input, output and errors, in the host of `network`. One that `lingers` is over
    /// only when nothing is left of what it started.
    pub(super) fn start(
        spawner: &Spawner,
        command: &Command,
        lingers: bool,
        network: &Namespace,
        names: &Names,
        standard: [BorrowedFd<'_>; 3],
    ) -> Result<Self, Error> {
        let name = command.words.first().cloned().unwrap_or_default();
        let directory = match &command.directory {
            Some(directory) => directory.clone(),
            None => std::env::current_dir().map_err(|source| Error::System {
                what: format!("cannot start `{name}`: there is no working directory"),
                source,
            })?,
        };
        let environment = environment(command);
        let program = find(&name, &environment, &directory)?;
        let launch = Launch {
            program: &program,
            command: &command.words,
            environment,
            directory: &directory,
            hosts: names.hosts(),
            resolver: names.resolver(),
            lingers,
            new_session: command.new_session,
        };
        let cannot_start = |source| Error::System {
            what: format!("cannot start `{name}`"),
            source,
        };
        let plan = launch.plan().map_err(cannot_start)?;
        let (reports, theirs) = sockets().map_err(cannot_start)?;
        let [input, output, errors] = standard;
        let descriptors = [
            plan.as_fd(),
            network.as_fd(),
            input,
            output,
            errors,
            theirs.as_fd(),
        ];
        spawner.ask(descriptors).map_err(cannot_start)?;
        drop(theirs);
        let mut child = Self {
            name,
            reports,
            process: 0,
            init: 0,
            started_ns: 0,
            exited: None,
            cpu_us: None,
            is_gone: false,
            was_asked_to_end: false,
        };
        child.await_start(&directory)?;
        Ok(child)
    }

    fn await_start(&mut self, directory: &Path) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        while self.started_ns == 0 {
            if Instant::now() >= until {
                return Err(self.not_started("it did not start within 10 s"));
            }
            match self.next_event()? {
                Some(Event::Failed { step, errno }) => {
                    let reason = io::Error::from_raw_os_error(errno);
                    return Err(self.not_started(&failure(step, directory, &reason)));
                }
                Some(_) => {}
                None if self.is_gone => return Err(self.not_started("its process was killed")),
                None => self.await_report(until),
            }
        }
        Ok(())
    }

    fn await_report(&self, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        // A wait that fails is a short one.
        let _ = poll(
            &mut [PollFd::new(&self.reports, PollFlags::IN)],
            Some(&timeout),
        );
    }

    fn not_started(&self, reason: &str) -> Error {
        Error::Refused(format!("cannot start `{}`: {reason}", self.name))
    }

    /// The program's process, as we number processes.
    pub(crate) fn process(&self) -> i32 {
        self.process
    }

    /// The first process of its PID namespace.
    pub(crate) fn init(&self) -> i32 {
        self.init
    }

    /// When it began, ns of the monotonic clock.
    pub(crate) fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// How it ended; `None` while it runs. One whose namespace was killed was ended by that.
    pub(crate) fn exit(&self) -> Option<Exit> {
        let killed = self.is_gone.then_some(Exit::Signal(libc::SIGKILL));
        self.exited.map(|(exit, _)| exit).or(killed)
    }

    /// When it ended; `None` while it runs, and if it was killed with its namespace.
    pub(crate) fn exited_ns(&self) -> Option<u64> {
        self.exited.map(|(_, at_ns)| at_ns)
    }

    /// A descriptor that is readable when it has reported something.
    pub(super) fn reports(&self) -> io::Result<OwnedFd> {
        self.reports.try_clone()
    }

    /// Kills it and all that it started.
    pub(super) fn kill_all(&self) {
        // Its init ends when nothing can come any more. One that has ended gets no message.
        let _ = rustix::net::shutdown(&self.reports, rustix::net::Shutdown::Write);
    }

    /// CPU time of it and all that it started; `None` before nothing is left of them.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        self.cpu_us
    }

    /// Whether nothing of it is left.
    pub(crate) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Takes what it has reported.
    pub(crate) fn look(&mut self) -> Result<(), Error> {
        while !self.is_gone && self.next_event()?.is_some() {}
        Ok(())
    }

    /// Whether a signal asked it to end while it ran.
    pub(crate) fn was_asked_to_end(&self) -> bool {
        self.was_asked_to_end
    }

    /// Sends the program a signal, unless it has ended.
    pub(crate) fn signal(&mut self, signal: i32) {
        if self.exited.is_none() {
            self.was_asked_to_end |= END_SIGNALS.contains(&signal);
            self.order(Order::Signal(signal));
        }
    }

    /// Sends a signal to it and all that it started.
    pub(crate) fn signal_all(&self, signal: i32) {
        self.order(Order::SignalAll(signal));
    }

    fn order(&self, order: Order) {
        // One that has ended does not take it.
        let _ = send(&self.reports, &order.to_bytes(), SendFlags::NOSIGNAL);
    }

    /// The next report; `None` if there is none yet, or will be none.
    fn next_event(&mut self) -> Result<Option<Event>, Error> {
        let mut bytes = [0; EVENT_BYTES];
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            &self.reports,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut control,
            RecvFlags::DONTWAIT,
        );
        let length = match received {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(None),
            // It closed with an order of ours unread; what it had reported is still there.
            Err(rustix::io::Errno::CONNRESET) => return self.next_event(),
            Err(errno) => {
                return Err(Error::System {
                    what: format!("cannot learn how `{}` does", self.name),
                    source: errno.into(),
                });
            }
        };
        if length == 0 {
            self.is_gone = true;
            return Ok(None);
        }
        let sender = control.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmCredentials(credentials) => Some(credentials.pid),
            _ => None,
        });
        let sender = sender.map_or(0, |pid| pid.as_raw_nonzero().get());
        let event = Event::from_bytes(&bytes[..length]);
        self.note(event, sender);
        Ok(event)
    }

    fn note(&mut self, event: Option<Event>, sender: i32) {
        match event {
            Some(Event::Forked) => self.process = sender,
            Some(Event::Started { at_ns }) => {
                self.init = sender;
                self.started_ns = at_ns as u64;
            }
            Some(Event::Exited { status, at_ns }) => {
                self.exited = Some((Exit::of_status(status), at_ns as u64));
            }
            Some(Event::Gone { user_us, system_us }) => {
                self.cpu_us = Some((user_us + system_us) as u64);
                self.is_gone = true;
            }
            Some(Event::Failed { .. }) | None => {}
        }
    }
}

/// Ours, which says who sends, and theirs.
fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )?;
    rustix::net::sockopt::set_socket_passcred(&ours, true)?;
    Ok((ours, theirs))
}

fn failure(step: Step, directory: &Path, reason: &io::Error) -> String {
    match step {
        Step::Program => reason.to_string(),
        Step::Directory => format!("cannot work in {}: {reason}", directory.display()),
        Step::Namespaces => format!("no process in namespaces of its own: {reason}"),
        Step::Host => format!("cannot enter its host: {reason}"),
        Step::Names if reason.kind() == io::ErrorKind::NotFound => {
            "there is no /etc/hosts to mount its names over; make an empty one".to_owned()
        }
        Step::Names => format!(
            "cannot mount its names over /etc/hosts: {reason}; in a container, add CAP_SYS_ADMIN and allow mounts (`--security-opt apparmor=unconfined`)"
        ),
    }
}

/// The variables of a command, each as `NAME=value`.
pub(crate) fn environment(command: &Command) -> Vec<CString> {
    let of = |name: &OsStr, value: &OsStr| {
        let variable = [name.as_bytes(), b"=", value.as_bytes()].concat();
        CString::new(variable).ok() // one with a zero byte cannot be
    };
    match &command.environment {
        Some(given) => (given.iter())
            .filter_map(|(name, value)| of(OsStr::new(name), OsStr::new(value)))
            .collect(),
        None => std::env::vars_os()
            .filter_map(|(name, value)| of(&name, &value))
            .collect(),
    }
}

/// The executable file of a program's name: as a shell finds it.
pub(crate) fn find(
    name: &str,
    environment: &[CString],
    directory: &Path,
) -> Result<PathBuf, Error> {
    const USUAL: &[u8] = b"/usr/local/bin:/usr/bin:/bin";
    let refused = |reason: &str| Err(Error::Refused(format!("cannot start `{name}`: {reason}")));
    if name.contains('/') {
        let path = directory.join(name);
        return match path.try_exists() {
            Ok(false) => refused("no such file"),
            _ => Ok(path),
        };
    }
    let path = environment
        .iter()
        .find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    let places = path.unwrap_or(USUAL).split(|&byte| byte == b':');
    let found = places
        .map(|place| directory.join(OsStr::from_bytes(place)).join(name))
        .find(|file| file.is_file() && is_executable(file));
    match found {
        Some(file) if !name.is_empty() => Ok(file),
        _ => refused("command not found; install it, or give its path"),
    }
}

fn is_executable(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}
