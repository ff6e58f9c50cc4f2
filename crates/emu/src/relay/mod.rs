//! The relay: the path between the hosts, on the monotonic clock.
//!
//! Two threads, one for each direction. An arrival happens when it is read; every later event (the
//! link, a delay) happens at its due time, however late the loop comes to it. So lateness never
//! adds up, and the rate of the link is exact.

mod direction;
mod flow_table;
mod forward;
mod inlet;
mod lateness;
mod reverse;
mod rtt_probe;
mod sent_data;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use dumbbell_run::{Bottleneck, Histogram, QueueSamples, Scenario};

use crate::capture::Taps;
use crate::error::Error;
use crate::hosts::host::{Hosts, mtu_bytes};
use crate::machine::cpu::thread_cpu_ns;
use crate::machine::realtime::{Priority, make_realtime};
use crate::packet::frame::{Frame, Pool};
use crate::packet::super_packet::VNET_HEADER_BYTES;
use direction::{Direction, relay};
use flow_table::FlowTable;
use forward::{Forward, ForwardMeasurement};
use inlet::{Inlet, Side};
pub(crate) use lateness::Lateness;
use reverse::{Reverse, ReverseMeasurement};
use sent_data::SentQueue;

/// Buffers that a direction starts with at most; further ones are made when they are needed.
const MAX_FIRST_BUFFERS: u64 = 32_768;

/// What both directions need to know.
#[derive(Clone, Copy, Debug)]
struct Plan {
    epoch_ns: u64,
    end_ns: u64,
    sample_interval_ns: u64,
    /// Bytes of the largest packet of any group, its virtio-net header in front.
    buffer_bytes: usize,
    forward_buffers: usize,
    reverse_buffers: usize,
}

impl Plan {
    fn new(scenario: &Scenario, epoch_ns: u64, end_ns: u64) -> Self {
        let largest = scenario.groups.iter().map(mtu_bytes).max().unwrap_or(0);
        let longest_ns = scenario.longest_base_rtt_ns();
        let path_bytes = u128::from(scenario.bottleneck.highest_rate_bps(scenario.duration_ns))
            * u128::from(longest_ns)
            / 8_000_000_000;
        let path_pkts = u64::try_from(path_bytes / u128::from(largest.max(1)))
            .unwrap_or(u64::MAX)
            .min(MAX_FIRST_BUFFERS / 2);
        let queue_pkts = match scenario.bottleneck.queue {
            dumbbell_run::Queue::Bfifo { limit_bytes } => limit_bytes / u64::from(largest.max(1)),
            dumbbell_run::Queue::Pfifo { limit_pkts } => limit_pkts,
        }
        .min(MAX_FIRST_BUFFERS / 2);
        Self {
            epoch_ns,
            end_ns,
            sample_interval_ns: scenario.sample_interval_ns,
            buffer_bytes: VNET_HEADER_BYTES + largest as usize,
            forward_buffers: (path_pkts + queue_pkts) as usize + 64,
            reverse_buffers: path_pkts as usize + 64,
        }
    }
}

/// The relay's running threads. Dropping it stops them.
#[derive(Debug)]
pub(crate) struct Relay {
    stop: Arc<AtomicBool>,
    latest_rtt_us: Arc<Vec<AtomicU32>>,
    forward: Option<JoinHandle<Done<ForwardMeasurement>>>,
    reverse: Option<JoinHandle<Done<ReverseMeasurement>>>,
}

/// What a thread leaves.
#[derive(Debug)]
struct Done<M> {
    measurement: Result<M, Error>,
    foreign_pkts: u64,
    cpu_ns: u64,
    is_realtime: bool,
}

/// What the relay measured.
#[derive(Debug)]
pub(crate) struct RelayReport {
    /// With its counters and its queue at the end.
    pub(crate) bottleneck: Bottleneck<Frame>,
    /// One row per sampling interval.
    pub(crate) queue: QueueSamples,
    /// By flow.
    pub(crate) flows: Vec<FlowOnPath>,
    /// Of both directions.
    pub(crate) lateness: Lateness,
    /// CPU time of the threads, which includes what the hosts' TCP does in their writes.
    pub(crate) forward_cpu_ns: u64,
    pub(crate) reverse_cpu_ns: u64,
    /// Both threads had real-time priority.
    pub(crate) is_realtime: bool,
    /// What hosts sent beside TCP and UDP packets for one another; none of it crossed the path.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "tests see by it that hosts keep quiet")
    )]
    pub(crate) foreign_pkts: u64,
}

/// One flow as the path saw it. Packets are data packets.
#[derive(Clone, Debug)]
pub(crate) struct FlowOnPath {
    /// Retransmissions included.
    pub(crate) entered_pkts: u64,
    /// Those whose data had entered before.
    pub(crate) retransmitted_pkts: u64,
    /// Dropped by the bottleneck.
    pub(crate) dropped_pkts: u64,
    /// Left the bottleneck marked CE.
    pub(crate) marked_pkts: u64,
    /// Handed to the receiver.
    pub(crate) arrived_pkts: u64,
    /// Entered, neither dropped nor handed to the receiver.
    pub(crate) on_path_pkts: u64,
    /// Wire bytes of any packet that the bottleneck has put on the wire.
    pub(crate) forwarded_bytes: u64,
    pub(crate) rtt_us: Histogram,
    pub(crate) rtt_sum_us: u64,
    /// Extremes, exact; `u32::MAX` and 0 without a sample.
    pub(crate) rtt_min_us: u32,
    pub(crate) rtt_max_us: u32,
}

