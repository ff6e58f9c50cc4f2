"""A sweep's metrics as figures: small multiples over its axes, with intervals and models."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from dumbbell.base.errors import ResultError, nearest
from dumbbell.congestion_control.name_kinds import split_preset
from dumbbell.congestion_control.quic import split_params
from dumbbell.figures.figure import Curve, Figure
from dumbbell.figures.style import OTHER_COLORS, UNKNOWN_COLOR, distinct_markers, style_of
from dumbbell.metrics import METRICS, Metric
from dumbbell.models import MODELS, Model, Prediction, models_of
from dumbbell.plots.cell_values import CellValues
from dumbbell.plots.labels import check_labels, design_labels, group_colors, group_styles
from dumbbell.plots.model_overlay import model_curve
from dumbbell.plots.sweep_layout import Facet, Layout, lay_out, value_label
from dumbbell.run.directions import WAYS
from dumbbell.scenario.describe_path import describe_path
from dumbbell.statistics import Interval
from dumbbell.statistics.format import MIN_INTERVAL
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.cell_labels import labels_in
from dumbbell.sweeps.design import Cell, label_of, swept_ccs

__all__ = [
    "BOTH_WAYS", "OF_EACH_WAY", "ResultFigures", "SweepView", "is_needless", "usual_names",
]  # fmt: skip

#: Metrics that are drawn by default.
USUAL = ("share", "goodput_per_flow_bps", "queue_delay_mean_us")
#: What a program's own number is called; it goes first.
OWN = "measured"
#: What is drawn instead of share and goodput where programs ran and data went both ways.
OF_EACH_WAY = tuple(f"{way}_{of}" for of in ("share", "goodput_bps") for way in WAYS)
#: Metrics of both ways together, which have these in their place.
BOTH_WAYS = ("share", "goodput_per_flow_bps")
#: A metric's largest possible value, in its shown unit.
SHARES = ("share", *(f"{way}_share" for way in WAYS))
BOUNDS = {**dict.fromkeys(SHARES, 100.0), "utilization": 100.0, "jain": 1.0}
#: Metrics of dumbbell's own that can be negative.
SIGNED = ("qoe_lin", "exit_code", "r_factor")
#: For metrics of the whole run.
RUN_MARKER = "o"


class SweepView:
    """A sweep as figures show it.

    Parameters
    ----------
    result
        The sweep.
    name
        What it is called when compared with another; empty when alone.
    cells
        When compared: the index of a cell here by that of the matching cell there.
    """

    def __init__(
        self, result: SweepResult, name: str = "", cells: Mapping[int, int] | None = None
    ) -> None:
        self.result = result
        self.name = name
        self.values = CellValues(result)
        self.labels = design_labels(result.design)
        self.swept = swept_ccs(result.design)
        self.colors = group_colors(result.scenario)
        self.markers = distinct_markers(group_styles(result.scenario))
        self.given: dict[tuple[int, str], str] = {}  # what the reader calls a group, or its CCA
        self.cells = cells or {cell.index: cell.index for cell in result.cells}
        self.predictions = cache(self._predictions)

    def name_all(self, labels: Sequence[str]) -> None:
        """Call groups, and of those whose algorithm an axis changes each algorithm, otherwise.

        Raises
        ------
        ResultError
            There are more labels than these.
        """
        groups = range(len(self.labels))
        entries = [(group, cc) for group in groups for cc in self.algorithms(group)]
        check_labels(labels, len(entries), "group" if len(entries) == len(groups) else "curve")
        self.given = dict(zip(entries, labels, strict=False))

    def algorithms(self, group: int) -> list[str]:
        """Return the CCAs that an axis gives a group; one without a name where none does."""
        return list(dict.fromkeys(self.swept[group].labels)) if group in self.swept else [""]

    def groups_of(self, metric: Metric) -> list[int]:
        """Return the groups that a metric has curves of; the first stands for the whole run."""
        return list(range(len(self.labels))) if metric.of_groups else [0]

    def label_of(self, metric: Metric, group: int, facet: Facet | None = None) -> str:
        """Return the name of a curve: the group's, and the sweep's if there are two.

        A group whose congestion control algorithm an axis changes is named after the one in the
        facet: its own name would stand for each of them.
        """
        of = self._name_in(facet, group) if self._is_of(metric, facet) else metric.title
        return f"{self.name}: {of}" if self.name else of

    def _is_of(self, metric: Metric, facet: Facet | None) -> bool:
        """Whether a curve is a group's: of a metric of the run that of an algorithm alone, too."""
        alone = len(self.labels) == 1 and facet is not None and len(facet.cells) > 1
        return metric.of_groups or (alone and self.swept_in(facet, 0) is not None)

    def _name_in(self, facet: Facet | None, group: int) -> str:
        """Return a group's name in a facet; no two groups have the same there."""
        swept = {at: cc for at in self.swept if (cc := self.swept_in(facet, at)) is not None}
        given = self.given.get((group, swept.get(group, "")))
        if given is not None:
            return given
        names = {at: value_label(self.swept[at], cc) for at, cc in swept.items()}
        return labels_in(self.labels, names, self.result.scenario)[group]

    def name_in(self, cell: Cell, group: int) -> str:
        """Return a group's name in a cell."""
        return self._name_in(Facet("", (cell,), (0.0,)), group)

    def color_in(self, cell: Cell, group: int) -> str:
        """Return a group's colour in a cell."""
        return self._look_in(Facet("", (cell,), (0.0,)), group)[0]

    def swept_in(self, facet: Facet | None, group: int) -> str | None:
        """Return the CCA that an axis gives a group in all cells of a facet."""
        if facet is None or group not in self.swept:
            return None
        axis = self.swept[group].name
        found = {label_of(cell.values[axis]) for cell in facet.cells if axis in cell.values}
        return found.pop() if len(found) == 1 else None

    def parts(self, facet: Facet, group: int) -> list[Facet]:
        """Return the cells of a facet by the algorithm that an axis gives a group there."""
        if group not in self.swept or self.swept_in(facet, group) is not None:
            return [facet]
        axis = self.swept[group].name
        found: dict[str, list[int]] = {}
        for at, cell in enumerate(facet.cells):
            found.setdefault(label_of(cell.values[axis]) if axis in cell.values else "", []).append(
                at
            )
        return [
            Facet(facet.label, tuple(facet.cells[at] for at in places),
                  tuple(facet.x[at] for at in places))
            for places in found.values()
        ]  # fmt: skip

    def look_of(self, metric: Metric, group: int, facet: Facet | None = None) -> tuple[str, str]:
        """Return a curve's colour and marker."""
        if not self._is_of(metric, facet):
            return UNKNOWN_COLOR, RUN_MARKER
        return self._look_in(facet, group)

    def _look_in(self, facet: Facet | None, group: int) -> tuple[str, str]:
        swept = self.swept_in(facet, group)
        style = None if swept is None else style_of(split_preset(split_params(swept)[0])[0])
        others = [color for at, color in enumerate(self.colors) if at != group]
        if style is None or swept == str(self.result.scenario.groups[group].cc):
            return self.colors[group], self.markers[group]
        wanted = (style.color, *OTHER_COLORS, self.colors[group])
        color = next(color for color in wanted if color not in others)
        markers = [marker for at, marker in enumerate(self.markers) if at != group]
        return color, style.marker if style.marker not in markers else self.markers[group]

    def _predictions(self, cell: int) -> dict[str, tuple[Model, Prediction]]:
        """Return the models' predictions of a cell."""
        scenario = self.result.design.scenario_of(self.result.cells[cell])
        return {model.name: (model, said) for model, said in models_of(scenario)}


