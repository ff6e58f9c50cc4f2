//! Flows whose transport is a QUIC stack: their packets, timers and measurements.
//!
//! A flow's packets are datagrams, whose bytes lie in a store of the observer. They carry a number of the table of
//! connections, beyond those of TCP's bulk flows, which therefore pay nothing.

use std::collections::BTreeMap;
use std::rc::Rc;

use dumbbell_app::End as Host;
use dumbbell_cc::{Instance, TCP_INFINITE_SSTHRESH};
use dumbbell_net::{Ecn, Packet, Tournament};
use dumbbell_quic::{End, Pair, Spec, State, choose_params, settings};
use dumbbell_scenario::address_plan::flow_addresses;
use dumbbell_scenario::{Group, GroupEcn, Scenario, random, route};
use dumbbell_tcp::{DatagramHeader, Limit, ReceiverCounters, Segment, SenderCounters};

use crate::connection::way_from;
use crate::engine::Engine;
use crate::rtt_meter::RttMeter;
use crate::tap::Tap;

/// Both ends, in the order of their timers.
const ENDS: [End; 2] = [End::Sender, End::Receiver];

/// A connection of a QUIC stack and the flow's measurements.
pub(crate) struct QuicFlow {
    /// Number of the flow.
    pub(crate) flow: u32,
    pub(crate) group: u32,
    /// The number that its packets carry.
    id: u32,
    /// Its number among the flows of its group.
    number: u32,
    pub(crate) start_ns: u64,
    stop_ns: u64,
    /// When it starts, or then when it stops, ns; `u64::MAX`: no more.
    turn_ns: u64,
    pub(crate) has_started: bool,
    pub(crate) finished_ns: Option<u64>,
    pair: Box<dyn Pair>,
    pub(crate) sent: SenderCounters,
    pub(crate) arrived: ReceiverCounters,
    pub(crate) rtt: RttMeter,
    /// What the sender's stack says of itself: window, flight, MTU and RTT after its last event, the rest when it was last
    /// asked.
    pub(crate) state: State,
    /// Until when the averages are settled, ns.
    settled_ns: u64,
    /// Bytes received when the time series was last sampled.
    pub(crate) sampled_bytes: u64,
    /// It has had its last row.
    pub(crate) has_ended: bool,
}

impl QuicFlow {
    fn new(scenario: &Scenario, place: (u32, u32, u32), instance: &Rc<Instance>) -> Option<Self> {
        let (flow, group_index, number) = place;
        let group = &scenario.groups[group_index as usize];
        let spec = Spec::parse(&group.cc.name).ok()?;
        let params = choose_params(&spec, &group.cc.params).ok()?.hosts;
        let seed = random::element_seed(scenario.seed, "quic", u64::from(flow));
        let has_ecn = group.host.ecn != GroupEcn::Off;
        let own = spec.ours().map(|_| {
            let mut own = instance.new_flow();
            own.set_number(flow);
            let (sender, receiver) = flow_addresses(group_index as u16, number);
            own.sock.set_addresses(sender, receiver);
            own
        });
        let settings = settings(&params, seed, group.size_bytes, has_ecn);
        let start_ns = group.start_of(scenario.seed, flow);
        Some(Self {
            flow,
            group: group_index,
            id: u32::MAX,
            number,
            start_ns,
            stop_ns: group.stop_ns.unwrap_or(u64::MAX),
            turn_ns: start_ns,
            has_started: false,
            finished_ns: None,
            pair: spec.pair(&settings, own),
            sent: SenderCounters::default(),
            arrived: ReceiverCounters::default(),
            rtt: RttMeter::new(),
            state: State::default(),
            settled_ns: start_ns,
            sampled_bytes: 0,
            has_ended: false,
        })
    }

    /// Whether the handshake is done.
    pub(crate) fn is_established(&self) -> bool {
        self.pair.progress().is_established
    }

