//! A run in a guest: User-mode Linux, an ordinary process that boots a kernel in virtual time and runs the scenario on it
//! (`guest`).

mod scratch;

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::symlink;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Table;
use dumbbell_scenario::{Control, Port, Scenario};
use rustix::io::fcntl_dupfd_cloexec;

use crate::error::Error;
use crate::guest::{
    RequestedProgram, RequestedPrograms, check, files,
    time_of_day::{START_S, START_VARIABLE, start_s},
};
use crate::programs::{Command as Words, READY_WITHIN, Side, environment, find, programs_of};
use scratch::{LOG, Scratch, last_lines, progress_ns, write_whole};

/// How often the process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Virtual time must pass within this time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Memory of the guest: address space, of which it touches what it uses.
const MEMORY_MB: u64 = 1024;

/// A kernel that runs as a process, and the library that it loads.
#[derive(Clone, Debug)]
pub struct Guest {
    /// The kernel, an executable.
    pub kernel: PathBuf,
    /// The crate `guest`.
    pub library: PathBuf,
}

/// A program that is started in a guest.
#[derive(Clone, Debug)]
pub struct GuestProgram<'a> {
    /// Index of its group, which is one of programs.
    pub group: usize,
    /// The host it runs in, of the group's two.
    pub side: Side,
    /// The command, with the environment and directory of this process.
    pub words: Vec<String>,
    /// Standard input, output and errors; `None`: nothing comes in, and the last of what goes out is in the summary.
    pub standard: Option<[BorrowedFd<'a>; 3]>,
    /// What must be open before the next is started.
    pub ready: Vec<Port>,
    /// How long that may take, in the guest's time.
    pub ready_within: Duration,
}

impl GuestProgram<'_> {
    /// The programs that a scenario names, servers first.
    fn of_scenario(scenario: &Scenario) -> Vec<Self> {
        let programs = |side: Side| {
            programs_of(scenario).map(move |(group, program)| Self {
                group,
                side,
                words: match side {
                    Side::Client => program.client.clone(),
                    Side::Server => program.server.clone(),
                },
                standard: None,
                ready: match side {
                    Side::Client => Vec::new(),
                    Side::Server => program.ready.clone(),
                },
                ready_within: READY_WITHIN,
            })
        };
        let all = programs(Side::Server).chain(programs(Side::Client));
        all.filter(|program| !program.words.is_empty()).collect()
    }
}

/// What a run in a guest leaves.
#[derive(Debug)]
pub struct Ran {
    /// The summary, as JSON.
    pub summary: String,
    /// The same tables as of the other engines.
    pub tables: Vec<Table>,
}

