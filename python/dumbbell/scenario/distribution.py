"""Distributions of sizes and times, as parameters of applications have them.

``pareto(1.2;10kB)``, ``lognormal(p5=64KiB;p95=2MiB)``, ``web_search``, ``cdf(FILE)``. The engine
has the declarations; each has a file in ``crates/app/src/distribution``.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.base import documents
from dumbbell.base.documents import DocumentError
from dumbbell.base.errors import ScenarioError, nearest, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import NUMBER, format_fraction
from dumbbell.scenario.parameter import (
    QUANTITIES,
    SEPARATOR,
    ElementParameter,
    Value,
)

__all__ = [
    "CDF",
    "CDF_DOC",
    "POINTS",
    "Distribution",
    "DistributionDeclaration",
    "distributions",
    "first_of",
    "from_json",
    "parameter_from_json",
]

#: The distribution by points, and the word for those of a file.
POINTS, CDF = "points", "cdf"
CDF_DOC = "Points of a file, a value and the share up to it in each line: `cdf(FILE)`."
#: A distribution's name, and what is in brackets after it.
CALL = re.compile(r"\s*([A-Za-z]\w*)\s*(?:\((.*)\))?\s*", re.ASCII | re.DOTALL)
#: All of a distribution, in parts per billion.
ALL_PPB = 10**9
#: Most points of a distribution.
MAX_POINTS = 10_000


@dataclass(frozen=True)
class DistributionDeclaration:
    """A distribution as its file declares it.

    Attributes
    ----------
    name
        What a scenario calls it.
    doc
        What it is, in a sentence.
    parameters
        By name, in the order in which they may be given without names.
    """

    name: str
    doc: str
    parameters: Mapping[str, ElementParameter] = field(hash=False)


@functools.cache
def distributions() -> Mapping[str, DistributionDeclaration]:
    """Return every distribution by name."""
    return {
        each["name"]: DistributionDeclaration(
            each["name"],
            each["doc"],
            {parameter["name"]: parameter_from_json(parameter) for parameter in each["parameters"]},
        )
        for each in json.loads(_core.distributions())
    }


def parameter_from_json(document: Mapping[str, Any]) -> ElementParameter:
    """Read the engine's declaration of a parameter."""
    words = dict(document)
    choices = tuple(words.pop("choices", ()))
    names = dict(words.pop("names", ()))
    default_list = words.pop("default_list", None)
    is_drawn = words.pop("is_distribution", False)
    if choices:
        words["default"] = choices[words["default"]]
    if words["unit"] == POINTS or default_list is not None:
        words["default"] = tuple(default_list or ())
    kind = DrawnParameter if is_drawn else ElementParameter
    is_list = isinstance(words["default"], tuple)
    return kind(**words, choices=choices, names=names, is_list=is_list)


