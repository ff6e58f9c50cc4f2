//! A group of flows that are alike: what each has, and when it starts.

use std::collections::BTreeMap;

use dumbbell_app::{Application, TrafficConfig};
use dumbbell_declare::Settings as _;
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::order::check_order;
use crate::program::Program;
use crate::random::{element_generator, element_seed, up_to};

/// Largest differentiated services codepoint: it has 6 bits.
const MAX_DSCP: u8 = 63;

/// A change of a group's base RTT. What is on its way then keeps the delay it was given, and
/// nothing overtakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RttStep {
    /// When, ns from the start of the run.
    pub at_ns: u64,
    /// Base RTT from then on, ns.
    pub base_rtt_ns: u64,
}

/// Flows that are alike. Its host refuses a field that neither has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Congestion control and its parameters.
    pub cc: CongestionControl,
    /// How many flows.
    pub flows: u32,
    /// Propagation round trip of these flows' path, without queueing and serialisation, ns.
    pub base_rtt_ns: u64,
    /// Names of the links that its data cross, in order; empty: the only link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<String>,
    /// Names of the links that its ACKs cross, in order; empty: propagation alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<String>,
    /// Later base RTTs, in order of time; usually none. One after the end of the run changes nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rtt_steps: Vec<RttStep>,
    /// Its base RTTs are longer by up to this, ns: [`Scenario::with_drawn_rtts`] draws it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub rtt_dither_ns: u64,
    /// When the first of them may start, ns.
    pub start_ns: u64,
    /// Each flow starts this much later at most, uniformly drawn from the seed, ns.
    pub start_jitter_ns: u64,
    /// When the application stops sending, ns; `None`: at the end of the run.
    pub stop_ns: Option<u64>,
    /// Bytes to send; `None`: bulk, without end.
    pub size_bytes: Option<u64>,
    /// What each flow has to send, where that is not one transfer.
    #[serde(default, skip_serializing_if = "TrafficConfig::is_bulk")]
    pub traffic: TrafficConfig,
    /// The TCP stack of its hosts; in JSON its fields are the group's.
    #[serde(flatten, deserialize_with = "Host::from_flat")]
    pub host: Host,
    /// Differentiated services codepoint of its packets, both ways (RFC 2474): 0 to 63.
    #[serde(default, skip_serializing_if = "is_best_effort")]
    pub dscp: u8,
    /// Programs that run in its hosts instead of a flow of ours; it then has one flow, which all their packets count
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

impl Default for Group {
    /// One bulk flow of a Linux host (segmentation offload, delayed ACKs) that no window limits;
    /// without a congestion control and a base RTT.
    fn default() -> Self {
        Self {
            cc: CongestionControl::default(),
            flows: 1,
            base_rtt_ns: 0,
            route: Vec::new(),
            back: Vec::new(),
            rtt_steps: Vec::new(),
            rtt_dither_ns: 0,
            start_ns: 0,
            start_jitter_ns: 0,
            stop_ns: None,
            size_bytes: None,
            traffic: TrafficConfig::default(),
            host: Host::default(),
            dscp: 0,
            program: None,
        }
    }
}

fn is_none(time_ns: &u64) -> bool {
    *time_ns == 0
}

fn is_best_effort(dscp: &u8) -> bool {
    *dscp == 0
}

/// A congestion control by name (`copa`) or file (`./mine.bpf.c`), with parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CongestionControl {
    /// Name of a built-in, or path of a source file.
    pub name: String,
    /// Parameters that differ from the defaults.
    #[serde(default)]
    pub params: BTreeMap<String, i64>,
}

impl From<&str> for CongestionControl {
    /// With its default parameters.
    fn from(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            params: BTreeMap::new(),
        }
    }
}

/// Whether a name is of an algorithm over QUIC, and not a file in a directory called `quic`.
pub fn is_quic(name: &str) -> bool {
    let is_file = !name.contains(':') && (name.ends_with(".c") || name.ends_with(".py"));
    name.starts_with("quic/") && !is_file
}

impl Group {
    /// Start of flow number `flow` of the run: the group's, plus the flow's own draw from the jitter, ns.
    pub fn start_of(&self, seed: u64, flow: u32) -> u64 {
        let mut generator = element_generator(seed, "start", u64::from(flow));
        self.start_ns
            .saturating_add(up_to(&mut generator, self.start_jitter_ns))
    }

