//! What `quic/STACK@VERSION:ALGORITHM` names: the stacks that there are, their versions and algorithms.

use std::collections::BTreeMap;

use dumbbell_cc::{Description, Flow, Hosted, Kind, Series};

use crate::error::Error;
use crate::pair::{Pair, State};
use crate::params::params;
use crate::settings::Settings;

/// How the name of an algorithm over QUIC begins.
const PREFIX: &str = "quic/";
/// Begins an algorithm of ours of which the stack has one of the same name.
const OURS: &str = "dumbbell/";

/// A congestion controller of a stack, or the place of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Reno,
    Cubic,
    Bbr,
    Bbr3,
    /// An algorithm of ours behind the stack's controller.
    Ours,
}

type Make = fn(&Settings, Controller, Option<Flow>) -> Box<dyn Pair>;

/// A version of a stack.
struct Version {
    name: &'static str,
    make: Make,
    /// Why an algorithm of this version cannot be run.
    refuses: fn(Controller) -> Option<&'static str>,
}

/// A QUIC stack.
struct Stack {
    name: &'static str,
    package: &'static str,
    /// The default first.
    versions: &'static [Version],
    controllers: &'static [(&'static str, Controller)],
    /// Why it cannot run algorithms of ours.
    refuses_ours: Option<&'static str>,
}

fn runs_all(_controller: Controller) -> Option<&'static str> {
    None
}

#[cfg(feature = "stacks")]
fn has_no_seeded_bbr(controller: Controller) -> Option<&'static str> {
    (controller == Controller::Bbr).then_some(
        "takes its random numbers from the operating system, so no run could be repeated; use `quic/quinn:bbr`",
    )
}

#[cfg(feature = "stacks")]
fn does_not_run_ours(controller: Controller) -> Option<&'static str> {
    (controller == Controller::Ours)
        .then_some("does not learn there when cwnd limits sending; use `quic/noq`")
}

#[cfg(feature = "stacks")]
const STACKS: &[Stack] = &[
    Stack {
        name: "quinn",
        package: "quinn-proto",
        versions: &[
            Version {
                name: "0.11.19",
                make: crate::versions::quinn_0_11_19::pair,
                refuses: runs_all,
            },
            Version {
                name: "0.11.14",
                make: crate::versions::quinn_0_11_14::pair,
                refuses: has_no_seeded_bbr,
            },
        ],
        controllers: &[
            ("reno", Controller::Reno),
            ("cubic", Controller::Cubic),
            ("bbr", Controller::Bbr),
        ],
        refuses_ours: Some(
            "gives its controller no packet numbers, of which rate samples are made; use `quic/noq`",
        ),
    },
    Stack {
        name: "noq",
        package: "noq-proto",
        versions: &[
            Version {
                name: "1.4.0",
                make: crate::versions::noq_1_4_0::pair,
                refuses: runs_all,
            },
            Version {
                name: "1.2.0",
                make: crate::versions::noq_1_2_0::pair,
                refuses: runs_all,
            },
            Version {
                name: "1.1.0",
                make: crate::versions::noq_1_1_0::pair,
                refuses: does_not_run_ours,
            },
        ],
        controllers: &[
            ("reno", Controller::Reno),
            ("cubic", Controller::Cubic),
            ("bbr3", Controller::Bbr3),
        ],
        refuses_ours: None,
    },
];

#[cfg(not(feature = "stacks"))]
const STACKS: &[Stack] = &[];

/// A stack, one of its versions, and the algorithm that it runs.
#[derive(Clone, Copy)]
pub struct Spec<'name> {
    name: &'name str,
    stack: &'static Stack,
    version: &'static Version,
    controller: Controller,
    ours: &'name str,
}

impl std::fmt::Debug for Spec<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl<'name> Spec<'name> {
    /// Reads `quic/noq@1.1.0:bbr3`.
    ///
    /// # Errors
    ///
    /// A stack, version or algorithm that does not exist; the message lists those that do.
    pub fn parse(name: &'name str) -> Result<Self, Error> {
        let rest = name.strip_prefix(PREFIX).unwrap_or(name);
        let (spelled, algorithm) = rest.split_once(':').unwrap_or((rest, ""));
        let (stack, version) = match spelled.split_once('@') {
            Some((stack, version)) => (stack, Some(version)),
            None => (spelled, None),
        };
        let found = STACKS.iter().find(|known| known.name == stack);
        let stack = found.ok_or_else(|| Error::UnknownStack {
            stack: stack.to_owned(),
            known: named(STACKS.iter().map(|known| format!("quic/{}", known.name))),
        })?;
        let version = match version {
            None => &stack.versions[0],
            Some(version) => {
                let found = stack.versions.iter().find(|known| known.name == version);
                found.ok_or_else(|| Error::UnknownVersion {
                    stack: stack.name,
                    version: version.to_owned(),
                    known: named(stack.versions.iter().map(|known| known.name.to_owned())),
                })?
            }
        };
        let own = stack.controllers.iter().find(|(own, _)| *own == algorithm);
        let spec = Self {
            name,
            stack,
            version,
            controller: own.map_or(Controller::Ours, |&(_, controller)| controller),
            ours: algorithm.strip_prefix(OURS).unwrap_or(algorithm),
        };
        spec.check(spelled, algorithm).map(|()| spec)
    }

