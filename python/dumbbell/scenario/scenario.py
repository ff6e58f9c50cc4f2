"""What to run: flows in groups, over which links, and for how long."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Buffer, Loss, Rate, Size, Time
from dumbbell.base.quantities.steps import MIN_RTT_NS, RateSteps, RttSteps
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.scenario.amount import check_amount, read_groups, read_links
from dumbbell.scenario.distribution import CDF
from dumbbell.scenario.element import ImpairmentChoice, Impairments, QueueChoice
from dumbbell.scenario.fields import (
    PATH,
    RUN,
    Field,
    Of,
    Shorthand,
    Tables,
    documented,
    fields_of,
    to_engine,
    to_words,
)
from dumbbell.scenario.group import Group
from dumbbell.scenario.group_labels import group_labels
from dumbbell.scenario.group_name import check_names
from dumbbell.scenario.kinds import Changes, Count, Measure, Text
from dumbbell.scenario.link import BOTTLENECK, Link, write_steps
from dumbbell.scenario.link_queue import LinkQueue
from dumbbell.scenario.program import live_commands, recorded_commands
from dumbbell.scenario.routes import Crossing, check_routes, crossings_of, groups_over
from dumbbell.scenario.trace import WRITTEN, Trace

__all__ = ["Scenario"]


@documented
@dataclass(frozen=True)
class Scenario:
    """Groups of flows over one bottleneck, or over links.

    The first argument lists the groups; the name of a congestion control algorithm is a group of
    one flow. `links` lists the links, which groups have in their `route` and `back`. Without it
    there is one, the bottleneck, whose fields are the scenario's: `rate`, `buffer` and so on.
    Either way `links` has them all.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(["copa", dumbbell.Group("cubic", 4)], buffer="2bdp")
    >>> str(scenario.rate), scenario.bdp_bytes
    ('50mbit', 250000)
    >>> line = dumbbell.Scenario(
    ...     [dumbbell.Group("cubic", route=["down"], back=["up"])],
    ...     links=[dumbbell.Link("down", rate="20mbit"), dumbbell.Link("up", rate="1mbit")],
    ... )
    >>> [link.name for link in line.links]
    ['down', 'up']
    """

    groups: Tables[Group, Group | str | CongestionControlChoice | type] = Tables(
        "group", read_groups
    )
    _: KW_ONLY
    links: Tables[Link, Link] = Tables("link", read_links, ())
    name: Field[str, str] = Field(
        Text(), "", panel=RUN, example="copa against cubic", option=False, axis=False,
        synonyms=("title",), doc="A title. `--name` sets it.",
    )  # fmt: skip
    rate: Of[Rate] = Shorthand(Link.rate, "50mbit")
    rtt: Of[Time] = Field(
        Measure(Time, MIN_RTT_NS, "ms"), "40ms", panel=PATH, example="80ms",
        synonyms=("delay", "latency", "base_rtt", "propagation_delay"),
        doc="Base RTT of the groups without one of their own: propagation delay in both "
        "directions, without queueing and serialisation.",
    )  # fmt: skip
    buffer: Of[Buffer | None] = Shorthand(Link.buffer)
    queue: Of[QueueChoice | None] = Shorthand(Link.queue)
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
    rate_steps: Of[RateSteps] = Shorthand(Link.rate_steps)
    rtt_steps: Of[RttSteps] = Field(
        Changes(RttSteps), "", panel=PATH, example=RttSteps.examples,
        doc="Changes of the base RTT of groups without an `rtt` of their own. A BDP is still that "
        "of `rtt`.",
    )  # fmt: skip
    tcp_mem: Of[Size | None] = Field(
        Measure(Size, 1), None, panel=PATH, example="32MB", sparse=True, engine="tcp_mem_bytes",
        default_note="enough", synonyms=("memory", "socket_memory"),
        doc="Memory of all sockets, at both ends, above which they are under pressure: Linux's "
        "`tcp_mem[1]` (simulator only). A receiver that holds much above a hole then offers four "
        "segments, and send buffers do not grow.",
    )  # fmt: skip
    ecn_threshold: Of[Buffer | None] = Shorthand(Link.ecn_threshold)
    loss: Of[Loss] = Shorthand(Link.loss)
    impair: Field[Impairments, str | Sequence[str | ImpairmentChoice]] = Shorthand(Link.impair)
    trace: Of[Trace | None] = Shorthand(Link.trace)

    def __post_init__(self) -> None:
        self._place_shorthand()
        self._check()

    def _place_shorthand(self) -> None:
        """Make the bottleneck of its fields, unless there are links."""
        fields = shorthand_fields()
        given = [field.name for field in fields if vars(self)[field.name] is not None]
        if self.links:
            if given:
                raise ScenarioError(
                    f"`{given[0]}` is of the only link of a scenario without links and cannot be "
                    f"combined with them; set it in a link",
                    key=given[0],
                )
            return
        for field in fields:
            field.set_default(self)
        values = {field.name: getattr(self, field.name) for field in fields}
        bottleneck = Link(BOTTLENECK, **values)
        vars(self)["links"], vars(self)["rate"] = (bottleneck,), bottleneck.rate

    def _check(self) -> None:
        """Refuse fields that do not fit together."""
        if not self.groups:
            raise ScenarioError("no flows; name a congestion control algorithm, like `copa`")
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
        check_amount(self)
        check_names(self)
        check_routes(self)
        self._check_links()
        for index, group in enumerate(self.groups):
            try:
                group.traffic.check(group, self)
            except ScenarioError as error:
                error.group = index
                raise

    def _check_links(self) -> None:
        """Refuse queues that do not work, and media that do not fit them."""
        for index, link in enumerate(self.links):
            try:
                link.queue_in(self).check()
                link.check_medium(self)
            except ScenarioError as error:
                if self.is_dumbbell:
                    raise
                message = f"link `{link.name}`: {error}"
                raise ScenarioError(message, key=error.key, link=index) from None

    @property
    def is_dumbbell(self) -> bool:
        """Whether its only link is the bottleneck that its own fields describe."""
        return vars(self)["rate"] is not None

    @property
    def bdp_bytes(self) -> int:
        """1 BDP in wire bytes: rate × rtt."""
        if not self.is_dumbbell:
            raise ScenarioError("each link has a BDP of its own; use that of `Link.queue_in`")
        return int(self.rate) * int(self.rtt) // (8 * 10**9)

    def bdp_rtt(self, link: Link) -> Time:
        """Return the RTT of a link's BDP: the largest base RTT of the flows over it.

        (RFC 7928 §3.2.) In a scenario without links it is `rtt`.
        """
        if self.is_dumbbell:
            return self.rtt
        rtts: list[Time] = [group.rtt or self.rtt for group in groups_over(link, self)]
        return max(rtts, default=self.rtt)

    @cached_property
    def links_by_name(self) -> Mapping[str, Link]:
        """The links by their names."""
        return {link.name: link for link in self.links}

    @cached_property
    def crossings(self) -> Mapping[str, Crossing]:
        """The groups that cross each link, by its name."""
        return crossings_of(self)

    def link(self, name: str) -> Link:
        """Return the link of that name."""
        if name in self.links_by_name:
            return self.links_by_name[name]
        names = ", ".join(f"`{link.name}`" for link in self.links)
        raise ScenarioError(f"there is no link `{excerpt(name)}`; the links are {names}")

    @property
    def link_queue(self) -> LinkQueue:
        """The bottleneck's queue, with the limit in force."""
        return self.links[0].queue_in(self)

    def shortest_rtt_of(self, group: Group) -> Time:
        """Return the smallest base RTT that a group ever has."""
        return self._shortest_rtt if group.rtt is None else group.rtt

    @cached_property
    def _shortest_rtt(self) -> Time:
        """That of groups without one of their own."""
        rtts: list[Time] = [self.rtt, *self.rtt_steps.before(self.time)]
        return min(rtts)

    @property
    def shortest_rtt(self) -> Time:
        """The smallest base RTT that any group ever has."""
        return min(self.shortest_rtt_of(group) for group in self.groups)

    @property
    def flow_count(self) -> int:
        """How many flows there are in all groups."""
        return sum(group.flows for group in self.groups)

    @cached_property
    def group_labels(self) -> tuple[str, ...]:
        """A label for each group in tables and figures: no two alike."""
        return group_labels(self)

    def replace(self, **changes: Any) -> Scenario:
        """Return a copy with some fields changed: ``scenario.replace(seed=2, buffer="4bdp")``."""
        if changes.keys() == {"seed"}:  # nothing depends on it, so nothing is checked again
            other = object.__new__(Scenario)
            vars(other).update(vars(self))
            Scenario.seed.__set__(other, changes["seed"])
            return other
        if not self.is_dumbbell:
            return dataclasses.replace(self, **changes)
        if "links" in changes:
            changes = dict.fromkeys(field.name for field in shorthand_fields()) | changes
            return dataclasses.replace(self, **changes)
        return dataclasses.replace(self, links=(), **changes)

    def resolve(self) -> dict[str, Any]:
        """Return the scenario as the engine takes it: integers in base units."""
        groups = [to_engine(group, self) for group in self.groups]
        if self.rtt_steps:
            steps = write_steps("base_rtt_ns")(self.rtt_steps, self)
            for resolved, group in zip(groups, self.groups, strict=True):
                resolved |= {"rtt_steps": steps} if group.rtt is None else {}
        links = [link.to_engine(self) for link in self.links]
        return {**to_engine(self, self), "links": links, "groups": groups}

    def to_json(self) -> str:
        """Return `resolve` as JSON, the engine's input."""
        return json.dumps(self.resolve())

    def to_dict(self) -> dict[str, Any]:
        """Return the scenario in the words of a scenario file, quantities with units."""
        links = {"link": [to_words(link) for link in self.links]}
        unset = {
            name: ""
            for name, field in fields_of(Scenario).items()
            if not field.sparse and (self.is_dumbbell or not isinstance(field, Shorthand))
        }
        return {
            **unset,
            **to_words(self),
            **({} if self.is_dumbbell else links),
            "group": [to_words(group) for group in self.groups],
        }

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Scenario:
        """Return the scenario that `to_dict` wrote."""
        return cls([Group(**group) for group in words["group"]], **settings_of(words))

    @classmethod
    def from_result(
        cls, words: Mapping[str, Any], ccs: Sequence[CongestionControlChoice]
    ) -> Scenario:
        """Return the scenario of a result, with what it recorded of each group's `cc`.

        No file is looked for and no congestion control algorithm is looked up. Its programs do not
        run again.
        """
        for group in words["group"]:
            if f"{CDF}(" in str(group.get("traffic", "")):
                raise ScenarioError(f"a result's traffic has its points, not `{CDF}(FILE)`")
        for path in (words, *words.get("link", [])):
            if Trace.names_file(str(path.get("trace") or WRITTEN)):
                raise ScenarioError("a result's trace has its times, not a file")
        groups = zip(map(recorded_commands, words["group"]), ccs, strict=True)
        return cls([Group(**{**group, "cc": cc}) for group, cc in groups], **settings_of(words))

    def with_ccs(
        self, change: Callable[[CongestionControlChoice], CongestionControlChoice]
    ) -> Scenario:
        """Return a copy with each group's congestion control changed."""
        ccs = [change(group.cc) for group in self.groups]
        if all(cc is group.cc for cc, group in zip(ccs, self.groups, strict=True)):
            return self
        groups = zip(self.groups, ccs, strict=True)
        return self.replace(groups=[dataclasses.replace(group, cc=cc) for group, cc in groups])

    def with_live_programs(self) -> Scenario:
        """Return a copy whose programs run, although a result names them: the user trusts them."""
        groups = [dataclasses.replace(group, **live_commands(group)) for group in self.groups]
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


def shorthand_fields() -> list[Shorthand[Any, Any]]:
    """Return the fields that a scenario has of its only link."""
    return [field for field in fields_of(Scenario).values() if isinstance(field, Shorthand)]


def settings_of(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return the constructor's arguments, without the groups, for what `Scenario.to_dict` wrote."""
    settings = {key: value for key, value in words.items() if key not in ("group", "link")}
    return {**settings, "links": [Link(**link) for link in words.get("link", [])]}
