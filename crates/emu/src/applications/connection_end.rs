//! One end of a connection: its socket, and what it has to write.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use crate::sockets::receivers::clamp_window;
use crate::sockets::socket;
use crate::sockets::tcp_info::TcpInfo;

/// Bytes per write: most messages are one write, as simulated, since the end of each is a short segment. TCP takes what fits.
const WRITE_BYTES: usize = 1 << 20;
/// Writes of an end before the others are served.
const WRITES_PER_TURN: usize = 4;

static ZEROS: [u8; WRITE_BYTES] = [0; WRITE_BYTES];

/// An end of a connection. Bytes are payload, from the start of the connection.
#[derive(Debug, Default)]
pub(crate) struct ConnectionEnd {
    /// From when it is opened or accepted.
    socket: Option<Arc<OwnedFd>>,
    /// At the end of the handshake.
    established: Option<TcpInfo>,
    /// What it has still to write; `u64::MAX`: without end.
    unwritten_bytes: u64,
    /// What TCP has taken.
    written_bytes: u64,
    /// What was reported to the application.
    acknowledged_bytes: u64,
    received_bytes: u64,
    /// The window to impose when the first data has arrived.
    pending_window: Option<u32>,
    wants_close: bool,
    has_shut: bool,
    /// The other end's FIN was read.
    has_read_all: bool,
    is_fin_acknowledged: bool,
}

impl ConnectionEnd {
    /// An end whose receive window is limited to this many bytes, if any.
    pub(crate) fn new(window: Option<u32>) -> Self {
        Self {
            pending_window: window,
            ..Self::default()
        }
    }

    pub(crate) fn socket(&self) -> Option<&Arc<OwnedFd>> {
        self.socket.as_ref()
    }

    /// It has a socket from now on.
    pub(crate) fn set_socket(&mut self, socket: OwnedFd) -> &Arc<OwnedFd> {
        self.socket.insert(Arc::new(socket))
    }

    /// The handshake is done.
    pub(crate) fn establish(&mut self) -> io::Result<()> {
        self.established = self.info()?;
        Ok(())
    }

    pub(crate) fn established(&self) -> Option<&TcpInfo> {
        self.established.as_ref()
    }

    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Whether its FIN and the other end's are through, as far as it knows.
    pub(crate) fn is_fin_acknowledged(&self) -> bool {
        self.is_fin_acknowledged
    }

    /// It has more to write; `u64::MAX`: without end.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.unwritten_bytes = self.unwritten_bytes.saturating_add(bytes);
    }

    /// If it writes without end, it has no more to write; gives what it wrote.
    pub(crate) fn pause(&mut self) -> u64 {
        if self.unwritten_bytes == u64::MAX {
            self.unwritten_bytes = 0;
        }
        self.written_bytes
    }

    /// It closes behind what it still has to write.
    pub(crate) fn close(&mut self) {
        self.pause();
        self.wants_close = true;
    }

    /// Whether it has written nothing, nor has anything to write, and the other end has closed.
    pub(crate) fn is_left_silent(&self) -> bool {
        self.has_read_all && self.written_bytes == 0 && self.unwritten_bytes == 0
    }

    /// Whether what it wrote is not all acknowledged, nor will a FIN tell.
    pub(crate) fn awaits_acknowledgment(&self) -> bool {
        !self.has_shut && self.unwritten_bytes == 0 && self.acknowledged_bytes < self.written_bytes
    }

    /// Writes until nothing is left, nothing fits or its turn is over; returns true in the last case. Ends the
    /// stream behind the last byte, if it is to close.
    pub(crate) fn push(&mut self) -> io::Result<bool> {
        let (Some(socket), Some(_)) = (&self.socket, &self.established) else {
            return Ok(false);
        };
        for _ in 0..WRITES_PER_TURN {
            if self.unwritten_bytes == 0 {
                break;
            }
            let chunk_bytes = self.unwritten_bytes.min(WRITE_BYTES as u64) as usize;
            let Some(bytes) = socket::send(socket, &ZEROS[..chunk_bytes])? else {
                return Ok(false);
            };
            self.written_bytes += bytes as u64;
            if self.unwritten_bytes < u64::MAX {
                self.unwritten_bytes -= bytes as u64;
            }
            if bytes < chunk_bytes {
                // Full: the kernel reports when there is room again.
                return Ok(false);
            }
        }
        if self.unwritten_bytes == 0 && self.wants_close && !self.has_shut {
            socket::shutdown_write(socket)?;
            self.has_shut = true;
        }
        Ok(self.unwritten_bytes > 0)
    }

    /// Reads what has arrived; returns how much that was.
    pub(crate) fn pull(&mut self) -> io::Result<u64> {
        let (Some(socket), Some(_), false) = (&self.socket, &self.established, self.has_read_all)
        else {
            return Ok(0);
        };
        let mut new_bytes = 0;
        while let Some(bytes) = socket::discard(socket)? {
            if bytes == 0 {
                self.has_read_all = true;
                break;
            }
            if let Some(window_bytes) = self.pending_window.take() {
                // Linux sets the clamp again with the first data, see `sockets::receivers`.
                clamp_window(socket, window_bytes)?;
            }
            new_bytes += bytes as u64;
        }
        self.received_bytes += new_bytes;
        Ok(new_bytes)
    }

    /// Looks whether more than before is acknowledged; returns what is in all, if so.
    pub(crate) fn look_for_acknowledgment(&mut self) -> io::Result<Option<u64>> {
        let Some(established) = &self.established else {
            return Ok(None);
        };
        let is_known = self.acknowledged_bytes == self.written_bytes;
        if is_known && (!self.has_shut || self.is_fin_acknowledged) {
            return Ok(None);
        }
        let syn_bytes = established.acked_bytes;
        let Some(info) = self.info()? else {
            return Ok(None);
        };
        self.is_fin_acknowledged = self.has_shut && info.is_fin_acknowledged();
        // A FIN counts as a byte.
        let bytes = info
            .acked_bytes
            .saturating_sub(syn_bytes)
            .min(self.written_bytes);
        if bytes <= self.acknowledged_bytes {
            return Ok(None);
        }
        self.acknowledged_bytes = bytes;
        Ok(Some(bytes))
    }

    /// What the kernel reports of the socket, if there is one.
    pub(crate) fn info(&self) -> io::Result<Option<TcpInfo>> {
        self.socket
            .as_ref()
            .map(|socket| socket::tcp_info(socket))
            .transpose()
    }
}