class ResultFigures:
    """Figures of a sweep, or of two side by side.

    Parameters
    ----------
    result
        The sweep.
    others
        Other sweeps, drawn where their cells match: the first with hollow markers.
    x
        Name of the axis along x; None lets the sweep's layout choose.
    name
        What the sweep is called beside others.
    joined
        Whether the algorithms of a lone group are in one figure; else each has its own.

    Raises
    ------
    ResultError
        There is no such axis.
    """

    def __init__(
        self,
        result: SweepResult,
        *others: SweepView | None,
        x: str | None = None,
        name: str = "A",
        joined: bool = True,
    ) -> None:
        self.layout: Layout = lay_out(result, x, joined=joined)
        self.others = tuple(each for each in others if each is not None)
        self.first = SweepView(result, name if self.others else "")
        self.caption = outline(result, self.first.labels)

    @property
    def shown(self) -> list[SweepView]:
        """The sweep, and the others."""
        return [self.first, *self.others]

    @property
    def second(self) -> SweepView | None:
        """The sweep that the first is compared with; None without."""
        return self.others[0] if self.others else None

    @property
    def metrics(self) -> list[Metric]:
        """Metrics that have values."""
        return self.first.values.metrics

    @property
    def usual(self) -> list[Metric]:
        """Those that are drawn by default."""
        names = [metric.name for metric in self.metrics]
        wanted = usual_names(names, is_alone=len(self.first.labels) == 1)
        return sorted(
            (metric for metric in self.metrics if metric.name in wanted),
            key=lambda metric: metric.name != OWN,
        )

    def metric(self, name: str) -> Metric:
        """Return a metric by its name.

        Raises
        ------
        ResultError
            There is none, or no run has a value of it.
        """
        known = {metric.name: metric for metric in self.metrics}
        if name not in known:
            raise ResultError(f"the runs have no metric `{name}`{nearest(name, known)}")
        return known[name]

    def draw(self, metric: Metric, models: Sequence[str] | None = None) -> list[Figure]:
        """Draw a metric: a figure per facet.

        Parameters
        ----------
        metric
            Which.
        models
            Names of the models to draw; None takes every one that predicts the metric.
        """
        return [
            self._draw_facet(metric, facet, index, models)
            for index, facet in enumerate(self.layout.facets)
        ]

    @property
    def _has_algorithms_along_x(self) -> bool:
        return any(axis.name in self.layout.x_axes for axis in self.first.swept.values())

    def _parts(self, metric: Metric, facet: Facet, group: int) -> list[Facet]:
        """Return the cells of each curve of a metric: by the algorithm that an axis gives."""
        if metric.of_groups or (len(self.first.labels) == 1 and not self._has_algorithms_along_x):
            return self.first.parts(facet, group)
        return [facet]

    def _draw_facet(
        self, metric: Metric, facet: Facet, index: int, models: Sequence[str] | None
    ) -> Figure:
        layout = self.layout
        curves = [
            measured_curve(shown, metric, part, group, which, by_name=bool(layout.x_names))
            for which, shown in enumerate(self.shown)
            if metric.name in shown.values.columns
            for group in shown.groups_of(metric)
            for part in self._parts(metric, facet, group)
        ]
        # A legend has no name of a group that has no value.
        curves = [curve for curve in curves if np.isfinite(curve.y).any()] or curves
        for group in self.first.groups_of(metric):
            for part in self._parts(metric, facet, group):
                curves += model_curves(
                    self.first, metric, part, group, models, by_name=bool(layout.x_names)
                )
        is_alone = len(self.first.labels) == 1 and not self.others and not self.first.given
        is_along = self._has_algorithms_along_x

        def is_on_axis(curve: Curve) -> bool:
            of_axis = is_alone and is_along and not curve.label.startswith("model")
            return of_axis or (len(curves) == 1 and curve.label == metric.title)

        curves = [replace(each, label="") if is_on_axis(each) else each for each in curves]
        return Figure(
            name=f"{metric.name}-{index}" if len(layout.facets) > 1 else metric.name,
            title=facet.label,
            x_label=layout.x_label,
            caption=self.caption,
            y_label=with_unit(metric),
            curves=tuple(curves),
            x_ticks=layout.x_ticks,
            x_values=layout.x_values,
            x_names=layout.x_names,
            y_bound=BOUNDS.get(metric.name, math.inf),
        )


