"""The values that a slider stops at, as a user would write them.

A slider moves over a list of texts, so that what it sets is what a command or file would have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import Any

from dumbbell.base.quantities.quantity import Buffer, Quantity
from dumbbell.congestion_control import Parameter
from dumbbell.scenario.kinds import Amount, Count, Kind, Measure, Packets
from dumbbell.scenario.parameter import QUANTITIES, ElementParameter

__all__ = ["steps_of_element", "steps_of_kind", "steps_of_parameter", "words_of_kind"]

#: Round numbers of a decade.
ROUND = tuple(map(Fraction, ("1", "1.5", "2", "3", "4", "5", "7")))
#: Ends of a slider in base units, by what its axis is in: what congestion control is studied on.
RANGES = {
    "bps": (10**5, 10**9), "ms": (10**6, 10**9), "s": (10**8, 300 * 10**9),
    "bytes": (10**3, 10**9), "pct": (10**4, 10**8),
}  # fmt: skip
#: A buffer in BDP, as papers have it; in packets and bytes, the ends.
IN_BDP = (
    "0.1", "0.2", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "4", "6", "8", "12", "16", "24",
    "32", "48", "64",
)  # fmt: skip
AMOUNTS = {"pkt": (1, 10_000), "B": (1500, 10**8)}
#: The most of a number of flows or packets.
MOST_COUNT = 100
#: A range of whole numbers with at most this many is not thinned out.
FEW = 64
#: Units of an element's parameter, and the axis its range is that of.
AXES = {"ns": "ms", "bytes": "bytes", "ppb": "pct", "bps": "bps", "load": "pct"}
#: Words with bars between them, as the kind of a picker's values is called.
WORDS = re.compile(r"[a-z]+(?:\|[a-z]+)+")


def words_of_kind(kind: Kind[Any]) -> tuple[str, ...]:
    """Return the words between which a picker chooses; none of another kind."""
    return tuple(kind.metavar.split("|")) if WORDS.fullmatch(kind.metavar) else ()


def steps_of_kind(kind: Kind[Any], value: Any, most: int | None = None) -> list[str]:
    """Return a slider's stops for a scenario's field, its value among them; none for text.

    Parameters
    ----------
    kind
        The field's.
    value
        What it has; None: nothing.
    most
        What its value must be below, in base units.
    """
    if isinstance(kind, Measure):
        low, high = RANGES[kind.axis_unit]
        words = quantities(kind.quantity, low, high, kind.minimum)
        below = [each for each in words if most is None or each < most]
        return with_value(below, value, int)
    if isinstance(kind, Amount):
        unit = "pkt" if isinstance(kind, Packets) else "bdp" if value is None else value.unit
        return with_value(amounts(unit), value, lambda each: each.amount)
    if isinstance(kind, Count):
        most = min(kind.maximum, MOST_COUNT)
        return with_value(whole_numbers(kind.minimum, most, 1), value, int)
    return []


def steps_of_parameter(parameter: Parameter, value: int) -> list[str]:
    """Return a slider's stops for a congestion control algorithm's parameter."""
    numbers = whole_numbers(parameter.min, parameter.max, parameter.default)
    return with_value(numbers, value, int)


def steps_of_element(parameter: ElementParameter, value: Any) -> list[str]:
    """Return a slider's stops for a parameter of a queue, an impairment or an application."""
    if parameter.is_list or not (value is None or isinstance(value, int)):
        return []
    default = parameter.default if isinstance(parameter.default, int) else None
    own = {each for each in (value, default) if each is not None and each >= parameter.min}
    if parameter.unit in AXES:
        low, high = RANGES[AXES[parameter.unit]]
        quantity = QUANTITIES[parameter.unit]
        words = quantities(quantity, low, min(high, parameter.max), parameter.min)
        return [parameter.show(quantity(each)) for each in sorted({*words, *own})]
    if parameter.unit in ("count", "pkts"):
        numbers = whole_numbers(parameter.min, parameter.max, max(default or 0, parameter.min))
        return [parameter.show(each) for each in sorted({*numbers, *own})]
    return []


def quantities(quantity: type[Quantity], low: int, high: int, minimum: int) -> list[Quantity]:
    """Return round values between two in base units, and 0 where that may be."""
    found = [quantity(int(each)) for each in decades(Fraction(low), Fraction(high))]
    return [quantity(0)] * (minimum <= 0) + [each for each in found if each >= minimum]


@cache
def amounts(unit: str) -> list[Buffer]:
    """Return round amounts of queue in a unit."""
    numbers: Sequence[Any] = IN_BDP
    if unit in AMOUNTS:
        numbers = [each for each in decades(*map(Fraction, AMOUNTS[unit])) if each % 1 == 0]
    return [Buffer.parse(f"{each}{unit}") for each in numbers]


@cache
def whole_numbers(low: int, high: int, default: int) -> list[int]:
    """Return whole numbers of a range: all of a short one, else round ones about the default."""
    if high - low < FEW:
        return list(range(low, high + 1))
    near = max(abs(default), 1)
    bottom, top = max(low, 1 if near <= 100 else near // 100), min(high, 100 * near)
    found = {int(each) for each in decades(Fraction(max(bottom, 1)), Fraction(max(top, 1)))}
    found |= {default, *([low] if low <= 0 else [])}
    return sorted(each for each in found if low <= each <= high)


@cache
def decades(low: Fraction, high: Fraction) -> list[Fraction]:
    """Return round numbers from one to another: 1, 1.5, 2, 3, 4, 5, 7, 10, …."""
    scale = Fraction(1)
    while scale > low:
        scale /= 10
    found = []
    while scale <= high:
        found += [each * scale for each in ROUND if low <= each * scale <= high]
        scale *= 10
    return found


def with_value(values: Sequence[Any], value: Any, order: Callable[[Any], Any]) -> list[str]:
    """Return values as text, with another one in its place."""
    if value is not None and value not in values:
        values = sorted([*values, value], key=order)
    return [str(each) for each in values]
