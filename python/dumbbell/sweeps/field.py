"""Fields of a scenario that can be an axis of a sweep: ``buffer``, ``1.cc``, ``copa.flows``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell.congestion_control import CongestionControlChoice, describe
from dumbbell.congestion_control.choice import parse_integer
from dumbbell.errors import ScenarioError, nearest
from dumbbell.quantities.plain_value import check_count, check_flag, to_plain
from dumbbell.quantities.quantity import (
    Buffer,
    Loss,
    Quantity,
    Rate,
    Size,
    Time,
    expand,
    expand_counts,
)
from dumbbell.quantities.steps import RateSteps, RttSteps, Steps
from dumbbell.scenario import Scenario
from dumbbell.scenario.scenario import MAX_FLOWS

__all__ = ["Field", "field_of"]

#: Fields of the scenario itself. Its seed is no axis: repetitions have their own.
OF_SCENARIO: Mapping[str, type] = {
    "rate": Rate, "rtt": Time, "buffer": Buffer, "time": Time, "sample": Time,
    "rate_steps": RateSteps, "rtt_steps": RttSteps, "ecn_threshold": Buffer, "loss": Loss,
}  # fmt: skip
#: Fields of every group, or of one: ``1.rtt``.
OF_GROUP: Mapping[str, type] = {
    "cc": CongestionControlChoice, "flows": int, "rtt": Time, "start": Time, "jitter": Time,
    "stop": Time, "size": Size, "rwnd": Size, "sndbuf": Size, "tso": bool, "delayed_ack": bool,
    "mss": Size, "ecn": bool,
}  # fmt: skip
#: The unit of a field's numbers, where its type does not say.
UNITS = {"rate": "bps", "rtt": "ms", "jitter": "ms", "sample": "ms", "loss": "pct"}
BUFFER_UNITS = {"bdp": "bdp", "B": "bytes", "pkt": "pkts"}
#: Base units (ns, bit/s, bytes, parts per billion) in one of these.
SCALES = {"bps": 1.0, "ms": 1e6, "s": 1e9, "bytes": 1.0, "pct": 1e7}
#: Parts of a list of congestion controls that are further parameters: ``delta=2``.
PARAMETER = re.compile(r"\s*\w+\s*=[^:]*")


@dataclass(frozen=True)
class Field:
    """A field of a scenario, and whose it is.

    Attributes
    ----------
    name
        As the user wrote it: ``copa.mode_window_rtts``.
    key
        The field's own name: ``mode_window_rtts``.
    kind
        Type of its values; None for a parameter of a congestion control, an integer.
    groups
        Indices of the groups that have it; None when it is the scenario's.
    parameter_unit
        Of a parameter, as its congestion control declares it.
    """

    name: str
    key: str
    kind: Any
    groups: tuple[int, ...] | None = None
    parameter_unit: str = ""

    def parse(self, value: Any) -> Any:
        """Read one value: ``"2bdp"``, ``4``, ``Buffer("2bdp")``.

        Raises
        ------
        ScenarioError
            It is no value of this field.
        """
        if self.kind is None:
            return value if is_whole(value) else parse_integer(str(value), self.name)
        if self.kind is int:
            count = int(value) if isinstance(value, str) and value.isdecimal() else value
            return check_count(int(count) if is_whole(count) else count, self.name, MAX_FLOWS)
        if self.kind is bool:
            return check_flag({"true": True, "false": False}.get(str(value), value), self.name)
        if self.kind is Buffer:
            return Buffer.parse(value, self.name)
        if issubclass(self.kind, Steps | CongestionControlChoice):
            return self.kind.parse(value)
        return self.kind.parse(value, self.name)

    def expand(self, text: str) -> list[Any]:
        """Read a list as the command line has it: ``0.5..64bdp``, ``1,4``, ``copa,bbr``."""
        return [self.parse(part) for part in self._split(text)]

    def _split(self, text: str) -> Iterable[Any]:
        if not text.strip():
            raise ScenarioError(f"axis `{self.name}` has no values; say `{self.name}=…`")
        if self.kind is CongestionControlChoice:
            return split_congestion_controls(text)
        if self.kind in (RateSteps, RttSteps):
            return text.split(";")  # a comma is between two steps
        if self.kind is int:
            return expand_counts(text, self.name)
        if self.kind is None:
            return expand_integers(text, self.name)
        if self.kind is Buffer or issubclass(self.kind, Quantity):
            return expand(text, self.name, self.kind.examples)
        return [part.strip() for part in text.split(",")]

    def unit(self, values: Iterable[Any]) -> str | None:
        """Return the unit of the values' numbers; None without one."""
        if self.kind is None:
            return self.parameter_unit or None
        if self.kind is Buffer:
            units = {value.unit for value in values}
            return BUFFER_UNITS[units.pop()] if len(units) == 1 else None
        default = {Rate: "bps", Time: "s", Size: "bytes"}.get(self.kind)
        return UNITS.get(self.key, default)

    def numbers(self, values: Iterable[Any]) -> tuple[float, ...] | None:
        """Return the values as numbers of that unit; None when they are none."""
        values = tuple(values)
        unit = self.unit(values)
        if self.kind in (None, int):
            return tuple(float(value) for value in values)
        if self.kind is Buffer:
            return tuple(float(value.amount) for value in values) if unit else None
        if unit is None:
            return None
        return tuple(int(value) / SCALES[unit] for value in values)

    def set(self, words: dict[str, Any], groups: list[dict[str, Any]], value: Any) -> None:
        """Put a value into a scenario's words.

        Parameters
        ----------
        words, groups
            The scenario's own, and each group's, as `Scenario.to_dict` has them.
        value
            One that `parse` returned.
        """
        if self.groups is None:
            words[self.key] = to_plain(value)
            return
        for index in self.groups:
            if self.kind is None:
                cc = CongestionControlChoice.parse(groups[index]["cc"])
                changed = CongestionControlChoice(cc.name, {**cc.params, self.key: value})
                groups[index]["cc"] = str(changed)
            else:
                groups[index][self.key] = to_plain(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of any library's, and no flag."""
    return hasattr(value, "__index__") and not isinstance(value, bool)


def field_of(name: str, scenario: Scenario) -> Field:
    """Find the field that an axis names.

    Parameters
    ----------
    name
        ``rate``; ``flows`` of every group; ``1.flows`` or ``copa.flows`` of some; with a parameter,
        ``copa.mode_window_rtts`` or ``0.mode_window_rtts``.
    scenario
        Which says what groups there are.

    Raises
    ------
    ScenarioError
        There is no such field.
    """
    name = name.strip()
    if name in OF_SCENARIO:
        return Field(name, name, OF_SCENARIO[name])
    every = tuple(range(len(scenario.groups)))
    if name in OF_GROUP:
        return Field(name, name, OF_GROUP[name], every)
    if name == "seed":
        raise ScenarioError("`seed` is no axis; say `reps`: each has the next seed", key="axis")
    whose, dot, key = name.rpartition(".")
    if not dot:
        raise ScenarioError(
            f"axis `{name}` is no field of a scenario{nearest(name, [*OF_SCENARIO, *OF_GROUP])}",
            key="axis",
        )
    groups = groups_named(whose, name, scenario)
    if key in OF_GROUP:
        return Field(name, key, OF_GROUP[key], groups)
    return Field(name, key, None, groups, parameter_unit(name, key, groups, scenario))


def groups_named(whose: str, name: str, scenario: Scenario) -> tuple[int, ...]:
    """Find groups by their index or their congestion control's name."""
    if whose.isdecimal() and whose.isascii() and int(whose) < len(scenario.groups):
        return (int(whose),)
    found = tuple(i for i, group in enumerate(scenario.groups) if group.cc.name == whose)
    if not found:
        known = ", ".join(f"`{i}` ({group.cc})" for i, group in enumerate(scenario.groups))
        raise ScenarioError(
            f"axis `{name}`: no group is `{whose}`; the groups are {known}", key="axis"
        )
    return found


def parameter_unit(name: str, key: str, groups: tuple[int, ...], scenario: Scenario) -> str:
    """Return a parameter's unit; refuse one that no such congestion control has."""
    units = [""]
    for index in groups:
        cc = scenario.groups[index].cc
        if cc.is_kernels_own:
            raise ScenarioError(
                f"axis `{name}`: the kernel's own `{cc}` has no parameters", key="axis"
            )
        parameters = {parameter.name: parameter for parameter in describe(cc.name).parameters}
        if key not in parameters:
            raise ScenarioError(
                f"axis `{name}`: `{key}` is neither a group's field nor a parameter of "
                f"`{cc.name}`{nearest(key, [*OF_GROUP, *parameters])}",
                key="axis",
            )
        units.append(parameters[key].unit)
    return units[-1]


def split_congestion_controls(text: str) -> list[str]:
    """Split ``copa,copa:a=1,b=2,bbr`` into its three congestion controls."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and ":" in parts[-1] and PARAMETER.fullmatch(part):
            parts[-1] += f",{part.strip()}"
        else:
            parts.append(part.strip())
    return parts


def expand_integers(text: str, what: str) -> list[int]:
    """Expand a list of whole numbers: ``-1,0,5``, and ``2..16``, which doubles."""
    values: list[int] = []
    for part in (part.strip() for part in text.split(",")):
        values += expand_counts(part, what) if ".." in part else [parse_integer(part, what)]
    return values
