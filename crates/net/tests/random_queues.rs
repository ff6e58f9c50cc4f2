//! Properties of every discipline, with any settings and any packets.
//!
//! Each packet is sent or dropped once, and until then it waits; what is said to wait is what waits; packets of a
//! flow leave in the order in which they came, unless the discipline says otherwise; a free link sends while
//! something waits, unless the discipline says when it will; only packets that can be marked are; and the same
//! happens again.

use std::collections::BTreeMap;

use crate::any_queue::queue_named;
use dumbbell_net::queue::disciplines;
use dumbbell_net::{
    Ecn, Effect, Effects, Header, Packet, PureAck, Queue, QueueConfig, QueueDiscipline, Site,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

const CASES: u32 = 1000;
const FLOWS: u32 = 6;

/// A packet's number and what a discipline may ask of its header.
#[derive(Clone, Copy, Debug)]
struct Numbered {
    number: u32,
    dscp: u8,
    flow: u32,
    /// Its ECN field when it arrived.
    ecn: Ecn,
    is_ack: bool,
}

impl Header for Numbered {
    fn is_data(&self) -> bool {
        !self.is_ack
    }

    fn is_forward(&self) -> bool {
        true
    }

    fn pure_ack(&self) -> Option<PureAck> {
        self.is_ack.then(|| PureAck {
            number: self.number,
            ..PureAck::default()
        })
    }

    fn hosts(&self) -> Option<(u32, u32)> {
        Some((self.flow % 2, self.flow % 3))
    }

    fn dscp(&self) -> Option<u8> {
        Some(self.dscp)
    }
}

#[derive(Clone, Debug)]
struct Arrival {
    gap_ns: u64,
    flow: u32,
    wire_bytes: u32,
    ecn: Ecn,
    dscp: u8,
    is_ack: bool,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let ecn = prop_oneof![
        Just(Ecn::NotEct),
        Just(Ecn::Ect0),
        Just(Ecn::Ect1),
        Just(Ecn::Ce)
    ];
    let dscp = prop_oneof![Just(0), Just(8), Just(46), Just(10)];
    let gap_ns = prop_oneof![
        8 => 0..3_000_000_u64,
        1 => 0..1_000_000_000_u64,
    ];
    let arrival = (gap_ns, 0..FLOWS, 40..3000_u32, ecn, dscp, any::<bool>()).prop_map(
        |(gap_ns, flow, wire_bytes, ecn, dscp, is_ack)| Arrival {
            gap_ns,
            flow,
            wire_bytes: if is_ack { 66 } else { wire_bytes },
            ecn,
            dscp,
            is_ack,
        },
    );
    prop::collection::vec(arrival, 1..250)
}

/// What happened: when, to which packet, and its ECN field then.
type Log = Vec<(u64, &'static str, u32, Ecn)>;

/// A queue and what must be true of it.
struct Watched<'a> {
    config: &'a QueueConfig,
    queue: QueueDiscipline<Numbered>,
    effects: Effects<Numbered>,
    /// Packets that wait.
    waiting: BTreeMap<u32, Packet<Numbered>>,
    /// The last packet that was sent of each flow, or of all.
    last: BTreeMap<u32, u32>,
    log: Log,
}

impl Watched<'_> {
    /// Books what the last call did; `arriving` is the packet that it was given.
    fn book(&mut self, now_ns: u64, arriving: Option<u32>) -> Result<(), TestCaseError> {
        for effect in self.effects.drain() {
            match effect {
                Effect::Refused(packet, _) | Effect::Dropped(packet, _) => {
                    let number = packet.header.number;
                    let waited = self.waiting.remove(&number);
                    prop_assert!(waited.is_some(), "{number} was dropped and did not wait");
                    if matches!(effect, Effect::Refused(..)) {
                        prop_assert_eq!(Some(number), arriving, "only what arrives is refused");
                    }
                    self.log.push((now_ns, "dropped", number, packet.ecn));
                }
                Effect::Marked(packet) => {
                    let number = packet.header.number;
                    prop_assert!(self.config.marks());
                    let waiting = self.waiting.get_mut(&number);
                    let waiting = waiting.expect("it waits");
                    prop_assert!(matches!(waiting.ecn, Ecn::Ect0 | Ecn::Ect1));
                    prop_assert_eq!(packet.ecn, Ecn::Ce);
                    waiting.ecn = Ecn::Ce;
                    self.log.push((now_ns, "marked", number, packet.ecn));
                }
            }
        }
        Ok(())
    }

    /// What the queue says of its backlog is what is in it.
    fn check_backlog(&self) -> Result<(), TestCaseError> {
        let mut found = BTreeMap::new();
        let mut count = 0;
        self.queue.for_each(&mut |packet| {
            count += 1;
            found.insert(packet.header.number, *packet);
        });
        prop_assert_eq!(count, self.queue.backlog_pkts());
        prop_assert_eq!(count, self.waiting.len() as u64);
        let bytes = self
            .waiting
            .values()
            .map(|packet| u64::from(packet.wire_bytes));
        prop_assert_eq!(bytes.sum::<u64>(), self.queue.backlog_bytes());
        for (number, packet) in &self.waiting {
            let same = found
                .get(number)
                .map(|found| (found.flow, found.wire_bytes, found.ecn));
            prop_assert_eq!(same, Some((packet.flow, packet.wire_bytes, packet.ecn)));
        }
        Ok(())
    }

    fn enqueue(&mut self, now_ns: u64, packet: Packet<Numbered>) -> Result<(), TestCaseError> {
        let number = packet.header.number;
        self.waiting.insert(number, packet);
        self.queue.enqueue(now_ns, packet, &mut self.effects);
        self.book(now_ns, Some(number))?;
        self.check_backlog()
    }

    /// How long the link is busy with what was sent, in bytes; `None` if nothing was.
    fn dequeue(&mut self, now_ns: u64) -> Result<Option<u32>, TestCaseError> {
        let sent = self.queue.dequeue(now_ns, &mut self.effects);
        self.book(now_ns, None)?;
        let Some(packet) = sent else {
            self.check_backlog()?;
            if !self.queue.has_clock() {
                prop_assert_eq!(self.queue.backlog_pkts(), 0, "a free link sends what waits");
            }
            return Ok(None);
        };
        let waited = self.waiting.remove(&packet.header.number);
        let waited = waited.expect("what is sent waited");
        prop_assert_eq!(waited.ecn, packet.ecn, "a mark is reported");
        self.check_backlog()?;
        self.log
            .push((now_ns, "sent", packet.header.number, packet.ecn));
        // CAKE does where no set of its queues is full, and so few flows fill none.
        if self.config.keeps_order() || self.config.name() == "cake" {
            let is_fifo = self.config.facts().is_fifo;
            let line = if is_fifo { 0 } else { self.line(&packet) };
            let before = self.last.insert(line, packet.header.number);
            prop_assert!(
                before < Some(packet.header.number),
                "{packet:?} after {before:?}"
            );
        }
        Ok(Some(packet.wire_bytes))
    }

    /// Packets of one line do not overtake one another: those of a flow, and of one kind where a discipline
    /// sorts them by it.
    fn line(&self, packet: &Packet<Numbered>) -> u32 {
        let kind = match self.config.name() {
            "dualpi2" => u32::from(packet.header.ecn.bits()),
            "cake" => u32::from(packet.header.dscp),
            _ => 0,
        };
        packet.flow + FLOWS * kind
    }
}

