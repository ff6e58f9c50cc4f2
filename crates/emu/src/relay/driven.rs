//! A relay without threads, for guests: the caller says what time it is and what arrives.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use dumbbell_net::KernelQueue;
use dumbbell_scenario::{Scenario, Way};

use super::carrier::Carrier;
use super::changes::Inbox;
use super::flow_table::FlowTable;
use super::flows::{Flows, OfPrograms};
use super::inlet::Inlet;
use super::latest_rtt::LatestRtt;
use super::live::LivePath;
use super::outlet::Outlet;
use super::parts::{Part, whole};
use super::report::RelayReport;
use super::{Done, Plan, SentOfParts, buffer_bytes, buffers};
use crate::applications::PortTable;
use crate::capture::Tap;
use crate::error::Error;
use crate::hosts::host::Hosts;
use crate::packet::frame::Pool;
use crate::run_end::RunEnd;

/// The whole network in one part.
pub(crate) struct Driven {
    carrier: Carrier,
    part: Part,
    table: FlowTable,
    epoch_ns: u64,
    pub(crate) latest_rtts: Arc<Vec<LatestRtt>>,
    /// Payload of each flow of programs so far, bytes.
    pub(crate) received_bytes: Arc<Vec<AtomicU64>>,
}

impl Driven {
    /// The network between `hosts`; what is measured starts at `epoch_ns` and ends at `end`, and what is
    /// counted of flows is shown to `tap`. Links whose queue is the kernel's are given it;
    /// connections of applications are in `ports`.
    pub(crate) fn new(
        hosts: &Arc<Hosts>,
        scenario: &Scenario,
        epoch_ns: u64,
        end: &RunEnd,
        tap: Option<Tap>,
        queues: Vec<(usize, Arc<dyn KernelQueue>)>,
        ports: &Arc<PortTable>,
    ) -> Result<Self, Error> {
        let flows = 0..scenario.flow_count();
        let latest_rtts: Arc<Vec<LatestRtt>> =
            Arc::new(flows.map(|_| LatestRtt::default()).collect());
        let received_bytes: Arc<Vec<AtomicU64>> =
            Arc::new(latest_rtts.iter().map(|_| AtomicU64::new(0)).collect());
        let parts = [whole(scenario)];
        let sent = [Way::Back, Way::There].map(|acks| SentOfParts::new(scenario, &parts, acks));
        let [part] = parts;
        let table = FlowTable::new(scenario, ports);
        let connections = table.connections();
        let flows = Flows::new(
            connections,
            table.numbering().first(),
            (sent.each_ref()).map(|sent| sent.samples(0, connections)),
            &latest_rtts,
            OfPrograms::new(scenario, &received_bytes),
        );
        let pool = Pool::new(buffer_bytes(scenario), buffers(scenario, &part));
        let inlet = Inlet::new(part.routes.clone(), hosts, table.clone(), pool);
        let plan = Plan {
            epoch_ns,
            sample_interval_ns: scenario.sample_interval_ns,
        };
        let inbox = Inbox::new().map_err(Error::waiting)?;
        let live = Arc::new(LivePath::new(scenario.links.len(), scenario.flow_count()));
        let mut carrier = Carrier::new(
            scenario,
            (plan, end.clone()),
            (inlet, Outlet::new(hosts, scenario, epoch_ns, None)),
            part.links.clone(),
            flows,
            tap,
            (inbox, live),
        );
        carrier.give_queues(queues);
        Ok(Self {
            carrier,
            part,
            table,
            epoch_ns,
            latest_rtts,
            received_bytes,
        })
    }

    /// What the host of this group at the beginning of this way has sent arrives now.
    pub(crate) fn arrive(&mut self, group: u16, way: Way) -> Result<(), Error> {
        let routes = &self.part.routes;
        let entrance = (routes.iter()).position(|it| it.group == group && it.way == way);
        self.carrier
            .arrive(entrance.expect("every route is in the part"))
    }

    /// Everything happens that is due.
    pub(crate) fn advance(&mut self, now_ns: u64) -> Result<(), Error> {
        self.carrier.advance(now_ns)
    }

    /// When it must be advanced next; `u64::MAX`: not before something arrives.
    pub(crate) fn due_ns(&self) -> u64 {
        self.carrier.due_ns()
    }

    /// The kernel that has a link's queue wants to be asked for a packet.
    pub(crate) fn wake(&mut self, link: usize, now_ns: u64) {
        self.carrier.wake(link, now_ns);
    }

    /// What was measured.
    pub(crate) fn finish(self) -> Result<RelayReport, Error> {
        let done = Done {
            foreign_pkts: self.carrier.foreign_pkts(),
            measurement: Ok(self.carrier.into_measurement()),
            cpu_ns: 0,
            is_realtime: true,
        };
        RelayReport::new(std::iter::once(done), self.table.numbering(), self.epoch_ns)
    }
}
