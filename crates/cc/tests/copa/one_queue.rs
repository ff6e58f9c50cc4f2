//! Flows through one infinite FIFO: a fixed service time per packet, a fixed base RTT, one
//! ACK per packet and no losses. Flows send as cwnd and pacing rate allow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dumbbell_cc::Flow;

use crate::copa::script::{self, Ack, MSS_BYTES};

/// Bytes of a full segment on an Ethernet wire.
const FRAME_BYTES: u64 = 1514;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Start,
    /// Pacing lets the flow send again.
    Send,
    Ack {
        sent_ns: u64,
    },
}

/// A bottleneck and the flows that share it.
pub(crate) struct OneQueue {
    pub(crate) flows: Vec<Flow>,
    inflight: Vec<u32>,
    paced_until_ns: Vec<u64>,
    /// By time, then in the order of scheduling: (ns, number, flow, event).
    events: BinaryHeap<Reverse<(u64, u64, usize, Event)>>,
    scheduled: u64,
    service_ns: u64,
    base_rtt_ns: u64,
    idle_at_ns: u64,
    now_ns: u64,
}

impl OneQueue {
    /// The flows start evenly spread over one base RTT.
    pub(crate) fn new(flows: Vec<Flow>, link_bps: u64, base_rtt_us: u64) -> Self {
        let base_rtt_ns = base_rtt_us * 1000;
        let count = flows.len();
        let mut path = Self {
            inflight: vec![0; count],
            paced_until_ns: vec![0; count],
            flows,
            events: BinaryHeap::new(),
            scheduled: 0,
            service_ns: FRAME_BYTES * 8 * 1_000_000_000 / link_bps,
            base_rtt_ns,
            idle_at_ns: 0,
            now_ns: 0,
        };
        for flow in 0..count {
            path.schedule(base_rtt_ns * flow as u64 / count as u64, flow, Event::Start);
        }
        path
    }

    pub(crate) fn now_us(&self) -> u64 {
        self.now_ns / 1000
    }

    /// Packets waiting or in service.
    pub(crate) fn backlog_pkts(&self) -> u64 {
        self.idle_at_ns
            .saturating_sub(self.now_ns)
            .div_ceil(self.service_ns)
    }

    /// Processes events until `us`, calling `observe` after each.
    pub(crate) fn run_until(&mut self, us: u64, mut observe: impl FnMut(&Self)) {
        while self.now_us() < us {
            self.step();
            observe(self);
        }
    }

    fn step(&mut self) {
        let Reverse((at_ns, _, flow, event)) = self.events.pop().expect("a flow always sends");
        self.now_ns = at_ns;
        let now_us = self.now_us();
        match event {
            Event::Start => script::start(&mut self.flows[flow], now_us),
            Event::Send => {}
            Event::Ack { sent_ns } => {
                self.inflight[flow] -= 1;
                let rtt_us = (at_ns - sent_ns) / 1000;
                script::acknowledge(&mut self.flows[flow], now_us, Ack::of(1, rtt_us));
            }
        }
        self.send(flow);
    }

    fn schedule(&mut self, at_ns: u64, flow: usize, event: Event) {
        self.scheduled += 1;
        self.events
            .push(Reverse((at_ns, self.scheduled, flow, event)));
    }

    fn send(&mut self, flow: usize) {
        while self.inflight[flow] < self.flows[flow].sock.snd_cwnd
            && self.paced_until_ns[flow] <= self.now_ns
        {
            self.idle_at_ns = self.idle_at_ns.max(self.now_ns) + self.service_ns;
            self.inflight[flow] += 1;
            let sent_ns = self.now_ns;
            self.schedule(
                self.idle_at_ns + self.base_rtt_ns,
                flow,
                Event::Ack { sent_ns },
            );

            let pause_ns =
                u64::from(MSS_BYTES) * 1_000_000_000 / self.flows[flow].sock.sk_pacing_rate;
            if pause_ns > 0 {
                self.paced_until_ns[flow] = sent_ns + pause_ns;
                self.schedule(sent_ns + pause_ns, flow, Event::Send);
            }
        }
    }
}
