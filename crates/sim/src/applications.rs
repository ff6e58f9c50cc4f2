//! Users: flows that have an application, which opens connections as it goes along.
//!
//! An application gets events in the order in which they happen, and its commands are done
//! before anything else does: so the order of all that applications do is that of the network's events,
//! which is total. The events of one packet have this order: connected, received or acknowledged, closed.
//!
//! A flow of a group with `traffic` is a user: an `Application` and its connections. All other flows are `Endpoints`
//! and pay one predictable branch. A connection has a number of its own, which its packets carry and which is used once
//! (`connection_table`). It lies in a slot that is used again when all its endpoints are done and its last packet has
//! left the network, so memory follows the open connections. Its counts then go to its user. The earliest timer of
//! connections and users is one deadline behind the driver's timer; at equal times bulk flows come first, then
//! connections by slot, then users.
//!
//! A connection that the receiver opens has two halves, `data` and `requests`, each a TCP sender and a receiver. The
//! half that did not do the handshake is opened when the other has. Their ACKs are packets of their own.

use std::collections::BTreeMap;
use std::rc::Rc;

use dumbbell_app::{Application, End, Event};
use dumbbell_cc::Instance;
use dumbbell_net::Tournament;
use dumbbell_results::Transfers;
use dumbbell_scenario::{Group, Scenario};
use dumbbell_tcp::{ReceiverCounters, SenderCounters, TcpMemory};

use crate::connection::{Connection, HalfConnection};
use crate::quic_flow::QuicFlows;
use crate::recorder::LatestState;
use crate::rtt_meter::RttMeter;

/// A flow that has an application.
pub(crate) struct User {
    /// Number of the flow.
    pub(crate) flow: u32,
    pub(crate) group: u32,
    pub(crate) start_ns: u64,
    pub(crate) stop_ns: u64,
    pub(crate) has_started: bool,
    pub(crate) has_stopped: bool,
    pub(crate) application: Box<dyn Application + Send>,
    /// What its timer is set to, ns.
    clock_ns: u64,
    /// Slots of its open connections, by the application's numbers.
    pub(crate) open: BTreeMap<u32, usize>,
    /// Connections that it opened.
    pub(crate) opened: u64,
    /// The number that its datagrams carry, once it sends any.
    pub(crate) datagrams: Option<u32>,
    pub(crate) books: Books,
    pub(crate) rtt: RttMeter,
    /// Its last RTT sample, µs.
    pub(crate) latest_rtt_us: Option<u32>,
    /// Payload that its receivers got in order, bytes.
    pub(crate) received_bytes: u64,
    /// The same when the time series was last sampled.
    pub(crate) sampled_bytes: u64,
    /// The latest connection's state when the time series was last sampled.
    pub(crate) latest: LatestState,
    /// When the last of its connections closed, ns.
    pub(crate) last_close_ns: u64,
}

impl User {
    fn new(scenario: &Scenario, flow: u32, group_index: u32, group: &Group) -> Self {
        Self {
            flow,
            group: group_index,
            start_ns: group.start_of(scenario.seed, flow),
            stop_ns: group.stop_ns.unwrap_or(u64::MAX),
            has_started: false,
            has_stopped: false,
            application: group.application(scenario.seed, flow),
            clock_ns: u64::MAX,
            open: BTreeMap::new(),
            opened: 0,
            datagrams: None,
            books: Books::default(),
            rtt: RttMeter::new(),
            latest_rtt_us: None,
            received_bytes: 0,
            sampled_bytes: 0,
            latest: LatestState::default(),
            last_close_ns: 0,
        }
    }

    /// When it wants to be woken, ns: its start, its stop or its application's timer.
    pub(crate) fn next_timer_ns(&self) -> u64 {
        if !self.has_started {
            return self.start_ns;
        }
        let stop_ns = if self.has_stopped {
            u64::MAX
        } else {
            self.stop_ns
        };
        self.application.next_timer_ns().min(stop_ns)
    }

    /// Whether all that it began has ended and nothing more is to come.
    pub(crate) fn has_finished(&self) -> bool {
        let mut unfinished = Vec::new();
        self.application.unfinished(&mut unfinished);
        self.has_started
            && self.open.is_empty()
            && unfinished.is_empty()
            && self.application.next_timer_ns() == u64::MAX
    }
}

/// Counts of a user's connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) sent: SenderCounters,
    pub(crate) arrived: ReceiverCounters,
    /// The same of what went from receiver to sender, if anything did.
    pub(crate) requests: Option<(SenderCounters, ReceiverCounters)>,
    pub(crate) cwnd_zero_max_ns: u64,
}

