//! Congestion control algorithms of ours in a guest: its kernel calls them here, and they run as in the simulator.

use std::collections::BTreeMap;
use std::rc::Rc;

use dumbbell_cc::{AckSample, CaEvent, CaState, Flow, Instance, RateSample, Request};
use dumbbell_results::{LoadedCc, StateSamples};
use dumbbell_scenario::{Scenario, random::element_seed};

use super::socket_fields::{KernelField, SocketFields, connection_of};
use crate::bpf::congestion_controls::{HostedCc, KERNELS_OWN};
use crate::error::Error;

/// The callbacks, by their numbers in `dumbbell.h`: the order of `dumbbell_cc_abi::CALLBACKS`.
const OPS: [&str; 13] = [
    "ssthresh",
    "cong_avoid",
    "set_state",
    "cwnd_event",
    "cwnd_event_tx_start",
    "in_ack_event",
    "pkts_acked",
    "min_tso_segs",
    "cong_control",
    "undo_cwnd",
    "sndbuf_expand",
    "init",
    "release",
];

/// A call of the kernel: `struct dumbbell_call`.
#[derive(Debug)]
pub struct Call {
    /// The callback's number in `dumbbell.h`.
    pub op: u32,
    /// The number of the algorithm.
    pub cc: u32,
    /// The flow's number in the run; of a receiver's socket none is.
    pub flow: u32,
    /// What `init` returned for the socket.
    pub handle: u32,
    /// The kernel's socket.
    pub socket: *mut u8,
    /// The kernel's `tcp_jiffies32`.
    pub jiffies: u32,
    /// The socket's `icsk_ca_state`.
    pub ca_state: u8,
    /// `is_cwnd_limited` and `rate_app_limited`.
    pub limited: [bool; 2],
    /// `saw_tstamp`, `tstamp_ok` and `sack_ok`.
    pub rx_opt_bits: u8,
    /// The callback's arguments.
    pub arguments: [u32; 2],
    /// What `pkts_acked` is given.
    pub acked: AckSample,
    /// What `cong_control` is given.
    pub sample: RateSample,
}

/// An algorithm as the kernel is to know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCc {
    /// A bit for each callback that it has.
    pub callbacks: u32,
    /// Linux's `TCP_CONG_*`, of which its kernel takes those that it has.
    pub flags: u32,
    /// Its name in the kernel.
    pub name: String,
}

/// The algorithms of a run's groups, and their sockets.
pub(super) struct Algorithms {
    /// Each algorithm, by its number.
    instances: Vec<Rc<Instance>>,
    /// The number of each group's, where it is ours.
    of_groups: Vec<Option<usize>>,
    /// Each socket's algorithm, by its handle less one. A socket that was not initialised yet has 0: Linux calls
    /// `pkts_acked` for the SYN, before `init`.
    flows: Vec<Option<Flow>>,
    /// The handles of senders' sockets, by group and port of their connection.
    senders: BTreeMap<(u16, u16), u32>,
    fields: SocketFields,
    /// A tick, µs.
    tick_us: u64,
    pub(super) samples: Vec<Option<StateSamples>>,
}

