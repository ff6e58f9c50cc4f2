//! Where applications make their sockets: the hosts of their groups, entered by the thread that runs them.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use dumbbell_app::End;
use dumbbell_scenario::{Group, Scenario};

use super::connection::index;
use crate::error::Error;
use crate::hosts::host::{Host, Hosts};
use crate::sockets::datagram;
use crate::sockets::receivers::limit_window;
use crate::sockets::sender_sockets::{make_sender, unsent_bytes};
use crate::sockets::socket;

/// Room for datagrams that leave in a burst, or arrive while the thread is not scheduled, bytes.
const DATAGRAM_ROOM_BYTES: usize = 4 << 20;

/// How much of the fastest link an end that writes without end may have written and not sent: what is written when
/// an application pauses is sent all the same.
const AHEAD_DIVISOR: libc::c_int = 20;

/// Makes sockets inside the hosts.
pub(crate) struct SocketMaker {
    hosts: Arc<Hosts>,
    scenario: Arc<Scenario>,
    /// The kernel's name of each group's algorithm.
    kernel_ccs: Vec<String>,
    /// Whether a group's receivers run the algorithm too, because it needs ECN.
    at_receivers: Vec<bool>,
    unsent_bytes: libc::c_int,
    /// The host that the thread is in.
    inside: Option<(usize, End)>,
}

impl SocketMaker {
    /// For the groups of `scenario`, which run `kernel_ccs`.
    pub(crate) fn new(
        hosts: &Arc<Hosts>,
        scenario: &Arc<Scenario>,
        kernel_ccs: &[String],
        at_receivers: Vec<bool>,
    ) -> Self {
        Self {
            hosts: Arc::clone(hosts),
            kernel_ccs: kernel_ccs.to_vec(),
            at_receivers,
            unsent_bytes: (unsent_bytes(scenario) / AHEAD_DIVISOR).max(32 << 10),
            scenario: Arc::clone(scenario),
            inside: None,
        }
    }

    /// A socket that listens at an end.
    pub(crate) fn listener(
        &mut self,
        group: usize,
        end: End,
        at: SocketAddrV4,
    ) -> Result<OwnedFd, Error> {
        let socket = self.tcp(group, end)?;
        socket::bind(&socket, *at.ip(), at.port())
            .and_then(|()| socket::listen(&socket))
            .map_err(failed(group, &format!("could not listen at {at}")))?;
        Ok(socket)
    }

    /// A socket that an end connects from; `None` if its port is taken.
    pub(crate) fn connecting(
        &mut self,
        group: usize,
        end: End,
        from: SocketAddrV4,
        to: SocketAddrV4,
    ) -> Result<Option<OwnedFd>, Error> {
        let socket = self.tcp(group, end)?;
        match socket::bind(&socket, *from.ip(), from.port()) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => return Ok(None),
            bound => bound.map_err(failed(group, &format!("could not bind {from}")))?,
        }
        socket::connect(&socket, *to.ip(), to.port())
            .map_err(failed(group, &format!("could not connect to {to}")))?;
        Ok(Some(socket))
    }

    /// A socket from which datagrams are sent.
    pub(crate) fn datagram_sender(
        &mut self,
        group: usize,
        from: SocketAddrV4,
        to: SocketAddrV4,
    ) -> Result<OwnedFd, Error> {
        self.enter(group, End::Sender)?;
        let sender = datagram::sender((*from.ip(), from.port()), (*to.ip(), to.port()));
        let sender = sender.map_err(failed(group, "could not make a socket for datagrams"))?;
        let dscp = self.scenario.groups[group].dscp;
        socket::set_dscp(&sender, dscp).map_err(failed(group, "could not set its DSCP"))?;
        // Without privilege up to `net.core.wmem_max`; what does not fit is counted.
        let room = DATAGRAM_ROOM_BYTES as libc::c_int;
        let set = |option| socket::set(&sender, libc::SOL_SOCKET, option, room);
        set(libc::SO_SNDBUFFORCE)
            .or_else(|_| set(libc::SO_SNDBUF))
            .map_err(failed(group, "could not set the send buffer of datagrams"))?;
        Ok(sender)
    }

    /// A socket at which datagrams arrive.
    pub(crate) fn datagram_receiver(
        &mut self,
        group: usize,
        at: SocketAddrV4,
    ) -> Result<OwnedFd, Error> {
        self.enter(group, End::Receiver)?;
        datagram::receiver((*at.ip(), at.port()), DATAGRAM_ROOM_BYTES)
            .map_err(failed(group, "could not make a socket for datagrams"))
    }

    /// A TCP socket of an end, before it listens or connects.
    fn tcp(&mut self, group: usize, end: End) -> Result<OwnedFd, Error> {
        self.enter(group, end)?;
        let config = &self.scenario.groups[group];
        let socket = socket::tcp().map_err(failed(group, "could not make a socket"))?;
        limit_window(&socket, config).map_err(failed(group, "could not limit its window"))?;
        socket::set_dscp(&socket, config.dscp).map_err(failed(group, "could not set its DSCP"))?;
        if end == End::Sender || sends_requests(config) {
            let cc = &self.kernel_ccs[group];
            make_sender(&socket, group, config, cc, self.unsent_bytes)?;
        } else if self.at_receivers[group] {
            let cc = &self.kernel_ccs[group];
            socket::set_congestion_control(&socket, cc).map_err(failed(
                group,
                &format!("could not run `{cc}` at its receiver"),
            ))?;
        }
        Ok(socket)
    }

    /// Moves the calling thread into a host; sockets that it makes from then on are there.
    fn enter(&mut self, group: usize, end: End) -> Result<(), Error> {
        if self.inside != Some((group, end)) {
            self.inside = None;
            self.host(group, end).namespace.enter()?;
            self.inside = Some((group, end));
        }
        Ok(())
    }

    fn host(&self, group: usize, end: End) -> &Host {
        [&self.hosts.senders, &self.hosts.receivers][index(end)]
            .get(group)
            .expect("every group has hosts")
    }
}

/// Whether the receivers of a group write.
fn sends_requests(group: &Group) -> bool {
    group.traffic.facts().has_requests
}

/// An error of an application's socket.
pub(crate) fn failed(group: usize, what: &str) -> impl FnOnce(io::Error) -> Error + use<> {
    let what = format!("an application of group {group} {what}");
    move |source| match source.raw_os_error() {
        Some(libc::EMFILE) => Error::Refused(format!(
            "{what}: this process may have no more open files; raise the limit (`ulimit -n`, LimitNOFILE=), or use less load"
        )),
        _ => Error::System { what, source },
    }
}
