//! Applications in a guest, as the engine sees them: which processes run them (`application_process`), and what those say.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::sync::Arc;

use dumbbell_scenario::Scenario;

use super::conversation::{Said, SampledUser, Setup, Task};
use super::programs::PlannedProgram;
use crate::applications::{ApplicationsReport, PortTable, Ports as _};
use crate::error::Error;
use crate::programs::{Exit, described};

/// What starts a library that is a program too: the dynamic linker of the System V ABI for x86-64, the only machine of guests.
const LINKER: &CStr = c"/lib64/ld-linux-x86-64.so.2";

/// A process: what it is asked, and what it says.
#[derive(Debug, Default)]
struct Process {
    host: u32,
    /// Its number in the guest, of one that is a door.
    number: Option<u32>,
    /// What is left of what it has to read, once it reads.
    asked: Option<Vec<u8>>,
    /// A line that is not whole.
    said: Vec<u8>,
}

/// The applications of a run.
pub(super) struct Applications {
    planned: Vec<PlannedProgram>,
    /// The doors, then the one that runs applications.
    processes: Vec<Process>,
    pub(super) ports: Arc<PortTable>,
    is_over: bool,
    printed: Vec<u8>,
    pub(super) report: Option<ApplicationsReport>,
}

impl Applications {
    /// Those of `scenario`; their processes work in `directory`.
    pub(super) fn new(scenario: &Scenario, directory: CString) -> Result<Self, Error> {
        let groups = (0..).zip(&scenario.groups);
        let with = groups.filter(|(_, group)| !group.traffic.is_bulk());
        let hosts: Vec<u32> = with
            .flat_map(|(index, _)| [2 * index, 2 * index + 1])
            .collect();
        // The last of all starts with the run, in the first of the hosts.
        let last = hosts.first().map(|&host| (host, false));
        let doors = hosts.iter().map(|&host| (host, true));
        let all: Vec<(u32, bool)> = doors.chain(last).collect();
        let words = match all.is_empty() {
            true => Vec::new(),
            false => vec![LINKER.to_owned(), library()?],
        };
        let planned = all.iter().map(|&(host, is_server)| PlannedProgram {
            path: LINKER.to_owned(),
            words: words.clone(),
            environment: Vec::new(),
            directory: directory.clone(),
            host,
            is_server,
            start_ns: 0,
            ready: Vec::new(),
            ready_within_ns: 0,
        });
        let process = |&(host, _): &(u32, bool)| Process {
            host,
            ..Process::default()
        };
        Ok(Self {
            planned: planned.collect(),
            processes: all.iter().map(process).collect(),
            ports: PortTable::new(scenario),
            is_over: false,
            printed: Vec::new(),
            report: None,
        })
    }

    /// The programs that the guest's kernel is to start, by number.
    pub(super) fn planned(&self) -> &[PlannedProgram] {
        &self.planned
    }

    /// What a process has to read. `setup` is called once, for the one that runs applications.
    pub(super) fn read(
        &mut self,
        number: usize,
        buffer: &mut [u8],
        setup: impl FnOnce(Vec<(u32, u32)>) -> Setup,
    ) -> i64 {
        let is_last = number + 1 == self.processes.len();
        if self.processes[number].asked.is_none() {
            let doors = self.processes.iter();
            let doors = doors.filter_map(|door| Some((door.host, door.number?)));
            let task = match is_last {
                true => Task::Run(Box::new(setup(doors.collect()))),
                false => Task::Door,
            };
            let text = serde_json::to_vec(&task).unwrap_or_default();
            self.processes[number].asked = Some(text);
        } else if self.is_over && is_last && !buffer.is_empty() {
            buffer[0] = 0;
            return 1;
        }
        let rest = self.processes[number].asked.get_or_insert_default();
        let bytes = rest.len().min(buffer.len());
        buffer[..bytes].copy_from_slice(&rest[..bytes]);
        rest.drain(..bytes);
        bytes as i64
    }

