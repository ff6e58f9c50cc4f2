//! The applications, and the list of them.
//!
//! An application is a file here: it declares its parameters (`settings!`), its facts
//! ([`ApplicationSettings`]) and what it does ([`Application`]). Its name in `catalog!` below makes
//! it known to scenarios, both engines and Python.
//!
//! An application gets a random stream for each use (`Random::new(seed, number)`), uses no connection number twice,
//! copes with late timers, and returns what has not ended from `unfinished`. Settings that do not fit together are
//! refused by its check. What it measures by itself becomes a metric by a formula that calls `Observation.measured`
//! in Python. Tests compare its facts with numbers on the network of `fake_network.rs`.

mod arrivals;
mod pending;
mod periodic;

use dumbbell_declare::{Parameter, Settings, catalog};
use serde::Serialize;

use crate::Application;

/// Longest time that a parameter can be, ns: a day.
const MAX_NS: u64 = 86_400 * NS_PER_S;
/// Largest size that a parameter can be, bytes: 1 PiB.
const MAX_BYTES: u64 = 1 << 50;
const NS_PER_S: u64 = 1_000_000_000;

/// What an application is, with any parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// Whether a load in a share of the link decides its `gap_ns`.
    pub takes_load: bool,
    /// Whether both ends write: requests one way, responses the other.
    pub has_requests: bool,
    /// Whether it sends datagrams and opens no connection.
    pub sends_datagrams: bool,
}

impl Facts {
    /// One end writes, on connections, without a load.
    const ONE_WAY: Self = Self {
        takes_load: false,
        has_requests: false,
        sends_datagrams: false,
    };
}

/// Settings by a name of their own.
#[derive(Clone, Debug, Serialize)]
pub struct Preset<C> {
    /// What a scenario calls them.
    pub name: &'static str,
    /// What they are, and where they are from, in a sentence.
    pub doc: &'static str,
    /// Values of the application's parameters.
    pub settings: C,
}

/// The settings of an application.
pub trait ApplicationSettings: Settings + Sized {
    /// What holds for all settings.
    const FACTS: Facts;

    /// The application that they make.
    type Application: Application + Send + 'static;

    /// Refuses settings that do not fit together.
    fn check_together(&self) -> Result<(), String> {
        Ok(())
    }

    /// Settings that have names.
    fn presets() -> Vec<Preset<Self>> {
        Vec::new()
    }

    /// The application of one flow, with random numbers of its own.
    fn build(&self, seed: u64) -> Self::Application;
}

/// An application's declaration, for what names and explains it.
#[derive(Clone, Debug, Serialize)]
pub struct ApplicationDeclaration {
    /// What a scenario calls it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub doc: &'static str,
    /// What it is.
    pub facts: Facts,
    /// Parameters that it declares.
    pub parameters: Vec<Parameter>,
    /// Settings that have names.
    pub presets: Vec<Preset<TrafficConfig>>,
}

catalog! { ($)
    /// What each flow of a group has to send, by the application's name, with its settings.
    pub enum TrafficConfig, tag "kind", each_application:
    bulk, poisson, deterministic, onoff, rpc, page, cbr, datagram, video, responsiveness
}

impl TrafficConfig {
    /// What it is.
    pub fn facts(&self) -> Facts {
        each_application!(self, config => facts_of(config))
    }

    /// Refuses settings out of their ranges, or that do not fit together.
    pub fn check(&self) -> Result<(), String> {
        let checked = each_application!(self, config => config.check().and_then(|()| config.check_together()));
        checked.map_err(|message| format!("traffic `{}`: {message}", self.name()))
    }

    /// The application of one flow, with random numbers of its own.
    pub fn build(&self, seed: u64) -> Box<dyn Application + Send> {
        each_application!(self, config => Box::new(config.build(seed)))
    }
}

/// Every application.
pub fn applications() -> Vec<ApplicationDeclaration> {
    each_application!(all Config, name => ApplicationDeclaration {
        name,
        doc: <Config as Settings>::doc(),
        facts: <Config as ApplicationSettings>::FACTS,
        parameters: <Config as Settings>::parameters(),
        presets: <Config as ApplicationSettings>::presets()
            .into_iter()
            .map(|preset| Preset {
                name: preset.name,
                doc: preset.doc,
                settings: preset.settings.into(),
            })
            .collect(),
    })
}

fn facts_of<C: ApplicationSettings>(_config: &C) -> Facts {
    C::FACTS
}

impl TrafficConfig {
    /// Whether each flow is one transfer from its start on: no application is needed for it.
    pub fn is_bulk(&self) -> bool {
        matches!(self, Self::bulk(_))
    }
}

impl Default for TrafficConfig {
    fn default() -> Self {
        Self::bulk(bulk::Config::default())
    }
}

#[cfg(test)]
mod tests;
