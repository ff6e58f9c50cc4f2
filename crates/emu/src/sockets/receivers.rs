//! The receiving applications: one thread accepts all flows and discards what arrives.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dumbbell_scenario::{Group, PROMPT_BYTES, UNLIMITED_BYTES};

use crate::error::Error;
use crate::hosts::host::{FIRST_FLOW_PORT, RECEIVER_PORT};
use crate::machine::readiness::{Readiness, Ready};
use crate::sockets::connection::Connection;
use crate::sockets::socket;

/// Receive buffer per byte of a limited window, and what is added to it: the kernel counts a
/// multiple of a packet's payload, especially for small ones. The window, not the buffer, should be
/// the limit.
const BUFFER_PER_WINDOW: u64 = 8;
const BUFFER_EXTRA_BYTES: u64 = 1 << 20;

/// Tokens of the listeners; flows are below.
const FIRST_LISTENER: u64 = 1 << 32;

/// A socket that listens for the flows of a group; created inside the receiver's host.
pub(crate) fn listener(group: &Group, address: Ipv4Addr) -> io::Result<OwnedFd> {
    let listener = socket::tcp()?;
    limit_window(&listener, group)?;
    socket::set_dscp(&listener, group.dscp)?;
    socket::bind(&listener, address, RECEIVER_PORT)?;
    socket::listen(&listener)?;
    Ok(listener)
}

/// Limits the window of a socket that will listen or connect: the handshake's window scale follows from it.
pub(crate) fn limit_window(socket: &OwnedFd, group: &Group) -> io::Result<()> {
    let Some(window_bytes) = limited_window(group) else {
        return Ok(());
    };
    fix_buffer(socket, buffer_bytes(window_bytes))?;
    clamp_window(socket, window_bytes)
}

/// The window to which the receivers of a group are limited, if any.
pub(crate) fn limited_window(group: &Group) -> Option<u32> {
    (group.host.rwnd_bytes < UNLIMITED_BYTES).then_some(group.host.rwnd_bytes as u32)
}

/// The receive buffer of a limited window, bytes.
pub(crate) fn buffer_bytes(window_bytes: u32) -> u64 {
    BUFFER_PER_WINDOW * u64::from(window_bytes) + BUFFER_EXTRA_BYTES
}

