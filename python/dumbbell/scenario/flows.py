"""What a group's flows are: whose, how many, over what, from when to when, and what they send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import Any

from dumbbell.base.quantities.quantity import Size, Time
from dumbbell.base.quantities.steps import MIN_RTT_NS
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.scenario.fields import FLOWS, RUN, Attribute, Field, Of, part_of_group
from dumbbell.scenario.group_name import GroupName
from dumbbell.scenario.kinds import Count, Measure, Named, Text
from dumbbell.scenario.routes import LinkNames, Route
from dumbbell.scenario.traffic import BULK, TrafficChoice

__all__ = ["MAX_FLOWS", "Flows"]

#: Of all groups together; a scenario near this hardly fits in memory.
MAX_FLOWS = 100_000


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


@part_of_group
class Flows:
    """The fields of a group that are of its flows."""

    cc: Field[CongestionControlChoice, str | CongestionControlChoice | type] = OptionalCc(
        Named(lambda cc, _: CongestionControlChoice.parse(cc), "CC"), panel=FLOWS,
        example="copa:mode_window_rtts=5", option=False, engine="cc", always=True,
        convert=lambda cc, *_: {"name": cc.runs_from, "params": dict(cc.params)},
        synonyms=("cca", "congestion_control", "algorithm", "ca"),
        doc="Congestion control: a name, a name with parameters (`copa:mode_window_rtts=5`), a "
        "preset (`copa@paper`) or both (`copa@paper:mode_window_rtts=4`), a "
        "file (`./mine.bpf.c`), one over QUIC (`quic/quinn:cubic`, `quic/noq:copa`; simulator "
        "only), or `linux/cubic`, the running kernel's own (kernel engine only); "
        "`linux/default` is what its hosts have. Programs get it as their hosts' default.",
    )  # fmt: skip
    flows: Field[int, int] = Field(
        Count(MAX_FLOWS), 1, panel=FLOWS, example=4, engine="flows", always=True,
        synonyms=("count", "n", "num_flows", "connections", "parallel"),
        doc="Number of flows in the group.",
    )  # fmt: skip
    _: KW_ONLY
    name: Field[str | None, str | None] = Field(
        GroupName(), None, panel=RUN, example="Thesis", option=False, axis=False, sparse=True,
        default_note="a short label", synonyms=("label", "title", "id", "legend"),
        doc="What tables, legends, files and errors call the group; axes and settings can name it "
        "by it (`Thesis.rtt`). It changes nothing that runs. `--name 0=Thesis` sets it.",
    )  # fmt: skip
    metric: Field[str | None, str | None] = Field(
        Text(), None, panel=RUN, example="mos", option=False, axis=False, sparse=True,
        default_note="none", synonyms=("judge", "criterion", "goal", "judged_by"),
        doc="The metric of groups that the group is judged by: a run ends with its value, and a "
        "sweep with what is best for the group, by how much, and whether by more than chance.",
    )  # fmt: skip
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
        engine="start_jitter_ns", always=True, synonyms=("start_jitter", "spread", "stagger"),
        doc="Each flow starts up to this much later, drawn from the seed: real processes never "
        "send their first packets in the same nanosecond.",
    )  # fmt: skip
    stop: Of[Time | None] = Field(
        Measure(Time, 1), None, panel=FLOWS, example="30s", per_group=True, engine="stop_ns",
        always=True, default_note="the end of the run", synonyms=("end", "stop_time"),
        doc="When the application stops sending.",
    )  # fmt: skip
    size: Of[Size | None] = Field(
        Measure(Size, 1), None, panel=FLOWS, example="1MB", engine="size_bytes", always=True,
        default_note="no limit", synonyms=("bytes", "flow_size", "volume"),
        doc="How many bytes each flow sends.",
    )  # fmt: skip
    traffic: Of[TrafficChoice] = Field(
        Named(TrafficChoice.parse, "TRAFFIC"), BULK, panel=FLOWS,
        example="poisson:load=30%,size=pareto(1.2;10kB)", per_group=True, sparse=True,
        engine="traffic",
        convert=lambda traffic, group, scenario: traffic.to_engine(group, scenario),
        synonyms=("app", "application", "workload", "source", "pattern"),
        doc="What each flow has to send: an application with parameters (`dumbbell list traffic` "
        "lists them).",
    )  # fmt: skip
