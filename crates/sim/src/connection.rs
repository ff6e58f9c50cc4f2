//! A connection that an application opened: a half for each direction in which it carries data.

use std::rc::Rc;

use dumbbell_app::End;
use dumbbell_cc::Instance;
use dumbbell_scenario::{Group, Way};
use dumbbell_tcp::{Half, Receiver, Sender, SenderConfig, TcpMemory};

use crate::endpoints::{count_memory, receiver_config, rwnd_bytes, sender_config};

/// The end that a half's data go to.
pub(crate) fn other(end: End) -> End {
    match end {
        End::Sender => End::Receiver,
        End::Receiver => End::Sender,
    }
}

/// The way that an end's packets take.
pub(crate) fn way_from(end: End) -> Way {
    match end {
        End::Sender => Way::There,
        End::Receiver => Way::Back,
    }
}

/// The sender at one end and the receiver at the other, and what their application knows.
#[derive(Debug)]
pub(crate) struct HalfConnection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    /// Bytes received in order and reported to the application.
    pub(crate) received_bytes: u64,
    /// Bytes acknowledged and reported to the application.
    pub(crate) acknowledged_bytes: u64,
}

/// What a connection is opened with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    /// Number of the connection in the run.
    pub(crate) id: u32,
    /// Its user, by index, and the number of the user's flow.
    pub(crate) user: u32,
    pub(crate) flow: u32,
    /// Its application's number for it.
    pub(crate) number: u32,
    /// The end that sends the SYN.
    pub(crate) opener: End,
    pub(crate) now_ns: u64,
    pub(crate) group_index: u32,
    pub(crate) group: &'a Group,
    pub(crate) instance: &'a Rc<Instance>,
    /// Addresses of sender and receiver.
    pub(crate) addresses: (std::net::SocketAddrV4, std::net::SocketAddrV4),
    /// Where the timestamps of sender and receiver begin, ms.
    pub(crate) clocks_ms: (u32, u32),
    /// The memory that all sockets share, if it is limited.
    pub(crate) memory: Option<&'a Rc<TcpMemory>>,
}

/// A connection of an application. One that the sender opens carries data one way, and its receiver
/// closes with it; one that the receiver opens carries requests too.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) id: u32,
    pub(crate) user: u32,
    pub(crate) number: u32,
    pub(crate) group: u32,
    pub(crate) opener: End,
    /// Receive window of both ends, bytes.
    pub(crate) rwnd_bytes: u32,
    /// The handshake has been reported to the application.
    pub(crate) is_connected: bool,
    /// The close has been reported to the application.
    pub(crate) is_closed: bool,
    /// From sender to receiver.
    pub(crate) data: HalfConnection,
    /// From receiver to sender.
    pub(crate) requests: Option<Box<HalfConnection>>,
}

impl Connection {
    /// A closed connection; its opener has yet to start.
    pub(crate) fn new(opening: &Opening<'_>) -> Self {
        let has_requests = opening.opener == End::Receiver;
        let half = |half: Half| {
            let mut socket = opening.instance.new_flow();
            let (sender, receiver) = opening.addresses;
            let peer_clock_ms = match half {
                Half::Only | Half::Forward => {
                    socket.sock.set_addresses(sender, receiver);
                    opening.clocks_ms.1
                }
                Half::Reverse => {
                    socket.sock.set_addresses(receiver, sender);
                    opening.clocks_ms.0
                }
            };
            let (id, group) = (opening.id, opening.group);
            let sender = SenderConfig {
                peer_clock_ms,
                ..sender_config(id, half, group, opening.instance)
            };
            let receiver = receiver_config(id, half, group, opening.instance, opening.now_ns);
            let mut sender = Sender::new(sender, socket).reported_as(opening.flow);
            let mut receiver = Receiver::new(receiver);
            count_memory(&mut sender, &mut receiver, group, opening.memory);
            HalfConnection {
                sender,
                receiver,
                received_bytes: 0,
                acknowledged_bytes: 0,
            }
        };
        Self {
            id: opening.id,
            user: opening.user,
            number: opening.number,
            group: opening.group_index,
            opener: opening.opener,
            rwnd_bytes: rwnd_bytes(opening.group),
            is_connected: false,
            is_closed: false,
            data: half(if has_requests {
                Half::Forward
            } else {
                Half::Only
            }),
            requests: has_requests.then(|| Box::new(half(Half::Reverse))),
        }
    }

    /// The half that carries what `from` writes; without requests the only one.
    #[inline]
    pub(crate) fn half_mut(&mut self, from: End) -> &mut HalfConnection {
        match (from, &mut self.requests) {
            (End::Receiver, Some(requests)) => requests,
            _ => &mut self.data,
        }
    }

    /// The half that carries what `from` writes, and the other, if there is one.
    #[inline]
    pub(crate) fn halves_mut(
        &mut self,
        from: End,
    ) -> (&mut HalfConnection, Option<&mut HalfConnection>) {
        match (from, self.requests.as_deref_mut()) {
            (End::Receiver, Some(requests)) => (requests, Some(&mut self.data)),
            (_, requests) => (&mut self.data, requests),
        }
    }

    /// Both halves, or the only one.
    pub(crate) fn halves(&self) -> impl Iterator<Item = &HalfConnection> {
        std::iter::once(&self.data).chain(self.requests.as_deref())
    }

    /// Whether an end may write.
    pub(crate) fn can_write(&self, from: End) -> bool {
        from == End::Sender || self.requests.is_some()
    }

    /// Whether everything that was sent either way is acknowledged, the FINs included.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.halves().all(|half| half.sender.is_closed())
    }

    /// Whether no endpoint has anything left to do.
    pub(crate) fn is_over(&self) -> bool {
        self.is_closed && self.halves().all(|half| half.receiver.is_closed())
    }

    /// When an end wants to be woken, ns: what it sends, or the ACKs of what it receives.
    #[inline]
    pub(crate) fn next_timer_ns(&self, end: End) -> u64 {
        match (end, &self.requests) {
            (End::Sender, None) => self.data.sender.next_timer_ns(),
            (End::Receiver, None) => self.data.receiver.next_timer_ns(),
            (End::Sender, Some(requests)) => {
                let acks_ns = requests.receiver.next_timer_ns();
                self.data.sender.next_timer_ns().min(acks_ns)
            }
            (End::Receiver, Some(requests)) => {
                let acks_ns = self.data.receiver.next_timer_ns();
                requests.sender.next_timer_ns().min(acks_ns)
            }
        }
    }
}