impl Guest {
    /// Runs a scenario, given as JSON too, with these programs instead of those that it names.
    ///
    /// # Errors
    ///
    /// A scenario that a guest does not run, a kernel that does not boot, panics or stands still, or [`Error::Cancelled`].
    pub fn run(
        &self,
        json: &str,
        scenario: &Scenario,
        control: &Control,
        capture: Option<&CaptureConfig>,
        programs: Option<&[GuestProgram<'_>]>,
    ) -> Result<Ran, Error> {
        check(scenario)?;
        let directory = Scratch::new().map_err(system("cannot make a directory for the guest"))?;
        fs::write(directory.0.join(files::SCENARIO), json)
            .map_err(system("cannot write the guest's scenario"))?;
        if let Some(capture) = capture {
            let path =
                std::path::absolute(&capture.path).map_err(|source| capture.unwritable(source))?;
            let capture = CaptureConfig {
                path,
                ..capture.clone()
            };
            fs::write(
                directory.0.join(files::CAPTURE),
                files::capture_request(&capture),
            )
            .map_err(system("cannot write the guest's request"))?;
        }
        let of_scenario;
        let programs = match programs {
            Some(programs) => programs,
            None => {
                of_scenario = GuestProgram::of_scenario(scenario);
                &of_scenario
            }
        };
        let (requested, descriptors) = request(programs)?;
        if let Some(requested) = &requested {
            fs::write(directory.0.join(files::PROGRAMS), requested.to_bytes())
                .map_err(system("cannot write the guest's programs"))?;
        }
        // Only programs look at the time of day.
        let boots_s = if requested.is_some() {
            start_s()
        } else {
            START_S
        };
        let seed = scenario.seed;
        let mut guest = self.boot(&directory.0, (seed, boots_s), &descriptors)?;
        drop(descriptors);
        let status = wait(&mut guest, &directory.0, scenario.duration_ns, control)?;
        let read = |name: &str| fs::read(directory.0.join(name));
        if let Ok(message) = read(files::ERROR) {
            return Err(Error::Refused(
                String::from_utf8_lossy(&message).into_owned(),
            ));
        }
        let answer = read(files::SUMMARY).and_then(|summary| Ok((summary, read(files::TABLES)?)));
        let Ok((summary, tables)) = answer else {
            return Err(ended(status, &directory.0));
        };
        let tables = files::read_tables(&tables);
        match (String::from_utf8(summary), tables) {
            (Ok(summary), Some(tables)) => Ok(Ran { summary, tables }),
            _ => Err(Error::Refused(
                "the guest's result cannot be read".to_owned(),
            )),
        }
    }

    fn boot(
        &self,
        directory: &Path,
        (seed, boots_s): (u64, u64),
        descriptors: &[OwnedFd],
    ) -> Result<Child, Error> {
        let log =
            File::create(directory.join(LOG)).map_err(system("cannot write the guest's log"))?;
        symlink(&self.library, directory.join(files::LIBRARY))
            .map_err(system("cannot make a link to the guest's library"))?;
        let mut command = Command::new(&self.kernel);
        // Nothing that differs between runs: its kernel makes random numbers of its command line too.
        command
            .arg(format!("mem={MEMORY_MB}M"))
            .args([
                "time-travel=inf-cpu",
                &format!("time-travel-start={boots_s}000000000"),
            ])
            .args(["con=null", "ssl=null", "stderr=1", "loglevel=4", "panic=1"])
            .arg("uml_dir=./")
            .env_clear()
            .env("DUMBBELL_LIBRARY", format!("./{}", files::LIBRARY))
            .env("DUMBBELL_REQUEST", ".")
            .env("DUMBBELL_SEED", format!("{seed:020}"))
            .env(START_VARIABLE, boots_s.to_string())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(
                log.try_clone()
                    .map_err(system("cannot write the guest's log"))?,
            )
            .stderr(log)
            .process_group(0);
        let parent = std::process::id();
        let kept: Vec<RawFd> = descriptors.iter().map(|it| it.as_raw_fd()).collect();
        // SAFETY: between fork and exec only system calls are made.
        unsafe {
            command.pre_exec(move || prepare(parent, &kept));
        }
        command.spawn().map_err(system(&format!(
            "cannot start the kernel {}",
            self.kernel.display()
        )))
    }
}

/// Programs as the guest's process reads them, and the descriptors that it needs for them.
fn request(
    programs: &[GuestProgram<'_>],
) -> Result<(Option<RequestedPrograms>, Vec<OwnedFd>), Error> {
    /// Above those of a process's own.
    const FIRST_DESCRIPTOR: RawFd = 10;
    let Some(first) = programs.first() else {
        return Ok((None, Vec::new()));
    };
    let directory =
        std::env::current_dir().map_err(system("programs have no working directory"))?;
    let environment = environment(&Words::new(&first.words));
    let mut descriptors = Vec::new();
    let mut requested = Vec::new();
    for program in programs {
        let mut standard = None;
        if let Some(given) = program.standard {
            let mut numbers = [0; 3];
            for (number, descriptor) in numbers.iter_mut().zip(given) {
                let copy = fcntl_dupfd_cloexec(descriptor, FIRST_DESCRIPTOR)
                    .map_err(|errno| system("cannot pass a program its streams")(errno.into()))?;
                *number = copy.as_raw_fd();
                descriptors.push(copy);
            }
            standard = Some(numbers);
        }
        let name = program.words.first().map_or("", String::as_str);
        requested.push(RequestedProgram {
            group: program.group,
            side: program.side,
            path: find(name, &environment, &directory)?,
            words: program.words.clone(),
            standard,
            ready: program.ready.clone(),
            ready_within: program.ready_within,
        });
    }
    let requested = RequestedPrograms {
        environment: environment.into_iter().map(|it| it.into_bytes()).collect(),
        directory,
        programs: requested,
    };
    Ok((Some(requested), descriptors))
}

/// The new process: addresses are the same each time, it has these descriptors, and it ends with its parent.
fn prepare(parent: u32, kept: &[RawFd]) -> io::Result<()> {
    // SAFETY: no pointers are passed but to the limit.
    unsafe {
        for &descriptor in kept {
            libc::fcntl(descriptor, libc::F_SETFD, 0);
        }
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // Its core is of no use.
        libc::setrlimit(
            libc::RLIMIT_CORE,
            &libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            },
        );
        if libc::getppid() as u32 != parent {
            return Err(io::ErrorKind::Interrupted.into());
        }
    }
    Ok(())
}

/// Waits for the end of the process; it is ended if `control` cancels or virtual time stands still.
fn wait(
    guest: &mut Child,
    directory: &Path,
    duration_ns: u64,
    control: &Control,
) -> Result<ExitStatus, Error> {
    let (mut passed_ns, mut since) = (None, Instant::now());
    loop {
        if let Some(status) = guest
            .try_wait()
            .map_err(system("cannot wait for the guest"))?
        {
            return Ok(status);
        }
        let now_ns = progress_ns(directory);
        if now_ns != passed_ns {
            (passed_ns, since) = (now_ns, Instant::now());
            control.set_progress(now_ns.unwrap_or(0).min(duration_ns), duration_ns);
        }
        if let Some(signal) = control.take_signal() {
            write_whole(directory, files::SIGNAL, &signal.to_string())
                .map_err(system("cannot pass a signal to the guest"))?;
        }
        if directory.join(files::WAITING).exists() {
            since = Instant::now();
        }
        let stands_still = since.elapsed() > PATIENCE;
        if control.is_cancelled() || stands_still {
            let computing = stands_still.then(|| computing(guest, directory)).flatten();
            // It may have ended by itself.
            let _ = guest.kill();
            let _ = guest.wait();
            if !stands_still {
                return Err(Error::Cancelled);
            }
            let at_s = passed_ns.unwrap_or(0) as f64 / 1e9;
            let patience_s = PATIENCE.as_secs();
            return Err(Error::Refused(match computing {
                Some(program) => format!(
                    "`{program}` computed for {patience_s} s without a pause, so that the guest's time stood still at {at_s:.3} s; a program has to wait now and then"
                ),
                None => format!(
                    "the guest's time stood still at {at_s:.3} s for {patience_s} s{}",
                    last_lines(directory)
                ),
            }));
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The program that computes in a guest, if one does; the guest's kernel knows.
fn computing(guest: &Child, directory: &Path) -> Option<String> {
    const ANSWERS_WITHIN: Duration = Duration::from_secs(1);
    // SAFETY: the process was not waited for, so it has its number yet.
    unsafe {
        libc::kill(guest.id().cast_signed(), files::ASK);
    }
    let asked = Instant::now();
    while asked.elapsed() < ANSWERS_WITHIN {
        std::thread::sleep(LOOK_EVERY);
        if let Ok(name) = fs::read_to_string(directory.join(files::CURRENT)) {
            return (!name.is_empty()).then_some(name);
        }
    }
    None
}

/// An error of a guest that ended without a result.
fn ended(status: ExitStatus, directory: &Path) -> Error {
    let how = match status.signal() {
        Some(signal) => format!("by signal {signal}"),
        None => format!("with status {}", status.code().unwrap_or(0)),
    };
    Error::Refused(format!(
        "the guest's kernel ended {how} before the run was over{}",
        last_lines(directory)
    ))
}

fn system(what: &str) -> impl Fn(io::Error) -> Error + use<> {
    let what = what.to_owned();
    move |source| Error::System {
        what: what.clone(),
        source,
    }
}
