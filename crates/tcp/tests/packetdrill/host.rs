//! The host under test as a script sees it: sockets and one connection.

mod calls;
mod tcp_info;

use std::collections::VecDeque;

use dumbbell_net::Ecn;
use dumbbell_tcp::{AccEcn, EcnMode};

use crate::byte_map::ByteMap;
use crate::connection::{Connection, Opening, Sent};
use crate::script::{Action, Flags, PacketSpec, Script};
use crate::settings::Settings;

/// MSS of an Ethernet interface (`tun0`, 1500 bytes), bytes.
const LOCAL_MSS_BYTES: u32 = 1460;
/// Timestamps in every segment, bytes (RFC 7323 §3.2, padded).
const TIMESTAMPS_BYTES: u32 = 12;
/// The AccECN option in every segment, bytes.
const ACCECN_OPTION_BYTES: u32 = 12;

/// Why a script ends early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It uses what this host does not have.
    Unsupported(String),
    /// The host does not do what it says.
    Differs(String),
}

/// What a file descriptor stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Descriptor {
    Socket,
    Listener,
    Connection,
    File,
    Closed,
}

#[derive(Debug)]
pub(crate) struct Host {
    now_ns: u64,
    pub(crate) settings: Settings,
    /// From number 3 on.
    descriptors: Vec<Descriptor>,
    is_listening: bool,
    connection: Option<Connection>,
    /// The peer's first SYN, with or without ACK: its options.
    peer_syn: Option<PacketSpec>,
    /// What the peer will send, for segment numbers.
    inbound_ranges: Vec<(u32, u32)>,
    /// Largest payload that the script asks for (`TCP_MAXSEG`), bytes.
    max_segment_bytes: u32,
    is_nonblocking: bool,
    /// `TCP_NODELAY` is not set.
    nagle: bool,
    /// Payload that the application has read, bytes.
    read_bytes: u64,
    is_read_shut: bool,
    /// Writing is shut down.
    is_write_shut: bool,
    /// The application has closed a connecting socket.
    is_abandoned: bool,
    /// Packets that no connection sent.
    resets: VecDeque<Sent>,
    busy: tcp_info::Busy,
}

impl Host {
    /// A host that the peer of `script` talks to.
    pub(crate) fn new(now_ns: u64, script: &Script) -> Self {
        let received = script
            .events
            .iter()
            .filter_map(|event| match &event.action {
                Action::Receives(packet) => Some(packet),
                _ => None,
            });
        let peer_syn = received.clone().find(|packet| packet.flags.syn).cloned();
        let inbound_ranges = received
            .filter(|packet| !packet.flags.syn && packet.seq_end() > packet.seq)
            .map(|packet| (packet.seq, packet.seq_end()))
            .collect();
        Self {
            now_ns,
            settings: Settings::default(),
            descriptors: Vec::new(),
            is_listening: false,
            connection: None,
            peer_syn,
            inbound_ranges,
            max_segment_bytes: LOCAL_MSS_BYTES,
            is_nonblocking: false,
            nagle: true,
            is_read_shut: false,
            read_bytes: 0,
            is_write_shut: false,
            is_abandoned: false,
            resets: VecDeque::new(),
            busy: tcp_info::Busy::default(),
        }
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Takes what a shell's lines set.
    pub(crate) fn set(&mut self, lines: &str) -> Result<(), String> {
        self.settings.apply(lines)?;
        if let Some(connection) = &mut self.connection {
            connection.sends_option = self.settings.accecn_option;
        }
        Ok(())
    }

    /// Whether a connect that began has succeeded.
    pub(crate) fn is_connected(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(Connection::is_established)
    }

    /// Runs timers up to `time_ns`, and stays there.
    pub(crate) fn run_until(&mut self, time_ns: u64) {
        while self.next_timer_ns() <= time_ns {
            self.run_next_timer();
        }
        self.now_ns = self.now_ns.max(time_ns);
    }

    /// The next packet sent, if one is sent by `time_ns`; time goes on until then.
    pub(crate) fn next_sent(&mut self, time_ns: u64) -> Option<Sent> {
        loop {
            if let Some(sent) = self.take_sent() {
                return Some(sent);
            }
            if self.next_timer_ns() > time_ns {
                self.now_ns = self.now_ns.max(time_ns);
                return None;
            }
            self.run_next_timer();
        }
    }

    fn take_sent(&mut self) -> Option<Sent> {
        let of_connection = self
            .connection
            .as_mut()
            .and_then(|own| own.sent.pop_front());
        of_connection.or_else(|| self.resets.pop_front())
    }

    fn next_timer_ns(&self) -> u64 {
        self.connection
            .as_ref()
            .map_or(u64::MAX, Connection::next_timer_ns)
    }

    fn run_next_timer(&mut self) {
        self.now_ns = self.now_ns.max(self.next_timer_ns());
        let now_ns = self.now_ns;
        self.with_connection(|connection| connection.run_timers(now_ns));
    }

    /// Does something with the connection, if there is one, and follows how long it is busy.
    fn with_connection<T>(&mut self, action: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let connection = self.connection.as_mut()?;
        let result = action(connection);
        self.busy.follow(self.now_ns, connection);
        Some(result)
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, packet: &PacketSpec) -> Result<(), Stop> {
        let now_ns = self.now_ns;
        if packet.flags.rst {
            // What scripts end with; nothing of it is checked.
            self.is_abandoned = true;
            return Ok(());
        }
        if packet.flags.syn && !packet.flags.ack && self.connection.is_none() && self.is_listening {
            return self.open(false, Some(packet));
        }
        let is_gone = self.is_abandoned || self.connection.as_ref().is_none_or(Connection::is_over);
        if is_gone {
            self.reset(packet);
            return Ok(());
        }
        self.with_connection(|connection| connection.receive(now_ns, packet));
        Ok(())
    }

    /// RFC 9293 §3.10.7.1: what arrives for no connection is answered by a reset.
    fn reset(&mut self, packet: &PacketSpec) {
        self.resets.push_back(Sent {
            time_ns: self.now_ns,
            flags: Flags {
                rst: true,
                ..Flags::default()
            },
            seq: packet.ack.unwrap_or(0),
            payload_bytes: 0,
            ack: None,
            ecn: Ecn::NotEct,
            timestamps: None,
            sack: Vec::new(),
            accecn: None,
            counts_marks: false,
        });
    }

    /// Opens the connection: `syn` arrived, or one leaves.
    fn open(&mut self, is_active: bool, syn: Option<&PacketSpec>) -> Result<(), Stop> {
        let default = PacketSpec::default();
        let peer = self.peer_syn.as_ref().unwrap_or(&default);
        let timestamps = peer.timestamps().is_some();
        let mut mss_bytes = peer.mss_bytes().unwrap_or(536).min(self.max_segment_bytes);
        if timestamps {
            mss_bytes -= TIMESTAMPS_BYTES;
        }
        let ecn = self.settings.ecn_mode(is_active);
        if is_active && ecn == EcnMode::AccEcn(AccEcn::default()) && peer.accecn().is_some() {
            mss_bytes -= ACCECN_OPTION_BYTES;
        }
        let opening = Opening {
            mss_bytes,
            ecn,
            timestamps,
            window_scale: peer.window_scale().unwrap_or(0),
            nagle: self.nagle,
            permits_sack: peer.permits_sack(),
            is_active,
        };
        let inbound = ByteMap::of_ranges(self.inbound_ranges.iter().copied());
        let connection = Connection::open(self.now_ns, opening, &self.settings, inbound, syn)
            .map_err(Stop::Unsupported)?;
        self.connection = Some(connection);
        Ok(())
    }
}