impl Relay {
    /// Starts both directions. Everything is relayed at once; what is measured starts at `epoch_ns`
    /// and ends at `end_ns` (`u64::MAX`: when the relay is stopped), exactly: after that packets
    /// are still relayed, so that the hosts do not see a dead link, but no longer counted. What is
    /// counted of flows is also told to `taps`.
    pub(crate) fn start(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        epoch_ns: u64,
        end_ns: u64,
        taps: Option<Taps>,
    ) -> Result<Self, Error> {
        let plan = Plan::new(scenario, epoch_ns, end_ns);
        let sent = Arc::new(SentQueue::default());
        let latest_rtt_us: Arc<Vec<AtomicU32>> = Arc::new(
            (0..scenario.flow_count())
                .map(|_| AtomicU32::new(0))
                .collect(),
        );
        let (forward_tap, reverse_tap) = taps.map_or((None, None), |taps| {
            (Some(taps.forward), Some(taps.reverse))
        });
        let forward = Forward::new(hosts, scenario, plan, &sent, forward_tap);
        let reverse = Reverse::new(hosts, scenario, plan, &sent, &latest_rtt_us, reverse_tap);
        let inlet = |side, buffers| {
            let pool = Pool::new(plan.buffer_bytes, buffers);
            Inlet::new(side, hosts, FlowTable::new(scenario), pool)
        };
        let mut started = Self {
            stop: Arc::new(AtomicBool::new(false)),
            latest_rtt_us,
            forward: None,
            reverse: None,
        };
        started.forward = Some(spawn(
            "relay-forward",
            forward,
            inlet(Side::Senders, plan.forward_buffers),
            Forward::into_measurement,
            &started.stop,
        )?);
        started.reverse = Some(spawn(
            "relay-reverse",
            reverse,
            inlet(Side::Receivers, plan.reverse_buffers),
            Reverse::into_measurement,
            &started.stop,
        )?);
        Ok(started)
    }

    /// Latest RTT sample of each flow, µs; 0 before the first.
    pub(crate) fn latest_rtt_us(&self) -> Arc<Vec<AtomicU32>> {
        Arc::clone(&self.latest_rtt_us)
    }

    /// Whether both directions still run; when one does not, [`Relay::stop`] says why.
    pub(crate) fn is_running(&self) -> bool {
        let runs = |finished: Option<bool>| finished == Some(false);
        runs(self.forward.as_ref().map(JoinHandle::is_finished))
            && runs(self.reverse.as_ref().map(JoinHandle::is_finished))
    }

    /// Stops both directions.
    pub(crate) fn stop(mut self) -> Result<RelayReport, Error> {
        self.stop.store(true, Ordering::Relaxed);
        let forward = join(self.forward.take().expect("it runs until it is stopped"));
        let reverse = join(self.reverse.take().expect("it runs until it is stopped"));
        RelayReport::new(forward, reverse)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Whoever drops it does not want to know how it went.
        let _ = self.forward.take().map(JoinHandle::join);
        let _ = self.reverse.take().map(JoinHandle::join);
    }
}

impl RelayReport {
    fn new(
        forward_done: Done<ForwardMeasurement>,
        reverse_done: Done<ReverseMeasurement>,
    ) -> Result<Self, Error> {
        let (forward, reverse) = (forward_done.measurement?, reverse_done.measurement?);
        let flows = forward
            .flows
            .iter()
            .zip(reverse.rtts)
            .zip(&forward.bottleneck.flow_dropped_pkts)
            .zip(&forward.bottleneck.flow_marked_pkts)
            .map(
                |(((counts, rtts), &dropped_pkts), &marked_pkts)| FlowOnPath {
                    entered_pkts: counts.entered_pkts,
                    retransmitted_pkts: counts.retransmitted_pkts,
                    dropped_pkts,
                    marked_pkts,
                    arrived_pkts: counts.arrived_pkts,
                    on_path_pkts: counts.entered_pkts - dropped_pkts - counts.arrived_pkts,
                    forwarded_bytes: counts.forwarded_bytes,
                    rtt_us: rtts.rtt_us,
                    rtt_sum_us: rtts.rtt_sum_us,
                    rtt_min_us: rtts.rtt_min_us,
                    rtt_max_us: rtts.rtt_max_us,
                },
            )
            .collect();
        let mut lateness = forward.lateness;
        lateness.add(&reverse.lateness);
        Ok(Self {
            bottleneck: forward.bottleneck,
            queue: forward.queue,
            flows,
            lateness,
            forward_cpu_ns: forward_done.cpu_ns,
            reverse_cpu_ns: reverse_done.cpu_ns,
            is_realtime: forward_done.is_realtime && reverse_done.is_realtime,
            foreign_pkts: forward_done.foreign_pkts + reverse_done.foreign_pkts,
        })
    }
}

fn spawn<D: Direction + Send + 'static, M: Send + 'static>(
    name: &str,
    mut direction: D,
    mut inlet: Inlet,
    measurement: impl FnOnce(D) -> M + Send + 'static,
    stop: &Arc<AtomicBool>,
) -> Result<JoinHandle<Done<M>>, Error> {
    let stop = Arc::clone(stop);
    let run = move || {
        let is_realtime = make_realtime(Priority::Relay);
        let relayed = relay(&mut direction, &mut inlet, &stop);
        Done {
            measurement: relayed.map(|()| measurement(direction)),
            foreign_pkts: inlet.foreign_pkts,
            cpu_ns: thread_cpu_ns(),
            is_realtime,
        }
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|source| Error::System {
            what: format!("cannot start thread {name}"),
            source,
        })
}

fn join<M>(thread: JoinHandle<Done<M>>) -> Done<M> {
    thread
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

#[cfg(test)]
mod tests;