    /// A process prints to its stream 1 or 2: what it has said of users.
    pub(super) fn hear(
        &mut self,
        number: usize,
        stream: u32,
        bytes: &[u8],
    ) -> Result<Vec<SampledUser>, Error> {
        let mut sampled = Vec::new();
        if stream != 1 {
            self.printed.extend(bytes);
            return Ok(sampled);
        }
        let mut said = std::mem::take(&mut self.processes[number].said);
        said.extend(bytes);
        let mut lines = said.split_inclusive(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next_if(|line| line.ends_with(b"\n")) {
            let line = serde_json::from_slice(line)
                .map_err(|error| Error::Refused(format!("an application said: {error}")))?;
            match line {
                Said::Open { process } => self.processes[number].number = Some(process),
                Said::Port { group, port, flow } => self.ports.give(group, port, flow),
                Said::Sampled(user) => sampled.push(user),
                Said::Done(report) => self.report = Some(report),
                Said::Failed(text) => return Err(Error::Refused(text)),
            }
        }
        self.processes[number].said = lines.next().unwrap_or_default().to_vec();
        Ok(sampled)
    }

    /// A process has ended, by its status as wait(2) has it, or could not be started because of an error of the kernel.
    ///
    /// # Errors
    ///
    /// It was needed.
    pub(super) fn ended(&mut self, number: usize, status: i32, error: i32) -> Result<(), Error> {
        let is_last = number + 1 == self.processes.len();
        let was_used = match is_last {
            true => self.report.is_some(),
            false => self.processes.last().is_some_and(|it| it.asked.is_some()),
        };
        if was_used {
            return Ok(());
        }
        let how = match error {
            0 => described(Exit::of_status(status)),
            _ => format!(
                "was not started: {}",
                io::Error::from_raw_os_error(error.abs())
            ),
        };
        let printed = String::from_utf8_lossy(&self.printed);
        let printed = match printed.lines().last() {
            Some(line) => format!("; it printed `{line}`"),
            None => String::new(),
        };
        Err(Error::Refused(format!(
            "a process of the applications {how}{printed}"
        )))
    }

    /// No more is measured.
    pub(super) fn over(&mut self) {
        self.is_over = true;
    }
}

/// The library of this process, as the guest finds it.
fn library() -> Result<CString, Error> {
    let failed = |source| Error::System {
        what: "the guest's library is not where it was".to_owned(),
        source,
    };
    let path = fs::canonicalize(super::files::LIBRARY).map_err(failed)?;
    CString::new(path.into_os_string().into_encoded_bytes())
        .map_err(|error| failed(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use dumbbell_scenario::Group;

    use super::*;

    /// With a door and the process that runs applications.
    fn two_processes() -> Applications {
        let traffic =
            serde_json::json!({"kind": "poisson", "gap_ns": 1_000_000, "size_bytes": 1000});
        let group = Group {
            traffic: serde_json::from_value(traffic).expect("an application"),
            ..Group::default()
        };
        let scenario = Scenario {
            groups: vec![group],
            ..Scenario::default()
        };
        Applications {
            planned: Vec::new(),
            processes: vec![Process::default(), Process::default()],
            ports: PortTable::new(&scenario),
            is_over: false,
            printed: Vec::new(),
            report: None,
        }
    }

    #[test]
    fn what_is_said_in_pieces_is_heard_whole() {
        let mut applications = two_processes();
        let line = serde_json::to_vec(&Said::Port {
            group: 0,
            port: 10_003,
            flow: 2,
        });
        let line = [line.expect("it is JSON"), b"\n".to_vec()].concat();
        let (first, rest) = line.split_at(9);
        for piece in [first, rest] {
            assert!(
                applications
                    .hear(1, 1, piece)
                    .expect("it is heard")
                    .is_empty()
            );
        }
        assert_eq!(applications.ports.flow_of(0, 3), 2);
        let said = b"nothing of ours\n";
        assert!(applications.hear(1, 1, said).is_err());
        assert!(applications.hear(1, 2, said).is_ok(), "for people");
    }

    #[test]
    fn a_process_that_ends_before_it_is_used_ends_the_run() {
        let mut applications = two_processes();
        let ended = applications
            .ended(0, libc::SIGKILL, 0)
            .expect_err("it was needed");
        assert_eq!(
            ended.to_string(),
            "a process of the applications was ended by signal 9"
        );
        // From when the other has its task the doors are closed.
        applications.processes[1].asked = Some(Vec::new());
        assert!(applications.ended(0, libc::SIGKILL, 0).is_ok());
        let ended = applications
            .ended(1, 0, libc::ENOENT)
            .expect_err("it has no report");
        assert!(ended.to_string().contains("was not started: No such file"));
    }
}