@dataclass(frozen=True, eq=False)
class Distribution:
    """What each value is drawn from.

    Attributes
    ----------
    name
        Which.
    unit
        Of the values, as `ElementParameter` has it.
    params
        Parameters that differ from the defaults.
    """

    name: str
    unit: str
    params: Mapping[str, Value]

    @classmethod
    def parse(cls, text: str, unit: str, what: str) -> Distribution:
        """Read ``pareto(1.2;10kB)`` or ``pareto(shape=1.2;scale=10kB)``.

        Parameters
        ----------
        text
            As it was written.
        unit
            Of the values.
        what
            What is drawn, for errors.
        """
        match = CALL.fullmatch(text)
        name, inside = (match[1], match[2] or "") if match else (text, "")
        if name == CDF:
            return cls(POINTS, unit, {POINTS: read_cdf(Path(inside.strip()), unit, what)})
        # `websearch` is `web_search`.
        plain = {each.replace("_", ""): each for each in distributions()}
        name = plain.get(name.replace("_", ""), name)
        if name not in distributions():
            raise ScenarioError(
                f"{what} `{excerpt(text)}`: there is no distribution `{excerpt(name)}`"
                f"{nearest(name, [*distributions(), CDF])}"
            )
        if name == POINTS:
            parts = [part for part in inside.split(SEPARATOR) if part.strip()]
            check_count_of(parts, what)
            points = tuple(point_of(part, unit, what) for part in parts)
            check_points(points, what)
            return cls(POINTS, unit, {POINTS: points})
        return cls(name, unit, arguments_of(name, inside, unit, what))

    @property
    def parameters(self) -> dict[str, ElementParameter]:
        """What it declares, in the unit of its values."""
        return parameters_in(self.name, self.unit)

    def __str__(self) -> str:
        if self.name == POINTS:
            shown = [f"{in_unit(value, self.unit)} {format_fraction(Fraction(ppb, ALL_PPB))}"
                     for value, ppb in self.params[POINTS]]  # fmt: skip
            return f"{POINTS}({SEPARATOR.join(shown)})"
        words, is_positional = [], True
        for name, parameter in self.parameters.items():
            is_positional = is_positional and name in self.params
            if name in self.params:
                value = parameter.show(self.params[name])
                words.append(value if is_positional else f"{name}={value}")
        return f"{self.name}({SEPARATOR.join(words)})" if words else self.name

    def __repr__(self) -> str:
        return f"Distribution({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Distribution):
            return NotImplemented
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def to_engine(self) -> dict[str, Any]:
        """Return it as the engine takes it: every parameter in base units."""
        resolved: dict[str, Any] = {"distribution": self.name}
        if self.name == POINTS:
            return resolved | {POINTS: [list(point) for point in self.params[POINTS]]}
        for name, parameter in self.parameters.items():
            value = self.params.get(name, parameter.default)
            if value is not None:
                resolved[parameter.field] = parameter.to_engine(value)
        return resolved


@dataclass(frozen=True)
class DrawnParameter(ElementParameter):
    """A parameter whose values may each be drawn from a distribution."""

    def parse_one(self, text: Any, what: str) -> Value:
        """Read a value or a distribution."""
        if isinstance(text, Distribution):
            return text
        if isinstance(text, str) and text.strip()[:1].isalpha():
            return Distribution.parse(text, self.unit, what)
        return super().parse_one(text, what)

    def show(self, value: Value) -> str:
        """Write a value as `parse` reads it."""
        return str(value) if isinstance(value, Distribution) else super().show(value)

    def to_engine(self, value: Value) -> Any:
        """Return a value as the engine takes it: a number, or a distribution's parameters."""
        return value.to_engine() if isinstance(value, Distribution) else super().to_engine(value)

    @property
    def range_text(self) -> str:
        """The range as a user would write it."""
        return f"{super().range_text}; or a distribution"


def from_json(value: Any, parameter: ElementParameter) -> Value:
    """Return a parameter's value as the engine has it."""
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    name = value["distribution"]
    if name == POINTS:
        points = tuple((number, ppb) for number, ppb in value[POINTS])
        return Distribution(POINTS, parameter.unit, {POINTS: points})
    known = parameters_in(name, parameter.unit)
    found = {each.name: value.get(each.field) for each in known.values()}
    params = {key: each for key, each in found.items() if each != known[key].default}
    return Distribution(name, parameter.unit, params)


def parameters_in(name: str, unit: str) -> dict[str, ElementParameter]:
    """Return a distribution's parameters, those of its values in their unit."""
    return {
        key: replace(each, unit=unit) if each.unit == "variate" else each
        for key, each in distributions()[name].parameters.items()
    }


def arguments_of(name: str, inside: str, unit: str, what: str) -> dict[str, Value]:
    """Read what is in brackets after a distribution's name."""
    parameters = parameters_in(name, unit)
    params: dict[str, Value] = {}
    given: set[str] = set()
    parts = [part.strip() for part in inside.split(SEPARATOR)] if inside.strip() else []
    for place, part in enumerate(parts):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            key, value = (list(parameters)[place], part) if place < len(parameters) else ("", part)
        if key not in parameters:
            takes = ", ".join(f"`{each}`" for each in parameters) or "no parameters"
            raise ScenarioError(
                f"{what} `{name}({excerpt(inside)})`: `{name}` takes {takes}, "
                f"not `{excerpt(key or part)}`"
            )
        if key in given:
            raise ScenarioError(
                f"{what} `{name}({excerpt(inside)})` sets `{key}` twice; remove one"
            )
        given.add(key)
        parsed = parameters[key].parse(value, name)
        if parsed != parameters[key].default:
            params[key] = parsed
    for key, parameter in parameters.items():
        if parameter.must_be_set and key not in given:
            raise ScenarioError(
                f"{what} `{name}({excerpt(inside)})`: `{name}` needs `{key}`, e.g. "
                f"`{key}={first_of(parameter.examples)}`"
            )
    return params


