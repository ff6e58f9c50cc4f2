//! The interface between an application and the engine that runs it.
//!
//! An application does not know how much TCP holds, so a source that is on for a time cannot be made of writes of
//! bytes: too few would limit cwnd, too many would continue long after. It writes without end and asks for `Pause`; the
//! engine answers with `Paused` and how many bytes that were. What an application writes in answer, at the same time,
//! continues what went before. The simulator's sender was then never without data (`Sender::write_on`), so a response
//! in the middle of a download (`responsiveness`) makes no rate sample application-limited.

use dumbbell_net::Ecn;

/// An end of a connection, by the hosts of its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Where the group's `route` begins: what it writes takes `route`. A server, where there are requests.
    Sender,
    /// Where the group's `route` ends: what it writes takes `back`. A client, where there are requests.
    Receiver,
}

/// What happens to an application. Bytes are counted from the start of their connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It begins. Always the first event.
    Start,
    /// The time of [`Application::next_timer_ns`] has come.
    Timer,
    /// It begins nothing new from now on; what has begun goes on, except writing without end. Before
    /// [`Event::Start`] it means that the application never begins.
    Stop,
    /// The handshake is complete at the end that opened the connection.
    Connected {
        /// Number of the connection.
        connection: u32,
    },
    /// Bytes have arrived in order at an end.
    Received {
        /// Number of the connection.
        connection: u32,
        /// The end at which they arrived.
        at: End,
        /// All bytes from the first on.
        bytes: u64,
    },
    /// Bytes that an end wrote are acknowledged.
    Acknowledged {
        /// Number of the connection.
        connection: u32,
        /// The end that wrote them.
        from: End,
        /// All bytes from the first on.
        bytes: u64,
    },
    /// The answer to [`Command::Pause`].
    Paused {
        /// Number of the connection.
        connection: u32,
        /// The end that wrote.
        from: End,
        /// What it wrote in all: the last of it is acknowledged when [`Event::Acknowledged`] has this number.
        bytes: u64,
    },
    /// Both directions are closed, or the connection failed.
    Closed {
        /// Number of the connection.
        connection: u32,
    },
    /// A datagram arrived at the receiver.
    Datagram {
        /// Number of the datagram.
        number: u64,
        /// When it was sent, ns.
        sent_ns: u64,
        /// Its payload, bytes.
        bytes: u32,
    },
}

/// What an application wants done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens connection number `connection`: the application counts its own from 0, and uses no number twice.
    Open {
        /// Number of the connection.
        connection: u32,
        /// The end that sends the SYN.
        by: End,
    },
    /// Appends bytes to what an end has to send.
    Write {
        /// Number of the connection.
        connection: u32,
        /// The end that writes.
        from: End,
        /// How many; `u64::MAX`: without end.
        bytes: u64,
    },
    /// An end that writes without end stops where it is: what TCP has not yet taken from it is not
    /// written. [`Event::Paused`] says where that was. It may write again.
    Pause {
        /// Number of the connection.
        connection: u32,
        /// The end that writes.
        from: End,
    },
    /// An end has nothing more to write: FIN behind the last byte; of writing without end the last is
    /// as of [`Command::Pause`]. An end that has written nothing closes by itself when it has read the
    /// other's FIN.
    Close {
        /// Number of the connection.
        connection: u32,
        /// The end that closes.
        from: End,
    },
    /// Sends a datagram from sender to receiver.
    Datagram {
        /// Number of the datagram.
        number: u64,
        /// Its payload, bytes.
        bytes: u32,
        /// Its ECN field.
        ecn: Ecn,
    },
}

/// What kind of transfer a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferKind {
    /// A connection of its own, from its SYN to the ACK of its last byte.
    Flow,
    /// From the first byte of a request written to the last byte of its response received.
    Request,
    /// From the first SYN to the last byte of the last object.
    Page,
    /// A chunk of video, from its request to its last byte.
    Chunk,
    /// A burst of an on/off source, from its first byte written to the ACK of its last.
    Burst,
}

impl TransferKind {
    /// What the table of transfers calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Request => "request",
            Self::Page => "page",
            Self::Chunk => "chunk",
            Self::Burst => "burst",
        }
    }
}

/// One transfer with an end: a row of `transfers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// What it was.
    pub kind: TransferKind,
    /// Its connection; of several, the first.
    pub connection: u32,
    /// Application payload, bytes.
    pub bytes: u64,
    /// When it began, ns.
    pub start_ns: u64,
    /// When it was complete, ns; `None`: not before the end of the run.
    pub end_ns: Option<u64>,
}

/// What an application returns of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// To be done by the engine, in this order.
    pub commands: Vec<Command>,
    /// Transfers that ended.
    pub transfers: Vec<Transfer>,
}

/// What one flow of a group has to send: a source, a user, a player. It may open any number of
/// connections.
pub trait Application {
    /// Something happened at `now_ns`; appends to `outcome`.
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome);

    /// When it wants [`Event::Timer`], ns; `u64::MAX`: never.
    fn next_timer_ns(&self) -> u64;

    /// At the end of the run: transfers that have begun and not ended.
    fn unfinished(&self, transfers: &mut Vec<Transfer>);

    /// What it measured by itself, by names with units: `stall_us`, `one_way_delay_p95_us`.
    fn measurements(&self, now_ns: u64) -> Vec<(&'static str, i64)> {
        let _ = now_ns;
        Vec::new()
    }
}
