//! A network for tests: one rate and one delay in each direction, no window, nothing lost but the
//! datagrams that a test names.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use crate::{Application, Command, End, Event, Outcome, Transfer};

const NS_PER_S: u64 = 1_000_000_000;

/// A network and a run on it.
pub(crate) struct FakeNetwork {
    /// Rate in each direction, bit/s of payload.
    pub(crate) rate_bps: u64,
    pub(crate) rtt_ns: u64,
    /// Payload of a full segment, bytes.
    pub(crate) segment_bytes: u64,
    /// When the application has to stop, ns.
    pub(crate) stop_ns: u64,
    /// When the run ends, ns.
    pub(crate) end_ns: u64,
    /// Whether a datagram, by its number, is lost.
    pub(crate) loses: fn(u64) -> bool,
    /// What is added to the delay of a datagram, ns.
    pub(crate) jitter_ns: fn(u64) -> u64,
}

impl Default for FakeNetwork {
    /// 1 Gbit/s and 20 ms for 60 s.
    fn default() -> Self {
        Self {
            rate_bps: NS_PER_S,
            rtt_ns: 20_000_000,
            segment_bytes: 1448,
            stop_ns: u64::MAX,
            end_ns: 60 * NS_PER_S,
            loses: |_| false,
            jitter_ns: |_| 0,
        }
    }
}

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// Commands, and when.
    pub(crate) commands: Vec<(u64, Command)>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) unfinished: Vec<Transfer>,
    pub(crate) measurements: BTreeMap<&'static str, i64>,
    /// For each connection and end: bytes written, arrived and acknowledged.
    pub(crate) bytes: BTreeMap<(u32, bool), [u64; 3]>,
}

impl Log {
    /// When commands that are as `is_wanted` says came, ns.
    pub(crate) fn times(&self, is_wanted: impl Fn(&Command) -> bool) -> Vec<u64> {
        let wanted = self
            .commands
            .iter()
            .filter(|(_, command)| is_wanted(command));
        wanted.map(|&(at_ns, _)| at_ns).collect()
    }

    /// How long complete transfers took, ns.
    pub(crate) fn durations_ns(&self) -> Vec<u64> {
        let ended = self
            .transfers
            .iter()
            .filter_map(|transfer| Some(transfer.end_ns? - transfer.start_ns));
        ended.collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Connected(u32),
    Departed(bool),
    Received(u32, bool, u64),
    Acknowledged(u32, bool, u64),
    Datagram(u64, u64, u32),
}

#[derive(Clone, Copy)]
enum Segment {
    /// Bytes of a connection.
    Stream(u32, u64),
    /// Its number, when it was sent, and its bytes.
    Datagram(u64, u64, u32),
}

/// One end's half of a connection.
#[derive(Default)]
struct Half {
    is_closed: bool,
    is_endless: bool,
    /// Segments that wait for the link or are on it.
    queued: u64,
    written_bytes: u64,
    received_bytes: u64,
    acknowledged_bytes: u64,
}

impl FakeNetwork {
    /// Runs an application from 0 to the end.
    pub(crate) fn run(&self, application: &mut dyn Application) -> Log {
        let mut run = Run {
            network: self,
            now_ns: 0,
            queue: BinaryHeap::new(),
            waiting: [VecDeque::new(), VecDeque::new()],
            on_link: [None; 2],
            halves: BTreeMap::new(),
            connected: BTreeMap::new(),
            log: Log::default(),
        };
        run.notify(application, Event::Start);
        let mut is_stopped = false;
        loop {
            let happens_ns = run
                .queue
                .peek()
                .map_or(u64::MAX, |Reverse((at_ns, ..))| *at_ns);
            let timer_ns = application.next_timer_ns().max(run.now_ns);
            let stop_ns = if is_stopped { u64::MAX } else { self.stop_ns };
            let next_ns = happens_ns.min(timer_ns).min(stop_ns);
            if next_ns >= self.end_ns {
                break;
            }
            run.now_ns = next_ns;
            if next_ns == happens_ns {
                let happened = run.queue.pop().map(|Reverse((_, happening))| happening);
                happened
                    .into_iter()
                    .for_each(|happening| run.happen(application, happening));
            } else if next_ns == stop_ns {
                is_stopped = true;
                run.notify(application, Event::Stop);
            } else {
                run.notify(application, Event::Timer);
            }
        }
        application.unfinished(&mut run.log.unfinished);
        run.log.measurements = application.measurements(self.end_ns).into_iter().collect();
        let bytes = |half: &Half| {
            [
                half.written_bytes,
                half.received_bytes,
                half.acknowledged_bytes,
            ]
        };
        run.log.bytes = run
            .halves
            .iter()
            .map(|(&key, half)| (key, bytes(half)))
            .collect();
        run.log
    }
}

struct Run<'a> {
    network: &'a FakeNetwork,
    now_ns: u64,
    queue: BinaryHeap<Reverse<(u64, Happening)>>,
    /// What waits for each direction's link, and what is on it.
    waiting: [VecDeque<Segment>; 2],
    on_link: [Option<Segment>; 2],
    /// The halves of each connection; the flag is whether the receiver writes.
    halves: BTreeMap<(u32, bool), Half>,
    connected: BTreeMap<u32, bool>,
    log: Log,
}

