"""What of a run over time can be drawn, in which unit, and the figure that it is drawn in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from dumbbell.figures.figure import Curve, Figure
from dumbbell.figures.style import PATTERNS
from dumbbell.run import Run

__all__ = [
    "SERIES", "USUAL_SERIES", "Drawable", "Quantity", "dashes_of", "figure_of", "has_values",
    "state_unit",
]  # fmt: skip

#: A unit that is a fraction: ``/256``.
FRACTION = re.compile(r"/([1-9]\d{0,17})", re.ASCII)
#: Unit suffixes of state series, and what they are drawn in.
STATE_UNITS = (
    ("_bps", "Mbit/s", 1e-6), ("_us", "ms", 1e-3), ("_ms", "ms", 1.0), ("_ns", "ms", 1e-6),
    ("_pkts", "packets", 1.0), ("_bytes", "bytes", 1.0), ("_pct", "%", 1.0), ("_ppb", "%", 1e-7),
)  # fmt: skip


@dataclass(frozen=True)
class Quantity:
    """A column of a table that can be drawn.

    Attributes
    ----------
    column
        Its name.
    title, unit
        As an axis is labelled.
    scale
        From the column's unit to that one.
    table
        ``flows`` or ``queue``.
    """

    column: str
    title: str
    unit: str
    scale: float = 1.0
    table: str = "flows"


#: What every run can be drawn by; its congestion control algorithms' state series come after these.
SERIES = {
    "goodput": Quantity("goodput_bps", "goodput", "Mbit/s", 1e-6),
    "cwnd": Quantity("cwnd_pkts", "cwnd", "packets"),
    "inflight": Quantity("inflight_pkts", "inflight", "packets"),
    "rtt": Quantity("rtt_us", "RTT", "ms", 1e-3),
    "queue": Quantity("backlog_pkts", "queue", "packets", table="queue"),
    "sojourn": Quantity("sojourn_us", "time in the queue", "ms", 1e-3, table="queue"),
}
#: What is drawn unless other series are chosen.
USUAL_SERIES = ("goodput", "cwnd", "rtt", "queue")


@dataclass(frozen=True)
class Drawable:
    """A figure that a run has values for.

    Attributes
    ----------
    name, title
        The figure's.
    draw
        Draws it.
    """

    name: str
    title: str
    draw: Callable[[], Figure]


def has_values(column: pa.ChunkedArray) -> bool:
    """Whether a column has any value."""
    return bool(column.null_count < len(column))


def dashes_of(number: int) -> int:
    """Return how the curves of a group are broken, for grey paper."""
    return number % PATTERNS


def figure_of(
    run: Run, name: str, title: str, label: str, unit: str, curves: Sequence[Curve],
    y_names: Sequence[str] = (),
) -> Figure:  # fmt: skip
    """Return a figure over the time of a run."""
    return Figure(
        name=name,
        title=title,
        x_label="time (s)",
        y_label=f"{label} ({unit})" if unit else label,
        curves=tuple(curves),
        x_range=(0.0, run.summary["duration_ns"] / 1e9),
        y_names=tuple(y_names),
    )


def state_unit(name: str, declared: str) -> tuple[str, str, float]:
    """Return a state's name without its unit, the unit it is drawn in, and the factor to it.

    A state declared in fractions, like BBR's gains in ``/256``, is drawn as a plain number.
    """
    for suffix, unit, scale in STATE_UNITS:
        if name.endswith(suffix):
            return name.removesuffix(suffix), unit, scale
    fraction = FRACTION.fullmatch(declared)
    if fraction is not None:
        return name, "", 1 / int(fraction[1])
    return name, "", 1.0
