//! Programs that a guest is to start, as bytes for its process.

use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use dumbbell_scenario::Port;

use crate::programs::Side;

/// What all programs of a run share, and the programs in the order in which they are started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPrograms {
    /// Where they work.
    pub directory: PathBuf,
    /// Variables, each as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// Servers before clients.
    pub programs: Vec<RequestedProgram>,
}

/// A program, and where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedProgram {
    /// Index of its group, which is one of programs.
    pub group: usize,
    /// The host it runs in, of the group's two.
    pub side: Side,
    /// The executable file.
    pub path: PathBuf,
    /// The command: its name, and arguments.
    pub words: Vec<String>,
    /// Standard input, output and errors, as descriptors of the guest's process; `None`: nothing comes in, and the last of what goes
    /// out is kept.
    pub standard: Option<[RawFd; 3]>,
    /// What must be open before the next is started.
    pub ready: Vec<Port>,
    /// How long that may take.
    pub ready_within: Duration,
}

impl RequestedPrograms {
    /// For [`RequestedPrograms::read`]. No text in it has a zero byte.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut fields = Fields::default();
        fields.put(self.directory.as_os_str().as_bytes());
        fields.put_shown(self.environment.len());
        for variable in &self.environment {
            fields.put(variable);
        }
        fields.put_shown(self.programs.len());
        for program in &self.programs {
            fields.put_shown(program.group);
            fields.put(program.side.name().as_bytes());
            fields.put(program.path.as_os_str().as_bytes());
            fields.put_shown(program.words.len());
            for word in &program.words {
                fields.put(word.as_bytes());
            }
            fields.put_shown(program.standard.is_some());
            for descriptor in program.standard.iter().flatten() {
                fields.put_shown(descriptor);
            }
            fields.put_shown(program.ready.len());
            for port in &program.ready {
                fields.put_shown(port);
            }
            fields.put_shown(program.ready_within.as_nanos());
        }
        fields.0
    }

    /// Reads a request; `None` if the bytes are damaged.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split(|&byte| byte == 0);
        let directory = path(fields.next()?);
        let count: usize = parsed(&mut fields)?;
        let environment = (0..count).map(|_| fields.next().map(<[u8]>::to_vec));
        let environment = environment.collect::<Option<_>>()?;
        let count: usize = parsed(&mut fields)?;
        let programs = (0..count).map(|_| program(&mut fields));
        Some(Self {
            directory,
            environment,
            programs: programs.collect::<Option<_>>()?,
        })
    }
}

fn program<'a>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<RequestedProgram> {
    let group = parsed(fields)?;
    let name = fields.next()?;
    let side = [Side::Client, Side::Server]
        .into_iter()
        .find(|side| side.name().as_bytes() == name)?;
    let path = path(fields.next()?);
    let words: usize = parsed(fields)?;
    let words = (0..words).map(|_| parsed(fields)).collect::<Option<_>>()?;
    let standard = match fields.next()? {
        b"true" => Some([parsed(fields)?, parsed(fields)?, parsed(fields)?]),
        _ => None,
    };
    let ports: usize = parsed(fields)?;
    let ready = (0..ports).map(|_| parsed(fields)).collect::<Option<_>>()?;
    Some(RequestedProgram {
        group,
        side,
        path,
        words,
        standard,
        ready,
        ready_within: Duration::from_nanos(parsed(fields)?),
    })
}

fn path(bytes: &[u8]) -> PathBuf {
    std::ffi::OsString::from_vec(bytes.to_vec()).into()
}

fn parsed<'a, T: FromStr>(fields: &mut impl Iterator<Item = &'a [u8]>) -> Option<T> {
    str::from_utf8(fields.next()?).ok()?.parse().ok()
}

/// Texts, each of which ends with a zero byte.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn put(&mut self, text: &[u8]) {
        self.0.extend(text);
        self.0.push(0);
    }

    fn put_shown(&mut self, number: impl ToString) {
        self.put(number.to_string().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_as_they_were_requested() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        let requested = RequestedPrograms {
            directory: PathBuf::from("/tmp/a b"),
            environment: vec![b"HOME=/root".to_vec(), b"X=\xff\n".to_vec()],
            programs: vec![
                RequestedProgram {
                    group: 1,
                    side: Side::Server,
                    path: PathBuf::from("/usr/bin/iperf3"),
                    words: words(&["iperf3", "", "-s"]),
                    standard: None,
                    ready: vec![Port::Tcp(5201), Port::Udp(53)],
                    ready_within: Duration::from_secs(30),
                },
                RequestedProgram {
                    group: 0,
                    side: Side::Client,
                    path: PathBuf::from("/usr/bin/curl"),
                    words: words(&["curl"]),
                    standard: Some([10, 11, 11]),
                    ready: Vec::new(),
                    ready_within: Duration::ZERO,
                },
            ],
        };
        let bytes = requested.to_bytes();
        assert_eq!(RequestedPrograms::read(&bytes), Some(requested));
        assert_eq!(RequestedPrograms::read(&bytes[..bytes.len() - 3]), None);
    }
}
