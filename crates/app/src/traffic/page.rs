//! Web pages: a main object, then the objects that it names.

use std::collections::VecDeque;

use dumbbell_declare::{choices, settings};

use super::{ApplicationSettings, Facts, MAX_BYTES, MAX_NS, NS_PER_S, Preset};
use crate::distribution::{Sampler, exponential, lognormal, pareto};
use crate::random::Random;
use crate::{Application, Command, Distribution, End, Event, Outcome, Transfer, TransferKind};

choices! {
    /// How a page's objects share connections.
    pub enum Protocol {
        /// Several persistent connections, each with one request at a time (HTTP/1.1).
        http1,
        /// One connection, all requests at once (HTTP/2): a loss delays all objects behind it.
        http2,
    }
}

settings! {
    /// A reader of web pages: the main object, parsing, then its objects; reading, then the next page.
    pub struct Config {
        /// How objects share connections: `http1`, one request at a time on each of several; `http2`, all
        /// requests at once on one.
        protocol: Protocol = Protocol::http1;
        /// Connections of a page with `http1`, opened together.
        connections: u64 = 6, in 1..=1000;
        /// Number of objects that the main object names.
        objects: Distribution = Distribution::Constant(50), in 0..=100_000;
        /// Size of the main object.
        main_bytes: Distribution = Distribution::Constant(10_000), in 1..=MAX_BYTES;
        /// Size of each other object.
        object_bytes: Distribution = Distribution::Constant(10_000), in 1..=MAX_BYTES;
        /// Size of a request.
        request_bytes: Distribution = Distribution::Constant(328), in 1..=MAX_BYTES;
        /// Time from the main object's last byte to the requests for the others.
        parse_ns: Distribution = Distribution::Constant(0), in 0..=MAX_NS;
        /// Time from a page's last byte to the next page.
        reading_ns: Distribution = Distribution::Constant(0), in 0..=MAX_NS;
        /// How many pages each flow loads at most.
        count: Option<u64> = None, in 1..=u32::MAX.into();
    }
}

impl ApplicationSettings for Config {
    const FACTS: Facts = Facts {
        has_requests: true,
        ..Facts::ONE_WAY
    };

    type Application = Pages;

    fn presets() -> Vec<Preset<Self>> {
        let rfc7928 = Self {
            main_bytes: 1000.into(),
            object_bytes: 1000.into(),
            ..Self::default()
        };
        // 3GPP TR 25.892 A.2.2.2, with the parameters of ns-3's ThreeGppHttpVariables.
        let size = |mean, sd, min| lognormal::Config {
            mean: Some(mean),
            sd: Some(sd),
            min: Some(min),
            max: Some(2_000_000),
            ..lognormal::Config::default()
        };
        let time = |mean| exponential::Config { mean, max: None };
        let number = pareto::Config {
            shape_milli: 1100,
            scale: 2,
            max: Some(55),
            from_zero: true,
        };
        let three_gpp = Self {
            main_bytes: size(10_710, 25_032, 100).into(),
            object_bytes: size(7758, 126_168, 50).into(),
            objects: number.into(),
            parse_ns: time(130_000_000).into(),
            reading_ns: time(30 * NS_PER_S).into(),
            ..Self::default()
        };
        vec![
            Preset {
                name: "rfc7928",
                doc: "50 objects of 1 kB over six connections (RFC 7928 §7.2).",
                settings: rfc7928,
            },
            Preset {
                name: "3gpp",
                doc: "The web of 3GPP's evaluations, as ns-3 has it.",
                settings: three_gpp,
            },
        ]
    }

    fn build(&self, seed: u64) -> Pages {
        let sampler = |distribution, stream, range| {
            Sampler::new(distribution, Random::new(seed, stream), range)
        };
        Pages {
            numbers: sampler(&self.objects, 0, 0..=100_000),
            main_sizes: sampler(&self.main_bytes, 1, 1..=MAX_BYTES),
            sizes: sampler(&self.object_bytes, 2, 1..=MAX_BYTES),
            requests: sampler(&self.request_bytes, 3, 1..=MAX_BYTES),
            parsing: sampler(&self.parse_ns, 4, 0..=MAX_NS),
            reading: sampler(&self.reading_ns, 5, 0..=MAX_NS),
            connections: match self.protocol {
                Protocol::http1 => self.connections,
                Protocol::http2 => 1,
            },
            has_one_at_a_time: self.protocol == Protocol::http1,
            left: self.count.unwrap_or(u64::MAX),
            is_stopped: false,
            next_connection: 0,
            next_ns: u64::MAX,
            page: None,
        }
    }
}

