//! Applications with any order and timing of events.

use super::*;

/// An engine that is slow where it likes: of all that could happen next one thing is chosen.
struct Engine {
    now_ns: u64,
    /// Bytes by connection and end (the receiver's is 1): what was written, arrived, is acknowledged, bytes.
    halves: Vec<[[u64; 3]; 2]>,
    is_endless: Vec<[bool; 2]>,
    is_closed: Vec<[bool; 2]>,
    is_over: Vec<bool>,
    transfers: Vec<Transfer>,
    commands: Vec<Command>,
    datagrams: Vec<(u64, u64, u32)>,
}

impl Engine {
    fn notify(&mut self, application: &mut dyn Application, event: Event) {
        let mut outcome = Outcome::default();
        application.on_event(self.now_ns, event, &mut outcome);
        self.transfers.extend(outcome.transfers);
        self.commands.extend(&outcome.commands);
        for command in outcome.commands {
            self.obey(application, command);
        }
    }

    fn obey(&mut self, application: &mut dyn Application, command: Command) {
        let end_of = |end: End| usize::from(end == End::Receiver);
        match command {
            Command::Open { connection, .. } => {
                assert_eq!(
                    connection as usize,
                    self.halves.len(),
                    "numbers follow each other"
                );
                self.halves.push([[0; 3]; 2]);
                self.is_endless.push([false; 2]);
                self.is_closed.push([false; 2]);
                self.is_over.push(false);
            }
            Command::Write {
                connection,
                from,
                bytes,
            } => {
                let (connection, end) = (connection as usize, end_of(from));
                assert!(!self.is_closed[connection][end] && !self.is_over[connection]);
                assert!(bytes > 0 && !self.is_endless[connection][end]);
                if bytes == u64::MAX {
                    self.is_endless[connection][end] = true;
                } else {
                    self.halves[connection][end][0] += bytes;
                }
            }
            Command::Pause { connection, from } => {
                let (index, end) = (connection as usize, end_of(from));
                assert!(std::mem::take(&mut self.is_endless[index][end]));
                let bytes = self.halves[index][end][0];
                self.notify(
                    application,
                    Event::Paused {
                        connection,
                        from,
                        bytes,
                    },
                );
            }
            Command::Close { connection, from } => {
                let (connection, end) = (connection as usize, end_of(from));
                assert!(!self.is_closed[connection][end]);
                self.is_closed[connection][end] = true;
                self.is_endless[connection][end] = false;
            }
            Command::Datagram { number, bytes, .. } => {
                self.datagrams.push((number, self.now_ns, bytes))
            }
        }
    }

    /// Something that could happen does.
    fn step(&mut self, application: &mut dyn Application, choice: u64) {
        let timer_ns = application.next_timer_ns();
        let kind = choice % 8;
        let open = self.halves.len() as u64;
        if kind == 0 || open == 0 {
            if timer_ns != u64::MAX {
                // Often late.
                self.now_ns = self.now_ns.max(timer_ns) + choice % 5 * 1000;
                self.notify(application, Event::Timer);
            }
            return;
        }
        self.now_ns += choice % 100_000;
        if kind == 1 && !self.datagrams.is_empty() {
            let chosen = (choice >> 8) as usize % self.datagrams.len();
            let (number, sent_ns, bytes) = self.datagrams.swap_remove(chosen);
            self.notify(
                application,
                Event::Datagram {
                    number,
                    sent_ns,
                    bytes,
                },
            );
            return;
        }
        // Of the latest ten: the others are over, or will be as well.
        let connection = (open - 1 - (choice >> 8) % open.min(10)) as usize;
        let end = (choice >> 16) as usize % 2;
        if self.is_over[connection] {
            return;
        }
        if self.is_endless[connection][end] {
            self.halves[connection][end][0] += 1 + choice % 3000;
        }
        let [written, received, acknowledged] = self.halves[connection][end];
        let (this, other) = if end == 0 {
            (End::Sender, End::Receiver)
        } else {
            (End::Receiver, End::Sender)
        };
        let number = connection as u32;
        if kind < 5 && received < written {
            let bytes = received + 1 + (choice >> 24) % (written - received);
            self.halves[connection][end][1] = bytes;
            self.notify(
                application,
                Event::Received {
                    connection: number,
                    at: other,
                    bytes,
                },
            );
        } else if acknowledged < received {
            let bytes = acknowledged + 1 + (choice >> 24) % (received - acknowledged);
            self.halves[connection][end][2] = bytes;
            self.notify(
                application,
                Event::Acknowledged {
                    connection: number,
                    from: this,
                    bytes,
                },
            );
        }
        let halves = self.halves[connection];
        let is_done = |end: usize| {
            let is_silent = halves[end][0] == 0 && halves[1 - end][0] > 0;
            (self.is_closed[connection][end] || is_silent) && halves[end][0] == halves[end][2]
        };
        if is_done(0) && is_done(1) {
            self.is_over[connection] = true;
            self.notify(application, Event::Closed { connection: number });
        }
    }
}