/// A buffer that Linux leaves as it is. Without the privilege to go beyond `net.core.rmem_max` it is the
/// namespace's `tcp_rmem` that makes it large enough.
fn fix_buffer(listener: &OwnedFd, bytes: u64) -> io::Result<()> {
    // The kernel doubles the value.
    let half_bytes = i32::try_from(bytes / 2)
        .unwrap_or(i32::MAX / 2)
        .min(i32::MAX / 2);
    match socket::set(listener, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, half_bytes) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

pub(crate) fn clamp_window(socket: &OwnedFd, window_bytes: u32) -> io::Result<()> {
    let window_bytes = i32::try_from(window_bytes).unwrap_or(i32::MAX);
    socket::set(
        socket,
        libc::IPPROTO_TCP,
        libc::TCP_WINDOW_CLAMP,
        window_bytes,
    )
}

fn set_low_water(socket: &OwnedFd, bytes: u64) -> io::Result<()> {
    socket::set(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes as i32)
}

/// Runs all receivers.
pub(crate) struct Receivers {
    readiness: Readiness,
    connections: Arc<Vec<Connection>>,
    /// Listening socket of each group without applications.
    listeners: Vec<Option<OwnedFd>>,
    /// Place of each group's first connection.
    first_flow: Vec<usize>,
    /// What each connection has read.
    reading: Vec<Reading>,
}

/// Progress of a flow's reader.
#[derive(Clone, Copy, Debug)]
struct Reading {
    /// The window to impose when the first data has arrived.
    pending_window: Option<u32>,
    /// Remaining part of [`PROMPT_BYTES`].
    prompt_bytes: u64,
    low_water_bytes: u64,
}

impl Reading {
    fn of_group(group: &Group) -> Self {
        Self {
            pending_window: limited_window(group),
            prompt_bytes: PROMPT_BYTES,
            low_water_bytes: group.low_water_bytes(),
        }
    }
}

impl Receivers {
    /// Receivers of the connections, whose groups are these.
    pub(crate) fn new(
        readiness: Readiness,
        connections: &Arc<Vec<Connection>>,
        groups: &[Group],
        listeners: Vec<Option<OwnedFd>>,
    ) -> Result<Self, Error> {
        for (token, listener) in (FIRST_LISTENER..).zip(&listeners) {
            let Some(listener) = listener else { continue };
            readiness
                .add(listener, libc::EPOLLIN as u32, token)
                .map_err(Error::waiting)?;
        }
        let flows_before = |group: usize| {
            let before = &groups[..group];
            let of_one_transfer = before.iter().filter(|group| group.has_own_sockets());
            of_one_transfer.map(|group| group.flows as usize).sum()
        };
        Ok(Self {
            readiness,
            listeners,
            first_flow: (0..groups.len()).map(flows_before).collect(),
            reading: connections
                .iter()
                .map(|connection| Reading::of_group(&groups[connection.group]))
                .collect(),
            connections: Arc::clone(connections),
        })
    }

    /// Receives until `stopped` is set and the waker called.
    pub(crate) fn run(mut self, stopped: &AtomicBool) -> Result<(), Error> {
        let mut ready = Vec::new();
        while !stopped.load(Ordering::Acquire) {
            self.readiness
                .wait(true, &mut ready)
                .map_err(Error::waiting)?;
            for Ready { token, .. } in ready.drain(..) {
                match token.checked_sub(FIRST_LISTENER) {
                    Some(group) => self.accept(group as usize)?,
                    None => self.receive(token as usize)?,
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, group: usize) -> Result<(), Error> {
        let Some(listener) = &self.listeners[group] else {
            return Ok(());
        };
        while let Some((socket, peer)) =
            socket::accept(listener).map_err(|source| Error::System {
                what: format!("a flow of group {group} could not be accepted"),
                source,
            })?
        {
            let index = usize::from(peer.port().wrapping_sub(FIRST_FLOW_PORT));
            let flow = self.first_flow[group] + index;
            let connection = self.connections.get(flow);
            // Connections that are not flows of the run are closed.
            let connection = connection.filter(|connection| connection.group == group);
            if let Some(connection) = connection {
                let receiver = connection.receiver.get_or_init(|| socket);
                self.readiness
                    .add(receiver, libc::EPOLLIN as u32, flow as u64)
                    .map_err(Error::waiting)?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, flow: usize) -> Result<(), Error> {
        let connection = &self.connections[flow];
        let Some(receiver) = connection.receiver.get() else {
            return Ok(());
        };
        let broken = |error| connection.failed("could not be received", error);
        let discarded = socket::discard(receiver).map_err(broken)?;
        if discarded == Some(0) {
            // The sender has finished, so we finish too, with a FIN that acknowledges the other's
            // at once. The socket stays open, so that TCP_INFO can be read until the run is over.
            socket::shutdown_write(receiver).map_err(broken)?;
            return self.readiness.remove(receiver).map_err(Error::waiting);
        }
        let Some(bytes) = discarded else {
            return Ok(());
        };
        let reading = &mut self.reading[flow];
        if let Some(window_bytes) = reading.pending_window.take() {
            // With the first data Linux learns the segment size, and sets the clamp again from the
            // size of the buffer (since 6.9), so ours must be set again.
            clamp_window(receiver, window_bytes).map_err(broken)?;
        }
        if reading.prompt_bytes > 0 {
            reading.prompt_bytes = reading.prompt_bytes.saturating_sub(bytes as u64);
            if reading.prompt_bytes == 0 {
                set_low_water(receiver, reading.low_water_bytes).map_err(broken)?;
            }
        }
        Ok(())
    }
}
