//! Files by which the process of a guest and the one that starts it talk, in a directory of the run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use dumbbell_capture::CaptureConfig;
use dumbbell_results::Table;
use dumbbell_table::Batch;

/// The scenario, as JSON: the request.
pub const SCENARIO: &str = "scenario.json";

/// The library that the kernel loads, a link.
pub const LIBRARY: &str = "library";

/// What to capture, if anything: points and bytes in the first line, and behind it the file.
pub const CAPTURE: &str = "capture";

/// Programs, if the scenario has any: [`super::RequestedPrograms`].
pub const PROGRAMS: &str = "programs";

/// The program that computes, if any, when the kernel was asked by [`ASK`].
pub const CURRENT: &str = "current";

/// The signal that asks the kernel: `DUMBBELL_ASK`.
pub const ASK: i32 = libc::SIGUSR2;

/// Is there while a program waits for its standard input, or for who reads its output.
pub const WAITING: &str = "waiting";

/// A signal for clients, by its number, which the guest's process removes when it has read it.
pub const SIGNAL: &str = "signal";

/// Tables, one after the other: a name and a batch.
pub const TABLES: &str = "tables";

/// The summary, as JSON. Where it is, the result is whole.
pub const SUMMARY: &str = "summary.json";

/// The error of a run without a result.
pub const ERROR: &str = "error";

/// How far the run has come: ns, in 8 bytes.
pub const PROGRESS: &str = "progress";

/// A capture as bytes, for [`read_capture`].
pub(crate) fn capture_request(config: &CaptureConfig) -> Vec<u8> {
    let CaptureConfig {
        path,
        snap_bytes,
        senders,
        receivers,
        links,
    } = config;
    let snap_bytes = snap_bytes.map_or(String::new(), |bytes| bytes.to_string());
    let points = [senders, receivers, links].map(|&point| u8::from(point).to_string());
    let mut request = format!("{},{snap_bytes}\n", points.join(",")).into_bytes();
    request.extend(path.as_os_str().as_bytes());
    request
}

/// Reads a request for a capture; `None` if the bytes are damaged.
pub fn read_capture(bytes: &[u8]) -> Option<CaptureConfig> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let line = str::from_utf8(&bytes[..end]).ok()?;
    let fields: Vec<&str> = line.split(',').collect();
    let &[senders, receivers, links, snap_bytes] = &fields[..] else {
        return None;
    };
    Some(CaptureConfig {
        path: PathBuf::from(OsStr::from_bytes(&bytes[end + 1..])),
        snap_bytes: match snap_bytes {
            "" => None,
            number => Some(number.parse().ok()?),
        },
        senders: senders == "1",
        receivers: receivers == "1",
        links: links == "1",
    })
}

/// Appends a table.
pub fn put_table(to: &mut Vec<u8>, table: &Table) {
    to.extend((table.name.len() as u64).to_le_bytes());
    to.extend(table.name.as_bytes());
    table.batch.write(to);
}

/// Reads what [`put_table`] wrote; `None` if the bytes are damaged.
pub(crate) fn read_tables(mut bytes: &[u8]) -> Option<Vec<Table>> {
    let mut tables = Vec::new();
    while !bytes.is_empty() {
        let (length, rest) = bytes.split_first_chunk()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (name, rest) = rest.split_at_checked(length)?;
        bytes = rest;
        tables.push(Table {
            name: String::from_utf8(name.to_vec()).ok()?,
            batch: Batch::read(&mut bytes)?,
        });
    }
    Some(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_is_read_as_it_was_asked_for() {
        for snap_bytes in [None, Some(96)] {
            let config = CaptureConfig {
                path: PathBuf::from("/tmp/a b\n,c.pcapng"),
                snap_bytes,
                senders: true,
                receivers: false,
                links: true,
            };
            assert_eq!(read_capture(&capture_request(&config)), Some(config));
        }
        assert_eq!(read_capture(b"1,1,1"), None);
    }
}
