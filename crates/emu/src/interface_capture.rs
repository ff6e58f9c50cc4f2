//! Captures all that passes an interface of this machine, whole, with the kernel's times.

use std::fs::File;
use std::io::BufWriter;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dumbbell_capture::{CaptureConfig, CapturePoint, CaptureWriter, WriteError};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::Error;
use crate::hosts::interface::{packet_socket, set};
use crate::hosts::netlink::Netlink;
use crate::sockets::datagram::receive;

/// Largest frame, of a super-packet.
const MAX_FRAME_BYTES: usize = 1 << 17;

/// What may wait to be written.
const BUFFER_BYTES: libc::c_int = 32 << 20;

/// How often it is looked whether the capture ends, and after how long what is captured is in the file.
const LOOK_EVERY: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// A running capture. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct InterfaceCapture {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), WriteError>>>,
}

impl InterfaceCapture {
    /// Captures the interface `name` of the calling thread's network namespace to a pcapng file.
    pub(crate) fn start(name: &str, path: &Path) -> Result<Self, Error> {
        let cannot_read = |source| Error::System {
            what: format!("cannot capture at interface {name}"),
            source,
        };
        let socket = open(name).map_err(cannot_read)?;
        let config = CaptureConfig {
            path: PathBuf::from(path),
            snap_bytes: Some(u32::MAX),
            senders: true,
            receivers: false,
            links: false,
        };
        let writer = CaptureWriter::create_for_interface(&config, name)?;
        let stop = Arc::new(AtomicBool::new(false));
        let run = {
            let stop = Arc::clone(&stop);
            move || write_all(&socket, writer, &stop).map_err(|source| config.unwritable(source))
        };
        let thread = thread::Builder::new()
            .name(format!("capture-{name}"))
            .spawn(run)
            .map_err(cannot_read)?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Ends it, with all that has passed.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        match self.join() {
            Some(done) => Ok(done?),
            None => Ok(()),
        }
    }

    fn join(&mut self) -> Option<Result<(), WriteError>> {
        self.stop.store(true, Ordering::Relaxed);
        let done = self.thread.take()?.join();
        Some(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for InterfaceCapture {
    fn drop(&mut self) {
        // Who drops it does not want to know how it went.
        let _ = self.join();
    }
}

fn open(name: &str) -> std::io::Result<OwnedFd> {
    let index = Netlink::open()?.index_of(name)?;
    let socket = packet_socket(index, libc::ETH_P_ALL)?;
    set(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, 1)?;
    if set(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        BUFFER_BYTES,
    )
    .is_err()
    {
        set(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, BUFFER_BYTES)?;
    }
    Ok(socket)
}

fn write_all(
    socket: &OwnedFd,
    mut writer: CaptureWriter<BufWriter<File>>,
    stop: &AtomicBool,
) -> std::io::Result<()> {
    let mut frame = vec![0; MAX_FRAME_BYTES];
    let mut flushed = Instant::now();
    loop {
        // Read first: what has passed before is in the socket.
        let is_last = stop.load(Ordering::Relaxed);
        while let Some(received) = receive(socket, &mut frame)? {
            let kept = &frame[..received.bytes.min(MAX_FRAME_BYTES)];
            let point = CapturePoint::Sender(0);
            writer.record(point, received.stamp_ns, kept, received.bytes as u32, None)?;
        }
        if is_last {
            return writer.finish().map(drop);
        }
        if flushed.elapsed() >= FLUSH_EVERY {
            writer.flush()?;
            flushed = Instant::now();
        }
        let mut readable = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
        // Interrupted by a signal: it is looked again.
        let _ = poll(&mut readable, Some(&LOOK_EVERY));
    }
}
