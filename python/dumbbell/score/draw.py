"""Cells drawn at random: what nobody has looked at while a congestion control was written."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.errors import GateError
from dumbbell.quantities.excerpt import excerpt
from dumbbell.score.scored_case import ScoredCase

__all__ = ["Draw", "Range", "read_range"]

#: ``10mbit``: a number and its unit.
VALUE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-zA-Z%]*)", re.ASCII)
#: Significant digits of a drawn value.
DIGITS = 3


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
class Draw:
    """How the cells of a category are drawn.

    Attributes
    ----------
    case
        What a cell is like but for the drawn fields.
    fields
        A range, or the values of which one is drawn, by field.
    """

    case: ScoredCase
    fields: Mapping[str, Range | Sequence[Any]]

    def cases(self, count: int, seed: int) -> tuple[ScoredCase, ...]:
        """Draw cells.

        Parameters
        ----------
        count
            How many.
        seed
            With the same one, the first cells of a longer draw are those of a shorter one.
        """
        return tuple(self._case(number, seed) for number in range(1, count + 1))

    def _case(self, number: int, seed: int) -> ScoredCase:
        chance = random.Random(f"{seed} {self.case.category} {number}")  # noqa: S311 -- no secret
        axes = {
            name: [each.value(chance) if isinstance(each, Range) else chance.choice(each)]
            for name, each in self.fields.items()
        }
        return replace(self.case, name=f"drawn-{number}", axes=axes)


def read_range(name: str, value: Any) -> Range | Sequence[Any]:
    """Read ``10mbit..200mbit``, or a list of values.

    Raises
    ------
    GateError
        It is neither.
    """
    if isinstance(value, list) and value:
        return list(value)
    ends = [VALUE.fullmatch(end.strip()) for end in str(value).split("..")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        raise GateError(
            f"`{name}` cannot be drawn from `{excerpt(value)}`; use a range like "
            "`10mbit..200mbit`, or a list",
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
