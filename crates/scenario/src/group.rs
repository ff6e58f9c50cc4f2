//! A group of flows that are alike: what each has, and when it starts.

use std::collections::BTreeMap;

use dumbbell_app::{Application, TrafficConfig};
use serde::{Deserialize, Serialize};

use crate::ecn::GroupEcn;
use crate::order::check_order;
use crate::program::Program;
use crate::random::{element_generator, element_seed, up_to};
use crate::receive_window::UNLIMITED_BYTES;
use crate::tcp;

/// Largest header beyond the payload, bytes: a packet must fit in the buffer.
const HEADER_BYTES: u64 = dumbbell_net::DATA_HEADER_BYTES as u64;

/// Largest differentiated services codepoint: it has 6 bits.
const MAX_DSCP: u8 = 63;

/// Whose receiver a group has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiverKind {
    /// Linux's.
    #[default]
    Linux,
    /// FreeBSD's.
    FreeBsd,
}

impl ReceiverKind {
    fn is_linux(&self) -> bool {
        *self == Self::Linux
    }
}

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

/// Flows that are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// Payload of a full segment, bytes.
    pub mss_bytes: u32,
    /// Receive window, bytes.
    pub rwnd_bytes: u64,
    /// Send buffer: at most this much unacknowledged payload, bytes.
    pub sndbuf_bytes: u64,
    /// Segmentation offload: segments leave in bursts as Linux sizes them.
    pub tso: bool,
    /// Whether such a burst stays one packet on its way, a super-packet, as on a virtual network of one machine.
    #[serde(default, skip_serializing_if = "is_off")]
    pub gso: bool,
    /// Delayed ACKs (RFC 1122 §4.2.3.2, as Linux delays them); off: one ACK per segment.
    pub delayed_ack: bool,
    /// Receive offload: how long a segment waits at the receiver for those that follow it, ns; 0: none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub gro_ns: u64,
    /// Segments that the receiver holds above a hole at most (FreeBSD's `net.inet.tcp.reass.maxqueuelen`); it
    /// drops the others. `None`: as many as its window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ooo_limit_pkts: Option<u32>,
    /// What its hosts' TCP does otherwise than Linux 6.18's.
    #[serde(default, skip_serializing_if = "tcp::Config::is_default")]
    pub tcp: tcp::Config,
    /// How late each pacing timer fires, ns.
    #[serde(default, skip_serializing_if = "is_none")]
    pub timer_lateness_ns: u64,
    /// Whose receiver it is.
    #[serde(default, skip_serializing_if = "ReceiverKind::is_linux")]
    pub receiver: ReceiverKind,
    /// Whether the send buffer grows with cwnd, up to `sndbuf_bytes` of memory.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sndbuf_auto: bool,
    /// Whether out-of-order data take room in the receive buffer, which is twice the window.
    #[serde(default, skip_serializing_if = "is_off")]
    pub ooo_memory: bool,
    /// Explicit congestion notification. A congestion control that needs ECN has it without being asked.
    #[serde(default, skip_serializing_if = "GroupEcn::is_off")]
    pub ecn: GroupEcn,
    /// Whether ACKs of Accurate ECN have its option, which counts bytes (RFC 9768 §3.2.3).
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub accecn_option: bool,
    /// Whether a short segment waits while another is unacknowledged (RFC 1122 §4.2.3.4); off:
    /// `TCP_NODELAY`.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub nagle: bool,
    /// Whether cwnd falls when the application pauses or leaves it unused (RFC 5681 §4.1, RFC 2861):
    /// `tcp_slow_start_after_idle`.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub slow_start_after_idle: bool,
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
            mss_bytes: 1448,
            rwnd_bytes: UNLIMITED_BYTES,
            sndbuf_bytes: UNLIMITED_BYTES,
            tso: true,
            gso: false,
            delayed_ack: true,
            gro_ns: 0,
            ooo_limit_pkts: None,
            tcp: tcp::Config::default(),
            timer_lateness_ns: 0,
            receiver: ReceiverKind::Linux,
            sndbuf_auto: false,
            ooo_memory: false,
            ecn: GroupEcn::Off,
            accecn_option: true,
            nagle: true,
            slow_start_after_idle: true,
            dscp: 0,
            program: None,
        }
    }
}

fn on() -> bool {
    true
}

fn is_on(flag: &bool) -> bool {
    *flag
}

fn is_off(flag: &bool) -> bool {
    !*flag
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
        if self.gso && !self.tso {
            return Err(format!(
                "`{name}` has `gso`, which keeps bursts together, and no `tso`, which makes them; set both or neither"
            ));
        }
        if self.gso && self.mss_bytes > u32::from(u16::MAX) {
            return Err(format!(
                "the MSS of `{name}`, {} bytes, does not fit in an IP packet, which `gso` needs; use a smaller one",
                self.mss_bytes
            ));
        }
        if self.mss_bytes == 0 {
            return Err(format!("the MSS of `{name}` is 0; use at least 1 byte"));
        }
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

    /// Wire size of a full segment, bytes.
    pub(crate) fn packet_bytes(&self) -> u64 {
        u64::from(self.mss_bytes) + HEADER_BYTES
    }
}
