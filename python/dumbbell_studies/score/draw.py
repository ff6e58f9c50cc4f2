"""Cells drawn at random, which no congestion control algorithm was written against."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from dumbbell.base.errors import GateError
from dumbbell.base.quantities import excerpt
from dumbbell.gate import SCENARIO_WORDS
from dumbbell.scenario import Scenario, fields_of
from dumbbell_studies.score.scored_case import ScoredCase

__all__ = ["Draw", "DrawnText", "Range", "drawn_cases", "read_drawn"]

#: ``10mbit``: a number and its unit.
VALUE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z%]*)", re.ASCII)
#: ``{10mbit..20mbit}``, ``{late=1ms..5ms}`` or ``{late}`` in a text.
PLACE = re.compile(r"\{(?:(?P<name>[a-z_]+)(?:=|(?=\})))?(?P<range>[^{}]*)\}", re.ASCII)
#: Significant digits of a drawn value.
DIGITS = 3
#: Longer texts, such as a series of rates, are not part of a cell's label.
MAX_LABEL = 60
#: Fields of a scenario that no axis varies, and traces: they are not part of it either.
NO_AXIS = frozenset(
    name for name, field in fields_of(Scenario).items() if not field.is_axis or name == "trace"
)


@dataclass(frozen=True)
class Range:
    """From where a field's value is drawn: every factor is as likely as any other.

    Attributes
    ----------
    low, high
        Ends, both included.
    unit
        Of both; empty for counts, which are whole numbers.
    """

    low: float
    high: float
    unit: str

    def value(self, chance: random.Random) -> str:
        """Draw a value, as a user would write it."""
        drawn = math.exp(chance.uniform(math.log(self.low), math.log(self.high)))
        if not self.unit:
            return str(round(drawn))
        return f"{float(f'{drawn:.{DIGITS}g}'):g}{self.unit}"

    def __str__(self) -> str:
        return f"{self.low:g}{self.unit}..{self.high:g}{self.unit}"


@dataclass(frozen=True)
class DrawnText:
    """A text with ranges in it: ``policer:rate=10mbit,burst={15kB..250kB}``.

    Attributes
    ----------
    fixed
        What stands before, between and after its places, one more than those.
    places
        The name of each, empty without one, and its range; None repeats what was drawn by name.
    """

    fixed: tuple[str, ...]
    places: tuple[tuple[str, Range | None], ...]

    def value(self, chance: random.Random, named: dict[str, str]) -> str:
        """Draw a value for each place, and keep those that have names."""
        text = self.fixed[0]
        for (name, of), after in zip(self.places, self.fixed[1:], strict=True):
            drawn = named[name] if of is None else of.value(chance)
            if name:
                named[name] = drawn
            text += drawn + after
        return text


#: What a field is drawn from: a range, a text with ranges in it, or a list of values.
Drawn: TypeAlias = Range | DrawnText | Sequence[Any]


@dataclass(frozen=True)
class Draw:
    """How cells like a case are drawn.

    Attributes
    ----------
    case
        What a cell is like but for the drawn fields.
    fields
        What each field is drawn from.
    name
        What its cells are called after their number; may be empty.
    """

    case: ScoredCase
    fields: Mapping[str, Drawn]
    name: str = ""

    def case_at(self, number: int, seed: int) -> ScoredCase:
        """Draw the cell of a number: the same with the same seed."""
        chance = random.Random(f"{seed} {self.case.category} {number}")  # noqa: S311 -- no secret
        named: dict[str, str] = {}
        values = {name: value_of(each, chance, named) for name, each in self.fields.items()}
        case, axes, unlabelled = self.case, {}, {}
        for name, value in values.items():
            if len(str(value)) <= MAX_LABEL and name not in NO_AXIS:
                axes[name] = [value]
            else:
                unlabelled[name] = value
                case = with_field(case, name, value)
        called = "-".join(filter(None, ["drawn", str(number), self.name]))
        return replace(case, name=called, axes=axes, unlabelled=unlabelled)


def value_of(field: Drawn, chance: random.Random, named: dict[str, str]) -> Any:
    """Draw a field's value."""
    if isinstance(field, Range):
        return field.value(chance)
    if isinstance(field, DrawnText):
        return field.value(chance, named)
    return chance.choice(field)


