//! noq's congestion controllers, whose calls are noted on their way.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::super::proto::RttEstimator;
use super::super::proto::congestion::{self, ControllerFactory, ControllerMetrics};
use super::remote::Remote;
use crate::gauges::Gauges;
use crate::mailbox::Mailbox;
use crate::spec::Controller;

pub(in super::super) fn factory(
    controller: Controller,
    gauges: &Arc<Gauges>,
    mailbox: Option<Arc<Mailbox>>,
) -> Arc<dyn ControllerFactory + Send + Sync> {
    Arc::new(Factory {
        controller,
        gauges: Arc::clone(gauges),
        mailbox,
    })
}

struct Factory {
    controller: Controller,
    gauges: Arc<Gauges>,
    mailbox: Option<Arc<Mailbox>>,
}

impl ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn congestion::Controller> {
        self.gauges.on_mtu(mtu);
        let inner = match (self.controller, &self.mailbox) {
            (Controller::Ours, Some(mailbox)) => {
                mailbox.set_mtu(mtu);
                Box::new(Remote::new(&self.gauges, mailbox))
            }
            (Controller::Reno, _) => Arc::new(congestion::NewRenoConfig::default()).build(now, mtu),
            (Controller::Bbr3, _) => Arc::new(congestion::Bbr3Config::default()).build(now, mtu),
            _ => Arc::new(congestion::CubicConfig::default()).build(now, mtu),
        };
        Box::new(Watched {
            inner,
            gauges: Arc::clone(&self.gauges),
        })
    }
}

/// A controller of the stack's whose calls are noted on their way.
struct Watched {
    inner: Box<dyn congestion::Controller>,
    gauges: Arc<Gauges>,
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl congestion::Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, largest_pn: u64) {
        self.gauges.on_sent(bytes);
        self.inner.on_sent(now, bytes, largest_pn);
    }

    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        self.inner.on_packet_sent(now, bytes, pn);
    }

    super::super::if_cwnd_limited! {
        fn on_cwnd_limited(&mut self) {
            self.inner.on_cwnd_limited();
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.gauges.on_ack(now, sent);
        self.inner.on_ack(now, sent, bytes, pn, app_limited, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.gauges.on_end_acks(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        lost_bytes: u64,
        largest_lost_pn: u64,
    ) {
        self.gauges.on_congestion_event(now, sent, lost_bytes);
        self.inner.on_congestion_event(
            now,
            sent,
            is_persistent_congestion,
            is_ecn,
            lost_bytes,
            largest_lost_pn,
        );
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.inner.on_packet_lost(lost_bytes, pn, now);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.inner.on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.gauges.on_mtu(new_mtu);
        self.inner.on_mtu_update(new_mtu);
    }

    fn on_ack_frequency_update(
        &mut self,
        ack_eliciting_threshold: u64,
        requested_max_ack_delay: Duration,
    ) {
        self.inner.on_ack_frequency_update(ack_eliciting_threshold, requested_max_ack_delay);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Self {
            inner: self.inner.clone_box(),
            gauges: Arc::clone(&self.gauges),
        })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
