//! What a run is prepared with: hosts whose idle path has been measured, before anything runs.

use std::sync::{Arc, Mutex};

use dumbbell_scenario::{Control, Scenario};

use crate::between::Between;
use crate::bpf::congestion_controls::{KERNELS_DEFAULT, KernelCc};
use crate::calibration::{Calibration, calibrate};
use crate::check::check;
use crate::error::Error;
use crate::gateway::Gateway;
use crate::hosts::forwarding::NoForwarding;
use crate::hosts::host::Hosts;
use crate::hosts::interface::Interface;
use crate::interface_capture::InterfaceCapture;
use crate::machine::clock::monotonic_ns;
use crate::machine::file_limit::{raise_file_limit, raise_file_limit_to_the_hard_one};
use crate::programs::{Programs, Spawner};
use crate::receive_window::with_reachable_windows;
use crate::relay::{Rebinding, Relay};

/// What this engine refuses, and queues of a kernel: only a guest's can be asked for a packet.
fn check_queues(scenario: &Scenario) -> Result<(), Error> {
    check(scenario)?;
    let checked = scenario.check_queues_are_ours();
    checked.map_err(|refusal| Error::Refused(refusal.to_string()))
}

/// Files open in a flow: the sender's and the receiver's socket.
const FILES_PER_FLOW: u64 = 2;
/// In a group: two namespaces, two devices, listening and calibrating sockets; sockets and pipes of programs.
const FILES_PER_GROUP: u64 = 24;

/// Hosts whose idle path has been measured, before anything runs.
pub(crate) struct Prepared {
    pub(crate) scenario: Arc<Scenario>,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) ccs: Arc<Vec<KernelCc>>,
    pub(crate) calibration: Calibration,
    pub(crate) programs: Programs,
    pub(crate) outside: Option<Outside>,
}

/// What is of interfaces of this machine, where the first group's hosts are behind them.
pub(crate) struct Outside {
    pub(crate) nat: Option<Arc<Mutex<Rebinding>>>,
    pub(crate) captures: Vec<InterfaceCapture>,
    _no_forwarding: NoForwarding,
}

impl Prepared {
    /// Makes the hosts of `scenario` and measures the idle path. Only with a `spawner`, which is forked before all
    /// this, are there programs. With a `gateway` the first group's server passes on what is not for it.
    pub(crate) fn new(
        scenario: &Scenario,
        control: &Control,
        spawner: Option<Spawner>,
        gateway: Option<&Gateway>,
    ) -> Result<Self, Error> {
        check_queues(scenario)?;
        let scenario = Arc::new(with_reachable_windows(
            scenario.with_drawn_rtts().into_owned(),
        ));
        raise_file_limit(
            FILES_PER_FLOW * scenario.flow_count() as u64
                + FILES_PER_GROUP * scenario.groups.len() as u64,
        )?;
        if scenario.groups.iter().any(|group| !group.traffic.is_bulk()) {
            raise_file_limit_to_the_hard_one();
        }
        let ccs = Arc::new(KernelCc::of_groups(&scenario)?);
        let mut hosts = Hosts::new(&scenario)?;
        if let Some(server) = hosts.senders.first_mut() {
            server.is_gateway = gateway.is_some();
        }
        Self::with_hosts(scenario, ccs, hosts, control, (spawner, gateway))
    }

    /// Like [`Prepared::new`], with the first group's hosts behind interfaces of this machine, whose path is not measured.
    pub(crate) fn between(
        scenario: &Scenario,
        control: &Control,
        between: &Between,
    ) -> Result<Self, Error> {
        let names = [between.client.as_str(), between.server.as_str()];
        let [client, server] = Interface::pair(names)?;
        let mut scenario = scenario.clone();
        let program = scenario
            .groups
            .first_mut()
            .and_then(|group| group.program.as_mut());
        let Some(program) = program else {
            return Err(Error::Refused(
                "the first group is of our own flows; machines behind interfaces need a group with a `client`".to_owned(),
            ));
        };
        program.mtu_bytes = client
            .mtu_bytes
            .max(server.mtu_bytes)
            .max(program.mtu_bytes);
        check_queues(&scenario)?;
        let scenario = Arc::new(with_reachable_windows(
            scenario.with_drawn_rtts().into_owned(),
        ));
        let nat = between.rebind.map(|when| {
            let nat = Rebinding::new(when, scenario.seed, client.own_addresses());
            Arc::new(Mutex::new(nat))
        });
        let outside = Outside {
            nat,
            _no_forwarding: NoForwarding::from(names)?,
            captures: match &between.captures {
                Some(paths) => (names.iter().zip(paths))
                    .map(|(name, path)| InterfaceCapture::start(name, path))
                    .collect::<Result<_, _>>()?,
                None => Vec::new(),
            },
        };
        let ccs = Arc::new(KernelCc::of_groups(&scenario)?);
        let hosts = Hosts::between(&scenario, server, client)?;
        Ok(Self {
            outside: Some(outside),
            ..Self::with_hosts(scenario, ccs, hosts, control, (None, None))?
        })
    }

    fn with_hosts(
        scenario: Arc<Scenario>,
        ccs: Arc<Vec<KernelCc>>,
        mut hosts: Hosts,
        control: &Control,
        (spawner, gateway): (Option<Spawner>, Option<&Gateway>),
    ) -> Result<Self, Error> {
        for (number, (group, cc)) in scenario.groups.iter().zip(ccs.iter()).enumerate() {
            if cc.sends_ect1() {
                hosts.identify_as_l4s(number)?;
            }
            if group.program.is_some() && group.cc.name != KERNELS_DEFAULT {
                hosts.set_congestion_control(number, group, cc.kernel_name())?;
            }
        }
        let hosts = Arc::new(hosts);
        let calibration = match hosts.are_ours() {
            true => calibrate_idle(&hosts, &scenario, control)?,
            false => Calibration::not_made(&scenario),
        };
        Ok(Self {
            outside: None,
            programs: Programs::new(spawner, &hosts, gateway),
            scenario,
            hosts,
            ccs,
            calibration,
        })
    }

    /// Starts the servers that the scenario names, and waits until they are ready.
    pub(crate) fn start_servers(&mut self, control: &Control) -> Result<(), Error> {
        let scenario = Arc::clone(&self.scenario);
        self.programs.start_servers(&scenario, control)
    }
}

/// Calibrates with a relay of its own, so that nothing of it remains in the run's. The path is as
/// at the start of the run, however long that takes.
fn calibrate_idle(
    hosts: &Arc<Hosts>,
    scenario: &Scenario,
    control: &Control,
) -> Result<Calibration, Error> {
    let mut scenario = scenario.clone();
    for link in &mut scenario.links {
        link.rate_steps.clear();
        // What a medium and impairments do to an idle path says nothing of the relay, and what is lost at
        // the start of a run would leave nothing to measure.
        link.medium = None;
        link.impairments.clear();
        link.random_loss_ppb = 0;
    }
    for group in &mut scenario.groups {
        group.rtt_steps.clear();
    }
    let relay = Relay::start(hosts, &scenario, monotonic_ns(), u64::MAX, Vec::new())?;
    let calibration = calibrate(hosts, &scenario, control);
    // If the relay failed, that is why calibration did.
    relay.stop()?;
    calibration
}
