//! The congestion controls of a run: the running kernel's own, and ours loaded into it.

use dumbbell_cc::{Declared, Request};
use dumbbell_results::LoadedCc;
use dumbbell_scenario::{GroupEcn, Scenario};

use crate::bpf::Loaded;
use crate::error::Error;
use crate::machine::kernel;

/// Names of the running kernel's own congestion controls begin with this.
pub(crate) const KERNELS_OWN: &str = "linux/";

/// Not the name of one, but that which sockets have unless they choose another.
pub(crate) const KERNELS_DEFAULT: &str = "linux/default";

/// The one of them that has the flag `TCP_CONG_NEEDS_ECN`, which the kernel does not report.
const KERNELS_NEEDING_ECN: &str = "dctcp";

/// The congestion control of a group.
#[derive(Debug)]
pub(crate) enum KernelCc {
    /// The running kernel's own, by its name there.
    Own(String),
    /// Ours, registered as long as this exists.
    Loaded(Loaded),
    /// Ours in a guest, whose kernel calls it: by its name there.
    Hosted(String, Box<HostedCc>),
}

/// One of ours in a guest.
#[derive(Debug)]
pub(crate) struct HostedCc {
    /// What is recorded of it.
    pub(crate) recorded: LoadedCc,
    pub(crate) needs_accecn: bool,
    pub(crate) sends_ect1: bool,
}

impl KernelCc {
    /// Finds or loads the congestion control of every group.
    pub(crate) fn of_groups(scenario: &Scenario) -> Result<Vec<Self>, Error> {
        let of_group =
            |group: &dumbbell_scenario::Group| match group.cc.name.strip_prefix(KERNELS_OWN) {
                _ if group.cc.name == KERNELS_DEFAULT => {
                    Ok(Self::Own(kernel::default_congestion_control()?))
                }
                Some(name) => Self::own(name),
                None => {
                    let request = Request {
                        name: group.cc.name.clone(),
                        params: group.cc.params.clone(),
                    };
                    Ok(Self::Loaded(if group.host.ecn == GroupEcn::AccEcn {
                        Loaded::load_with_accecn(&request)?
                    } else {
                        Loaded::load(&request)?
                    }))
                }
            };
        scenario.groups.iter().map(of_group).collect()
    }

    fn own(name: &str) -> Result<Self, Error> {
        let known = kernel::congestion_controls();
        if known.iter().any(|candidate| candidate == name) {
            return Ok(Self::Own(name.to_owned()));
        }
        Err(Error::Refused(format!(
            "this kernel has no congestion control `{name}`, it has {}; `modprobe tcp_{name}` may add it",
            known.join(", ")
        )))
    }

    /// Whether it needs ECN on its connections, regardless of the host's setting.
    pub(crate) fn needs_ecn(&self) -> bool {
        match self {
            Self::Own(name) => name == KERNELS_NEEDING_ECN,
            Self::Loaded(loaded) => loaded.needs_ecn(),
            Self::Hosted(_, loaded) => loaded.recorded.needs_ecn,
        }
    }

    /// Whether it needs Accurate ECN. The kernel does not report the flag of its own ones.
    pub(crate) fn needs_accecn(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Loaded(loaded) => loaded.needs_accecn(),
            Self::Hosted(_, hosted) => hosted.needs_accecn,
        }
    }

    /// Whether its packets are ECT(1). The kernel does not report the flag of its own ones.
    pub(crate) fn sends_ect1(&self) -> bool {
        match self {
            Self::Own(_) => false,
            Self::Loaded(loaded) => loaded.sends_ect1(),
            Self::Hosted(_, loaded) => loaded.sends_ect1,
        }
    }

    /// Whether the listener's congestion control decides that a connection has its ECN.
    pub(crate) fn runs_at_receivers(&self) -> bool {
        match self {
            Self::Own(_) | Self::Hosted(..) => self.needs_ecn(),
            Self::Loaded(loaded) => loaded.needs_ecn() || loaded.needs_accecn(),
        }
    }

    /// The name by which sockets select it.
    pub(crate) fn kernel_name(&self) -> &str {
        match self {
            Self::Own(name) | Self::Hosted(name, _) => name,
            Self::Loaded(loaded) => &loaded.kernel_name,
        }
    }

    /// The user's name for a socket's congestion control that was read back as `kernel_name`.
    pub(crate) fn display_name(&self, kernel_name: &str) -> String {
        match self {
            Self::Loaded(loaded) if loaded.kernel_name == kernel_name => loaded.name().to_owned(),
            Self::Hosted(name, loaded) if name == kernel_name => loaded.recorded.cc.clone(),
            Self::Loaded(_) | Self::Hosted(..) => kernel_name.to_owned(),
            Self::Own(_) => format!("{KERNELS_OWN}{kernel_name}"),
        }
    }

    pub(crate) fn summary(&self, group: u32) -> LoadedCc {
        match self {
            Self::Own(name) => LoadedCc {
                group,
                cc: format!("{KERNELS_OWN}{name}"),
                build: kernel::release(),
                params: std::collections::BTreeMap::new(),
                needs_ecn: self.needs_ecn(),
                declared: Declared::default(),
            },
            Self::Loaded(loaded) => LoadedCc {
                group,
                cc: loaded.name().to_owned(),
                build: loaded.build().to_owned(),
                params: loaded.params().clone(),
                needs_ecn: self.needs_ecn(),
                declared: loaded.declared(),
            },
            Self::Hosted(_, loaded) => LoadedCc {
                group,
                ..loaded.recorded.clone()
            },
        }
    }

    pub(crate) fn loaded(&self) -> Option<&Loaded> {
        match self {
            Self::Own(_) | Self::Hosted(..) => None,
            Self::Loaded(loaded) => Some(loaded),
        }
    }
}
