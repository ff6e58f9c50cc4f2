//! Network namespaces: mostly anonymous ones, with no name, no mount; it exists as long as its descriptor.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread;

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::error::Error;

/// A network namespace of our own.
#[derive(Debug)]
pub(crate) struct Namespace {
    descriptor: OwnedFd,
}

impl Namespace {
    /// A new one, which contains only a loopback device that is down.
    pub(crate) fn new() -> Result<Self, Error> {
        // In a thread of its own, which ends: the caller's namespace does not change.
        in_own_thread(|| {
            // SAFETY: leaving the network namespace affects neither memory nor descriptors.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
            File::open("/proc/thread-self/ns/net").map(OwnedFd::from)
        })
        .map(|descriptor| Self { descriptor })
        .map_err(cannot_create)
    }

    /// The calling thread's.
    pub(crate) fn current() -> Result<Self, Error> {
        File::open("/proc/thread-self/ns/net")
            .map(|file| Self {
                descriptor: OwnedFd::from(file),
            })
            .map_err(cannot_enter)
    }

    /// That of another process.
    pub(crate) fn of_process(number: u32) -> Result<Self, Error> {
        let descriptor = File::open(format!("/proc/{number}/ns/net")).map_err(cannot_enter)?;
        Ok(Self {
            descriptor: descriptor.into(),
        })
    }

    /// Moves the calling thread into the namespace, for good.
    pub(crate) fn enter(&self) -> Result<(), Error> {
        let inside = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.descriptor.as_fd(), inside)
            .map_err(|errno| cannot_enter(errno.into()))
    }

    /// Runs `f` in a thread that is inside the namespace. Sockets that it creates stay inside.
    pub(crate) fn within<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        in_own_thread(|| {
            move_into_link_name_space(self.descriptor.as_fd(), Some(LinkNameSpaceType::Network))?;
            Ok(f())
        })
        .map_err(cannot_enter)
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn cannot_enter(source: io::Error) -> Error {
    Error::System {
        what: "cannot enter a network namespace of the run".to_owned(),
        source,
    }
}

fn in_own_thread<T: Send>(f: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, f)?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn cannot_create(source: io::Error) -> Error {
    let what = match source.kind() {
        io::ErrorKind::PermissionDenied => {
            "network namespaces need privilege; run as root, or prefix the command with `unshare -Ur`"
                .to_owned()
        }
        io::ErrorKind::StorageFull => {
            "the limit of network namespaces is reached; raise user.max_net_namespaces".to_owned()
        }
        _ => "cannot make a network namespace".to_owned(),
    };
    Error::System { what, source }
}