impl Books {
    /// Adds the counts of a connection.
    pub(crate) fn add(&mut self, connection: &Connection) {
        let sender = &connection.data.sender;
        let cwnd_zero_max_ns = sender.congestion_control().cwnd_zero_max_ns();
        self.cwnd_zero_max_ns = self.cwnd_zero_max_ns.max(cwnd_zero_max_ns);
        self.sent.add(sender.counters());
        self.arrived.add(connection.data.receiver.counters());
        if let Some(HalfConnection {
            sender, receiver, ..
        }) = connection.requests.as_deref()
        {
            let (sent, arrived) = self.requests.get_or_insert_default();
            sent.add(sender.counters());
            arrived.add(receiver.counters());
        }
    }
}

/// The users of a run, their connections and their timers.
pub(crate) struct Applications {
    pub(crate) users: Vec<User>,
    /// Connections, in the slots that the table names.
    pub(crate) slots: Vec<Option<Box<Connection>>>,
    /// Slots without a connection.
    pub(crate) free: Vec<usize>,
    /// When the hosts want to be woken, or earlier; of slot `n` at the sender `2n`, at the receiver
    /// `2n + 1`.
    pub(crate) timers: Tournament,
    /// When the users want to be woken.
    clocks: Tournament,
    /// Flows of another transport, with timers of their own.
    pub(crate) quic: QuicFlows,
    /// The earliest of both, ns; `u64::MAX` where there are no users.
    pub(crate) due_ns: u64,
    /// Events that wait for their applications, in order.
    pub(crate) events: std::collections::VecDeque<(usize, Event)>,
    /// Ends that have something to send since their application's last commands.
    pub(crate) touched: Vec<(usize, End)>,
    /// Who paused last, on which connection, at which end and when, ns: what it writes at that very time
    /// goes on with what it wrote.
    pub(crate) paused: Option<(usize, u32, End, u64)>,
    pub(crate) transfers: Transfers,
    /// The memory that all sockets share, if it is limited.
    pub(crate) memory: Option<Rc<TcpMemory>>,
    /// Groups of the scenario, for the connections to come.
    pub(crate) groups: Vec<(Group, Rc<Instance>)>,
    /// Connections that each group's applications have opened.
    pub(crate) opened: Vec<u32>,
    /// Seed of the run: connections draw from it.
    pub(crate) seed: u64,
    /// The first slot for which the timers have no room yet.
    slots_end: usize,
    /// The first slot for which they never have, in a run of this length.
    slots_limit: usize,
    /// A connection was to be opened beyond that.
    pub(crate) is_overrun: bool,
}

/// Slots for which there are timers at first.
const FIRST_SLOTS: usize = 4;
/// More connections at once than this do not fit in the memory of most machines.
const MAX_SLOTS: usize = 1 << 22;

/// How many slots a tournament of this duration may have timers for: both have room in 64 bits.
fn slots_limit(duration_ns: u64) -> usize {
    let mut slots = FIRST_SLOTS;
    while slots < MAX_SLOTS && Tournament::never_ns(4 * slots) > duration_ns {
        slots *= 2;
    }
    slots
}

impl Applications {
    /// The users of a scenario, before their start.
    pub(crate) fn new(
        scenario: &Scenario,
        instances: &[Rc<Instance>],
        memory: Option<Rc<TcpMemory>>,
    ) -> Self {
        let mut users = Vec::new();
        let mut first_flow = 0;
        for (index, group) in (0..).zip(&scenario.groups) {
            if !group.traffic.is_bulk() && !group.is_quic() {
                let flows = first_flow..first_flow + group.flows;
                users.extend(flows.map(|flow| User::new(scenario, flow, index, group)));
            }
            first_flow += group.flows;
        }
        let groups = if users.is_empty() {
            Vec::new()
        } else {
            let groups = scenario.groups.iter().cloned();
            groups.zip(instances.iter().cloned()).collect()
        };
        let slots = if users.is_empty() { 0 } else { FIRST_SLOTS };
        let mut applications = Self {
            slots: Vec::new(),
            free: Vec::new(),
            timers: Tournament::new(2 * slots),
            clocks: Tournament::new(users.len()),
            quic: QuicFlows::new(scenario, instances),
            due_ns: u64::MAX,
            events: std::collections::VecDeque::new(),
            touched: Vec::new(),
            paused: None,
            transfers: Transfers::default(),
            memory,
            opened: vec![0; groups.len()],
            seed: scenario.seed,
            groups,
            slots_end: slots,
            slots_limit: slots_limit(scenario.duration_ns),
            is_overrun: false,
            users,
        };
        for user in 0..applications.users.len() {
            applications.set_clock(0, user);
        }
        applications
    }

