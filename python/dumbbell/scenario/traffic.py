"""What a group's flows have to send: an application with its parameters.

``poisson:load=30%,size=pareto(1.2;10kB)``. The engine has the declarations; each has a file
in ``crates/app/src/traffic``.

Facts describe an application (`takes_load`, `has_requests`, `sends_datagrams`). Python adds two
parameters: `preset`, which replaces defaults, and `load`, which it turns into the engine's `gap`
because it knows the route. Settings that do not fit together are refused in one place, the engine's
`check`. Python calls it when a scenario is made (`_core.check_traffic`) and puts the fields and
numbers of its message into the user's words and units. A distribution given by points of a file is
kept as points, so that a result names no file.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dumbbell import _core
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.quantity import expand
from dumbbell.scenario.distribution import POINTS, Distribution, from_json
from dumbbell.scenario.element import Element, ElementChoice
from dumbbell.scenario.engine_message import in_user_words
from dumbbell.scenario.kinds import Kind
from dumbbell.scenario.parameter import QUANTITIES, ElementParameter
from dumbbell.scenario.routes import payload_rate_bps

if TYPE_CHECKING:
    from dumbbell.scenario.group import Group
    from dumbbell.scenario.scenario import Scenario

__all__ = ["BULK", "OfTraffic", "TrafficChoice", "applications"]

#: What a group without `traffic` sends.
BULK = "bulk"
#: The parameter that decides the `gap` of arrivals.
LOAD, GAP, SIZE = "load", "gap", "size"
LOAD_PARAMETER = ElementParameter(
    name=LOAD,
    field="",
    unit="load",
    is_optional=True,
    default=None,
    min=1,
    max=10**10,
    doc="Load that the group offers to the narrowest link of its route, as a share of the payload "
    "that the link carries; decides `gap`.",
)
#: The parameter that sets others.
PRESET = "preset"
#: What others call an application.
CALLED = {
    "call": "datagram:preset=voip", "ftp": "bulk", "http": "page", "udp": "datagram", "web": "page",
}  # fmt: skip
#: Bytes, where an application is expected.
BYTES = re.compile(r"\d[\d.]* ?[kKMG]?i?B")
PRESET_NAMED = re.compile(rf"(?:^|,)\s*{PRESET}\s*=\s*([^,\s]+)")


@functools.cache
def applications() -> Mapping[str, Element]:
    """Return every application by name."""
    return {each["name"]: read_application(each) for each in json.loads(_core.applications())}


def read_application(document: Mapping[str, Any]) -> Element:
    """Read the engine's declaration of an application."""
    element = with_load(Element.from_json(document))
    presets = document["presets"]
    if not presets:
        return element
    names = tuple(preset["name"] for preset in presets)
    choice = ElementParameter(
        name=PRESET, field=PRESET, unit="choice", is_optional=True, default=None, min=0,
        max=len(names) - 1, choices=names,
        doc="Values of the other parameters, which may be set after it.",
    )  # fmt: skip
    element = replace(element, parameters={PRESET: choice, **element.parameters})
    known = {
        preset["name"]: replace(
            element,
            doc=preset["doc"],
            parameters=with_defaults(element.parameters, preset["settings"]),
        )
        for preset in presets
    }
    return replace(element, presets=known)


def with_load(element: Element) -> Element:
    """Return an application with `load`, if it takes one."""
    if not element.takes_load:
        return element
    gap = replace(element.parameters[GAP], default=None, is_optional=True)
    return replace(element, parameters={LOAD: LOAD_PARAMETER, **element.parameters, GAP: gap})


def with_defaults(
    parameters: Mapping[str, ElementParameter], settings: Mapping[str, Any]
) -> dict[str, ElementParameter]:
    """Return parameters with the values of a preset as their defaults."""
    return {
        name: replace(each, default=from_json(settings[each.field], each))
        if each.field in settings
        else each
        for name, each in parameters.items()
    }