const ANY: [&str; 14] = [
    r#"{"kind":"bulk"}"#,
    r#"{"kind":"poisson","gap_ns":100000,"size_bytes":{"distribution":"pareto","shape_milli":1200,"scale":1000},"count":50}"#,
    r#"{"kind":"deterministic","gap_ns":50000,"size_bytes":{"distribution":"cache"},"strata":10}"#,
    r#"{"kind":"onoff","on_ns":100000,"off_ns":{"distribution":"exponential","mean":100000}}"#,
    r#"{"kind":"onoff","burst_bytes":{"distribution":"uniform","min":1,"max":9000},"off_ns":5000}"#,
    r#"{"kind":"rpc","request_bytes":500,"response_bytes":{"distribution":"exponential","mean":3000},"think_ns":1000}"#,
    r#"{"kind":"rpc","persistent":false,"count":9}"#,
    r#"{"kind":"page","objects":{"distribution":"uniform","min":0,"max":9},"parse_ns":1000,"reading_ns":1000}"#,
    r#"{"kind":"page","protocol":"http2","objects":5,"main_bytes":1,"object_bytes":20}"#,
    r#"{"kind":"cbr","rate_bps":100000000,"write_bytes":100}"#,
    r#"{"kind":"datagram","rate_bps":1000000000,"burst":3,"codec":"g711"}"#,
    r#"{"kind":"video","chunk_ns":1000000,"buffer_ns":5000000,"variation_ppb":500000000}"#,
    r#"{"kind":"video","chunk_ns":1000000,"buffer_ns":9000000,"rule":"mpc","chunks":7}"#,
    r#"{"kind":"responsiveness","interval_ns":10000000,"max_connections":3}"#,
];

proptest! {
    /// Connections are numbered without a gap, nothing is written to one that is closed, every row is
    /// of bytes that were written and lasts no negative time, and the same events have the same outcome.
    #[test]
    fn applications_keep_their_promises(
        which in 0..ANY.len(),
        seed in any::<u64>(),
        choices in prop::collection::vec(any::<u64>(), 1..400),
        stop_at in 0_usize..500,
    ) {
        let play = || {
            let mut application = config(ANY[which]).build(seed);
            let mut engine = Engine {
                now_ns: 0,
                halves: Vec::new(),
                is_endless: Vec::new(),
                is_closed: Vec::new(),
                is_over: Vec::new(),
                transfers: Vec::new(),
                commands: Vec::new(),
                datagrams: Vec::new(),
            };
            engine.notify(&mut *application, Event::Start);
            for (step, &choice) in choices.iter().enumerate() {
                if step == stop_at {
                    engine.notify(&mut *application, Event::Stop);
                }
                engine.step(&mut *application, choice);
            }
            let mut unfinished = Vec::new();
            application.unfinished(&mut unfinished);
            let measurements = application.measurements(engine.now_ns);
            (engine.halves, engine.transfers, unfinished, measurements, engine.commands, engine.now_ns)
        };
        let (halves, transfers, unfinished, measurements, commands, now_ns) = play();
        let written: u64 = halves.iter().flatten().map(|half| half[0]).sum();
        let of_rows: u64 = transfers.iter().map(|transfer| transfer.bytes).sum();
        prop_assert!(of_rows <= written, "{} of {}", of_rows, written);
        for transfer in &transfers {
            let end_ns = transfer.end_ns.unwrap_or(now_ns);
            prop_assert!(transfer.start_ns <= end_ns && end_ns <= now_ns);
            prop_assert!((transfer.connection as usize) < halves.len());
        }
        prop_assert!(unfinished.iter().all(|transfer| transfer.end_ns.is_none()));
        prop_assert_eq!(play(), (halves, transfers, unfinished, measurements, commands, now_ns));
    }
}