fn is_receiver(end: End) -> bool {
    end == End::Receiver
}

fn end(is_receiver: bool) -> End {
    if is_receiver {
        End::Receiver
    } else {
        End::Sender
    }
}

impl Run<'_> {
    fn notify(&mut self, application: &mut dyn Application, event: Event) {
        let mut outcome = Outcome::default();
        application.on_event(self.now_ns, event, &mut outcome);
        self.log.transfers.extend(outcome.transfers);
        for command in outcome.commands {
            self.log.commands.push((self.now_ns, command));
            self.obey(application, command);
        }
    }

    fn at(&mut self, wait_ns: u64, happening: Happening) {
        self.queue.push(Reverse((self.now_ns + wait_ns, happening)));
    }

    fn obey(&mut self, application: &mut dyn Application, command: Command) {
        match command {
            Command::Open { connection, .. } => {
                let earlier = self.connected.insert(connection, false);
                assert_eq!(earlier, None, "connection {connection} is opened twice");
                for is_receiver in [false, true] {
                    self.halves
                        .insert((connection, is_receiver), Half::default());
                }
                self.at(self.network.rtt_ns, Happening::Connected(connection));
            }
            Command::Write {
                connection,
                from,
                bytes,
            } => {
                let key = (connection, is_receiver(from));
                let half = self.halves.get_mut(&key).expect("it is open");
                assert!(!half.is_closed && !half.is_endless, "{command:?}");
                if bytes == u64::MAX {
                    half.is_endless = true;
                } else {
                    half.written_bytes += bytes;
                }
                if self.connected[&connection] {
                    self.send(key, bytes);
                }
            }
            Command::Pause { connection, from } => {
                let key = (connection, is_receiver(from));
                let half = self.halves.get_mut(&key).expect("it is open");
                assert!(half.is_endless, "{command:?}");
                half.is_endless = false;
                let bytes = half.written_bytes;
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
                let key = (connection, is_receiver(from));
                let half = self.halves.get_mut(&key).expect("it is open");
                assert!(!half.is_closed, "{command:?}");
                half.is_closed = true;
                half.is_endless = false;
            }
            Command::Datagram { number, bytes, .. } => {
                self.enqueue(false, Segment::Datagram(number, self.now_ns, bytes));
            }
        }
    }

    fn send(&mut self, key: (u32, bool), bytes: u64) {
        if bytes == u64::MAX {
            self.send_one_more(key);
            return;
        }
        let mut left_bytes = bytes;
        while left_bytes > 0 {
            let segment_bytes = left_bytes.min(self.network.segment_bytes);
            left_bytes -= segment_bytes;
            self.enqueue(key.1, Segment::Stream(key.0, segment_bytes));
        }
    }

    /// The next segment of writing without end.
    fn send_one_more(&mut self, key: (u32, bool)) {
        let half = self.halves.get_mut(&key);
        if let Some(half) = half.filter(|half| half.is_endless && half.queued == 0) {
            half.written_bytes += self.network.segment_bytes;
            self.enqueue(key.1, Segment::Stream(key.0, self.network.segment_bytes));
        }
    }

    fn enqueue(&mut self, direction: bool, segment: Segment) {
        if let Segment::Stream(connection, _) = segment
            && let Some(half) = self.halves.get_mut(&(connection, direction))
        {
            half.queued += 1;
        }
        self.waiting[usize::from(direction)].push_back(segment);
        self.transmit(direction);
    }

    fn transmit(&mut self, direction: bool) {
        let place = usize::from(direction);
        if self.on_link[place].is_some() {
            return;
        }
        self.on_link[place] = self.waiting[place].pop_front();
        if let Some(Segment::Stream(_, bytes)) = self.on_link[place] {
            self.depart_after(direction, bytes);
        } else if let Some(Segment::Datagram(.., bytes)) = self.on_link[place] {
            self.depart_after(direction, bytes.into());
        }
    }

    fn depart_after(&mut self, direction: bool, bytes: u64) {
        let ns = (bytes * 8 * NS_PER_S).div_ceil(self.network.rate_bps);
        self.at(ns, Happening::Departed(direction));
    }

    fn depart(&mut self, direction: bool) {
        let half_ns = self.network.rtt_ns / 2;
        match self.on_link[usize::from(direction)].take() {
            Some(Segment::Stream(connection, bytes)) => {
                self.at(half_ns, Happening::Received(connection, direction, bytes));
                self.at(
                    2 * half_ns,
                    Happening::Acknowledged(connection, direction, bytes),
                );
                if let Some(half) = self.halves.get_mut(&(connection, direction)) {
                    half.queued -= 1;
                }
                self.send_one_more((connection, direction));
            }
            Some(Segment::Datagram(number, sent_ns, bytes)) if !(self.network.loses)(number) => {
                let wait_ns = half_ns + (self.network.jitter_ns)(number);
                self.at(wait_ns, Happening::Datagram(number, sent_ns, bytes));
            }
            _ => {}
        }
        self.transmit(direction);
    }

    fn happen(&mut self, application: &mut dyn Application, happening: Happening) {
        match happening {
            Happening::Connected(connection) => {
                self.connected.insert(connection, true);
                for is_receiver in [false, true] {
                    let half = &self.halves[&(connection, is_receiver)];
                    let bytes = if half.is_endless {
                        u64::MAX
                    } else {
                        half.written_bytes
                    };
                    self.send((connection, is_receiver), bytes);
                }
                self.notify(application, Event::Connected { connection });
            }
            Happening::Departed(direction) => self.depart(direction),
            Happening::Received(connection, is_receiver, bytes) => {
                let half = self
                    .halves
                    .get_mut(&(connection, is_receiver))
                    .expect("it is open");
                half.received_bytes += bytes;
                let (at, bytes) = (end(!is_receiver), half.received_bytes);
                self.notify(
                    application,
                    Event::Received {
                        connection,
                        at,
                        bytes,
                    },
                );
            }
            Happening::Acknowledged(connection, is_receiver, bytes) => {
                let half = self
                    .halves
                    .get_mut(&(connection, is_receiver))
                    .expect("it is open");
                half.acknowledged_bytes += bytes;
                let (from, bytes) = (end(is_receiver), half.acknowledged_bytes);
                self.notify(
                    application,
                    Event::Acknowledged {
                        connection,
                        from,
                        bytes,
                    },
                );
                let is_over = |half: &Half| half.written_bytes == half.acknowledged_bytes;
                let halves =
                    [false, true].map(|is_receiver| &self.halves[&(connection, is_receiver)]);
                let is_closed = halves
                    .iter()
                    .all(|half| half.is_closed || half.written_bytes == 0);
                if is_closed && halves.iter().all(|half| is_over(half)) {
                    self.notify(application, Event::Closed { connection });
                }
            }
            Happening::Datagram(number, sent_ns, bytes) => {
                self.notify(
                    application,
                    Event::Datagram {
                        number,
                        sent_ns,
                        bytes,
                    },
                );
            }
        }
    }
}
