//! One flow that is a single transfer from its start on: its sender, its receiver and what was measured
//! of it.

use std::rc::Rc;

use dumbbell_cc::{Flow, Instance, fetch};
use dumbbell_net::Ecn;
use dumbbell_scenario::{
    Group, GroupEcn, PROMPT_BYTES, ReceiverKind, UNLIMITED_BYTES, linux_release,
};
use dumbbell_tcp::{
    AccEcn, Behaviour, Detection, EcnMode, Half, Pacing, RackWindow, Reader, Receiver,
    ReceiverConfig, ReceiverRules, Sender, SenderConfig, TICK_NS, TcpMemory, packet_memory_bytes,
};

use crate::rtt_meter::RttMeter;

/// A sender, a receiver and the flow's measurements. Among many flows nothing of one is still in the processor's first cache
/// when its next event comes, so it begins with a line of that.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Endpoints {
    /// Number of the flow.
    pub(crate) flow: u32,
    pub(crate) group: u32,
    pub(crate) start_ns: u64,
    stop_ns: u64,
    /// When it starts, or then when it stops, ns; `u64::MAX`: no more.
    turn_ns: u64,
    pub(crate) started: bool,
    /// Deadlines of sender and receiver as the engine has noted them, ns.
    pub(crate) noted_ns: [u64; 2],
    /// When the last byte of a finite flow was acknowledged, ns.
    pub(crate) finished_ns: Option<u64>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) rtt: RttMeter,
    /// `received_bytes` when the time series was last sampled.
    pub(crate) sampled_bytes: u64,
    /// Both directions are closed and it has had its last row.
    pub(crate) has_ended: bool,
}

impl Endpoints {
    /// Flow number `flow` of the run, before its start, whose packets carry the number `id`; its receiver's timestamps begin at
    /// `peer_clock_ms`.
    pub(crate) fn new(
        id: u32,
        flow: u32,
        group_index: u32,
        group: &Group,
        start_ns: u64,
        socket: Flow,
        peer_clock_ms: u32,
    ) -> Self {
        let sender = SenderConfig {
            size_bytes: group.size_bytes,
            closes: true,
            peer_clock_ms,
            ..sender_config(id, Half::Only, group, socket.instance())
        };
        let receiver = ReceiverConfig {
            reader: Reader {
                prompt_bytes: PROMPT_BYTES,
                low_water_bytes: group.low_water_bytes(),
                read_bytes: 0,
            },
            ..receiver_config(id, Half::Only, group, socket.instance(), start_ns)
        };
        Self {
            flow,
            group: group_index,
            start_ns,
            stop_ns: group.stop_ns.unwrap_or(u64::MAX),
            turn_ns: start_ns,
            started: false,
            noted_ns: [u64::MAX; 2],
            finished_ns: None,
            sender: Sender::new(sender, socket).reported_as(flow),
            receiver: Receiver::new(receiver),
            rtt: RttMeter::new(),
            sampled_bytes: 0,
            has_ended: false,
        }
    }

    /// Asks for the memory that the next ACK needs.
    #[inline(always)]
    pub(crate) fn fetch_sender(&self) {
        fetch(&self.finished_ns);
        fetch(&self.sender);
        fetch(&self.rtt);
        fetch(&self.noted_ns);
        fetch(&self.turn_ns);
    }

    /// Asks for the memory that the next data packet needs.
    #[inline(always)]
    pub(crate) fn fetch_receiver(&self) {
        fetch(&self.receiver);
        fetch(&self.noted_ns);
        fetch(&self.group);
    }

    /// Asks for what the sender's fields lead to, once they are there.
    #[inline(always)]
    pub(crate) fn fetch_rings_of_sender(&self) {
        self.sender.fetch_ahead();
        self.rtt.fetch_ahead(self.sender.latest_rtt_us());
    }

    /// When the sender's side wants to be woken, ns.
    #[inline]
    pub(crate) fn next_sender_ns(&self) -> u64 {
        self.sender.next_timer_ns().min(self.turn_ns)
    }

    /// Wakes the sender's side: start, stop or a timer.
    pub(crate) fn wake_sender(&mut self, now_ns: u64) {
        if !self.started {
            if now_ns >= self.turn_ns {
                self.started = true;
                self.turn_ns = self.stop_ns;
                self.sender.start(now_ns);
            }
            return;
        }
        if now_ns >= self.turn_ns {
            self.turn_ns = u64::MAX;
            self.sender.stop();
        }
        if now_ns >= self.sender.next_timer_ns() {
            self.sender.on_timer(now_ns);
        }
    }
}

/// How the sender of a connection of `group` sends what an application writes.
pub(crate) fn sender_config(
    id: u32,
    half: Half,
    group: &Group,
    instance: &Instance,
) -> SenderConfig {
    SenderConfig {
        flow: id,
        mss_bytes: group.host.mss_bytes,
        half,
        size_bytes: Some(0),
        closes: false,
        sndbuf_pkts: u32::try_from(group.host.sndbuf_bytes / sndbuf_packet_bytes(group))
            .unwrap_or(u32::MAX >> 2)
            .clamp(1, u32::MAX >> 2),
        tunes_sndbuf: group.host.sndbuf_auto,
        fills_sndbuf: group.host.sndbuf_auto || group.host.sndbuf_bytes < UNLIMITED_BYTES,
        tso: group.host.tso,
        gso: group.host.gso,
        ecn: ecn_mode(group, instance),
        nagle: group.host.nagle,
        slow_start_after_idle: group.host.slow_start_after_idle,
        behaviour: behaviour(&group.host.tcp),
        timer_lateness_ns: group.host.timer_lateness_ns,
        tick_ns: TICK_NS,
        peer_clock_ms: 0,
    }
}

