//! The process that starts programs, as the engine sees it.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
    sendmsg, socketpair,
};

use super::keeper;
use super::launch::DESCRIPTORS;
use crate::error::Error;

/// A process of ours that starts programs. Dropped, it ends, and all of them are killed.
#[derive(Debug)]
pub(crate) struct Spawner {
    socket: Option<OwnedFd>,
    process: i32,
}

impl Spawner {
    /// Forks it: before threads with real-time priority start, which a fork of a large process would hold up.
    pub(crate) fn start() -> Result<Self, Error> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|errno| cannot_start(errno.into()))?;
        let process = keeper::fork(0);
        if process == 0 {
            keeper::serve(theirs.as_raw_fd());
        }
        if process < 0 {
            return Err(cannot_start(io::Error::last_os_error()));
        }
        Ok(Self {
            socket: Some(ours),
            process,
        })
    }

    /// Asks it to start a program of these descriptors.
    pub(super) fn ask(&self, descriptors: [BorrowedFd<'_>; DESCRIPTORS]) -> io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&descriptors));
        let socket = self.socket.as_ref().expect("it has not been dropped");
        sendmsg(
            socket,
            &[IoSlice::new(b"l")],
            &mut control,
            SendFlags::NOSIGNAL,
        )?;
        Ok(())
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        // It ends when its socket closes, and the programs' inits with it.
        drop(self.socket.take());
        // SAFETY: a child of ours, waited for only here; no status is asked for.
        unsafe { libc::waitpid(self.process, std::ptr::null_mut(), 0) };
    }
}

fn cannot_start(source: io::Error) -> Error {
    Error::System {
        what: "cannot start the process that starts programs".to_owned(),
        source,
    }
}
