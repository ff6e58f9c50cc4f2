//! What the kernel reports about a flow at a sampling instant.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dumbbell_cc::TCP_INFINITE_SSTHRESH;
use dumbbell_results::UNKNOWN;
use dumbbell_scenario::Scenario;

use crate::applications::{LiveUser, LiveUsers};
use crate::error::Error;
use crate::guest::conversation::SampledUser;
use crate::machine::clock::monotonic_ns;
use crate::sampling::flow_report::Course;
use crate::sockets::connection::Connection;
use crate::sockets::socket;
use crate::sockets::tcp_info::TcpInfo;

/// What a user's connections report before the first.
pub(crate) fn no_connection() -> TcpInfo {
    TcpInfo {
        snd_ssthresh_pkts: TCP_INFINITE_SSTHRESH,
        min_rtt_us: u32::MAX,
        ..TcpInfo::default()
    }
}

/// A flow: where it is found.
#[derive(Clone, Copy, Debug)]
enum Member {
    /// In the connections.
    Connection(usize),
    /// In the users.
    User(usize),
    /// Programs, whose sockets are not ours: number and group, and the time of the start.
    Program {
        flow: u32,
        group: usize,
        start_ns: u64,
    },
}

/// Reads flows in the order of their numbers.
pub(crate) struct FlowReader {
    connections: Arc<Vec<Connection>>,
    users: Arc<LiveUsers>,
    /// What each flow is.
    members: Vec<Member>,
    /// Payload that arrived of each flow of programs.
    received_bytes: Arc<Vec<AtomicU64>>,
    epoch_ns: u64,
    /// What each user's latest connection reported last.
    latest: Vec<TcpInfo>,
}

/// A flow that is active.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    pub(crate) start_ns: u64,
    pub(crate) is_sndbuf_limited: bool,
    /// Sums over a user's connections; what cannot be summed is the latest connection's.
    pub(crate) info: TcpInfo,
    /// Largest cwnd of one socket.
    pub(crate) cwnd_max_pkts: u32,
    pub(crate) syn_retransmits: u32,
    /// The sender's socket or a user's latest, if it has one.
    sender: Sender,
}

impl Reading {
    /// That of a guest's user.
    pub(crate) fn of_guests_user(course: &Course, sampled: &SampledUser) -> Self {
        Self {
            flow: course.flow,
            group: course.group,
            start_ns: course.start_ns,
            is_sndbuf_limited: false,
            info: sampled.info,
            cwnd_max_pkts: sampled.cwnd_max_pkts,
            syn_retransmits: sampled.syn_retransmits,
            sender: Sender::User(None, sampled.received_bytes),
        }
    }

    /// That of a guest's connection, whose place is its flow's number.
    pub(crate) fn of_guest(course: &Course, info: TcpInfo, is_sndbuf_limited: bool) -> Self {
        Self {
            flow: course.flow,
            group: course.group,
            start_ns: course.start_ns,
            is_sndbuf_limited,
            info,
            cwnd_max_pkts: info.snd_cwnd_pkts,
            syn_retransmits: course.syn_retransmits(),
            sender: Sender::Connection(course.flow as usize),
        }
    }
}

#[derive(Debug)]
enum Sender {
    /// A connection by number.
    Connection(usize),
    /// With what its receivers got.
    User(Option<Arc<OwnedFd>>, u64),
    /// With what arrived.
    Program(u64),
}

impl Reading {
    /// Whether nothing is known but what crosses the path.
    pub(crate) fn is_of_program(&self) -> bool {
        matches!(self.sender, Sender::Program(_))
    }
}

impl FlowReader {
    /// Reads all flows of `scenario`.
    pub(crate) fn new(
        scenario: &Scenario,
        connections: &Arc<Vec<Connection>>,
        users: Arc<LiveUsers>,
        received_bytes: Arc<Vec<AtomicU64>>,
        epoch_ns: u64,
    ) -> Self {
        let mut members: Vec<(u32, Member)> = (connections.iter().zip(0..))
            .map(|(connection, place)| (connection.flow, Member::Connection(place)))
            .collect();
        let user_flows: Vec<u32> = users.lock().iter().map(|user| user.flow).collect();
        let of_users = user_flows.iter().zip(0..);
        members.extend(of_users.map(|(&flow, place)| (flow, Member::User(place))));
        members.extend(programs(scenario));
        members.sort_by_key(|&(flow, _)| flow);
        debug_assert_eq!(members.len(), scenario.flow_count());
        Self {
            connections: Arc::clone(connections),
            users,
            received_bytes,
            epoch_ns,
            members: members.into_iter().map(|(_, member)| member).collect(),
            latest: vec![no_connection(); user_flows.len()],
        }
    }

    /// Reads all flows that are active: `readings` are replaced.
    pub(crate) fn read(&mut self, readings: &mut Vec<Reading>) -> Result<(), Error> {
        readings.clear();
        for member in &self.members {
            match *member {
                Member::Connection(place) => {
                    let connection = &self.connections[place];
                    if connection.is_active() {
                        readings.push(read_connection(connection, place)?);
                    }
                }
                Member::Program {
                    flow,
                    group,
                    start_ns,
                } => {
                    if monotonic_ns() > self.epoch_ns.saturating_add(start_ns) {
                        let bytes = self.received_bytes[flow as usize].load(Ordering::Relaxed);
                        readings.push(read_program(flow, group, start_ns, bytes));
                    }
                }
                Member::User(place) => {
                    let users = self.users.lock();
                    if users[place].has_started {
                        readings.push(read_user(&users[place], &mut self.latest[place])?);
                    }
                }
            }
        }
        Ok(())
    }

