"""A run's transfers: how long they took, and how much longer than at best by their size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dumbbell.figures.figure import MAX_POINTS, Curve, Figure, FloatArray
from dumbbell.figures.style import shades
from dumbbell.plots.labels import group_colors, group_labels
from dumbbell.run import Run
from dumbbell.run.group_transfers import GroupTransfers, group_transfers
from dumbbell.statistics.survival import SurvivalCurve

__all__ = ["TIMES", "draw_transfers"]


@dataclass(frozen=True)
class TimeOf:
    """A kind of transfer whose times are drawn.

    Attributes
    ----------
    kind
        Of the table.
    name
        The series: ``fct``.
    title
        What the time is called.
    """

    kind: str
    name: str
    title: str


#: The kinds that have a figure, in its order. Chunks of video have figures of their own.
TIMES = (
    TimeOf("flow", "fct", "flow completion time"),
    TimeOf("request", "latency", "RPC latency"),
    TimeOf("page", "page-load-time", "page load time"),
    TimeOf("burst", "burst-time", "time of a burst"),
)
#: Bins of flows by size, each with as many; fewer where a bin would have less than `BIN_FLOWS`.
SIZE_BINS, BIN_FLOWS = 20, 10
#: Players of a group whose bitrates are drawn; more hide each other.
MAX_PLAYERS = 4
#: Most marks of a logarithmic axis.
MAX_TICKS = 10
#: Fewest marks of a logarithmic axis.
MIN_MARKS = 3


def draw_transfers(run: Run, max_points: int = MAX_POINTS) -> list[Figure]:
    """Draw how long a run's transfers took; nothing where there are none.

    Parameters
    ----------
    run
        The run.
    max_points
        Of a curve.
    """
    groups = group_transfers(run)
    colors = group_colors(run.scenario)
    looks = list(zip(group_labels(run.scenario), colors, strict=True))
    figures = [draw_times(each, groups, looks, max_points) for each in TIMES]
    figures += [draw_slowdowns(groups, looks), draw_bitrates(run, groups, looks)]
    return [figure for figure in figures if figure is not None]


def draw_times(
    of: TimeOf, groups: Sequence[GroupTransfers], looks: Sequence[tuple[str, str]], max_points: int
) -> Figure | None:
    """Draw the cumulative distribution of the times of a kind of transfer."""
    curves = [
        Curve(label, *cumulative(each.of(of.kind).times_us, max_points, 1e-3), color)
        for each, (label, color) in zip(groups, looks, strict=True)
    ]
    curves = [curve for curve in curves if curve.x.size]
    if not curves:
        return None
    return Figure(
        name=of.name,
        title=with_group(f"{of.title}, cumulative (%)", curves),
        x_label=f"{of.title} (ms)",
        y_label="transfers (%)",
        curves=tuple(curves),
        x_ticks=log_marks(np.concatenate([curve.x for curve in curves])),
        y_bound=100.0,
    )


def cumulative(
    of: SurvivalCurve, max_points: int, scale: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return values in order, times `scale`, and the share that is at most as large, in %."""
    count = of.times.size
    if not count:
        return np.zeros(0), np.zeros(0)
    places = np.unique(np.linspace(0, count - 1, min(count, max_points)).astype(int))
    x, shares = scale * of.times[places], 1 - of.shares[places]
    return np.append(x[:1], x), 100 * np.append(0, shares)  # it begins at 0


def draw_slowdowns(
    groups: Sequence[GroupTransfers], looks: Sequence[tuple[str, str]]
) -> Figure | None:
    """Draw the median and 95th percentile of the slowdown of flows over their size's percentile."""
    curves = []
    for each, (label, color) in zip(groups, looks, strict=True):
        flows = each.of("flow")
        bins = min(SIZE_BINS, len(flows) // BIN_FLOWS)
        if bins < 2 or np.ptp(flows.size_bytes) == 0:
            continue
        parts = np.array_split(np.argsort(flows.size_bytes, kind="stable"), bins)
        slowdowns = [SurvivalCurve((flows.time_us / flows.ideal_us)[part], flows.ended[part])
                     for part in parts]  # fmt: skip
        middles = (np.arange(bins) + 0.5) * 100 / bins
        for q, name, dashed in ((0.5, "median", False), (0.95, "95th percentile", True)):
            found = (part.quantile(q) for part in slowdowns)
            values = np.array([math.nan if value is None else value for value in found])
            curves.append(Curve(f"{label}, {name}", middles, values, color, dashed=dashed))
    if not curves:
        return None
    return Figure(
        name="slowdown",
        title=with_group("slowdown by size", curves[::2]),
        x_label="percentile of the flows' size (%)",
        y_label="slowdown",
        curves=tuple(curves),
        x_range=(0.0, 100.0),
    )


def draw_bitrates(
    run: Run, groups: Sequence[GroupTransfers], looks: Sequence[tuple[str, str]]
) -> Figure | None:
    """Draw the rate of each chunk of video over time, when it was complete."""
    curves = []
    for group, each, (label, color) in zip(run.scenario.groups, groups, looks, strict=True):
        chunks = each.where((each.kind == "chunk") & each.ended)
        if not len(chunks):
            continue
        ladder_mbps = np.array(group.traffic.value_of("ladder")) / 1e6
        # The sizes of chunks vary; the ladder says which rate each is nearest to.
        bits = 8 * chunks.size_bytes[:, None]
        rate_mbps = bits / (int(group.traffic.value_of("chunk")) / 1e9) / 1e6
        rung = np.abs(np.log(rate_mbps / ladder_mbps)).argmin(axis=1)
        numbers = np.unique(chunks.flow)[:MAX_PLAYERS]
        for number, shade in zip(numbers, shades(color, len(numbers)), strict=True):
            mine = chunks.flow == number
            time_s = (chunks.start_us + chunks.time_us)[mine] / 1e6
            name = label if len(numbers) == 1 else f"{label}, flow {number}"
            curves.append(Curve(name, time_s, ladder_mbps[rung[mine]], shade))
    if not curves:
        return None
    return Figure(
        name="bitrate",
        title=with_group("video bitrate (Mbit/s)", curves),
        x_label="time (s)",
        y_label="video bitrate (Mbit/s)",
        curves=tuple(curves),
        x_range=(0.0, run.summary["duration_ns"] / 1e9),
    )


def with_group(title: str, curves: Sequence[Curve]) -> str:
    """Return a title, with the group if the figure is of one."""
    return f"{title} · {curves[0].label.removesuffix(', median')}" if len(curves) == 1 else title


def log_marks(values: FloatArray) -> tuple[float, ...]:
    """Return round numbers within positive values as marks of a logarithmic axis, two at least.

    Of a wide range 1, 2 and 5 times powers of ten, or these powers alone; of a narrow one the
    multiples of such a number.
    """
    positive = values[values > 0]
    low, high = float(positive.min()), float(positive.max())
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1, 2, 5), (1,)):
        marks = [step * 10.0**power for power in powers for step in steps]
        inside = [mark for mark in marks if low <= mark <= high]
        if MIN_MARKS <= len(inside) <= MAX_TICKS:
            return tuple(inside)
    if len(inside) > MAX_TICKS:
        return tuple(inside[:: -(-len(inside) // MAX_TICKS)])
    if high <= low:
        return (low / 2, low, low * 2)
    least = (high - low) / MIN_MARKS
    power = 10.0 ** math.floor(math.log10(least))
    step = next(each * power for each in (5, 2, 1) if each * power <= least)
    first, last = math.ceil(low / step), math.floor(high / step)
    return tuple(round(at * step, 12) for at in range(first, last + 1))