    /// When and why the connection ended by an error, if it did.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.pair.failure()
    }

    /// The socket of an algorithm of ours.
    pub(crate) fn own_flow(&self) -> Option<&dumbbell_cc::Flow> {
        self.pair.own_flow()
    }

    fn next_timer_ns(&mut self, end: End) -> u64 {
        let timer_ns = self.pair.next_timer_ns(end);
        match end {
            End::Sender => timer_ns.min(self.turn_ns),
            End::Receiver => timer_ns,
        }
    }

    /// An end's timer is due: its start, its stop, or one of the stack's.
    fn wake(&mut self, end: End, now_ns: u64) {
        if end == End::Sender && self.turn_ns <= now_ns {
            if self.has_started {
                self.turn_ns = u64::MAX;
                self.pair.stop(now_ns);
            } else {
                self.has_started = true;
                self.turn_ns = self.stop_ns;
                self.pair.connect(now_ns);
            }
        }
        if self.pair.next_timer_ns(end) <= now_ns {
            self.pair.wake(end, now_ns);
        }
    }

    /// Charges the time since its last event, and asks its sender for what changes often.
    fn note(&mut self, now_ns: u64) {
        self.settle(now_ns);
        let rtt_count = self.state.rtt_count;
        self.pair.renew(&mut self.state);
        if self.state.rtt_count != rtt_count {
            self.rtt.note(self.state.latest_rtt_us);
        }
        if self.pair.progress().is_finished && self.finished_ns.is_none() {
            self.finished_ns = Some(now_ns);
        }
    }

    /// Asks its sender for all that is recorded.
    pub(crate) fn ask(&mut self) {
        self.state = self.pair.state();
        self.sent.lost_pkts = self.state.lost_pkts;
        self.sent.retransmitted_pkts = self.state.lost_pkts;
        self.sent.fast_recovery_count = self.state.recoveries;
    }

    fn settle(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.settled_ns);
        if self.has_started && self.finished_ns.is_none() && elapsed_ns > 0 {
            let (inflight, cwnd) = (self.inflight_pkts(), self.cwnd_pkts());
            self.sent
                .charge(elapsed_ns, inflight, inflight, cwnd, Limit::None);
            self.settled_ns = now_ns;
        }
    }

    fn pkts(&self, bytes: u64) -> u32 {
        let mtu_bytes = u64::from(self.state.mtu_bytes.max(1));
        u32::try_from((bytes + mtu_bytes / 2) / mtu_bytes).unwrap_or(u32::MAX)
    }

    /// Congestion window, in packets of its MTU.
    pub(crate) fn cwnd_pkts(&self) -> u32 {
        self.pkts(self.state.cwnd_bytes)
    }

    /// In flight, in packets of its MTU.
    pub(crate) fn inflight_pkts(&self) -> u32 {
        self.pkts(self.state.inflight_bytes)
    }

    /// Slow-start threshold, in packets of its MTU.
    pub(crate) fn ssthresh_pkts(&self) -> u32 {
        let ssthresh = self.state.ssthresh_bytes;
        ssthresh.map_or(TCP_INFINITE_SSTHRESH, |bytes| self.pkts(bytes))
    }
}

/// The QUIC flows of a run and their timers.
pub(crate) struct QuicFlows {
    pub(crate) flows: Vec<QuicFlow>,
    /// When the ends want to be woken: of flow `n` the sender `2n`, the receiver `2n + 1`.
    timers: Tournament,
    /// The number of the first flow's packets; the others' follow.
    first_id: u32,
}

impl QuicFlows {
    /// Those of a scenario, before their start.
    pub(crate) fn new(scenario: &Scenario, instances: &[Rc<Instance>]) -> Self {
        let groups = (0_u32..).zip(&scenario.groups);
        let numbered = groups
            .flat_map(|(index, group)| (0..group.flows).map(move |number| (index, group, number)))
            .zip(0_u32..)
            .filter(|((_, group, _), _)| group.is_quic());
        let flows: Vec<QuicFlow> = numbered
            .filter_map(|((index, _, number), flow)| {
                QuicFlow::new(scenario, (flow, index, number), &instances[index as usize])
            })
            .collect();
        let mut timers = Tournament::new(2 * flows.len());
        for (index, flow) in flows.iter().enumerate() {
            timers.set(2 * index, flow.start_ns);
        }
        Self {
            flows,
            timers,
            first_id: 0,
        }
    }

    /// The timer that is due first, and when, ns.
    pub(crate) fn next(&self) -> (usize, u64) {
        self.timers.next()
    }

    /// When the first is due, ns.
    pub(crate) fn due_ns(&self) -> u64 {
        self.timers.next().1
    }

    /// Brings averages up to the end of the run.
    pub(crate) fn settle(&mut self, end_ns: u64) {
        for flow in self.flows.iter_mut().filter(|flow| flow.has_started) {
            flow.settle(end_ns);
            flow.ask();
        }
    }
}

impl<T: Tap> Engine<T> {
    /// Gives the QUIC flows' packets numbers and addresses.
    pub(crate) fn open_quic_flows(&mut self) {
        let first_account = (self.flows.len() + self.applications.users.len()) as u32;
        let quic = &mut self.applications.quic;
        for (account, flow) in (first_account..).zip(&mut quic.flows) {
            flow.id = self.watch.connections.open_without_slot(account);
            let addresses = flow_addresses(flow.group as u16, flow.number);
            self.watch.tap.opened(flow.id, flow.group, addresses, false);
        }
        quic.first_id = quic.flows.first().map_or(0, |flow| flow.id);
        self.applications.update_due();
    }

    /// A timer of a QUIC flow's end is due.
    #[inline(never)]
    pub(crate) fn wake_quic_flow(&mut self, timer: usize, now_ns: u64) {
        let (index, end) = (timer / 2, ENDS[timer % 2]);
        self.applications.quic.flows[index].wake(end, now_ns);
        self.send_of_quic_flow(index, end, now_ns);
    }