def usual_names(known: Sequence[str], *, is_alone: bool) -> list[str]:
    """Return the metrics that are drawn by default, of those that have values.

    Parameters
    ----------
    known
        Names of those that have.
    is_alone
        Whether there is one group.
    """
    each_way = any(name in known for name in OF_EACH_WAY)
    usual = [*OF_EACH_WAY, *(name for name in USUAL if name not in BOTH_WAYS)]
    wanted = [OWN, *(usual if each_way else USUAL)]
    return [name for name in wanted if name in known and not is_needless(name, is_alone=is_alone)]


def is_needless(name: str, *, is_alone: bool) -> bool:
    """Whether a metric says nothing: the share of a group that is alone is 100 %."""
    return is_alone and name in SHARES


def outline(result: SweepResult, labels: Sequence[str]) -> str:
    """Return what all runs of a sweep have in common: ``Copa + CUBIC, 20mbit, 40ms``."""
    only = {axis.name: set(axis.labels) for axis in result.axes}
    scenario = result.scenario
    if not scenario.is_dumbbell:
        return ", ".join([" + ".join(labels), describe_path(scenario)])
    words = {"rate": str(scenario.rate), "rtt": str(scenario.rtt)}
    words |= {} if scenario.queue is None else {"queue": str(scenario.queue)}
    if scenario.queue is None or scenario.buffer is not None:
        words["buffer"] = str(scenario.link_queue.limit)
    words |= {name: label for name, labels in only.items() for label in labels}
    names = ("rate", "rtt", "queue", "buffer")
    same = [words[name] for name in names if name in words and len(only.get(name, "1")) == 1]
    return ", ".join([" + ".join(labels), *same])