class TrafficChoice(ElementChoice):
    """An application as a scenario names it: ``rpc:request=1kB,response=10kB``."""

    noun, word = "application", "traffic"

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every application."""
        return applications()

    @classmethod
    def element_of(cls, name: str, rest: str) -> Element:
        """Return what a name declares, with the defaults of the preset that is named after it."""
        element = cls.known()[name]
        found = PRESET_NAMED.search(rest)
        return element.presets.get(found[1], element) if found else element

    @classmethod
    def preset_named(cls, name: str) -> str:
        """Say that a name is of an application's preset, or what others call an application."""
        if name in CALLED:
            return f"unknown application `{name}`; did you mean `{CALLED[name]}`?"
        if BYTES.fullmatch(name):
            return f"unknown application `{name}`; a transfer of that size is `--size {name}`"
        of = [f"{each}:{PRESET}={name}" for each, it in cls.known().items() if name in it.presets]
        return f"unknown application `{name}`; did you mean `{of[0]}`?" if of else ""

    @property
    def declaration(self) -> Element:
        """What it declares, with the defaults of its preset."""
        element = self.known()[self.name]
        return element.presets.get(self.params.get(PRESET, ""), element)

    @property
    def is_bulk(self) -> bool:
        """Whether each flow is one transfer from its start on."""
        return self.name == BULK

    @property
    def point_count(self) -> int:
        """How many points its distributions have that are given by points."""
        drawn = (value for value in self.params.values() if isinstance(value, Distribution))
        return sum(len(each.params.get(POINTS, ())) for each in drawn)

    def check_complete(self, what: str) -> None:
        """Refuse arrivals whose rate is not set, or set twice."""
        super().check_complete(what)
        if not self.declaration.takes_load:
            return
        gap, load = self.value_of(GAP), self.value_of(LOAD)
        if gap is not None and LOAD in self.params and GAP in self.params:
            raise ScenarioError(
                f"`{LOAD}` and `{GAP}` of `{self.name}` are the same; remove one", key=what
            )
        if gap is None and load is None:
            raise ScenarioError(
                f"`{self.name}` needs `{LOAD}` or `{GAP}`: use e.g. `{self.name}:{LOAD}=30%,…` or "
                f"`{self.name}:{GAP}=100ms,…`",
                key=what,
            )

    def value_of(self, name: str) -> Any:
        """Return a parameter's value, set or not."""
        return self.params.get(name, self.declaration.parameters[name].default)

    def with_param(self, name: str, value: Any) -> Self:
        """Return a copy with a parameter changed."""
        kept = {key: each for key, each in self.params.items() if key != name}
        if value != self.declaration.parameters[name].default:
            kept[name] = value
        if name == LOAD:
            kept.pop(GAP, None)
        elif name == GAP:
            kept.pop(LOAD, None)
        return type(self)(
            self.name, {key: kept[key] for key in self.declaration.parameters if key in kept}
        )

    def mean_bytes(self) -> float:
        """Return the mean size of its transfers."""
        return mean_of(self.value_of(SIZE))

    def to_engine(self, group: Group, scenario: Scenario) -> dict[str, Any]:
        """Return it as the engine takes it: every parameter in base units."""
        resolved = self.in_base_units()
        for name in (LOAD_PARAMETER.field, PRESET):
            resolved.pop(name, None)
        if self.declaration.takes_load and self.value_of(GAP) is None:
            # λ = ρ·C / (8·E[S]) of the group; each of its flows is as large a part of it.
            rate_bps = self.value_of(LOAD) / 1e9 * payload_rate_bps(group, scenario)
            gap_ns = 8e9 * self.mean_bytes() * group.flows / rate_bps
            resolved[self.declaration.parameters[GAP].field] = max(1, round(gap_ns))
        return resolved

    def offered_bps(self, group: Group, scenario: Scenario) -> float | None:
        """Return how much payload a group's arrivals are; None where nothing arrives by itself."""
        if not self.declaration.takes_load:
            return None
        resolved = self.to_engine(group, scenario)
        gap_ns = resolved[self.declaration.parameters[GAP].field]
        return float(8e9 * self.mean_bytes() * group.flows / gap_ns)

    def check(self, group: Group, scenario: Scenario) -> None:
        """Refuse parameters that do not fit together, as the engine does."""
        if self.is_bulk:
            return
        try:
            _core.check_traffic(json.dumps(self.to_engine(group, scenario)))
        except _core.EngineError as error:
            raise ScenarioError(self._in_words(str(error)), key=self.word) from None

    def _in_words(self, message: str) -> str:
        """Return a message of the engine's with the parameters' names."""
        parameters = list(self.declaration.parameters.values())
        for each in self.params.values():
            parameters += each.parameters.values() if isinstance(each, Distribution) else ()
        return in_user_words(message, parameters)


def mean_of(value: Any) -> float:
    """Return the mean of what a parameter's values are drawn from."""
    if isinstance(value, Distribution):
        return _core.distribution_mean_milli(json.dumps(value.to_engine())) / 1000
    return float(value)


@dataclass(frozen=True)
class OfTraffic(Kind[Any]):
    """A parameter of an application."""

    application: str
    parameter: ElementParameter

    SCALES: ClassVar = {"ns": ("s", 1e9), "bytes": ("bytes", 1.0), "bps": ("bps", 1.0),
                        "ppb": ("pct", 1e7), "load": ("pct", 1e7), "milli": (None, 1e3),
                        "count": (None, 1.0)}  # fmt: skip

    @property
    def metavar(self) -> str:  # type: ignore[override]
        return self.parameter.name.upper()

    def parse(self, value: Any, what: str) -> Any:  # noqa: ARG002 -- errors name the parameter
        return self.parameter.parse(value, self.application)

    def split(self, text: str, what: str) -> list[str]:
        if ".." in text or self.parameter.unit in QUANTITIES:
            return expand(text, what, self.parameter.examples)
        return super().split(text, what)

    def unit(self, values: Collection[Any]) -> str | None:  # noqa: ARG002
        return self.SCALES.get(self.parameter.unit, (None, 1.0))[0]

    def numbers(self, values: Collection[Any]) -> tuple[float, ...] | None:
        if not all(isinstance(value, int) for value in values):
            return None
        return tuple(
            value / self.SCALES.get(self.parameter.unit, (None, 1.0))[1] for value in values
        )