    /// Payload that arrived at the flow's receivers in order; of a connection, whether or not its application has
    /// read it.
    pub(crate) fn received_bytes(&self, reading: &Reading) -> Result<u64, Error> {
        let connection = match reading.sender {
            Sender::User(_, bytes) | Sender::Program(bytes) => return Ok(bytes),
            Sender::Connection(place) => &self.connections[place],
        };
        let Some(receiver) = connection.receiver.get() else {
            return Ok(0);
        };
        let info = socket::tcp_info(receiver)
            .map_err(|error| connection.failed("could not be inspected", error))?;
        Ok(connection.payload_bytes(info.received_bytes))
    }

    /// The sender's socket, or a user's latest, if it has one.
    pub(crate) fn sender<'a>(&'a self, reading: &'a Reading) -> Option<&'a OwnedFd> {
        match &reading.sender {
            Sender::Connection(place) => Some(&self.connections[*place].sender),
            Sender::User(socket, _) => socket.as_deref(),
            Sender::Program(_) => None,
        }
    }
}

fn read_connection(connection: &Connection, place: usize) -> Result<Reading, Error> {
    let info = sender_info(connection)?;
    Ok(Reading {
        flow: connection.flow,
        group: connection.group,
        start_ns: connection.start_ns,
        is_sndbuf_limited: connection.is_sndbuf_limited(),
        info,
        cwnd_max_pkts: info.snd_cwnd_pkts,
        syn_retransmits: syn_retransmits(connection),
        sender: Sender::Connection(place),
    })
}

/// The flows of programs, by their numbers.
fn programs(scenario: &Scenario) -> Vec<(u32, Member)> {
    let mut flow = 0;
    let mut found = Vec::new();
    for (number, group) in scenario.groups.iter().enumerate() {
        if group.program.is_some() {
            let start_ns = group.start_of(scenario.seed, flow);
            let member = Member::Program {
                flow,
                group: number,
                start_ns,
            };
            found.push((flow, member));
        }
        flow += group.flows;
    }
    found
}

/// What a program's sockets do is not known.
pub(crate) fn unknown_info() -> TcpInfo {
    TcpInfo {
        snd_cwnd_pkts: UNKNOWN,
        unacked_pkts: UNKNOWN,
        snd_ssthresh_pkts: TCP_INFINITE_SSTHRESH,
        pacing_rate_bytes_per_s: u64::MAX,
        ..TcpInfo::default()
    }
}

fn read_program(flow: u32, group: usize, start_ns: u64, received_bytes: u64) -> Reading {
    Reading {
        flow,
        group,
        start_ns,
        is_sndbuf_limited: false,
        info: unknown_info(),
        cwnd_max_pkts: 0,
        syn_retransmits: 0,
        sender: Sender::Program(received_bytes),
    }
}

/// Reads a user; `latest` is what its latest connection reported last.
pub(crate) fn read_user(user: &LiveUser, latest: &mut TcpInfo) -> Result<Reading, Error> {
    let mut sum = TcpInfo::default();
    let (mut cwnd_max_pkts, mut syn_retransmits) = (0, 0);
    for sender in user.senders.values() {
        let info = socket::tcp_info(&sender.socket).map_err(|source| Error::System {
            what: format!("a connection of flow {} could not be inspected", user.flow),
            source,
        })?;
        sum.snd_cwnd_pkts = sum.snd_cwnd_pkts.saturating_add(info.snd_cwnd_pkts);
        sum.unacked_pkts += info.unacked_pkts;
        sum.sacked_pkts += info.sacked_pkts;
        sum.lost_pkts += info.lost_pkts;
        sum.retrans_pkts += info.retrans_pkts;
        sum.total_retrans_pkts += info.total_retrans_pkts;
        cwnd_max_pkts = cwnd_max_pkts.max(info.snd_cwnd_pkts);
        syn_retransmits += sender.syn_retransmits;
        *latest = info;
    }
    let over_pkts = u32::try_from(user.retransmitted_pkts).unwrap_or(u32::MAX);
    Ok(Reading {
        flow: user.flow,
        group: user.group,
        start_ns: user.start_ns,
        // Applications pause by themselves.
        is_sndbuf_limited: false,
        info: TcpInfo {
            snd_cwnd_pkts: sum.snd_cwnd_pkts,
            unacked_pkts: sum.unacked_pkts,
            sacked_pkts: sum.sacked_pkts,
            lost_pkts: sum.lost_pkts,
            retrans_pkts: sum.retrans_pkts,
            total_retrans_pkts: sum.total_retrans_pkts.saturating_add(over_pkts),
            ..*latest
        },
        cwnd_max_pkts,
        syn_retransmits,
        sender: Sender::User(
            user.senders
                .values()
                .next_back()
                .map(|it| Arc::clone(&it.socket)),
            user.received_bytes,
        ),
    })
}

/// SYNs sent again before the connection was established.
pub(crate) fn syn_retransmits(connection: &Connection) -> u32 {
    connection
        .established
        .get()
        .map_or(0, |established| established.info.total_retrans_pkts)
}

/// TCP_INFO of a connection's sender.
pub(crate) fn sender_info(connection: &Connection) -> Result<TcpInfo, Error> {
    socket::tcp_info(&connection.sender)
        .map_err(|error| connection.failed("could not be inspected", error))
}
