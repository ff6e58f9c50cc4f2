//! One flow of the run: its sender, its receiver and what was measured of it.

use dumbbell_tcp::{Receiver, Sender};
use hdrhistogram::Histogram;

/// A sender, a receiver and the flow's measurements.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) group: u32,
    pub(crate) base_rtt_ns: u64,
    pub(crate) start_ns: u64,
    pub(crate) stop_ns: u64,
    /// Index of the delay lines of this flow's base RTT.
    pub(crate) path_class: usize,
    pub(crate) started: bool,
    pub(crate) stopped: bool,
    /// When the last byte of a finite flow was acknowledged, ns.
    pub(crate) finished_ns: Option<u64>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) rtt_us: Histogram<u32>,
    pub(crate) rtt_sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) rtt_min_us: u32,
    pub(crate) rtt_max_us: u32,
    /// Wire bytes that crossed the bottleneck.
    pub(crate) forwarded_bytes: u64,
    /// `received_bytes` when the time series was last sampled.
    pub(crate) sampled_bytes: u64,
}

impl Endpoints {
    /// When the sender's side wants to be woken, ns.
    #[inline]
    pub(crate) fn next_sender_ns(&self) -> u64 {
        if !self.started {
            return self.start_ns;
        }
        let stop_ns = if self.stopped { u64::MAX } else { self.stop_ns };
        self.sender.next_timer_ns().min(stop_ns)
    }

    /// Wakes the sender's side: start, stop or a timer.
    pub(crate) fn wake_sender(&mut self, now_ns: u64) {
        if !self.started {
            if now_ns >= self.start_ns {
                self.started = true;
                self.sender.start(now_ns);
            }
            return;
        }
        if !self.stopped && now_ns >= self.stop_ns {
            self.stopped = true;
            self.sender.stop();
        }
        if now_ns >= self.sender.next_timer_ns() {
            self.sender.on_timer(now_ns);
        }
    }

    /// Notes an RTT sample.
    #[inline]
    pub(crate) fn note_rtt(&mut self, rtt_us: u32) {
        self.rtt_sum_us += u64::from(rtt_us);
        self.rtt_min_us = self.rtt_min_us.min(rtt_us);
        self.rtt_max_us = self.rtt_max_us.max(rtt_us);
        self.rtt_us.saturating_record(u64::from(rtt_us));
    }
}
