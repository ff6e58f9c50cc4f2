"""A group of a scenario: flows that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.choice import KERNELS_DEFAULT
from dumbbell.errors import ScenarioError
from dumbbell.quantities.quantity import Buffer, Size, Time
from dumbbell.quantities.steps import MIN_RTT_NS
from dumbbell.scenario.dscp import Codepoint, Dscp
from dumbbell.scenario.fields import FLOWS, Attribute, Field, Of, documented, fields_of
from dumbbell.scenario.kinds import (
    Cc,
    Count,
    Ecn,
    Flag,
    LinkNames,
    Measure,
    Packets,
    Route,
    Tcp,
    Traffic,
    Word,
)
from dumbbell.scenario.program import Command, CommandLine, Pattern, Ports, PortsOf
from dumbbell.scenario.tcp import DEFAULT_TCP, TcpChoice
from dumbbell.scenario.traffic import BULK, TrafficChoice

__all__ = ["DEFAULT_MSS", "HEADER_BYTES", "MAX_FLOWS", "Group"]

#: Payload of a full segment on Ethernet with timestamps: 1500 - 20 (IP) - 20 (TCP) - 12 (options).
DEFAULT_MSS = "1448B"
#: Everything around the payload on the wire: Ethernet 14, IP 20, TCP 20, timestamps 12.
HEADER_BYTES = 66
ETHERNET_BYTES = 14
#: TCP_MIN_MSS of Linux: below it a segment is mostly header.
MIN_MSS_BYTES = 88
#: The largest window of TCP (RFC 7323 §2.3): this or more counts as not set. As `rwnd` it stands
#: for four times what the group's path and the buffers on it hold.
UNLIMITED = "1GiB"
#: Largest payload of a segment: an IP packet has 65,535 bytes, headers included (RFC 791 §3.1).
MAX_MSS_BYTES = 65_535 - 52
#: Of all groups together; a scenario near this hardly fits in memory.
MAX_FLOWS = 100_000
#: MTU of Ethernet; the smallest with which there is IPv6 (RFC 8200 §5), and the largest of a TUN
#: device that carries super-packets.
DEFAULT_MTU, MIN_MTU_BYTES, MAX_MTU_BYTES = "1500B", 1280, 65_000
#: What of a group is of our own flows, and cannot be said of a program's.
OF_OUR_FLOWS = ("flows", "stop", "size", "traffic", "nagle", "dscp", "mss")
#: What only a program has, besides its `client`.
OF_PROGRAMS = ("server", "ready", "measure", "mtu")


class OptionalCc(Field[CongestionControlChoice, str | CongestionControlChoice | type]):
    """The field `cc`, which a group of programs need not have."""

    def __set__(self, owner: object, value: Any) -> None:
        if isinstance(value, Attribute):
            owner.__dict__[self.name] = None  # the group's constructor decides
        else:
            super().__set__(owner, value)

    @property
    def default_text(self) -> str:
        """When it must be set."""
        return "required; with a `client`, the kernel's default"


@documented
@dataclass(frozen=True)
class Group:
    """Flows that are alike, or programs of the user."""

    cc: Field[CongestionControlChoice, str | CongestionControlChoice | type] = OptionalCc(
        Cc(), panel=FLOWS, example="copa:mode_window_rtts=5", option=False,
        engine="cc", always=True,
        convert=lambda cc, *_: {"name": cc.runs_from, "params": dict(cc.params)},
        synonyms=("cca", "congestion_control", "algorithm", "ca"),
        doc="Congestion control: a name, a name with parameters (`copa:mode_window_rtts=5`), a "
        "preset (`copa@paper`) or both (`copa@paper:mode_window_rtts=4`), a "
        "file (`./mine.bpf.c`), or `linux/cubic`, the running kernel's own (kernel engine only); "
        "`linux/default` is what its hosts have. Programs get it as their hosts' default.",
    )  # fmt: skip
    flows: Field[int, int] = Field(
        Count(MAX_FLOWS), 1, panel=FLOWS, example=4, engine="flows", always=True,
        synonyms=("count", "n", "num_flows", "connections", "parallel"),
        doc="Number of flows in the group.",
    )  # fmt: skip
    _: KW_ONLY
    rtt: Of[Time | None] = Field(
        Measure(Time, MIN_RTT_NS, "ms"), None, panel=FLOWS, example="80ms", option=False,
        engine="base_rtt_ns", always=True,
        convert=lambda rtt, _, scenario: int(scenario.rtt if rtt is None else rtt),
        default_note="the scenario's", synonyms=("delay", "latency", "base_rtt"),
        doc="Base RTT of these flows. Flows with a longer RTT than others have the difference as "
        "delay on their access link.",
    )  # fmt: skip
    rtt_dither: Of[Time] = Field(
        Measure(Time, unit="ms"), "0s", panel=FLOWS, example="121us", sparse=True,
        engine="rtt_dither_ns", default_note="none", synonyms=("dither", "phase", "rtt_noise"),
        doc="The group's base RTT is up to this longer, drawn from the seed. With a packet's time "
        "on the link, repetitions average over traffic phase effects: which packets a full queue "
        "takes can depend on a fraction of that time.",
    )  # fmt: skip
    route: Field[Route | None, Sequence[str]] = Field(
        LinkNames(), None, panel=FLOWS, example=("bottleneck",), option=False, axis=False,
        engine="route", convert=lambda route, *_: list(route), default_note="the only link",
        synonyms=("path", "links", "via"),
        doc="Names of the links that the data cross, in order.",
    )  # fmt: skip
    back: Field[Route | None, Sequence[str]] = Field(
        LinkNames(), None, panel=FLOWS, example=("bottleneck",), option=False, axis=False,
        engine="back", convert=lambda route, *_: list(route), default_note="propagation alone",
        synonyms=("return", "reverse", "ack_route"),
        doc="Names of the links that the ACKs cross, in order: there they queue, and can be lost.",
    )  # fmt: skip
    start: Of[Time] = Field(
        Measure(Time), "0s", panel=FLOWS, example="1s", per_group=True,
        engine="start_ns", always=True, synonyms=("begin", "start_time", "offset"),
        doc="When the flows start.",
    )  # fmt: skip
    jitter: Of[Time] = Field(
        Measure(Time, unit="ms"), "100ms", panel=FLOWS, example="0s",
        engine="start_jitter_ns", always=True, synonyms=("start_jitter", "spread"),
        doc="Each flow starts up to this much later, drawn from the seed: real processes never "
        "send their first packets in the same nanosecond.",
    )  # fmt: skip
    stop: Of[Time | None] = Field(
        Measure(Time, 1), None, panel=FLOWS, example="30s", engine="stop_ns", always=True,
        default_note="the end of the run", synonyms=("end", "stop_time"),
        doc="When the application stops sending.",
    )  # fmt: skip
    size: Of[Size | None] = Field(
        Measure(Size, 1), None, panel=FLOWS, example="1MB", engine="size_bytes", always=True,
        default_note="no limit", synonyms=("bytes", "flow_size", "volume"),
        doc="How many bytes each flow sends.",
    )  # fmt: skip
    traffic: Of[TrafficChoice] = Field(
        Traffic(), BULK, panel=FLOWS, example="poisson:load=30%,size=pareto(1.2;10kB)",
        per_group=True, sparse=True, engine="traffic",
        convert=lambda traffic, group, scenario: traffic.to_engine(group, scenario),
        synonyms=("app", "application", "workload", "source", "pattern"),
        doc="What each flow has to send: an application with parameters (`dumbbell traffic` lists "
        "them).",
    )  # fmt: skip
    rwnd: Of[Size] = Field(
        Measure(Size, 1), UNLIMITED, panel=FLOWS, example="1MiB",
        engine="rwnd_bytes", always=True,
        default_note="stands for 4 × (BDP + buffers), 1 MiB to 1 GiB",
        synonyms=("receive_window", "rcvbuf", "window"),
        doc="Receive window. Where it is not set (1 GiB and more count as that), it is more than a "
        "flow needs to fill the path, but has an end, as windows of real hosts do. The kernel "
        "engine reduces a larger one to that; the simulator uses any below 1 GiB unchanged.",
    )  # fmt: skip
    sndbuf: Of[Size] = Field(
        Measure(Size, 1), UNLIMITED, panel=FLOWS, example="1MiB",
        engine="sndbuf_bytes", always=True, default_note="never limits",
        synonyms=("send_buffer", "wmem"), doc="Send buffer, in bytes of payload.",
    )  # fmt: skip
    sndbuf_auto: Field[bool, bool] = Field(
        Flag(), False, panel=FLOWS, example=True, sparse=True, engine="sndbuf_auto",
        synonyms=("wmem_auto", "sndbuf_autotuning", "tcp_moderate_sndbuf"),
        doc="The send buffer grows with twice cwnd, as in Linux, up to `sndbuf` bytes of memory, "
        "of which a packet takes 2304 (simulator only).",
    )  # fmt: skip
    ooo_memory: Field[bool, bool] = Field(
        Flag(), False, panel=FLOWS, example=True, sparse=True, engine="ooo_memory",
        synonyms=("rmem", "rcvbuf_truesize", "ofo_memory"),
        doc="Out-of-order data take room in the receive buffer, which is twice `rwnd`: 2304 bytes "
        "a packet, so that the window is smaller while much is held above a hole (simulator only).",
    )  # fmt: skip
    receiver: Field[str, str] = Field(
        Word("linux", "freebsd"), "linux", panel=FLOWS, example="freebsd", sparse=True,
        engine="receiver", synonyms=("receiver_os", "ack_policy"),
        doc="Whose receiver the flows have (simulator only). `freebsd`: an ACK for every second "
        "segment or after 100 ms, for each one while there is a hole; 6 SACK blocks remembered; no "
        "D-SACK.",
    )  # fmt: skip
    tso: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, engine="tso", always=True,
        synonyms=("offload",),
        doc="Segmentation offload: segments leave in bursts, sized as Linux does.",
    )  # fmt: skip
    gso: Field[bool, bool] = Field(
        Flag(), False, panel=FLOWS, example=True, sparse=True, engine="gso",
        synonyms=("super_packets", "gso_packets"),
        doc="Bursts stay super-packets (simulator only), as between virtual machines or namespaces "
        "of one host: queues count each as one packet and drop or mark it whole, and the receiver "
        "acknowledges each of two or more segments at once.",
    )  # fmt: skip
    delayed_ack: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, engine="delayed_ack", always=True,
        synonyms=("delack", "delayed_acks"),
        doc="Delayed ACKs, as in Linux; without them every segment is acknowledged at once.",
    )  # fmt: skip
    gro: Of[Time] = Field(
        Measure(Time, unit="ms"), "0s", panel=FLOWS, example="200us", sparse=True, engine="gro_ns",
        default_note="none", synonyms=("lro", "receive_offload", "gro_flush_timeout", "ack_every"),
        doc="Receive offload (simulator only): segments in order that arrive within this time of "
        "the first, with the same timestamp and up to 64 kB, reach TCP as one and get one ACK.",
    )  # fmt: skip
    ooo_limit: Field[Buffer | None, str | Buffer | None] = Field(
        Packets(), None, panel=FLOWS, example="48pkt", sparse=True, engine="ooo_limit_pkts",
        convert=lambda limit, *_: int(limit.amount), default_note="never limits",
        synonyms=("reass_maxqueuelen", "out_of_order_limit", "reassembly_limit", "ofo_limit"),
        doc="How many segments the receiver holds above a hole (simulator only): it drops those "
        "beyond, as FreeBSD does with `net.inet.tcp.reass.maxqueuelen`, and does not SACK them. "
        "The one that fills the hole is always taken.",
    )  # fmt: skip
    tcp: Of[TcpChoice] = Field(
        Tcp(), DEFAULT_TCP, panel=FLOWS, example="4.15", sparse=True, engine="tcp",
        convert=lambda tcp, *_: tcp.to_engine(),
        synonyms=("kernel", "linux", "tcp_version", "kernel_version"),
        doc="Whose TCP the hosts have (simulator only): a release of Linux (`6.18`, `4.15`, "
        "`4.12`), with switches (`6.18:rto_marks=all`); `dumbbell tcp 4.15` lists them.",
    )  # fmt: skip
    timer_lateness: Of[Time] = Field(
        Measure(Time, unit="ms"), "0s", panel=FLOWS, example="50us", sparse=True,
        engine="timer_lateness_ns", synonyms=("timer_slack", "pacing_lateness", "late_timers"),
        doc="How late each pacing timer of the senders fires (simulator only), as in a virtual "
        "machine. Flows that are not paced do not change.",
    )  # fmt: skip
    mss: Of[Size] = Field(
        Measure(Size, MIN_MSS_BYTES), DEFAULT_MSS, panel=FLOWS, example="8kB",
        engine="mss_bytes", always=True, convert=lambda _, group, __: group.segment_bytes,
        synonyms=("segment_size",), doc="Payload of a full segment.",
    )  # fmt: skip
    ecn: Field[bool | str, bool | str] = Field(
        Ecn(), False, panel=FLOWS, example=True, engine="ecn",
        doc="Explicit congestion notification of TCP: `off`, `on` (classic, RFC 3168; also true), "
        "or `accecn` (Accurate ECN, RFC 9768; for one group `--set 0.ecn=accecn`). A congestion "
        "control that needs ECN, like `dctcp`, "
        "always enables it. Datagrams have a codepoint of their own: `datagram:ecn=ect1`.",
    )  # fmt: skip
    accecn_option: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, sparse=True, engine="accecn_option",
        doc="With Accurate ECN: ACKs have its option, which counts bytes (RFC 9768 §3.2.3), as "
        "with Linux's `tcp_ecn_option`. Without it, marks are counted modulo 8.",
    )  # fmt: skip
    nagle: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, sparse=True, engine="nagle",
        synonyms=("nodelay", "tcp_nodelay"),
        doc="Nagle's algorithm, as in Linux: a short segment waits while another is not "
        "acknowledged. Off is `TCP_NODELAY`, as web servers have it.",
    )  # fmt: skip
    slow_start_after_idle: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, sparse=True,
        engine="slow_start_after_idle",
        synonyms=("idle_restart", "tcp_slow_start_after_idle"),
        doc="cwnd falls when an application pauses for longer than a timeout, or leaves it unused "
        "(RFC 5681, RFC 2861), as in Linux. It does not where the congestion control sets cwnd "
        "itself, as `bbr` does.",
    )  # fmt: skip
    dscp: Field[Dscp, int | str] = Field(
        Codepoint(), 0, panel=FLOWS, example="ef", per_group=True, sparse=True, engine="dscp",
        default_note="best effort", synonyms=("tos", "ds", "diffserv", "priority", "traffic_class"),
        doc="Differentiated services codepoint of the packets, both ways: a name (`ef`, `cs1`, "
        "`af41`, `le`) or a number. Only queues that look at it treat packets differently.",
    )  # fmt: skip

    client: Field[Command | None, str | Sequence[str] | None] = Field(
        CommandLine(), None, panel=FLOWS, example="curl -so /dev/null http://server/file",
        option=False, axis=False, sparse=True, engine="program",
        convert=lambda _, group, __: group.program(), default_note="none",
        synonyms=("command", "program", "cmd", "exec"),
        doc="A program instead of flows of ours (kernel engine only, docs/emulate.md): its command "
        "runs in the receiver's host, and its name for the other host is `server`. Text is split "
        "as in a shell, which does not run.",
    )  # fmt: skip
    server: Field[Command | None, str | Sequence[str] | None] = Field(
        CommandLine(), None, panel=FLOWS, example="python3 -m http.server 80", option=False,
        axis=False, sparse=True, default_note="none", synonyms=("serve", "daemon"),
        doc="With `client`: the command in the sender's host, started first and ended with the "
        "run. What it sends crosses the group's `route`.",
    )  # fmt: skip
    ready: Field[Ports | None, str | Sequence[str] | None] = Field(
        PortsOf(), None, panel=FLOWS, example="tcp:80", option=False, axis=False, sparse=True,
        default_note="nothing", synonyms=("port", "ports", "wait_for", "listen"),
        doc="With `server`: ports that must be open there before the client starts, `tcp:80` or "
        "`udp:443`, a list or with commas between.",
    )  # fmt: skip
    measure: Field[str | None, str | None] = Field(
        Pattern(), None, panel=FLOWS, example=r"speed: (\S+)", option=False, axis=False,
        sparse=True, default_note="nothing", synonyms=("regex", "result"),
        doc="With `client`: a regular expression whose group is a number that the client prints, "
        "which becomes the metric `measured`; the last that is found counts.",
    )  # fmt: skip
    mtu: Of[Size] = Field(
        Measure(Size), DEFAULT_MTU, panel=FLOWS, example="1400B", option=False,
        sparse=True, synonyms=("max_packet", "packet_size"),
        doc="With `client`: the largest IP packet of both hosts.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        if self.client is None:
            self._check_without_program()
        else:
            self._check_program()
        self._check_segment()
        self._check_stop()
        if self.gso and not self.tso:
            raise ScenarioError(
                "`gso` keeps bursts of segments together, and without `tso` there are none; set "
                "`tso`, or omit `gso`",
                key="gso",
            )
        if self.size is not None and not self.traffic.is_bulk:
            raise ScenarioError(
                f"size `{self.size}` cannot be combined with traffic `{self.traffic.name}`; remove "
                "one, or set a parameter of the traffic",
                key="size",
            )

    def _is_set(self, name: str) -> bool:
        """Whether a field has another value than its default."""
        return not fields_of(Group)[name].is_default(getattr(self, name))

    def _check_without_program(self) -> None:
        """Refuse what needs a program."""
        if vars(self)["cc"] is None:
            raise TypeError("Group() needs `cc`")
        for name in filter(self._is_set, OF_PROGRAMS):
            instead = "; of our own flows it is their `mss`" if name == "mtu" else ""
            message = f"`{name}` needs the `client` of a program; add one{instead}"
            raise ScenarioError(message, key=name)

    def _check_program(self) -> None:
        """Refuse what does not go with a program."""
        if vars(self)["cc"] is None:
            vars(self)["cc"] = CongestionControlChoice(KERNELS_DEFAULT)
        for name in filter(self._is_set, OF_OUR_FLOWS):
            instead = "use `mtu`" if name == "mss" else "remove one"
            raise ScenarioError(
                f"`{name}` cannot be combined with a `client`, whose program decides what is "
                f"sent; {instead}",
                key=name,
            )
        if self.ready and self.server is None:
            raise ScenarioError(f"ready `{self.ready}` needs a `server`; add one", key="ready")
        if not MIN_MTU_BYTES <= self.mtu <= MAX_MTU_BYTES:
            how = "large" if self.mtu > MAX_MTU_BYTES else "small"
            message = f"mtu `{self.mtu}` is too {how}; use {MIN_MTU_BYTES} to {MAX_MTU_BYTES} bytes"
            raise ScenarioError(message, key="mtu")

    def program(self) -> dict[str, Any]:
        """Return its programs as the engine takes them."""
        return {
            "client": list(self.client or ()),
            "server": list(self.server or ()),
            "ready": self.ready.to_engine() if self.ready else [],
            "mtu_bytes": int(self.mtu),
        }

    def _check_segment(self) -> None:
        """Refuse a segment that no packet or window holds."""
        if self.mss > MAX_MSS_BYTES:
            raise ScenarioError(
                f"mss `{self.mss}` does not fit in an IP packet; use at most `{MAX_MSS_BYTES}B`",
                key="mss",
            )
        for name, window in (("rwnd", self.rwnd), ("sndbuf", self.sndbuf)):
            if window >= self.mss:
                continue
            if str(self.mss) != DEFAULT_MSS:
                raise ScenarioError(
                    f"mss `{self.mss}` is larger than {name} `{window}`; use a smaller `mss` or a "
                    f"larger `{name}`",
                    key="mss",
                )
            message = f"{name} `{window}` is smaller than a segment; use at least `{self.mss}`"
            raise ScenarioError(message, key=name)

    def _check_stop(self) -> None:
        """Refuse flows that stop before they start."""
        if self.stop is None:
            return
        if self.stop <= self.start:
            raise ScenarioError(
                f"`{self.cc}` flows stop at {self.stop}, before they start at {self.start}",
                key="stop",
            )
        if self.stop <= self.latest_start:
            raise ScenarioError(
                f"{self._late_start()}, not before they stop at {self.stop}; "
                "use a smaller `jitter` or a later `stop`",
                key="stop",
            )

    @property
    def latest_start(self) -> Time:
        """When the last of them may start."""
        return Time(self.start + self.jitter)

    def _late_start(self) -> str:
        return (
            f"flows of `{self.cc}` may start as late as {self.latest_start} "
            f"(start {self.start} + jitter {self.jitter})"
        )

    def check_within(self, end: Time) -> None:
        """Refuse flows that may start only after the end.

        Parameters
        ----------
        end
            Simulated time of the scenario.
        """
        if self.start >= end:
            raise ScenarioError(
                f"`{self.cc}` flows never start: start `{self.start}` is not before "
                f"the end at `{end}`; use an earlier `start` or a longer `time`",
                key="start",
            )
        if self.latest_start >= end:
            raise ScenarioError(
                f"{self._late_start()}, not before the end at {end}; "
                "use `--jitter 0s` or a longer `--time`",
                key="jitter",
            )

    @property
    def segment_bytes(self) -> int:
        """Payload of a full segment: of a program's, what its hosts' MTU leaves."""
        if self.client is None:
            return int(self.mss)
        return int(self.mtu) + ETHERNET_BYTES - HEADER_BYTES

    @property
    def packet_bytes(self) -> int:
        """Size of a full segment on the wire."""
        return self.segment_bytes + HEADER_BYTES
