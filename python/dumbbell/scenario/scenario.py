"""What to run: flows in groups, one bottleneck, and for how long."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import MAX_ROWS
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.errors import ScenarioError
from dumbbell.quantities.excerpt import excerpt
from dumbbell.quantities.pluralize import pluralize
from dumbbell.quantities.quantity import U64_MAX, Buffer, Loss, Rate, Size, Time
from dumbbell.quantities.steps import MIN_RTT_NS, RateSteps, RttSteps
from dumbbell.scenario.fields import (
    FLOWS,
    PATH,
    RUN,
    Field,
    Of,
    Tables,
    documented,
    fields_of,
    to_engine,
    to_words,
)
from dumbbell.scenario.group_labels import group_labels
from dumbbell.scenario.kinds import Amount, Cc, Changes, Count, Flag, Measure, Text

__all__ = ["MAX_FLOWS", "Group", "Scenario"]

#: Payload of a full segment on Ethernet with timestamps: 1500 - 20 (IP) - 20 (TCP) - 12 (options).
DEFAULT_MSS = "1448B"
#: Everything around the payload on the wire: Ethernet 14, IP 20, TCP 20, timestamps 12.
HEADER_BYTES = 66
#: TCP_MIN_MSS of Linux: below it a segment is mostly header.
MIN_MSS_BYTES = 88
#: Far beyond any window in a scenario that fits in memory, so that it never limits a flow.
UNLIMITED = "1GiB"
#: Largest payload of a segment: an IP packet has 65,535 bytes, headers included (RFC 791 §3.1).
MAX_MSS_BYTES = 65_535 - 52
#: Of all groups together; a scenario near this hardly fits in memory.
MAX_FLOWS = 100_000


@documented
@dataclass(frozen=True)
class Group:
    """Flows that are alike."""

    cc: Field[CongestionControlChoice, str | CongestionControlChoice | type] = Field(
        Cc(), panel=FLOWS, example="copa:mode_window_rtts=5", option=False,
        engine="cc", always=True,
        convert=lambda cc, _: {"name": cc.runs_from, "params": dict(cc.params)},
        synonyms=("cca", "congestion_control", "algorithm", "ca"),
        doc="Congestion control: a name, a name with parameters (`copa:mode_window_rtts=5`), a "
        "file (`./mine.bpf.c`), or `linux/cubic`, the running kernel's own (kernel engine only).",
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
        convert=lambda rtt, scenario: int(scenario.rtt if rtt is None else rtt),
        default_note="the scenario's", synonyms=("delay", "latency", "base_rtt"),
        doc="Base RTT of these flows. Flows with a longer RTT than others have the difference as "
        "delay on their access link.",
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
    rwnd: Of[Size] = Field(
        Measure(Size, 1), UNLIMITED, panel=FLOWS, example="1MiB",
        engine="rwnd_bytes", always=True, default_note="never limits",
        synonyms=("receive_window", "rcvbuf", "window"), doc="Receive window.",
    )  # fmt: skip
    sndbuf: Of[Size] = Field(
        Measure(Size, 1), UNLIMITED, panel=FLOWS, example="1MiB",
        engine="sndbuf_bytes", always=True, default_note="never limits",
        synonyms=("send_buffer", "wmem"), doc="Send buffer, in bytes of payload.",
    )  # fmt: skip
    tso: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, engine="tso", always=True,
        synonyms=("gso", "offload"),
        doc="Segmentation offload: segments leave in bursts, sized as Linux does.",
    )  # fmt: skip
    delayed_ack: Field[bool, bool] = Field(
        Flag(), True, panel=FLOWS, example=False, engine="delayed_ack", always=True,
        synonyms=("delack", "delayed_acks"),
        doc="Delayed ACKs, as in Linux; without them every segment is acknowledged at once.",
    )  # fmt: skip
    mss: Of[Size] = Field(
        Measure(Size, MIN_MSS_BYTES), DEFAULT_MSS, panel=FLOWS, example="8kB",
        engine="mss_bytes", always=True, synonyms=("mtu", "segment_size"),
        doc="Payload of a full segment.",
    )  # fmt: skip
    ecn: Field[bool, bool] = Field(
        Flag(), False, panel=FLOWS, example=True, engine="ecn",
        doc="Classic ECN (RFC 3168). A congestion control that needs ECN, like `dctcp`, always "
        "enables it.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        self._check_segment()
        self._check_stop()

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
                f"the end at `{end}`",
                key="start",
            )
        if self.latest_start >= end:
            raise ScenarioError(
                f"{self._late_start()}, not before the end at {end}; "
                "use `--jitter 0s` or a longer `--time`",
                key="jitter",
            )

    @property
    def packet_bytes(self) -> int:
        """Size of a full segment on the wire."""
        return int(self.mss) + HEADER_BYTES


def read_groups(
    groups: Iterable[Group | str | CongestionControlChoice | type],
) -> tuple[Group, ...]:
    """Return groups; a congestion control stands for one flow of it."""
    if isinstance(groups, str):
        raise ScenarioError(f"`groups` must be a list, not a string; use [{groups!r}]")
    return tuple(group if isinstance(group, Group) else Group(group) for group in groups)


def write_steps(key: str) -> Any:
    """Return a function that writes steps as the engine takes them."""
    return lambda steps, _: [{"at_ns": int(time), key: int(value)} for time, value in steps]


@documented
@dataclass(frozen=True)
class Scenario:
    """Groups of flows through one bottleneck.

    The first argument lists the groups; the name of a congestion control is a group of one flow.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(["copa", dumbbell.Group("cubic", 4)], buffer="2bdp")
    >>> str(scenario.rate), scenario.bdp_bytes
    ('50mbit', 250000)
    """

    groups: Tables[Group, Group | str | CongestionControlChoice | type] = Tables(
        "group", read_groups
    )
    _: KW_ONLY
    name: Field[str, str] = Field(
        Text(), "", panel=RUN, example="copa against cubic", axis=False, synonyms=("title",),
        doc="A title.",
    )  # fmt: skip
    rate: Of[Rate] = Field(
        Measure(Rate, 1), "50mbit", panel=PATH, example="20mbit",
        engine="bottleneck.link_rate_bps", always=True,
        synonyms=("bw", "bandwidth", "link_rate", "capacity", "speed"),
        doc="Capacity of the bottleneck; Ethernet, IP and TCP headers count.",
    )  # fmt: skip
    rtt: Of[Time] = Field(
        Measure(Time, MIN_RTT_NS, "ms"), "40ms", panel=PATH, example="80ms",
        synonyms=("delay", "latency", "base_rtt", "propagation_delay"),
        doc="Base RTT: propagation delay in both directions, without queueing and serialisation.",
    )  # fmt: skip
    buffer: Of[Buffer] = Field(
        Amount(), "1bdp", panel=PATH, example="2bdp",
        engine="bottleneck.queue", always=True,
        convert=lambda buffer, scenario: queue_of(buffer, scenario),
        synonyms=("queue", "qdisc", "limit", "queue_size", "buf"),
        doc="Drop-tail buffer of the bottleneck, in BDP (rate × rtt), bytes or packets.",
    )  # fmt: skip
    time: Of[Time] = Field(
        Measure(Time, 1), "60s", panel=RUN, example="30s", engine="duration_ns", always=True,
        synonyms=("duration", "length", "runtime"),
        doc="How long the run lasts; on the kernel engine, in real time.",
    )  # fmt: skip
    seed: Field[int, int] = Field(
        Count(2**64 - 1, 0), 1, panel=RUN, example=7, engine="seed", always=True, axis=False,
        synonyms=("random_seed", "rng"), doc="Seed of every random draw.",
    )  # fmt: skip
    sample: Of[Time] = Field(
        Measure(Time, unit="ms"), "10ms", panel=RUN, example="100ms",
        engine="sample_interval_ns", always=True, synonyms=("interval", "sampling", "resolution"),
        doc="Interval of the time series; `0s` records none.",
    )  # fmt: skip
    rate_steps: Of[RateSteps] = Field(
        Changes(RateSteps), "", panel=PATH, example=RateSteps.examples,
        engine="bottleneck.rate_steps", convert=write_steps("link_rate_bps"),
        doc="Changes of the bottleneck's capacity. A BDP is still that of `rate`.",
    )  # fmt: skip
    rtt_steps: Of[RttSteps] = Field(
        Changes(RttSteps), "", panel=PATH, example=RttSteps.examples,
        doc="Changes of the base RTT of groups without an `rtt` of their own. A BDP is still that "
        "of `rtt`.",
    )  # fmt: skip
    ecn_threshold: Of[Buffer | None] = Field(
        Amount(), None, panel=PATH, example="20pkt", engine="bottleneck.ecn_threshold",
        convert=lambda threshold, scenario: ecn_threshold_of(threshold, scenario),
        synonyms=("mark_threshold", "k", "ce_threshold"),
        doc="Backlog above which the bottleneck marks ECN-capable packets, in BDP, bytes or "
        "packets.",
    )  # fmt: skip
    loss: Of[Loss] = Field(
        Measure(Loss), "0%", panel=PATH, example="0.1%", engine="bottleneck.random_loss_ppb",
        synonyms=("loss_rate", "plr", "drop", "drop_rate", "random_loss"),
        doc="Probability that a data packet is lost at random before it reaches the bottleneck's "
        "queue, as on a noisy link. ACKs are not lost.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        """Refuse fields that do not fit together."""
        if not self.groups:
            raise ScenarioError("no flows; name a congestion control, like `copa`")
        for index, group in enumerate(self.groups):
            try:
                group.check_within(self.time)
            except ScenarioError as error:
                error.group = index
                raise
        if self.rtt_steps and all(group.rtt is not None for group in self.groups):
            raise ScenarioError(
                f"rtt_steps `{self.rtt_steps}` change nothing: every group has an `rtt` of its "
                "own; remove one or the other",
                key="rtt_steps",
            )
        self._check_amount()
        self._check_buffer()
        self._check_ecn_threshold()

    def _check_amount(self) -> None:
        """Refuse more flows or rows than memory holds."""
        if self.flow_count > MAX_FLOWS:
            raise ScenarioError(
                f"the groups have {self.flow_count:,} flows; use at most {MAX_FLOWS:,} in all",
                key="flows",
            )
        if self.sample == 0:
            return
        rows = self.flow_count * int(self.time) // int(self.sample)
        if rows > MAX_ROWS:
            raise ScenarioError(
                f"{pluralize(self.flow_count, 'flow')} sampled every `{self.sample}` for "
                f"`{self.time}` make {rows:,} rows, "
                f"more than {MAX_ROWS:,}; use a longer `--sample`, or `0s` for none",
                key="sample",
            )

    def _check_buffer(self) -> None:
        """Refuse a buffer that holds no packet, or more than the engine can count."""
        if self.buffer.unit == "pkt":
            if self.buffer.amount > U64_MAX:
                message = (
                    f"buffer `{excerpt(self.buffer)}` is too large; use at most `{U64_MAX}pkt`"
                )
                raise ScenarioError(message, key="buffer")
            return
        packet_bytes = max(group.packet_bytes for group in self.groups)
        limit_bytes = self.buffer.limit_bytes(self.rate, self.rtt)
        if limit_bytes < packet_bytes:
            raise ScenarioError(
                f"buffer `{self.buffer}` is {limit_bytes} B, smaller than a packet; "
                f"use at least `{packet_bytes}B`",
                key="buffer",
            )
        if limit_bytes > U64_MAX:
            message = f"buffer `{excerpt(self.buffer)}` is too large; use at most `{U64_MAX}B`"
            raise ScenarioError(message, key="buffer")

    def _check_ecn_threshold(self) -> None:
        """Refuse a threshold that the buffer never reaches."""
        threshold, buffer = self.ecn_threshold, self.buffer
        if threshold is None or (threshold.unit == "pkt") != (buffer.unit == "pkt"):
            return
        if threshold.unit == "pkt":
            is_below = threshold.amount < buffer.amount
        else:
            limits = [limit.limit_bytes(self.rate, self.rtt) for limit in (threshold, buffer)]
            is_below = limits[0] < limits[1]
        if not is_below:
            raise ScenarioError(
                f"ecn_threshold `{threshold}` is not below buffer `{buffer}`, so nothing would be "
                "marked; use a smaller threshold or a larger buffer",
                key="ecn_threshold",
            )

    @property
    def bdp_bytes(self) -> int:
        """1 BDP in wire bytes: rate × rtt."""
        return int(self.rate) * int(self.rtt) // (8 * 10**9)

    @property
    def shortest_rtt(self) -> Time:
        """The smallest base RTT that any group ever has."""
        rtts: set[Time] = set()
        for group in self.groups:
            later = self.rtt_steps.before(self.time)
            rtts |= {self.rtt, *later} if group.rtt is None else {group.rtt}
        return min(rtts)

    @property
    def flow_count(self) -> int:
        """How many flows there are in all groups."""
        return sum(group.flows for group in self.groups)

    @property
    def group_labels(self) -> tuple[str, ...]:
        """A label for each group in tables and figures: no two alike."""
        return group_labels(self)

    def replace(self, **changes: Any) -> Scenario:
        """Return a copy with some fields changed: ``scenario.replace(seed=2, buffer="4bdp")``."""
        return dataclasses.replace(self, **changes)

    def resolve(self) -> dict[str, Any]:
        """Return the scenario as the engine takes it: integers in base units."""
        groups = [to_engine(group, self) for group in self.groups]
        if self.rtt_steps:
            steps = write_steps("base_rtt_ns")(self.rtt_steps, self)
            for resolved, group in zip(groups, self.groups, strict=True):
                resolved |= {"rtt_steps": steps} if group.rtt is None else {}
        return {**to_engine(self, self), "groups": groups}

    def to_json(self) -> str:
        """Return `resolve` as JSON, the engine's input."""
        return json.dumps(self.resolve())

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario in the words of a scenario file, quantities with units."""
        unset = dict.fromkeys(fields_of(Scenario), "")
        return {**unset, **to_words(self), "group": [to_words(group) for group in self.groups]}

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Scenario:
        """Return the scenario that `to_dict` wrote."""
        settings = {key: value for key, value in words.items() if key != "group"}
        return cls([Group(**group) for group in words["group"]], **settings)

    @classmethod
    def from_result(
        cls, words: Mapping[str, Any], ccs: Sequence[CongestionControlChoice]
    ) -> Scenario:
        """Return the scenario of a result, with what it recorded of each group's `cc`.

        No file is looked for and no congestion control is looked up.
        """
        settings = {key: value for key, value in words.items() if key != "group"}
        groups = zip(words["group"], ccs, strict=True)
        return cls([Group(**{**group, "cc": cc}) for group, cc in groups], **settings)

    def with_ccs(
        self, change: Callable[[CongestionControlChoice], CongestionControlChoice]
    ) -> Scenario:
        """Return a copy with each group's congestion control changed."""
        groups = [dataclasses.replace(group, cc=change(group.cc)) for group in self.groups]
        return self.replace(groups=groups)

    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario file; an error names the line."""
        from dumbbell.scenario.file import read_scenario  # it needs this class

        return read_scenario(Path(path))

    @classmethod
    def of(cls, what: Scenario | str | Path | Sequence[Any], **fields: Any) -> Scenario:
        """Return a scenario, that of a file, or that of a list of groups, with some fields set."""
        if isinstance(what, str | Path):
            what = cls.from_toml(what)
        if isinstance(what, Scenario):
            return what.replace(**fields) if fields else what
        return cls(what, **fields)

    def to_toml(self) -> str:
        """Return the text of a scenario file that reads back as this scenario."""
        from dumbbell.scenario.file import format_scenario  # it needs this class

        return format_scenario(self)


def queue_of(buffer: Buffer, scenario: Scenario) -> dict[str, Any]:
    """Return the bottleneck's queue as the engine takes it."""
    if buffer.unit == "pkt":
        return {"kind": "pfifo", "limit_pkts": int(buffer.amount)}
    return {"kind": "bfifo", "limit_bytes": buffer.limit_bytes(scenario.rate, scenario.rtt)}


def ecn_threshold_of(threshold: Buffer, scenario: Scenario) -> dict[str, int]:
    """Return the ECN threshold as the engine takes it."""
    if threshold.unit == "pkt":
        return {"pkts": int(threshold.amount)}
    return {"bytes": threshold.limit_bytes(scenario.rate, scenario.rtt)}