def with_field(case: ScoredCase, name: str, value: str) -> ScoredCase:
    """Return a case with a field of its own or of a link set, which its label does not say."""
    if name in SCENARIO_WORDS:
        return replace(case, words={**case.words, name: value})
    of, _, key = name.rpartition(".")
    links = [
        {**link, key: value} if of == f"link.{link.get('name')}" else link for link in case.links
    ]
    if links == list(case.links):
        raise GateError(
            f"`{name}` is drawn as {len(value)} characters; only a field of the scenario or of a "
            f"link may have more than {MAX_LABEL}",
            key=name,
        )
    return replace(case, links=tuple(links))


def drawn_cases(draws: Sequence[Draw], count: int, seed: int) -> tuple[ScoredCase, ...]:
    """Draw cells of a category.

    Parameters
    ----------
    draws
        They take turns; the seed says which one begins.
    count
        How many cells.
    seed
        With the same one, the first cells of a longer draw are those of a shorter one.
    """
    chance = random.Random(f"{seed} {draws[0].case.category}")  # noqa: S311 -- no secret
    first = chance.randrange(len(draws))
    return tuple(
        draws[(first + number) % len(draws)].case_at(number + 1, seed) for number in range(count)
    )


def read_drawn(fields: Mapping[str, Any]) -> dict[str, Drawn]:
    """Read what the fields of a draw are drawn from.

    Raises
    ------
    GateError
        One is not a range, a text with ranges in it, or a list of values.
    """
    names: set[str] = set()
    read: dict[str, Drawn] = {}
    for field, value in fields.items():
        if isinstance(value, str) and "{" in value:
            text = read_text(field, value, names)
            names |= {name for name, _ in text.places}
            read[field] = text
        elif isinstance(value, list) and value:
            read[field] = list(value)
        else:
            read[field] = read_range(field, value)
    return read


def read_text(field: str, text: str, names: set[str]) -> DrawnText:
    """Read a text with ranges in it; names of ranges drawn before may be repeated."""
    known = set(names)
    fixed, places, end = [], [], 0
    for found in PLACE.finditer(text):
        name = found["name"] or ""
        of = read_range(field, found["range"]) if found["range"] else None
        if of is None and name not in known:
            raise GateError(
                f"`{field}` repeats `{{{name}}}`, which is not drawn before; write "
                f"`{{{name or 'name'}=1ms..5ms}}` first",
                key=field,
            )
        known.add(name)
        fixed.append(text[end : found.start()])
        places.append((name, of))
        end = found.end()
    fixed.append(text[end:])
    if any(brace in part for part in fixed for brace in "{}"):
        raise GateError(
            f"`{field}` has a brace without its range in `{excerpt(text)}`; write "
            "`{1ms..5ms}`, `{late=1ms..5ms}`, or `{late}` to repeat it",
            key=field,
        )
    return DrawnText(tuple(fixed), tuple(places))


def read_range(name: str, value: Any) -> Range:
    """Read a range like ``10mbit..200mbit``."""
    ends = [VALUE.fullmatch(end.strip()) for end in str(value).split("..")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise GateError(
            f"`{name}` cannot be drawn from `{excerpt(value)}`; use a range like "
            "`10mbit..200mbit`, a text with ranges in braces, or a list",
            key=name,
        )
    (low, unit), (high, other) = (end.groups() for end in ends if end is not None)
    if unit and other != unit:
        raise GateError(f"`{name}`: both ends of `{excerpt(value)}` need the same unit", key=name)
    if not 0 < float(low) < float(high):
        raise GateError(
            f"`{name}`: the first end of `{excerpt(value)}` must be above 0 and below the second",
            key=name,
        )
    return Range(float(low), float(high), other)