def first_of(examples: str) -> str:
    """Return the first of some examples."""
    return examples.partition("`, ")[0].partition("` or")[0].strip("`")


def in_unit(value: int, unit: str) -> str:
    """Write a value of a distribution."""
    return str(QUANTITIES[unit](value)) if unit in QUANTITIES else str(value)


def read_cdf(path: Path, unit: str, what: str) -> tuple[tuple[int, int], ...]:
    """Read a file with points of a cumulative distribution: a value and the share up to it a line.

    A value without a unit is in base units; lines that begin with ``#`` are comments.
    """
    if not path.name:
        raise ScenarioError(f"{what} `{CDF}()` names no file; use e.g. `{CDF}(sizes.txt)`")
    try:
        text = documents.read_text(path)
    except FileNotFoundError:
        raise ScenarioError(f"{what}: {path}: no such file") from None
    except OSError as error:
        raise ScenarioError(f"{what}: {path}: {os_reason(error)}") from None
    except DocumentError as error:
        raise ScenarioError(f"{what}: {path}: {error}") from None
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    check_count_of([line for line in lines if line], f"{what}: {path}")
    points = [
        point_of(line, unit, f"{what}: {path}:{number}:", bare=True)
        for number, line in enumerate(lines, start=1)
        if line
    ]
    check_points(points, f"{what}: {path}")
    return tuple(points)


def point_of(text: str, unit: str, what: str, *, bare: bool = False) -> tuple[int, int]:
    """Read a value and the share up to it: ``10kB 0.15``."""
    words = text.replace(",", " ").split()
    if len(words) != 2:
        raise ScenarioError(
            f"{what} `{excerpt(text)}` is not a value and the share up to it, like `10kB 0.15`"
        )
    value, share = words
    number = NUMBER.fullmatch(share)
    if number is None or number[2]:
        raise ScenarioError(f"{what} share `{excerpt(share)}` is not a number from 0 to 1")
    if not 0 <= Fraction(number[1]) <= 1:
        raise ScenarioError(f"{what} share `{excerpt(share)}` is not from 0 to 1")
    match = NUMBER.fullmatch(value)
    if unit in QUANTITIES and not (bare and match is not None and not match[2]):
        base = int(QUANTITIES[unit].parse(value, f"{what} value"))
    elif match is None or match[2] or Fraction(match[1]) < 0:
        raise ScenarioError(f"{what} value `{excerpt(value)}` is not a number from 0 on")
    else:
        base = round(Fraction(match[1]))
    return base, round(ALL_PPB * Fraction(number[1]))


def check_count_of(points: Sequence[str], what: str) -> None:
    """Refuse no points, and too many, before they are read."""
    if not points:
        raise ScenarioError(f"{what} has no points; give at least one, with share 1")
    if len(points) > MAX_POINTS:
        raise ScenarioError(f"{what} has {len(points):,} points; use at most {MAX_POINTS:,}")


def check_points(points: Sequence[tuple[int, int]], what: str) -> None:
    """Refuse points that are no cumulative distribution."""
    for (value, ppb), (later, later_ppb) in pairwise(points):
        if later < value or later_ppb < ppb:
            raise ScenarioError(
                f"{what}: the points {value} ({ppb / ALL_PPB:g}) and {later} "
                f"({later_ppb / ALL_PPB:g}) are not in order; sort them by value, with shares that "
                "do not fall"
            )
    last = points[-1][1]
    if last != ALL_PPB:
        raise ScenarioError(
            f"{what}: the shares end at {last / ALL_PPB:g}, not at 1; give the largest value "
            "share 1"
        )