    /// The application of flow number `flow` of the run: the same in every engine.
    pub fn application(&self, seed: u64, flow: u32) -> Box<dyn Application + Send> {
        let seed = element_seed(seed, "traffic", u64::from(flow));
        self.traffic.build(seed)
    }

    /// Whether its flows are QUIC connections: `quic/noq:bbr3`.
    pub fn is_quic(&self) -> bool {
        is_quic(&self.cc.name)
    }

    /// Whether each of its flows is one connection between sockets of ours, which is there from the start.
    pub fn has_own_sockets(&self) -> bool {
        self.traffic.is_bulk() && self.program.is_none()
    }

    /// The steps before `end_ns`.
    pub(crate) fn rtt_steps_before(&self, end_ns: u64) -> impl Iterator<Item = &RttStep> {
        let steps = self.rtt_steps.iter();
        steps.take_while(move |step| step.at_ns < end_ns)
    }

    /// The base RTTs that it has before `end_ns`, one after the other, ns.
    pub(crate) fn base_rtts_ns(&self, end_ns: u64) -> impl Iterator<Item = u64> {
        let later = self.rtt_steps_before(end_ns).map(|step| step.base_rtt_ns);
        std::iter::once(self.base_rtt_ns).chain(later)
    }

    /// The smallest base RTT that it ever has in a run of `duration_ns`, ns.
    pub fn shortest_base_rtt_ns(&self, duration_ns: u64) -> u64 {
        self.base_rtts_ns(duration_ns).fold(u64::MAX, u64::min)
    }

    /// The base RTT in force at `at_ns`, ns.
    pub fn base_rtt_at(&self, at_ns: u64) -> u64 {
        let in_force = self.base_rtts_ns(at_ns.saturating_add(1)).last();
        in_force.unwrap_or(self.base_rtt_ns)
    }

    /// Refuses a group that cannot run; the message names the value and the remedy.
    pub(crate) fn check(&self, duration_ns: u64) -> Result<(), String> {
        let name = &self.cc.name;
        check_order("RTT", self.rtt_steps.iter().map(|step| step.at_ns))?;
        let shortest_ns = self.shortest_base_rtt_ns(duration_ns);
        if shortest_ns < 2_000 {
            return Err(format!(
                "the base RTT of `{name}` is {shortest_ns} ns; use at least `2us`"
            ));
        }
        let of_group = |message| format!("the group of `{name}`: {message}");
        self.traffic.check().map_err(of_group)?;
        self.check_program().map_err(of_group)?;
        if let (false, Some(size_bytes)) = (self.traffic.is_bulk(), self.size_bytes) {
            return Err(format!(
                "flows of `{name}` have a size, {size_bytes} bytes, and traffic `{}`; set one of them",
                self.traffic.name()
            ));
        }
        if self.dscp > MAX_DSCP {
            return Err(format!(
                "the DSCP of `{name}` is {}; use 0 to {MAX_DSCP}",
                self.dscp
            ));
        }
        if self.host.gso && !self.host.tso {
            return Err(format!(
                "`{name}` has `gso`, which keeps bursts together, and no `tso`, which makes them; set both or neither"
            ));
        }
        if self.host.gso && self.host.mss_bytes > u32::from(u16::MAX) {
            return Err(format!(
                "the MSS of `{name}`, {} bytes, does not fit in an IP packet, which `gso` needs; use a smaller one",
                self.host.mss_bytes
            ));
        }
        if self.host.mss_bytes == 0 {
            return Err(format!("the MSS of `{name}` is 0; use at least 1 byte"));
        }
        self.host.check().map_err(of_group)?;
        if self.start_ns.saturating_add(self.start_jitter_ns) >= duration_ns {
            return Err(format!(
                "flows of `{name}` may start after the end of the run; start them earlier"
            ));
        }
        let latest_start_ns = self.start_ns + self.start_jitter_ns;
        if self
            .stop_ns
            .is_some_and(|stop_ns| stop_ns <= latest_start_ns)
        {
            return Err(format!(
                "flows of `{name}` may stop before they start; stop them later"
            ));
        }
        Ok(())
    }

    fn check_program(&self) -> Result<(), String> {
        let Some(program) = &self.program else {
            return Ok(());
        };
        program.check()?;
        if self.flows != 1 {
            return Err(format!(
                "it has programs and {} flows; all packets of a program are one flow",
                self.flows
            ));
        }
        if !self.traffic.is_bulk() || self.size_bytes.is_some() {
            return Err(
                "it has programs, which decide what is sent; remove `traffic` and `size`"
                    .to_owned(),
            );
        }
        Ok(())
    }
}
