"""What a model computes by itself: a row of numbers at each point of some axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["PACKETS_PER_ACK", "Calculation", "Column", "Factor"]


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of a row, its heading, and the format of a value."""

    key: str
    heading: str
    form: str = "{}"

    def write(self, row: Mapping[str, Any]) -> str:
        """Write a row's value."""
        value = row[self.key]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return self.form.format(value)


@dataclass(frozen=True)
class Factor:
    """A number of the formula that is the same at all points.

    Attributes
    ----------
    name
        The keyword argument of `Calculation.solve`.
    default
        Its value when it is not set; text for a time with its unit, which is passed in seconds.
    doc
        Its meaning, for ``--help``.
    minimum, maximum
        Its range.
    """

    name: str
    default: float | str
    doc: str
    minimum: float | None = None
    maximum: float | None = None


#: b of the formulas for Reno.
PACKETS_PER_ACK = Factor(
    "packets_per_ack",
    1,
    "Packets for which the window grows as for one: 2 for delayed ACKs counted as one each; Linux "
    "counts packets.",
    1,
    1000,
)


@dataclass(frozen=True)
class Calculation:
    """Rows of a model over its axes.

    Attributes
    ----------
    axes
        Default values of each axis. With `loss` or `interval` among them the others are `rtt`, and
        an axis without a default selects this calculation by being set; otherwise they are
        those of a drop-tail bottleneck: `rate`, `rtt`, `buffer` and `flows`, and `rivals`.
    columns
        What a table shows.
    solve
        The row at a point. It takes the loss rate or the interval in seconds, and the RTT in
        seconds; or the `Bottleneck` and the number of flows, with `rivals` as a keyword. Then the
        factors, as keywords.
    factors
        Numbers that are the same at all points.
    fixed
        Axes that are no option, with their values.
    """

    axes: Mapping[str, str | None]
    columns: tuple[Column, ...]
    solve: Callable[..., Mapping[str, Any]]
    factors: tuple[Factor, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