    /// A packet of a QUIC flow is at the end of its route.
    #[inline(never)]
    pub(crate) fn deliver_to_quic_flow(
        &mut self,
        packet: &Packet<Segment>,
        header: &DatagramHeader,
        place: u32,
        now_ns: u64,
    ) {
        let mut bytes = self.watch.payloads.take(place);
        if let Some(draw) = header.garbled() {
            garble(&mut bytes, draw);
        }
        let quic = &mut self.applications.quic;
        let index = (packet.flow - quic.first_id) as usize;
        let flow = &mut quic.flows[index];
        let end = if header.is_reverse() {
            End::Sender
        } else {
            flow.arrived.arrived_pkts += 1;
            flow.arrived.ce_pkts += u64::from(packet.ecn == Ecn::Ce);
            End::Receiver
        };
        flow.pair.receive(end, now_ns, bytes, packet.ecn);
        self.send_of_quic_flow(index, end, now_ns);
        self.set_network_timer();
    }

    /// Sends what an end wants to send after an event, and sets its timer.
    fn send_of_quic_flow(&mut self, index: usize, end: End, now_ns: u64) {
        let Self {
            applications,
            network,
            watch,
            ..
        } = self;
        let flow = &mut applications.quic.flows[index];
        let (id, is_reverse) = (flow.id, end == End::Receiver);
        let host = if is_reverse {
            Host::Receiver
        } else {
            Host::Sender
        };
        let route = route(flow.group as usize, way_from(host));
        let mut sent_pkts = 0;
        flow.pair.transmit(end, now_ns, &mut |datagram| {
            let payload_bytes = datagram.bytes.len() as u32;
            let first_byte = datagram.bytes.first().copied().unwrap_or(0);
            let place = watch.payloads.keep(datagram.bytes);
            let header = DatagramHeader::kept(place, is_reverse, now_ns).showing(first_byte);
            let packet = Packet {
                flow: id,
                wire_bytes: DatagramHeader::wire_bytes(payload_bytes),
                ecn: datagram.ecn,
                hop: 0,
                arrived_ns: 0,
                header: Segment::Datagram(header),
            };
            sent_pkts += 1;
            watch.tap.sent(now_ns, &packet, &watch.sacks);
            watch.connections.enter(id);
            network.enter(now_ns, route, packet, watch);
        });
        if is_reverse {
            flow.arrived.received_bytes = flow.pair.progress().received_bytes;
        } else {
            flow.sent.sent_pkts += sent_pkts;
            flow.note(now_ns);
        }
        let due_ns = flow.next_timer_ns(end).max(now_ns);
        let quic = &mut applications.quic;
        quic.timers.set(2 * index + end as usize, due_ns);
        applications.update_due();
    }
}

/// Changes one of the first bytes of a payload, as the impairment `corrupt` draws.
fn garble(bytes: &mut [u8], draw: u64) {
    if bytes.is_empty() {
        return;
    }
    let place = (draw >> 8) as usize % bytes.len().min(1 << 16);
    bytes[place] ^= (draw as u8).max(1);
}

/// A QUIC group's algorithm: one of ours, or a stand-in with the name and the series of the stack's own.
pub(crate) fn load(
    group: &Group,
    seed: u64,
    loader: crate::Loader<'_>,
) -> Result<Rc<Instance>, crate::Error> {
    check(group)?;
    let name = &group.cc.name;
    let spec = Spec::parse(name)?;
    let params = choose_params(&spec, &group.cc.params)?.ours;
    let Some(ours) = spec.ours() else {
        return Ok(Instance::host(name, dumbbell_quic::stand_in(&spec))?);
    };
    let request = dumbbell_cc::Request {
        name: ours.to_owned(),
        params,
    };
    let instance = loader(&request, seed)?;
    if instance.needs_ecn() || instance.needs_accecn() {
        return Err(dumbbell_quic::Error::NeedsEcn { name: name.clone() }.into());
    }
    Ok(instance)
}

/// Refuses what is TCP's.
fn check(group: &Group) -> Result<(), dumbbell_scenario::Refusal> {
    use dumbbell_declare::Settings as _;

    let name = &group.cc.name;
    let refuse = |message| Err(dumbbell_scenario::Refusal(message));
    if !group.traffic.is_bulk() {
        return refuse(format!(
            "a `{name}` flow sends one stream; leave out `traffic`, or use `size` for a finite one"
        ));
    }
    for change in group.host.changed() {
        let field = change.parameter.name;
        if field != "ecn" {
            return refuse(format!(
                "`{field}` is of TCP hosts, and `{name}` has a QUIC host; leave it out; what that has are parameters: \
                 `{name}:mtu_bytes=1400`"
            ));
        }
    }
    if group.host.ecn == GroupEcn::AccEcn {
        return refuse(format!("`ecn=accecn` is TCP's; for `{name}` use `ecn=on`"));
    }
    Ok(())
}

/// What a QUIC group's parameters are, those of its hosts included.
pub(crate) fn params(group: &Group, instance: &Instance) -> BTreeMap<String, i64> {
    let mut params = instance.params();
    if let Ok(spec) = Spec::parse(&group.cc.name)
        && let Ok(chosen) = choose_params(&spec, &group.cc.params)
    {
        params.extend(chosen.hosts);
    }
    params
}