/// A reader and the server.
#[derive(Debug)]
pub struct Pages {
    numbers: Sampler,
    main_sizes: Sampler,
    sizes: Sampler,
    requests: Sampler,
    parsing: Sampler,
    reading: Sampler,
    /// Connections of a page.
    connections: u64,
    /// Whether a connection has one request at a time.
    has_one_at_a_time: bool,
    /// Pages that are still to come.
    left: u64,
    is_stopped: bool,
    next_connection: u32,
    /// When parsing or reading ends, ns.
    next_ns: u64,
    /// The page that is loading.
    page: Option<Page>,
}

/// A page that is loading.
#[derive(Debug)]
struct Page {
    start_ns: u64,
    /// Its first connection.
    first: u32,
    connections: Vec<Connection>,
    /// Sizes of the objects that are not yet asked for, the next one last.
    to_ask: Vec<u64>,
    /// Whether the main object is there and parsed.
    is_parsed: bool,
    /// Size of the main object and the others, bytes.
    bytes: u64,
}

/// A connection of a page; bytes are of all requests or responses on it.
#[derive(Clone, Debug, Default)]
struct Connection {
    /// Where requests end, and the sizes of their responses: those that the server has not yet got.
    asked: VecDeque<(u64, u64)>,
    asked_bytes: u64,
    /// Size of the responses to all that was asked for.
    wanted_bytes: u64,
    received_bytes: u64,
}

impl Connection {
    fn is_idle(&self) -> bool {
        self.received_bytes == self.wanted_bytes
    }
}

impl Pages {
    fn begin(&mut self, now_ns: u64, outcome: &mut Outcome) {
        self.left -= 1;
        self.next_ns = u64::MAX;
        let objects = self.numbers.draw();
        let main_bytes = self.main_sizes.draw();
        let to_ask: Vec<u64> = (0..objects).map(|_| self.sizes.draw()).collect();
        let connections = self.connections.min(objects.max(1));
        let first = self.next_connection;
        self.next_connection += connections as u32;
        let opens = (first..self.next_connection).map(|connection| Command::Open {
            connection,
            by: End::Receiver,
        });
        outcome.commands.extend(opens);
        let mut page = Page {
            start_ns: now_ns,
            first,
            connections: vec![Connection::default(); connections as usize],
            bytes: to_ask
                .iter()
                .fold(main_bytes, |sum, &bytes| sum.saturating_add(bytes)),
            to_ask,
            is_parsed: false,
        };
        page.ask(0, main_bytes, self.requests.draw(), outcome);
        self.page = Some(page);
    }

    /// The main object is parsed: asks for the others.
    fn ask_for_objects(&mut self, outcome: &mut Outcome) {
        self.next_ns = u64::MAX;
        let Some(page) = &mut self.page else { return };
        page.is_parsed = true;
        if self.has_one_at_a_time {
            for index in 0..page.connections.len() {
                if page.connections[index].is_idle()
                    && let Some(bytes) = page.to_ask.pop()
                {
                    page.ask(index, bytes, self.requests.draw(), outcome);
                }
            }
        } else {
            while let Some(bytes) = page.to_ask.pop() {
                page.ask(0, bytes, self.requests.draw(), outcome);
            }
        }
    }

    /// The client has received `bytes` on a connection of the page.
    fn receive(&mut self, now_ns: u64, index: usize, bytes: u64, outcome: &mut Outcome) {
        let Some(page) = &mut self.page else { return };
        page.connections[index].received_bytes = bytes;
        if !page.connections[index].is_idle() {
            return;
        }
        if !page.is_parsed {
            self.next_ns = match page.to_ask.len() {
                0 => now_ns,
                _ => now_ns.saturating_add(self.parsing.draw()),
            };
            page.is_parsed = page.to_ask.is_empty();
            self.continue_if_due(now_ns, outcome);
        } else if let Some(bytes) = page.to_ask.pop() {
            page.ask(index, bytes, self.requests.draw(), outcome);
        }
        self.end_if_complete(now_ns, outcome);
    }

    fn end_if_complete(&mut self, now_ns: u64, outcome: &mut Outcome) {
        let is_complete = |page: &mut Page| page.is_complete();
        let Some(page) = self.page.take_if(is_complete) else {
            return;
        };
        page.close(None, outcome);
        outcome.transfers.push(page.row(Some(now_ns)));
        self.read(now_ns, outcome);
    }

