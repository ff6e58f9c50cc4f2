//! CAKE's facts: its shaper, tins, hosts and flows, its ACK filter, and COBALT compared with a model.

mod acks;
mod cobalt_model;
mod fairness;
mod flood;
mod properties;
mod shaping;

use super::*;
use crate::{PureAck, SackOrder};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;
/// Full packets, so that a byte of payload is a byte of share.
const FULL: u32 = 1514;

/// A header that says who sends what to whom.
#[derive(Clone, Debug, Default, PartialEq)]
struct Head {
    hosts: (u32, u32),
    dscp: u8,
    ack: Option<PureAck>,
    /// Segments that its SACK blocks cover.
    sack: Vec<u32>,
    number: u64,
}

impl Header for Head {
    fn is_data(&self) -> bool {
        self.ack.is_none()
    }

    fn is_forward(&self) -> bool {
        true
    }

    fn pure_ack(&self) -> Option<PureAck> {
        self.ack
    }

    fn sack_order(&self, earlier: &Self) -> SackOrder {
        let covers = earlier.sack.iter().all(|each| self.sack.contains(each));
        match (covers, self.sack.len() > earlier.sack.len()) {
            (false, _) => SackOrder::Less,
            (true, false) => SackOrder::Same,
            (true, true) => SackOrder::More,
        }
    }

    fn hosts(&self) -> Option<(u32, u32)> {
        Some(self.hosts)
    }

    fn dscp(&self) -> Option<u8> {
        Some(self.dscp)
    }
}

fn packet(flow: u32, wire_bytes: u32, header: Head) -> Packet<Head> {
    Packet {
        flow,
        wire_bytes,
        ecn: Ecn::NotEct,
        hop: 0,
        arrived_ns: 0,
        header,
    }
}

/// What left a queue, when.
struct Sent {
    at_ns: u64,
    packet: Packet<Head>,
}

/// A queue in front of a link so fast that only the queue holds packets back.
struct Bed {
    cake: Cake<Head>,
    sent: Vec<Sent>,
    dropped: Vec<(Packet<Head>, DropReason)>,
    now_ns: u64,
}

impl Bed {
    fn new(config: &Config) -> Self {
        let site = Site {
            seed: 11,
            ..Site::default()
        };
        Self {
            cake: Cake::new(config, &site),
            sent: Vec::new(),
            dropped: Vec::new(),
            now_ns: 0,
        }
    }

    fn enqueue(&mut self, packet: Packet<Head>) {
        let mut effects = Effects::new();
        self.cake.enqueue(self.now_ns, packet, &mut effects);
        self.note(effects);
    }

    /// Takes a packet now, if the queue gives one.
    fn take(&mut self) -> Option<Packet<Head>> {
        let mut effects = Effects::new();
        let packet = self.cake.dequeue(self.now_ns, &mut effects);
        self.note(effects);
        self.sent.extend(packet.clone().map(|packet| Sent {
            at_ns: self.now_ns,
            packet,
        }));
        packet
    }

    fn note(&mut self, mut effects: Effects<Head>) {
        for effect in effects.drain() {
            if let crate::Effect::Refused(packet, reason) | crate::Effect::Dropped(packet, reason) =
                effect
            {
                self.dropped.push((packet, reason));
            }
        }
    }

    /// Lets leave what is due before `until_ns`, as the shaper says.
    fn run_until(&mut self, until_ns: u64) {
        while self.cake.backlog_pkts() > 0 {
            let due_ns = Queue::<Head>::next_event(&self.cake).unwrap_or(0);
            let due_ns = due_ns.max(self.now_ns);
            if due_ns >= until_ns {
                break;
            }
            self.now_ns = due_ns;
            self.take();
        }
        self.now_ns = until_ns;
    }

    /// Lets flows send packets at a rate each, evenly spaced, for `time_ns`.
    fn offer(&mut self, time_ns: u64, flows: &[(u32, u64, Head)]) {
        let end_ns = self.now_ns + time_ns;
        let start_ns = self.now_ns;
        let gap = |rate_bps: u64| u64::from(FULL) * 8 * S / rate_bps;
        let mut arrivals: Vec<(u64, usize)> = Vec::new();
        for (index, &(_, rate_bps, _)) in flows.iter().enumerate() {
            let first_ns = start_ns + gap(rate_bps) * index as u64 / flows.len() as u64;
            arrivals.extend(
                (0..)
                    .map(|n| first_ns + n * gap(rate_bps))
                    .take_while(|&at_ns| at_ns < end_ns)
                    .map(|at_ns| (at_ns, index)),
            );
        }
        arrivals.sort_unstable();
        for (number, (at_ns, index)) in (0..).zip(arrivals) {
            self.run_until(at_ns);
            let (flow, _, header) = &flows[index];
            let header = Head {
                number,
                ..header.clone()
            };
            self.enqueue(packet(*flow, FULL, header));
        }
        self.run_until(end_ns);
    }

    /// Bytes that left since `from_ns` of what `of` says.
    fn bytes_since(&self, from_ns: u64, of: impl Fn(&Packet<Head>) -> bool) -> u64 {
        let sent = self.sent.iter().filter(|sent| sent.at_ns >= from_ns);
        sent.filter(|sent| of(&sent.packet))
            .map(|sent| u64::from(sent.packet.wire_bytes))
            .sum()
    }

    fn statistic(&self, name: &str) -> u64 {
        let mut found = None;
        Queue::<Head>::statistics(&self.cake, &mut |each, value| {
            if each == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("there is no statistic {name}"))
    }
}

fn shaped(rate_bps: u64) -> Config {
    Config {
        rate_bps: Some(rate_bps),
        ..Config::default()
    }
}
