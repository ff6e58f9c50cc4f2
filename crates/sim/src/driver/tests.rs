//! What is reported to applications, and what becomes of what they want, with applications made for it.

use dumbbell_app::traffic::deterministic;
use dumbbell_app::{
    Application, Command, Distribution, End, Event, Outcome, Transfer, TransferKind,
};
use dumbbell_cc::{Instance, Request};
use dumbbell_scenario::{Control, Group, Limit, Link, Queue, Scenario};

use crate::engine::Engine;
use crate::summarize::summarize;

const NS_PER_MS: u64 = 1_000_000;
const BASE_RTT_NS: u64 = 20 * NS_PER_MS;
const LINK_RATE_BPS: u64 = 1_000_000_000;

/// Asks for `response_bytes` again and again on one connection, at once after each response.
#[derive(Debug)]
struct Client {
    request_bytes: u64,
    response_bytes: u64,
    rounds: u64,
    done: u64,
    asked_ns: u64,
    events: Vec<(u64, Event)>,
}

impl Client {
    fn ask(&mut self, now_ns: u64, outcome: &mut Outcome) {
        self.asked_ns = now_ns;
        outcome.commands.push(Command::Write {
            connection: 0,
            from: End::Receiver,
            bytes: self.request_bytes,
        });
    }
}

impl Application for Client {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        self.events.push((now_ns, event));
        match event {
            Event::Start => outcome.commands.push(Command::Open {
                connection: 0,
                by: End::Receiver,
            }),
            Event::Connected { .. } => self.ask(now_ns, outcome),
            Event::Received {
                at: End::Sender,
                bytes,
                ..
            } if bytes == (self.done + 1) * self.request_bytes => {
                outcome.commands.push(Command::Write {
                    connection: 0,
                    from: End::Sender,
                    bytes: self.response_bytes,
                });
            }
            Event::Received {
                at: End::Receiver,
                bytes,
                ..
            } if bytes == (self.done + 1) * self.response_bytes => {
                self.done += 1;
                outcome.transfers.push(Transfer {
                    kind: TransferKind::Request,
                    connection: 0,
                    bytes: self.response_bytes,
                    start_ns: self.asked_ns,
                    end_ns: Some(now_ns),
                });
                if self.done < self.rounds {
                    self.ask(now_ns, outcome);
                } else {
                    outcome.commands.push(Command::Close {
                        connection: 0,
                        from: End::Receiver,
                    });
                    outcome.commands.push(Command::Close {
                        connection: 0,
                        from: End::Sender,
                    });
                }
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        u64::MAX
    }

    fn unfinished(&self, _transfers: &mut Vec<Transfer>) {}
}

/// Runs `application` alone and returns the engine at the end of the run.
fn run_alone(application: impl Application + Send + 'static, loss_ppb: u32) -> Engine<()> {
    let traffic = deterministic::Config {
        gap_ns: 1,
        size_bytes: Distribution::Constant(1),
        strata: 1,
        count: None,
    };
    let group = Group {
        cc: "reno".into(),
        base_rtt_ns: BASE_RTT_NS,
        traffic: traffic.into(),
        route: vec!["down".to_owned()],
        back: vec!["up".to_owned()],
        ..Group::default()
    };
    let link = |name: &str| Link {
        name: name.to_owned(),
        link_rate_bps: LINK_RATE_BPS,
        delay_ns: Some(0),
        queue: Queue::drop_tail(Limit::Packets(1000)),
        random_loss_ppb: loss_ppb,
        ..Link::default()
    };
    let scenario = Scenario {
        seed: 1,
        duration_ns: 20_000 * NS_PER_MS,
        sample_interval_ns: 100 * NS_PER_MS,
        links: vec![link("down"), link("up")],
        groups: vec![group],
        ..Scenario::default()
    };
    let request = Request {
        name: "reno".to_owned(),
        params: std::collections::BTreeMap::new(),
    };
    let instance = Instance::load(&request, 1).expect("built in");
    let instances = [instance];
    let mut engine = Engine::new(&scenario, &instances, ());
    engine.applications.users[0].application = Box::new(application);
    engine.run(&Control::default()).expect("it runs");
    let summary = summarize(&scenario, &engine, &instances);
    let flow = &summary.flows[0];
    assert_eq!(
        flow.sent_pkts,
        flow.dropped_pkts + flow.arrived_pkts + flow.on_path_pkts
    );
    let requests = flow.requests.as_ref().expect("it has requests");
    assert_eq!(
        requests.sent_pkts,
        requests.dropped_pkts + requests.arrived_pkts + requests.on_path_pkts
    );
    engine
}

fn client(rounds: u64) -> Client {
    Client {
        request_bytes: 100,
        response_bytes: 1_000,
        rounds,
        done: 0,
        asked_ns: 0,
        events: Vec::new(),
    }
}

/// Latency alone is a round trip and the response's time on the link; the connection closes when both
/// ends have closed, and its slot is free.
#[test]
fn a_client_alone_waits_for_a_round_trip() {
    let engine = run_alone(client(10), 0);
    let applications = &engine.applications;
    assert_eq!(applications.transfers.len(), 10);
    assert!(applications.users[0].open.is_empty());
    assert_eq!((applications.slots.len(), applications.free.len()), (1, 1));
    let user = &applications.users[0];
    assert_eq!(user.received_bytes, 10 * 1_000);
    // The handshake, and of each round a packet of 166 bytes and one of 1066; ACKs are shorter.
    let on_link_ns = (166 + 1_066) * 8;
    let expected_ns = BASE_RTT_NS + 10 * (BASE_RTT_NS + on_link_ns);
    // The close: FINs cross, and are acknowledged a round trip later.
    let closed_ns = user.last_close_ns;
    assert!(
        (expected_ns + BASE_RTT_NS..expected_ns + BASE_RTT_NS + 50_000).contains(&closed_ns),
        "{closed_ns}"
    );
}

/// With any loss, all is asked for and answered once.
#[test]
fn requests_and_responses_survive_losses() {
    let engine = run_alone(client(100), 50_000_000);
    let applications = &engine.applications;
    assert_eq!(applications.transfers.len(), 100);
    assert!(applications.users[0].open.is_empty() && applications.free.len() == 1);
    let sent = &applications.users[0].books;
    let requests = sent.requests.as_ref().expect("it has requests");
    assert_eq!(requests.1.received_bytes, 100 * 100);
    assert_eq!(sent.arrived.received_bytes, 100 * 1_000);
    assert!(sent.sent.retransmitted_pkts > 0 && requests.0.retransmitted_pkts > 0);
}
