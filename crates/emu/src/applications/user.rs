//! A flow that has an application.

use std::collections::BTreeMap;

use dumbbell_app::Application;
use dumbbell_scenario::{Group, Scenario};

use super::books::{ApplicationReport, Books, UserReport};
use super::datagrams::DatagramSource;

/// A user. Times count from the start of the run.
pub(crate) struct User {
    pub(crate) flow: u32,
    pub(crate) group: usize,
    start_ns: u64,
    stop_ns: u64,
    pub(crate) has_started: bool,
    pub(crate) has_stopped: bool,
    pub(crate) application: Box<dyn Application + Send>,
    /// Slots of its open connections, by the application's numbers.
    pub(crate) open: BTreeMap<u32, usize>,
    pub(crate) opened: u64,
    /// Once it sends any.
    pub(crate) datagrams: Option<DatagramSource>,
    pub(crate) books: Books,
    pub(crate) established_ns: Option<u64>,
    /// When the last of its connections closed.
    pub(crate) last_close_ns: u64,
    /// The kernel's name of the algorithm of its connections, read back; before the first one, that of its group.
    pub(crate) kernel_cc: String,
    has_requests: bool,
}

impl User {
    /// The user that is `flow` of a group.
    pub(crate) fn new(
        scenario: &Scenario,
        flow: u32,
        group_index: usize,
        group: &Group,
        kernel_cc: &str,
    ) -> Self {
        Self {
            flow,
            group: group_index,
            start_ns: group.start_of(scenario.seed, flow),
            stop_ns: group.stop_ns.unwrap_or(u64::MAX),
            has_started: false,
            has_stopped: false,
            application: group.application(scenario.seed, flow),
            open: BTreeMap::new(),
            opened: 0,
            datagrams: None,
            books: Books::default(),
            established_ns: None,
            last_close_ns: 0,
            kernel_cc: kernel_cc.to_owned(),
            has_requests: group.traffic.facts().has_requests,
        }
    }

    /// When it wants to be woken: its start, its stop or its application's timer.
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

    /// Whether it is to stop at `now_ns`.
    pub(crate) fn is_to_stop(&self, now_ns: u64) -> bool {
        !self.has_stopped && self.stop_ns <= now_ns
    }

    /// At the end of the run, which is at `end_ns`; `books` are those of all its connections.
    pub(crate) fn report(&self, end_ns: u64, books: Books) -> UserReport {
        let mut unfinished = Vec::new();
        self.application.unfinished(&mut unfinished);
        let has_finished = self.has_started
            && self.open.is_empty()
            && unfinished.is_empty()
            && self.application.next_timer_ns() == u64::MAX;
        let finished_ns = match self.opened {
            0 => end_ns,
            _ => self.last_close_ns,
        };
        UserReport {
            flow: self.flow,
            group: self.group,
            start_ns: self.start_ns,
            established_ns: self.established_ns,
            finished_ns: has_finished.then_some(finished_ns),
            kernel_cc: self.kernel_cc.clone(),
            application: ApplicationReport {
                connections: self.opened,
                refused_datagrams: books.refused_datagrams,
                requests: self.has_requests.then_some(books.requests),
                measurements: self.application.measurements(end_ns),
            },
            books,
        }
    }
}