    fn check(&self, spelled: &str, algorithm: &str) -> Result<(), Error> {
        let (stack, refuses) = (self.stack, self.version.refuses);
        if algorithm.is_empty() {
            let runs = |&&(_, own): &&(_, Controller)| refuses(own).is_none();
            let example = stack.controllers.iter().rfind(runs);
            return Err(Error::NoAlgorithm {
                stack: spelled.to_owned(),
                example: example.map_or("cubic", |&(own, _)| own),
            });
        }
        let is_own = self.controller != Controller::Ours;
        let is_file = algorithm.contains('/') || algorithm.ends_with(".c");
        let is_ours = is_file || dumbbell_cc::builtin_names().contains(&self.ours);
        if !is_own && !is_ours {
            return Err(self.unknown(algorithm));
        }
        let refused = |stack: String, reason| Error::Refused {
            stack,
            algorithm: algorithm.to_owned(),
            reason,
        };
        if let Some(reason) = refuses(self.controller) {
            let stack = format!("{}@{}", stack.name, self.version.name);
            return Err(refused(stack, reason));
        }
        match stack.refuses_ours {
            Some(reason) if !is_own => Err(refused(stack.name.to_owned(), reason)),
            _ => Ok(()),
        }
    }

    /// Neither the stack nor dumbbell has it: the error says what there is.
    fn unknown(&self, algorithm: &str) -> Error {
        let stack = self.stack;
        let own = stack.controllers.iter().map(|(own, _)| (*own).to_owned());
        let refuses_ours = (self.version.refuses)(Controller::Ours).or(stack.refuses_ours);
        let ours = refuses_ours.is_none().then(|| {
            let runs = |name: &&str| dumbbell_cc::describe(name).is_ok_and(|it| !it.needs_ecn);
            let names = dumbbell_cc::builtin_names().into_iter().filter(runs);
            format!("; of dumbbell's: {}", named(names.map(str::to_owned)))
        });
        Error::UnknownAlgorithm {
            stack: stack.name,
            algorithm: algorithm.to_owned(),
            known: named(own),
            ours: ours.unwrap_or_default(),
        }
    }

    /// The algorithm of ours that it runs, by name or file; `None`: one of the stack's own.
    pub fn ours(&self) -> Option<&'name str> {
        (self.controller == Controller::Ours).then_some(self.ours)
    }

    /// The stack and its version, as in `noq-proto 1.4.0`.
    pub fn build(&self) -> String {
        format!("{} {}", self.stack.package, self.version.name)
    }

    /// The name that was given.
    pub(crate) fn name(&self) -> &'name str {
        self.name
    }

    /// The algorithm's name without the stack.
    pub fn algorithm(&self) -> &'name str {
        self.ours
    }

    /// A connection before its start; `flow` runs an algorithm of ours.
    pub fn pair(&self, settings: &Settings, flow: Option<Flow>) -> Box<dyn Pair> {
        (self.version.make)(settings, self.controller, flow)
    }
}

/// What stands for a stack's own algorithm where a result names it: its name, its parameters and its series.
pub fn stand_in(spec: &Spec<'_>) -> Hosted {
    let names = ["ssthresh", "undo_cwnd", "cong_avoid"];
    Hosted {
        name: spec.algorithm().to_owned(),
        build: spec.build(),
        params: BTreeMap::new(),
        parameters: params(spec),
        series: series(),
        hooks: names.map(str::to_owned).to_vec(), // a table without them would be refused; nothing calls them
        new_flow: Box::new(|| Err("is the stack's".to_owned())),
    }
}

/// Describes one by its name: the stack's own, or ours with the parameters of the stack's hosts.
///
/// # Errors
///
/// A stack, version or algorithm does not exist, or an algorithm of ours cannot be loaded.
pub fn describe(name: &str) -> Result<Description, Error> {
    let spec = Spec::parse(name)?;
    let mut description = match spec.ours() {
        Some(ours) => dumbbell_cc::describe(ours)?,
        None => {
            let mut description = Description::default();
            description.title = format!("{} of {}", spec.algorithm(), spec.build());
            description.series = series();
            description.kind = Kind::Stack;
            description
        }
    };
    name.clone_into(&mut description.name);
    description.params.extend(params(&spec));
    Ok(description)
}

/// Time series of a stack's own algorithm, in the order of [`series_of`].
pub fn series() -> Vec<Series> {
    vec![
        Series::unscaled("cwnd_bytes", "bytes", "congestion window", 8),
        Series::unscaled(
            "ssthresh_bytes",
            "bytes",
            "slow-start threshold; 0: none yet",
            8,
        ),
        Series::unscaled(
            "congestion_events",
            "",
            "losses and marks that the controller was to react to",
            8,
        ),
    ]
}

/// The values of these series.
pub fn series_of(state: &State) -> [u64; 3] {
    [
        state.cwnd_bytes,
        state.ssthresh_bytes.unwrap_or(0),
        state.congestion_events,
    ]
}

pub(crate) fn named(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Every `quic/STACK@VERSION:ALGORITHM` with an algorithm of a stack's own, the stacks' defaults first.
pub fn names() -> Vec<String> {
    let of_stack = |stack: &'static Stack| {
        stack.versions.iter().flat_map(move |version| {
            let runs = move |&&(_, own): &&(&str, Controller)| (version.refuses)(own).is_none();
            stack.controllers.iter().filter(runs).map(move |(own, _)| {
                if version.name == stack.versions[0].name {
                    format!("{PREFIX}{}:{own}", stack.name)
                } else {
                    format!("{PREFIX}{}@{}:{own}", stack.name, version.name)
                }
            })
        })
    };
    STACKS.iter().flat_map(of_stack).collect()
}
