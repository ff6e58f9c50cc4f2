//! One flow of the run: its sender, its receiver and what was measured of it.

use dumbbell_cc::{Flow, Instance};
use dumbbell_net::Histogram;
use dumbbell_scenario::Group;
use dumbbell_tcp::{EcnMode, Half, Receiver, ReceiverConfig, Sender, SenderConfig};

/// A sender, a receiver and the flow's measurements.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) group: u32,
    pub(crate) start_ns: u64,
    pub(crate) stop_ns: u64,
    pub(crate) started: bool,
    pub(crate) stopped: bool,
    /// When the last byte of a finite flow was acknowledged, ns.
    pub(crate) finished_ns: Option<u64>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) rtt_us: Histogram,
    pub(crate) rtt_sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) rtt_min_us: u32,
    pub(crate) rtt_max_us: u32,
    /// `received_bytes` when the time series was last sampled.
    pub(crate) sampled_bytes: u64,
    /// Both directions are closed and it has had its last row.
    pub(crate) has_ended: bool,
}

impl Endpoints {
    /// Flow number `flow` of the run, before its start.
    pub(crate) fn new(
        flow: u32,
        group_index: u32,
        group: &Group,
        start_ns: u64,
        socket: Flow,
    ) -> Self {
        let packets = |bytes: u64| {
            u32::try_from(bytes / u64::from(group.mss_bytes))
                .unwrap_or(u32::MAX >> 2)
                .clamp(1, u32::MAX >> 2)
        };
        let ecn = ecn_mode(group, socket.instance());
        let sender = SenderConfig {
            flow,
            mss_bytes: group.mss_bytes,
            half: Half::Only,
            size_bytes: group.size_bytes,
            closes: true,
            sndbuf_pkts: packets(group.sndbuf_bytes),
            tso: group.tso,
            ecn,
            nagle: true,
            slow_start_after_idle: true,
        };
        let receiver = ReceiverConfig {
            flow,
            half: Half::Only,
            mss_bytes: group.mss_bytes,
            rwnd_bytes: u32::try_from(group.rwnd_bytes)
                .unwrap_or(u32::MAX)
                .max(group.mss_bytes),
            delayed_ack: group.delayed_ack,
            rtt_ns: group.base_rtt_at(start_ns),
            ecn,
        };
        Self {
            group: group_index,
            start_ns,
            stop_ns: group.stop_ns.unwrap_or(u64::MAX),
            started: false,
            stopped: false,
            finished_ns: None,
            sender: Sender::new(sender, socket),
            receiver: Receiver::new(receiver),
            rtt_us: Histogram::new(),
            rtt_sum_us: 0,
            rtt_min_us: u32::MAX,
            rtt_max_us: 0,
            sampled_bytes: 0,
            has_ended: false,
        }
    }

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
        self.rtt_us.record(u64::from(rtt_us));
    }
}

/// A congestion control that needs ECN has it at both ends, with feedback of every change of the mark.
fn ecn_mode(group: &Group, instance: &Instance) -> EcnMode {
    if instance.needs_ecn() {
        EcnMode::Dctcp
    } else if group.ecn {
        EcnMode::Classic
    } else {
        EcnMode::Off
    }
}