    /// The page cannot be complete without the connection that failed; the reader goes on.
    fn give_up(&mut self, now_ns: u64, failed: usize, outcome: &mut Outcome) {
        let Some(page) = self.page.take() else { return };
        page.close(Some(failed), outcome);
        outcome.transfers.push(page.row(None));
        self.read(now_ns, outcome);
    }

    fn read(&mut self, now_ns: u64, outcome: &mut Outcome) {
        self.next_ns = if self.left == 0 || self.is_stopped {
            u64::MAX
        } else {
            now_ns.saturating_add(self.reading.draw())
        };
        self.continue_if_due(now_ns, outcome);
    }

    /// Parsing or reading may be over.
    fn continue_if_due(&mut self, now_ns: u64, outcome: &mut Outcome) {
        if self.next_ns > now_ns {
            return;
        }
        if self.page.is_some() {
            self.ask_for_objects(outcome);
        } else {
            self.begin(now_ns, outcome);
        }
    }
}

impl Page {
    /// Writes a request for an object of `bytes`.
    fn ask(&mut self, index: usize, bytes: u64, request_bytes: u64, outcome: &mut Outcome) {
        let connection = &mut self.connections[index];
        // Petabytes times thousands of objects: more than a number holds, and than any run carries.
        connection.asked_bytes = connection.asked_bytes.saturating_add(request_bytes);
        connection.wanted_bytes = connection.wanted_bytes.saturating_add(bytes);
        connection.asked.push_back((connection.asked_bytes, bytes));
        outcome.commands.push(Command::Write {
            connection: self.first + index as u32,
            from: End::Receiver,
            bytes: request_bytes,
        });
    }

    /// The server has `received_bytes` of the requests on a connection, and answers those that are whole.
    fn answer(&mut self, index: usize, received_bytes: u64, outcome: &mut Outcome) {
        let asked = &mut self.connections[index].asked;
        while let Some(&(end_byte, bytes)) = asked.front()
            && end_byte <= received_bytes
        {
            asked.pop_front();
            outcome.commands.push(Command::Write {
                connection: self.first + index as u32,
                from: End::Sender,
                bytes,
            });
        }
    }

    fn index_of(&self, connection: u32) -> Option<usize> {
        let index = connection.checked_sub(self.first)? as usize;
        (index < self.connections.len()).then_some(index)
    }

    fn is_complete(&self) -> bool {
        let mut connections = self.connections.iter();
        self.is_parsed && self.to_ask.is_empty() && connections.all(Connection::is_idle)
    }

    /// Closes its connections but the one that failed.
    fn close(&self, failed: Option<usize>, outcome: &mut Outcome) {
        for index in (0..self.connections.len()).filter(|&index| Some(index) != failed) {
            let connection = self.first + index as u32;
            let closes =
                [End::Receiver, End::Sender].map(|from| Command::Close { connection, from });
            outcome.commands.extend(closes);
        }
    }

    fn row(&self, end_ns: Option<u64>) -> Transfer {
        Transfer {
            kind: TransferKind::Page,
            connection: self.first,
            bytes: self.bytes,
            start_ns: self.start_ns,
            end_ns,
        }
    }
}

impl Application for Pages {
    fn on_event(&mut self, now_ns: u64, event: Event, outcome: &mut Outcome) {
        let of_page = |page: &Option<Page>, connection| page.as_ref()?.index_of(connection);
        match event {
            Event::Start => self.begin(now_ns, outcome),
            Event::Timer => {
                self.continue_if_due(now_ns, outcome);
                self.end_if_complete(now_ns, outcome);
            }
            Event::Stop => {
                self.is_stopped = true;
                if self.page.is_none() {
                    self.next_ns = u64::MAX;
                }
            }
            Event::Received {
                connection,
                at,
                bytes,
            } => {
                let Some(index) = of_page(&self.page, connection) else {
                    return;
                };
                match (at, &mut self.page) {
                    (End::Sender, Some(page)) => page.answer(index, bytes, outcome),
                    _ => self.receive(now_ns, index, bytes, outcome),
                }
            }
            Event::Closed { connection } => {
                // A connection failed: the page will never be complete.
                let Some(index) = of_page(&self.page, connection) else {
                    return;
                };
                self.give_up(now_ns, index, outcome);
            }
            _ => {}
        }
    }

    fn next_timer_ns(&self) -> u64 {
        self.next_ns
    }

    fn unfinished(&self, transfers: &mut Vec<Transfer>) {
        transfers.extend(self.page.as_ref().map(|page| page.row(None)));
    }
}