def with_unit(metric: Metric) -> str:
    """Return a metric as an axis is labelled: ``goodput (Mbit/s)``."""
    unit = metric.shown_unit or ("" if metric.unit == "1" else metric.unit)
    return f"{metric.title} ({unit})" if unit else metric.title


def is_drawn(interval: Interval) -> bool:
    """Whether an interval has enough repetitions to be drawn."""
    return interval.bounded and interval.n >= MIN_INTERVAL


def is_positive(name: str) -> bool:
    """Whether a metric cannot be negative."""
    return name in METRICS and name not in SIGNED and not METRICS[name].token


def drawn_ends(interval: Interval, name: str) -> tuple[float, float, float]:
    """Return the mean of a metric and the ends of its interval, which are the mean if not drawn.

    What cannot be negative has no end below 0.
    """
    if is_drawn(interval):
        least = min(0.0, interval.mean) if is_positive(name) else -math.inf
        return interval.mean, max(interval.low, least), interval.high
    return (interval.mean,) * 3


def measured_curve(
    shown: SweepView, metric: Metric, facet: Facet, group: int, which: int, *, by_name: bool
) -> Curve:
    """Return the means of a facet's cells with their intervals; nothing joins those of names."""
    cells = [shown.cells.get(cell.index) for cell in facet.cells]
    found = [
        None if cell is None else shown.values.interval(metric.name, cell, group) for cell in cells
    ]
    ends = np.array(
        [(math.nan,) * 3 if each is None else drawn_ends(each, metric.name) for each in found]
    )
    y, low, high = ends.T
    color, marker = shown.look_of(metric, group, facet)
    several = any(each is not None and is_drawn(each) for each in found)
    return Curve(
        shown.label_of(metric, group, facet), np.array(facet.x), y, color, marker,
        low=low if several else None, high=high if several else None, hollow=which == 1,
        dashed=which if which > 1 else 0, shape="points" if by_name else "line",
    )  # fmt: skip


def model_curves(
    shown: SweepView, metric: Metric, facet: Facet, group: int, wanted: Sequence[str] | None,
    *, by_name: bool,
) -> list[Curve]:  # fmt: skip
    """Return the curve of each model that predicts a metric of a group."""
    of = group if metric.of_groups else None
    is_of_algorithm = of is None and shown.swept_in(facet, group) is not None
    said = [shown.predictions(cell.index) for cell in facet.cells]
    names = dict.fromkeys(
        name
        for each in said
        for name, (_, prediction) in each.items()
        if prediction.has(metric.name, of) and (wanted is None or name in wanted)
    )
    color, _ = shown.look_of(metric, group, facet)
    has_name = of is not None or (is_of_algorithm and len(shown.labels) == 1)
    label = shown.label_of(metric, group, facet) if has_name else ""
    curves = []
    for name in names:
        points = [
            (x, metric.scale * each[name][1].metric(metric.name, of))
            for x, each in zip(facet.x, said, strict=True)
            if name in each
        ]
        curves.append(model_curve(MODELS[name], points, color, of=label))
    found = [curve for curve in curves if curve is not None]
    if not by_name:
        return found
    return [replace(curve, shape="points", marker="D", hollow=True) for curve in found]