impl Algorithms {
    /// Loads the algorithms of `scenario` for a kernel that has these fields and ticks.
    pub(super) fn load<'a>(
        scenario: &Scenario,
        fields: impl IntoIterator<Item = KernelField<'a>>,
        hz: u32,
    ) -> Result<Self, Error> {
        let mut instances = Vec::new();
        let mut of_groups = Vec::new();
        let mut samples = Vec::new();
        let instants = (scenario.duration_ns)
            .checked_div(scenario.sample_interval_ns)
            .unwrap_or(0) as usize;
        for (index, group) in (0..).zip(&scenario.groups) {
            if group.cc.name.starts_with(KERNELS_OWN) {
                of_groups.push(None);
                samples.push(None);
                continue;
            }
            let request = Request {
                name: group.cc.name.clone(),
                params: group.cc.params.clone(),
            };
            let instance = Instance::load(&request, element_seed(scenario.seed, "cc", index))?;
            instance.set_path_pkts(scenario.path_pkts(group));
            let rows = instants * group.flows as usize;
            let state = StateSamples::with_capacity(instance.name(), instance.series(), rows);
            samples.push(Some(state));
            of_groups.push(Some(instances.len()));
            instances.push(instance);
        }
        Ok(Self {
            instances,
            of_groups,
            flows: Vec::new(),
            senders: BTreeMap::new(),
            fields: SocketFields::new(fields),
            tick_us: 1_000_000 / u64::from(hz.max(1)),
            samples,
        })
    }

    /// What the kernel is to register, by number.
    pub(super) fn planned(&self) -> Vec<PlannedCc> {
        let planned = self.instances.iter().enumerate().map(|(number, instance)| {
            let ops = instance.declared().ops;
            let has = |op: &&str| ops.contains(op);
            let bits = (0..).zip(OPS).filter(|(_, op)| has(op));
            PlannedCc {
                callbacks: bits.map(|(bit, _)| 1 << bit).sum(),
                flags: instance.flags(),
                name: kernel_name(number),
            }
        });
        planned.collect()
    }

    /// The kernel's name of a group's algorithm, and what is recorded of it; `None` if it is the kernel's own.
    pub(super) fn of_group(&self, group: usize) -> Option<(String, HostedCc)> {
        let number = self.of_groups[group]?;
        let instance = &self.instances[number];
        let recorded = LoadedCc {
            group: group as u32,
            cc: instance.name().to_owned(),
            build: instance.build().to_owned(),
            params: instance.params(),
            needs_ecn: instance.needs_ecn(),
            declared: instance.declared(),
        };
        let hosted = HostedCc {
            recorded,
            needs_accecn: instance.needs_accecn(),
            sends_ect1: instance.sends_ect1(),
        };
        Some((kernel_name(number), hosted))
    }

    /// Does what the kernel asks for; the callback's value, of `init` the handle.
    ///
    /// # Safety
    ///
    /// The socket is one of the kernel that said where its fields are, and it has no other user meanwhile.
    pub(super) unsafe fn call(&mut self, call: &Call) -> u32 {
        let op = OPS.get(call.op as usize).copied().unwrap_or("");
        if op == "init" {
            let Some(instance) = self.instances.get(call.cc as usize) else {
                return u32::MAX;
            };
            let mut flow = instance.new_flow();
            flow.set_number(call.flow);
            self.flows.push(Some(flow));
        }
        let handle = match op {
            "init" => self.flows.len(),
            _ => call.handle as usize,
        };
        let Some(flow) = flow_of(&mut self.flows, handle) else {
            return 0;
        };
        // SAFETY: the caller says so.
        unsafe { self.fields.read(call.socket, &mut flow.sock) };
        set_bits(flow, call, self.tick_us);
        let [first, second] = call.arguments;
        let mut value = 0;
        match op {
            "ssthresh" => value = flow.ssthresh(),
            "cong_avoid" => flow.cong_avoid(first, second),
            "set_state" => flow.set_state(ca_state(first as u8)),
            "cwnd_event" => flow.cwnd_event(ca_event(first)),
            "in_ack_event" => flow.in_ack_event(first),
            "pkts_acked" => flow.pkts_acked(&call.acked),
            "min_tso_segs" => value = flow.min_tso_segs().unwrap_or(2),
            "cong_control" => flow.cong_control(first, second as i32, &call.sample),
            "undo_cwnd" => value = flow.undo_cwnd(),
            "sndbuf_expand" => value = flow.sndbuf_expand().unwrap_or(2),
            "init" => {
                flow.init();
                value = handle as u32;
                // SAFETY: the caller says so.
                let connection = unsafe { connection_of(call.socket) };
                self.senders.extend(connection.map(|it| (it, value)));
            }
            _ => {}
        }
        // SAFETY: the caller says so.
        unsafe { self.fields.write(&flow.sock, call.socket) };
        if op == "release" {
            self.flows[handle - 1] = None;
        }
        value
    }

    /// Appends a row to a group's state: that of the sender's socket of this connection, if it is open.
    pub(super) fn sample_connection(&mut self, group: usize, port: u16) {
        let handle = self.senders.get(&(group as u16, port));
        self.sample(group, handle.copied().unwrap_or(0));
    }

    /// Appends a row to a group's state: that of the socket with this handle.
    pub(super) fn sample(&mut self, group: usize, handle: u32) {
        let Some(samples) = &mut self.samples[group] else {
            return;
        };
        match flow_of(&mut self.flows, handle as usize) {
            Some(flow) => flow.read_series(|series, raw| samples.columns[series].push(raw)),
            None => samples.columns.iter_mut().for_each(|column| column.push(0)),
        }
    }

    /// The first rule of TCP that an algorithm broke.
    pub(super) fn fault(&self) -> Option<String> {
        let faults = self
            .instances
            .iter()
            .filter_map(|instance| instance.fault());
        faults.map(ToString::to_string).next()
    }
}

/// The algorithm with a handle.
fn flow_of(flows: &mut [Option<Flow>], handle: usize) -> Option<&mut Flow> {
    flows.get_mut(handle.checked_sub(1)?)?.as_mut()
}

fn kernel_name(number: usize) -> String {
    format!("dumbbell{number}")
}

/// Sets the socket's bit fields, and turns its ticks into milliseconds.
fn set_bits(flow: &mut Flow, call: &Call, tick_us: u64) {
    let sock = &mut flow.sock;
    sock.set_ca_state(ca_state(call.ca_state));
    sock.set_cwnd_limited(call.limited[0]);
    sock.set_rate_app_limited(call.limited[1]);
    sock.rx_opt_bits = u16::from(call.rx_opt_bits);
    // Ticks become the milliseconds of the clock that the algorithm reads.
    let now_ms = (sock.tcp_clock_cache / 1_000_000) as u32;
    let in_ms = |at: u32| {
        let ticks = call.jiffies.wrapping_sub(at);
        now_ms.wrapping_sub((u64::from(ticks) * tick_us / 1000) as u32)
    };
    sock.lsndtime = in_ms(sock.lsndtime);
    sock.rcv_tstamp = in_ms(sock.rcv_tstamp);
}

fn ca_state(state: u8) -> CaState {
    match state {
        0 => CaState::Open,
        1 => CaState::Disorder,
        2 => CaState::Cwr,
        3 => CaState::Recovery,
        _ => CaState::Loss,
    }
}

fn ca_event(event: u32) -> CaEvent {
    match event {
        0 => CaEvent::TxStart,
        1 => CaEvent::CwndRestart,
        2 => CaEvent::CompleteCwr,
        3 => CaEvent::Loss,
        4 => CaEvent::EcnNoCe,
        _ => CaEvent::EcnIsCe,
    }
}