/// What a packet takes of the send buffer, bytes: its payload, or its memory in one that is tuned.
fn sndbuf_packet_bytes(group: &Group) -> u64 {
    if group.host.sndbuf_auto {
        packet_memory_bytes(group.host.mss_bytes)
    } else {
        u64::from(group.host.mss_bytes)
    }
}

/// Counts what a connection's packets take, where that limits its group or all sockets.
pub(crate) fn count_memory(
    sender: &mut Sender,
    receiver: &mut Receiver,
    group: &Group,
    memory: Option<&Rc<TcpMemory>>,
) {
    if group.host.ooo_memory || memory.is_some() {
        receiver.count_memory(memory.cloned());
    }
    if let Some(memory) = memory {
        sender.share_memory(Rc::clone(memory));
    }
}

/// The switches of a group as its senders have them.
fn behaviour(tcp: &linux_release::Config) -> Behaviour {
    Behaviour {
        detection: match tcp.detection {
            linux_release::Detection::rack => Detection::Rack,
            linux_release::Detection::dupthresh_and_rack => Detection::DupthreshAndRack,
        },
        rack_window: match tcp.rack_window {
            linux_release::RackWindow::rfc8985 => RackWindow::Rfc8985,
            linux_release::RackWindow::until_recovery => RackWindow::UntilRecovery,
            linux_release::RackWindow::until_loss => RackWindow::UntilLoss,
        },
        rto_marks_all: tcp.rto_marks == linux_release::RtoMarks::all,
        rto_cwnd_one: tcp.rto_cwnd == linux_release::RtoCwnd::one,
        undoes_on_any_sack: tcp.undo_on_any_sack,
        has_hint_defect: tcp.hint_defect,
        conserves_packets: tcp.prr == linux_release::Prr::conservation,
        probes_in_open_only: tcp.tlp == linux_release::Tlp::open_only,
        pacing: match tcp.pacing {
            linux_release::Pacing::departure_time => Pacing::DepartureTime,
            linux_release::Pacing::timer => Pacing::Timer,
            linux_release::Pacing::none => Pacing::None,
        },
        pushes_writes_only: tcp.psh == linux_release::Psh::writes,
        defers_half_rtt: tcp.tso_defer == linux_release::TsoDefer::half_rtt,
        doubles_syn_timeouts: tcp.syn_timeouts == linux_release::SynTimeouts::doubling,
    }
}

/// How its receiver acknowledges, if it is opened at `now_ns`.
pub(crate) fn receiver_config(
    id: u32,
    half: Half,
    group: &Group,
    instance: &Instance,
    now_ns: u64,
) -> ReceiverConfig {
    ReceiverConfig {
        flow: id,
        half,
        mss_bytes: group.host.mss_bytes,
        rwnd_bytes: rwnd_bytes(group),
        reader: Reader::PROMPT,
        delayed_ack: group.host.delayed_ack,
        gro_ns: group.host.gro_ns,
        rules: receiver_rules(group),
        ooo_limit_pkts: group.host.ooo_limit_pkts,
        tick_ns: TICK_NS,
        rtt_ns: group.base_rtt_at(now_ns),
        ecn: ecn_mode(group, instance),
    }
}

fn receiver_rules(group: &Group) -> ReceiverRules {
    match group.host.receiver {
        ReceiverKind::freebsd => ReceiverRules::FreeBsd,
        ReceiverKind::linux if group.host.tcp.sack_compression => ReceiverRules::Linux,
        ReceiverKind::linux => ReceiverRules::LinuxBefore418,
    }
}

/// Receive window, bytes: at least a segment.
pub(crate) fn rwnd_bytes(group: &Group) -> u32 {
    u32::try_from(group.host.rwnd_bytes)
        .unwrap_or(u32::MAX)
        .max(group.host.mss_bytes)
}

/// A congestion control algorithm that needs ECN has it at both ends, Accurate ECN if it needs that or the group
/// has it, otherwise with feedback of every change of the mark.
fn ecn_mode(group: &Group, instance: &Instance) -> EcnMode {
    let is_accurate = instance.needs_accecn() || group.host.ecn == GroupEcn::AccEcn;
    match group.host.ecn {
        _ if is_accurate => EcnMode::AccEcn(AccEcn {
            ect: if instance.sends_ect1() {
                Ecn::Ect1
            } else {
                Ecn::Ect0
            },
            ect_on_syn: instance.needs_ecn(),
            option: group.host.accecn_option,
        }),
        _ if instance.needs_ecn() => EcnMode::Dctcp,
        GroupEcn::Off => EcnMode::Off,
        GroupEcn::On | GroupEcn::AccEcn => EcnMode::Classic,
    }
}
