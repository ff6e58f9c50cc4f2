"""What to run: flows in groups, one bottleneck, and for how long."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.errors import ScenarioError
from dumbbell.quantities.plain_value import check_count, check_flag, check_name, to_plain
from dumbbell.quantities.quantity import U64_MAX, Buffer, Loss, Rate, Size, Time
from dumbbell.quantities.steps import MIN_RTT_NS, RateSteps, RttSteps
from dumbbell.scenario.group_labels import group_labels

__all__ = ["MAX_FLOWS", "Group", "Scenario"]

#: Payload of a full segment on Ethernet with timestamps: 1500 - 20 (IP) - 20 (TCP) - 12 (options).
DEFAULT_MSS = "1448B"
#: Everything around the payload on the wire: Ethernet 14, IP 20, TCP 20, timestamps 12.
HEADER_BYTES = 66
#: TCP_MIN_MSS of Linux: below it a segment is mostly header.
MIN_MSS_BYTES = 88
#: Far beyond any window in a scenario that fits in memory, so that it never binds.
UNLIMITED = "1GiB"
#: Largest payload of a segment: an IP packet has 65,535 bytes, headers included (RFC 791 §3.1).
MAX_MSS_BYTES = 65_535 - 52
#: Of all groups together; a scenario near this hardly fits in memory.
MAX_FLOWS = 100_000
#: Rows of the table `flows`, at about 100 B each: more do not fit in memory.
MAX_ROWS = 100_000_000


@dataclass(frozen=True, init=False)
class Group:
    """Flows that are alike.

    Parameters
    ----------
    cc
        Congestion control: ``"copa"``, ``"copa:mode_window_rtts=5"``, ``"./mine.bpf.c"``;
        ``"linux/cubic"`` is the running kernel's own, for the kernel engine; a class of
        `dumbbell.CongestionControl` stands for itself.
    flows
        How many.
    rtt
        Base RTT of these flows' path; the scenario's when left out.
    start
        When the first of them may start.
    jitter
        Each flow starts this much later at most, drawn from the seed: processes that are started
        together never send their first packet in the same nanosecond.
    stop
        When the application stops sending; at the end of the run when left out.
    size
        How much each flow sends; without end when left out.
    rwnd
        Receive window; large enough by default never to bind.
    sndbuf
        Send buffer; large enough by default never to bind.
    tso
        Segmentation offload: segments leave in bursts as Linux sizes them.
    delayed_ack
        Delayed ACKs; off, every segment is acknowledged at once.
    mss
        Payload of a full segment.
    ecn
        Classic ECN (RFC 3168); a congestion control that needs ECN, like ``dctcp``, has it unasked.
    """

    cc: CongestionControlChoice
    flows: int
    rtt: Time | None
    start: Time
    jitter: Time
    stop: Time | None
    size: Size | None
    rwnd: Size
    sndbuf: Size
    tso: bool
    delayed_ack: bool
    mss: Size
    ecn: bool

    def __init__(
        self,
        cc: str | CongestionControlChoice | type,
        flows: int = 1,
        *,
        rtt: str | Time | None = None,
        start: str | Time = "0s",
        jitter: str | Time = "100ms",
        stop: str | Time | None = None,
        size: str | Size | None = None,
        rwnd: str | Size = UNLIMITED,
        sndbuf: str | Size = UNLIMITED,
        tso: bool = True,
        delayed_ack: bool = True,
        mss: str | Size = DEFAULT_MSS,
        ecn: bool = False,
    ) -> None:
        values = {
            "cc": CongestionControlChoice.parse(cc),
            "flows": check_count(flows, "flows", MAX_FLOWS),
            "rtt": None if rtt is None else Time.parse(rtt, "rtt", minimum=MIN_RTT_NS),
            "start": Time.parse(start, "start"),
            "jitter": Time.parse(jitter, "jitter"),
            "stop": None if stop is None else Time.parse(stop, "stop", minimum=1),
            "size": None if size is None else Size.parse(size, "size", minimum=1),
            "rwnd": Size.parse(rwnd, "rwnd", minimum=1),
            "sndbuf": Size.parse(sndbuf, "sndbuf", minimum=1),
            "mss": Size.parse(mss, "mss", minimum=MIN_MSS_BYTES),
            "tso": check_flag(tso, "tso"),
            "delayed_ack": check_flag(delayed_ack, "delayed_ack"),
            "ecn": check_flag(ecn, "ecn"),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_segment()
        self._check_stop()

    def _check_segment(self) -> None:
        """Refuse a segment that no packet or window holds."""
        if self.mss > MAX_MSS_BYTES:
            raise ScenarioError(
                f"mss `{self.mss}` does not fit in an IP packet; say at most `{MAX_MSS_BYTES}B`",
                key="mss",
            )
        for name, window in (("rwnd", self.rwnd), ("sndbuf", self.sndbuf)):
            if window >= self.mss:
                continue
            if str(self.mss) != DEFAULT_MSS:
                raise ScenarioError(
                    f"mss `{self.mss}` is larger than {name} `{window}`; say a smaller `mss` or a "
                    f"larger `{name}`",
                    key="mss",
                )
            message = f"{name} `{window}` is smaller than a segment; say at least `{self.mss}`"
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
                "say a smaller `jitter` or a later `stop`",
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
                "say `--jitter 0s` or a longer `--time`",
                key="jitter",
            )

    @property
    def packet_bytes(self) -> int:
        """Size of a full segment on the wire."""
        return int(self.mss) + HEADER_BYTES


@dataclass(frozen=True, init=False)
class Scenario:
    """Groups of flows through one bottleneck.

    Parameters
    ----------
    groups
        The flows; a congestion control's name stands for one flow of it.
    rate
        Capacity of the bottleneck; Ethernet, IP and TCP headers count.
    rtt
        Base RTT: both ways' propagation, without queueing and serialisation.
    buffer
        The bottleneck's drop-tail buffer, in BDP (rate × rtt), bytes or packets.
    time
        Simulated time.
    seed
        Seed of every random draw of the run.
    sample
        Interval of the time series; ``0s`` records none.
    name
        A title, for people.
    rate_steps
        Later capacities of the bottleneck: ``"10s:5mbit, 20s:50mbit"``. A BDP stays what it is at
        `rate`.
    rtt_steps
        Later base RTTs of the groups that have no `rtt` of their own: ``"20s:80ms, 40s:40ms"``. A
        BDP stays what it is at `rtt`. Nothing overtakes where the RTT falls.
    ecn_threshold
        Backlog above which the bottleneck marks packets that are ECN-capable, in BDP, bytes or
        packets; empty or None: it marks none.
    loss
        Probability that a packet is lost at random ahead of the bottleneck's queue, as on a noisy
        link: ``"0.1%"``. Acknowledgments are not lost.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(["copa", dumbbell.Group("cubic", 4)], buffer="2bdp")
    >>> str(scenario.rate), scenario.bdp_bytes
    ('50mbit', 250000)
    """

    name: str
    rate: Rate
    rtt: Time
    buffer: Buffer
    time: Time
    seed: int
    sample: Time
    rate_steps: RateSteps
    rtt_steps: RttSteps
    ecn_threshold: Buffer | None
    loss: Loss
    groups: tuple[Group, ...]

    def __init__(
        self,
        groups: Iterable[Group | str | CongestionControlChoice | type],
        *,
        rate: str | Rate = "50mbit",
        rtt: str | Time = "40ms",
        buffer: str | Buffer = "1bdp",
        time: str | Time = "60s",
        seed: int = 1,
        sample: str | Time = "10ms",
        name: str = "",
        rate_steps: str | RateSteps = "",
        rtt_steps: str | RttSteps = "",
        ecn_threshold: str | Buffer | None = None,
        loss: str | Loss = "0%",
    ) -> None:
        if isinstance(groups, str):
            raise ScenarioError(f"groups is the text `{groups}`; say a list, like `[{groups!r}]`")
        values = {
            "name": check_name(name),
            "rate": Rate.parse(rate, "rate", minimum=1),
            "rtt": Time.parse(rtt, "rtt", minimum=MIN_RTT_NS),
            "buffer": Buffer.parse(buffer),
            "time": Time.parse(time, "time", minimum=1),
            "seed": check_count(seed, "seed", 2**64 - 1, minimum=0),
            "sample": Time.parse(sample, "sample"),
            "rate_steps": RateSteps.parse(rate_steps),
            "rtt_steps": RttSteps.parse(rtt_steps),
            "ecn_threshold": (
                Buffer.parse(ecn_threshold, "ecn_threshold") if ecn_threshold else None
            ),
            "loss": Loss.parse(loss, "loss"),
            "groups": tuple(g if isinstance(g, Group) else Group(g) for g in groups),
        }
        for key, value in values.items():
            object.__setattr__(self, key, value)
        self._check()

    def _check(self) -> None:
        """Refuse what is wrong between the fields."""
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
                f"rtt_steps `{self.rtt_steps}` change nothing, for every group has an `rtt` of its "
                "own; leave out one or the other",
                key="rtt_steps",
            )
        self._check_amount()
        self._check_buffer()
        self._check_ecn_threshold()

    def _check_amount(self) -> None:
        """Refuse more flows or rows than memory holds."""
        if self.flow_count > MAX_FLOWS:
            raise ScenarioError(
                f"the groups have {self.flow_count:,} flows; say at most {MAX_FLOWS:,} in all",
                key="flows",
            )
        if self.sample == 0:
            return
        rows = self.flow_count * int(self.time) // int(self.sample)
        if rows > MAX_ROWS:
            flows = "1 flow" if self.flow_count == 1 else f"{self.flow_count:,} flows"
            raise ScenarioError(
                f"{flows} sampled every `{self.sample}` for `{self.time}` make {rows:,} rows, "
                f"more than {MAX_ROWS:,}; say a longer `--sample`, or `0s` for none",
                key="sample",
            )

    def _check_buffer(self) -> None:
        """Refuse a buffer that holds no packet, or more than a number of the engine's."""
        if self.buffer.unit == "pkt":
            if self.buffer.amount > U64_MAX:
                raise ScenarioError(f"buffer `{self.buffer}` is too large", key="buffer")
            return
        packet_bytes = max(group.packet_bytes for group in self.groups)
        limit_bytes = self.buffer.limit_bytes(self.rate, self.rtt)
        if limit_bytes < packet_bytes:
            raise ScenarioError(
                f"buffer `{self.buffer}` is {limit_bytes} B, smaller than a packet; "
                f"say at least `{packet_bytes}B`",
                key="buffer",
            )
        if limit_bytes > U64_MAX:
            raise ScenarioError(f"buffer `{self.buffer}` is too large", key="buffer")

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
                "marked; say a smaller threshold or a larger buffer",
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
        """What to call each group in tables and figures: no two alike."""
        return group_labels(self)

    def replace(self, **changes: Any) -> Scenario:
        """Return a copy with some fields changed: ``scenario.replace(seed=2, buffer="4bdp")``."""
        return dataclasses.replace(self, **changes)

    def resolve(self) -> dict[str, Any]:
        """Return the scenario as the engine takes it: integers in base units."""
        return {
            "seed": self.seed,
            "duration_ns": int(self.time),
            "sample_interval_ns": int(self.sample),
            "bottleneck": self._bottleneck(),
            "groups": [self._group(group) for group in self.groups],
        }

    def _group(self, group: Group) -> dict[str, Any]:
        resolved = resolve_group(group, self.rtt)
        if self.rtt_steps and group.rtt is None:
            resolved["rtt_steps"] = [
                {"at_ns": int(time), "base_rtt_ns": int(rtt)} for time, rtt in self.rtt_steps
            ]
        return resolved

    def _bottleneck(self) -> dict[str, Any]:
        resolved: dict[str, Any] = {"link_rate_bps": int(self.rate), "queue": self._queue()}
        if self.rate_steps:
            resolved["rate_steps"] = [
                {"at_ns": int(time), "link_rate_bps": int(rate)} for time, rate in self.rate_steps
            ]
        if self.ecn_threshold is not None:
            resolved["ecn_threshold"] = self._ecn_threshold(self.ecn_threshold)
        if self.loss:
            resolved["random_loss_ppb"] = int(self.loss)
        return resolved

    def _ecn_threshold(self, threshold: Buffer) -> dict[str, int]:
        if threshold.unit == "pkt":
            return {"pkts": int(threshold.amount)}
        return {"bytes": threshold.limit_bytes(self.rate, self.rtt)}

    def _queue(self) -> dict[str, Any]:
        if self.buffer.unit == "pkt":
            return {"kind": "pfifo", "limit_pkts": int(self.buffer.amount)}
        return {"kind": "bfifo", "limit_bytes": self.buffer.limit_bytes(self.rate, self.rtt)}

    def to_json(self) -> str:
        """Return `resolve` as JSON, the engine's input."""
        return json.dumps(self.resolve())

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario in the words of a scenario file, quantities with units."""
        words = {
            key: "" if (value := getattr(self, key)) is None else to_plain(value)
            for key in SCENARIO_WORDS
        }
        groups = [
            {k: to_plain(v) for k in GROUP_WORDS if (v := getattr(group, k)) is not None}
            for group in self.groups
        ]
        return {**words, "group": groups}

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Scenario:
        """Read what `to_dict` wrote."""
        settings = {key: value for key, value in words.items() if key != "group"}
        return cls([Group(**group) for group in words["group"]], **settings)

    @classmethod
    def from_toml(cls, path: str | Path) -> Scenario:
        """Read a scenario file; an error names the line."""
        from dumbbell.scenario.file import read_scenario  # it needs this class

        return read_scenario(Path(path))

    def to_toml(self) -> str:
        """Return the text of a scenario file that reads back as this scenario."""
        from dumbbell.scenario.file import format_scenario  # it needs this class

        return format_scenario(self)


#: Words of a scenario file, in the order they are written.
SCENARIO_WORDS = tuple(f.name for f in dataclasses.fields(Scenario) if f.name != "groups")
#: Words of a `[[group]]`.
GROUP_WORDS = tuple(f.name for f in dataclasses.fields(Group))


def resolve_group(group: Group, default_rtt: Time) -> dict[str, Any]:
    """Return a group as the engine takes it."""
    resolved = {
        "cc": {"name": group.cc.name, "params": dict(group.cc.params)},
        "flows": group.flows,
        "base_rtt_ns": int(group.rtt if group.rtt is not None else default_rtt),
        "start_ns": int(group.start),
        "start_jitter_ns": int(group.jitter),
        "stop_ns": None if group.stop is None else int(group.stop),
        "size_bytes": None if group.size is None else int(group.size),
        "mss_bytes": int(group.mss),
        "rwnd_bytes": int(group.rwnd),
        "sndbuf_bytes": int(group.sndbuf),
        "tso": group.tso,
        "delayed_ack": group.delayed_ack,
    }
    return {**resolved, "ecn": True} if group.ecn else resolved
