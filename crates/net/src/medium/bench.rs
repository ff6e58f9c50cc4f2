//! A medium alone, with packets that wait for it: for tests.

use std::collections::VecDeque;

use super::{Account, Carry, Channel, Medium, MediumConfig, MediumSite, Port};
use crate::Head;

/// A medium and what waits.
pub(super) struct Bench {
    medium: Medium,
    channel: Channel,
    queue: Waiting,
    /// What is to come: when, ns, and its wire bytes.
    to_come: VecDeque<(u64, u32)>,
    now_ns: u64,
}

#[derive(Default)]
struct Waiting {
    packets: VecDeque<Head>,
    in_hand: u64,
    last_done_ns: u64,
    out_ns: Vec<u64>,
    lost: u64,
}

impl Port for Waiting {
    fn backlog_pkts(&self) -> u64 {
        self.packets.len() as u64
    }

    fn backlog_bytes(&self) -> u64 {
        let bytes = self.packets.iter().map(|head| u64::from(head.wire_bytes));
        bytes.sum()
    }

    fn take(&mut self) -> Option<u32> {
        self.in_hand += u64::from(!self.packets.is_empty());
        self.packets.pop_front().map(|head| head.wire_bytes)
    }

    fn deliver(&mut self, done_ns: u64, late_ns: u64) {
        assert!(self.in_hand > 0, "it has nothing in hand");
        assert!(done_ns >= self.last_done_ns, "times do not go back");
        self.in_hand -= 1;
        self.last_done_ns = done_ns;
        self.out_ns.push(done_ns + late_ns);
    }

    fn lose(&mut self, _: u64) {
        assert!(self.in_hand > 0, "it has nothing in hand");
        self.in_hand -= 1;
        self.lost += 1;
    }
}

impl Bench {
    pub(super) fn of(config: &MediumConfig, link_rate_bps: u64) -> Self {
        Self::with_delay(config, link_rate_bps, 0)
    }

    pub(super) fn with_delay(config: &MediumConfig, link_rate_bps: u64, delay_ns: u64) -> Self {
        assert_eq!(config.check(), Ok(()));
        let site = MediumSite {
            seed: 1,
            start_ns: 0,
            link_rate_bps,
            delay_ns,
        };
        Self {
            medium: config.build(&site),
            channel: config
                .channel()
                .map_or_else(Channel::default, |(_, channel)| channel),
            queue: Waiting::default(),
            to_come: VecDeque::new(),
            now_ns: 0,
        }
    }

    /// `pkts` packets come at `at_ns`, behind what came before.
    pub(super) fn fill(&mut self, at_ns: u64, pkts: u64, wire_bytes: u32) {
        self.to_come.extend((0..pkts).map(|_| (at_ns, wire_bytes)));
    }

    /// When each packet comes out that does at `until_ns` or before, ns, since the last call.
    pub(super) fn run(&mut self, until_ns: u64) -> Vec<u64> {
        loop {
            let head = self.queue.packets.front();
            let waiting_ns = head.map(|head| self.medium.ready_ns(head).max(self.now_ns));
            let event_ns = self
                .medium
                .next_event_ns(self.now_ns, waiting_ns, &mut self.channel);
            let comes_ns = self.to_come.front().map_or(u64::MAX, |&(at_ns, _)| at_ns);
            let next_ns = event_ns.min(comes_ns);
            assert!(next_ns >= self.now_ns, "times do not go back");
            if next_ns == u64::MAX || next_ns > until_ns {
                break;
            }
            self.now_ns = next_ns;
            // What comes at the time of an event comes before it.
            if comes_ns <= event_ns {
                let comes = self.to_come.pop_front();
                self.queue
                    .packets
                    .extend(comes.map(|(arrived_ns, wire_bytes)| Head {
                        arrived_ns,
                        wire_bytes,
                    }));
            } else {
                self.medium
                    .happen(next_ns, &mut self.queue, &mut self.channel);
            }
        }
        std::mem::take(&mut self.queue.out_ns)
    }

    /// Packets that wait or are in hand.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.packets.len() as u64 + self.queue.in_hand
    }

    pub(super) fn lost(&self) -> u64 {
        self.queue.lost
    }

    pub(super) fn account(&mut self, now_ns: u64) -> Account {
        self.medium.account(now_ns).expect("it keeps accounts")
    }
}
