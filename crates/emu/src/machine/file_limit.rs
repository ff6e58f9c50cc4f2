//! How many files (sockets are files) this process may have open.

use std::io;

use crate::error::Error;
use crate::machine::system_call::checked;

/// Files other than the sockets of flows: those that are open already, namespaces, devices, epoll.
const OTHER_FILES: u64 = 1024;

/// Makes room for `files` more; raises the hard limit only if necessary.
pub(crate) fn raise_file_limit(files: u64) -> Result<(), Error> {
    let needed = files + OTHER_FILES;
    let limit = file_limit().map_err(|source| Error::System {
        what: "the limit of open files could not be read".to_owned(),
        source,
    })?;
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    let wanted = libc::rlimit {
        rlim_cur: needed,
        rlim_max: limit.rlim_max.max(needed),
    };
    set_file_limit(&wanted).map_err(|_| {
        Error::Refused(format!(
            "the flows need {needed} open files, and this process may have {}; raise the limit \
             (`ulimit -n {needed}`, LimitNOFILE=) or run fewer flows",
            limit.rlim_max
        ))
    })
}

/// Makes room for as many files as this process may have: applications open connections as they go along.
pub(crate) fn raise_file_limit_to_the_hard_one() {
    if let Ok(limit) = file_limit() {
        let wanted = libc::rlimit {
            rlim_cur: limit.rlim_max,
            rlim_max: limit.rlim_max,
        };
        // Without it there is less room; if that is not enough, an application's socket says so.
        let _ = set_file_limit(&wanted);
    }
}

fn file_limit() -> io::Result<libc::rlimit> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is valid for writing.
    checked(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    Ok(limit)
}

fn set_file_limit(limit: &libc::rlimit) -> io::Result<()> {
    // SAFETY: `limit` is read during the call only.
    checked(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) })?;
    Ok(())
}