fn run(config: &QueueConfig, arrivals: &[Arrival], seed: u64) -> Result<Log, TestCaseError> {
    const LINK_RATE_BPS: u64 = 12_000_000;
    let site = Site {
        seed,
        link_rate_bps: LINK_RATE_BPS,
        ..Site::default()
    };
    let mut watched = Watched {
        config,
        queue: config.build(&site),
        effects: Effects::new(),
        waiting: BTreeMap::new(),
        last: BTreeMap::new(),
        log: Log::new(),
    };
    let (mut now_ns, mut free_ns) = (0_u64, 0);
    // Until when the discipline holds back what waits.
    let mut held_ns = 0;
    let all = arrivals.iter().map(Some).chain([None]);
    for (number, arrival) in (0..).zip(all) {
        let next_ns = now_ns + arrival.map_or(1 << 40, |arrival| arrival.gap_ns);
        while !watched.waiting.is_empty() {
            let at_ns = now_ns.max(free_ns).max(held_ns);
            if at_ns > next_ns {
                break;
            }
            let (due_ns, happened) = (watched.queue.next_event(), watched.log.len());
            if let Some(bytes) = watched.dequeue(at_ns)? {
                free_ns = at_ns + u64::from(bytes) * 8_000_000_000 / LINK_RATE_BPS;
            } else if !watched.waiting.is_empty() {
                // It may hold packets back, and says until when; then something leaves or is dropped.
                prop_assert!(config.facts().holds_back);
                let was_due = due_ns.is_some_and(|due_ns| due_ns <= at_ns);
                prop_assert!(!was_due || watched.log.len() > happened, "it was due");
                held_ns = watched.queue.next_event().expect("it says when");
                prop_assert!(held_ns > at_ns);
            }
        }
        now_ns = next_ns;
        let Some(arrival) = arrival else {
            prop_assert!(watched.waiting.is_empty(), "in the end nothing waits");
            break;
        };
        let packet = Packet {
            flow: arrival.flow,
            wire_bytes: arrival.wire_bytes,
            ecn: arrival.ecn,
            hop: 0,
            arrived_ns: now_ns,
            header: Numbered {
                number,
                dscp: arrival.dscp,
                flow: arrival.flow,
                ecn: arrival.ecn,
                is_ack: arrival.is_ack,
            },
        };
        watched.enqueue(now_ns, packet)?;
        // An arrival may let a packet go earlier.
        held_ns = 0;
    }
    Ok(watched.log)
}

#[test]
fn every_discipline_keeps_its_promises() {
    for discipline in disciplines() {
        let mut runner = TestRunner::new(Config {
            failure_persistence: None,
            ..Config::with_cases(CASES)
        });
        let plan = (queue_named(discipline.name), arrivals(), any::<u64>());
        let result = runner.run(&plan, |(config, arrivals, seed)| {
            prop_assert_eq!(config.name(), discipline.name);
            prop_assert_eq!(config.check(), Ok(()));
            let log = run(&config, &arrivals, seed)?;
            prop_assert_eq!(
                run(&config, &arrivals, seed)?,
                log,
                "the same happens again"
            );
            Ok(())
        });
        assert!(
            result.is_ok(),
            "{}: {}",
            discipline.name,
            result.unwrap_err()
        );
    }
}