    /// Whether all flows are bulk transfers by TCP.
    pub(crate) fn is_empty(&self) -> bool {
        self.users.is_empty() && self.quic.flows.is_empty()
    }

    /// Counts by user, those of connections that are still there included.
    pub(crate) fn books(&self) -> Vec<Books> {
        let mut books: Vec<Books> = self.users.iter().map(|user| user.books.clone()).collect();
        for connection in self.slots.iter().flatten() {
            books[connection.user as usize].add(connection);
        }
        books
    }

    /// All transfers, those without an end last; none where there are no users.
    pub(crate) fn into_transfers(mut self) -> Option<Transfers> {
        let mut unfinished = Vec::new();
        for user in &self.users {
            user.application.unfinished(&mut unfinished);
            for transfer in unfinished.drain(..) {
                self.transfers.push(user.group, user.flow, 0, &transfer);
            }
        }
        (!self.users.is_empty()).then_some(self.transfers)
    }

    /// The open connections of a user whose sender is established, in the order in which they were
    /// opened.
    pub(crate) fn established<'a>(
        &'a self,
        user: &'a User,
    ) -> impl DoubleEndedIterator<Item = &'a Connection> {
        let connections = user.open.values().map(|&slot| self.slots[slot].as_deref());
        connections
            .flatten()
            .filter(|connection| connection.data.sender.is_established())
    }

    /// A slot without a connection, if there can be more of them.
    pub(crate) fn take_slot(&mut self) -> Option<usize> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        if self.slots.len() == self.slots_end {
            if 2 * self.slots_end > self.slots_limit {
                self.is_overrun = true;
                return None;
            }
            self.slots_end *= 2;
            self.timers.grow(2 * self.slots_end);
        }
        self.slots.push(None);
        Some(self.slots.len() - 1)
    }

    /// The connection in a slot that has one.
    #[inline]
    pub(crate) fn connection(&mut self, slot: usize) -> &mut Connection {
        let connection = self.slots[slot].as_deref_mut();
        connection.expect("a packet, a timer or a command is of a connection that is there")
    }

    /// Puts both ends' timers forward where they are earlier than before.
    #[inline]
    pub(crate) fn set_timers(&mut self, slot: usize) {
        let connection = self.slots[slot].as_deref();
        let next_ns = |end| connection.map_or(u64::MAX, |it: &Connection| it.next_timer_ns(end));
        let (sender_ns, receiver_ns) = (next_ns(End::Sender), next_ns(End::Receiver));
        self.timers.set_earlier(2 * slot, sender_ns);
        self.timers.set_earlier(2 * slot + 1, receiver_ns);
        self.due_ns = self.due_ns.min(sender_ns).min(receiver_ns);
    }

    /// Sets a user's timer, no earlier than now.
    pub(crate) fn set_clock(&mut self, now_ns: u64, user: usize) {
        let this = &mut self.users[user];
        let due_ns = this.next_timer_ns().max(now_ns);
        if due_ns != this.clock_ns {
            this.clock_ns = due_ns;
            self.clocks.set(user, due_ns);
            self.update_due();
        }
    }

    /// Finds the earliest timer again.
    pub(crate) fn update_due(&mut self) {
        let own_ns = self.timers.next().1.min(self.clocks.next().1);
        self.due_ns = own_ns.min(self.quic.due_ns());
    }

    /// Brings the senders' counters up to the end of the run.
    pub(crate) fn settle(&mut self, end_ns: u64) {
        for connection in self.slots.iter_mut().flatten() {
            connection.data.sender.settle(end_ns);
            if let Some(requests) = &mut connection.requests {
                requests.sender.settle(end_ns);
            }
        }
        self.quic.settle(end_ns);
    }

    /// The owner of the timer that is due at [`Applications::due_ns`]: at equal times a host's before a user's before one of
    /// a QUIC flow.
    pub(crate) fn next(&self) -> Due {
        let (host, host_ns) = self.timers.next();
        let (user, user_ns) = self.clocks.next();
        let (quic, quic_ns) = self.quic.next();
        if host_ns <= user_ns && host_ns <= quic_ns {
            Due::Host(host)
        } else if user_ns <= quic_ns {
            Due::User(user)
        } else {
            Due::Quic(quic)
        }
    }
}

/// The owner of a timer that is due.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    /// A host's, by its number among the timers.
    Host(usize),
    /// A user's, by index.
    User(usize),
    /// An end's of a QUIC flow, by its number among these timers.
    Quic(usize),
}
