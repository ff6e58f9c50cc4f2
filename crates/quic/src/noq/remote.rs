//! The controller behind which an algorithm of ours runs.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use super::super::proto::RttEstimator;
use super::super::proto::congestion::{self, ControllerMetrics};
use crate::gauges::Gauges;
use crate::mailbox::{Mailbox, Report};

/// An algorithm of ours, by mail: what happens goes to its [`Datapath`](crate::datapath::Datapath), which sets window and
/// pacing rate when the stack has dealt with a packet.
#[derive(Debug)]
pub(super) struct Remote {
    gauges: Arc<Gauges>,
    mailbox: Arc<Mailbox>,
}

impl Remote {
    pub(super) fn new(gauges: &Arc<Gauges>, mailbox: &Arc<Mailbox>) -> Self {
        Self {
            gauges: Arc::clone(gauges),
            mailbox: Arc::clone(mailbox),
        }
    }
}

impl congestion::Controller for Remote {
    fn on_packet_sent(&mut self, _now: Instant, bytes: u16, pn: u64) {
        self.mailbox.put(Report::Sent { pn, bytes });
    }

    super::super::if_cwnd_limited! {
        fn on_cwnd_limited(&mut self) {
            self.mailbox.put(Report::CwndLimited);
        }
    }

    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        let sent_ns = self.gauges.ns(sent);
        self.mailbox.put(Report::Acked { pn, bytes, sent_ns });
    }

    fn on_end_acks(
        &mut self,
        _now: Instant,
        _in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.mailbox.put(Report::EndAcks { app_limited });
    }

    fn on_congestion_event(
        &mut self,
        _now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.mailbox.put(Report::Congestion {
            sent_ns: self.gauges.ns(sent),
            is_persistent: is_persistent_congestion,
            is_ecn,
        });
    }

    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, _now: Instant) {
        self.mailbox.put(Report::Lost { pn });
    }

    fn on_spurious_congestion_event(&mut self) {
        self.mailbox.put(Report::Spurious);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mailbox.set_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.mailbox.window_bytes()
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.mailbox.ssthresh_bytes();
        metrics.pacing_rate = self.mailbox.pacing_rate();
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Self::new(&self.gauges, &self.mailbox))
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
