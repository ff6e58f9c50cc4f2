//! Time series of the private state of the congestion control algorithms that we loaded.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};

use dumbbell_results::StateSamples;
use dumbbell_scenario::Scenario;

use crate::bpf::congestion_controls::KernelCc;
use crate::bpf::{SocketTags, StateReader};
use crate::error::Error;
use crate::sampling::sampler::StateSource;

/// What BPF reports about the flows, shared between the sampler's thread and the run's.
pub(crate) struct States {
    shared: Arc<Mutex<Columns>>,
    reader: Option<StateReader>,
    ccs: Arc<Vec<KernelCc>>,
    /// Group of each flow.
    group_of: Vec<usize>,
    /// Whether each group has an application.
    has_application: Vec<bool>,
}

/// The values read.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Samples of each group whose algorithm we loaded.
    pub(crate) samples: Vec<Option<StateSamples>>,
    /// Packets of each flow declared lost so far.
    pub(crate) lost_pkts: Vec<Option<u32>>,
}

struct Source {
    shared: Arc<Mutex<Columns>>,
    reader: StateReader,
    ccs: Arc<Vec<KernelCc>>,
    group_of: Vec<usize>,
    has_application: Vec<bool>,
}

impl States {
    /// Prepares to read the state of these sockets, which are in flow order. For algorithms that we loaded it is
    /// their series, for all it adds what TCP_INFO does not report. Where the kernel lets no BPF program read it, a run is
    /// without.
    pub(crate) fn new<'a>(
        scenario: &Scenario,
        ccs: &Arc<Vec<KernelCc>>,
        sockets: impl Iterator<Item = (u32, BorrowedFd<'a>)>,
    ) -> Result<Self, Error> {
        let loaded: Vec<_> = ccs.iter().filter_map(KernelCc::loaded).collect();
        let flows = scenario.flow_count();
        let reader = match StateReader::new(loaded.iter().copied(), flows) {
            Err(Error::NotPermitted(_)) => None,
            Err(_) if loaded.is_empty() => None,
            reader => Some(reader?),
        };
        if let Some(reader) = &reader {
            for (flow, socket) in sockets {
                reader.tags().tag(socket, flow)?;
            }
        }
        let instants = scenario
            .duration_ns
            .checked_div(scenario.sample_interval_ns)
            .unwrap_or(0) as usize;
        let columns_of = |(cc, group): (&KernelCc, &dumbbell_scenario::Group)| {
            // The sockets of programs are not ours.
            let loaded = cc.loaded().filter(|_| group.program.is_none())?;
            reader.as_ref()?;
            let rows = instants * group.flows as usize;
            Some(StateSamples::with_capacity(
                loaded.name(),
                loaded.series(),
                rows,
            ))
        };
        let flow_counts = scenario.groups.iter().map(|group| group.flows as usize);
        Ok(Self {
            shared: Arc::new(Mutex::new(Columns {
                samples: ccs.iter().zip(&scenario.groups).map(columns_of).collect(),
                lost_pkts: vec![None; flows],
            })),
            reader,
            ccs: Arc::clone(ccs),
            group_of: flow_counts
                .enumerate()
                .flat_map(|(group, flows)| std::iter::repeat_n(group, flows))
                .collect(),
            has_application: (scenario.groups.iter())
                .map(|group| !group.traffic.is_bulk())
                .collect(),
        })
    }

    /// Where further sockets are tagged with their flows; before [`States::source`].
    pub(crate) fn tags(&self) -> Option<SocketTags> {
        self.reader.as_ref().map(StateReader::tags)
    }

    /// For the sampler; once.
    pub(crate) fn source(&mut self) -> Option<Box<dyn StateSource>> {
        let reader = self.reader.take()?;
        Some(Box::new(Source {
            shared: Arc::clone(&self.shared),
            reader,
            ccs: Arc::clone(&self.ccs),
            group_of: self.group_of.clone(),
            has_application: self.has_application.clone(),
        }))
    }

    /// The values read, when the sampler is done.
    pub(crate) fn take(&self) -> Columns {
        let mut columns = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut columns)
    }
}

impl StateSource for Source {
    fn sample(&mut self, active: &[u32], lost_pkts: &mut [u32]) -> Result<(), Error> {
        self.reader.read()?;
        // Nothing else holds it during the run.
        let mut columns = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        for (&flow, lost_pkts) in active.iter().zip(lost_pkts) {
            let flow = flow as usize;
            let state = self.reader.state(flow);
            // Of a user it is the state of one of its connections.
            if let Some(state) = state.filter(|_| !self.has_application[self.group_of[flow]]) {
                *lost_pkts = state.lost_pkts;
                columns.lost_pkts[flow] = Some(state.lost_pkts);
            }
            let group = self.group_of[flow];
            let Some(samples) = &mut columns.samples[group] else {
                continue;
            };
            let Some(loaded) = self.ccs[group].loaded() else {
                continue;
            };
            match state {
                Some(state) => {
                    loaded.read_series(state, self.reader.storage(flow), |series, raw| {
                        samples.columns[series].push(raw);
                    })
                }
                // For a socket that was not found, so that rows match those of the flow table.
                None => samples.columns.iter_mut().for_each(|column| column.push(0)),
            }
        }
        Ok(())
    }
}
