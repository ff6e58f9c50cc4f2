"""Where series stand along an axis of names: an axis's values, the results, or the series."""

from __future__ import annotations

from collections.abc import Sequence

from dumbbell.figures.style import PATTERNS
from dumbbell.plots.arrange import Panel, Series, axis_of
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.sweep_layout import alike_axes, is_of_cc, joint_label, tick_label, value_label
from dumbbell.plots.tidy import names_of_groups
from dumbbell.sweeps import Axis
from dumbbell.sweeps.design import label_of

__all__ = ["Places"]


class Places:
    """The places of an axis of names.

    Without an axis the series themselves stand along x, and need no legend.

    Parameters
    ----------
    request, panels
        What is drawn.
    """

    def __init__(self, request: Request, panels: Sequence[Panel]) -> None:
        self.sources = request.sources
        axis = axis_of(request.sources, request.x)
        every = [series for panel in panels for series in panel.series]
        self.who = list(dict.fromkeys(series.who for series in every))
        self.looks = {series.who: (series.color, series.marker) for series in reversed(every)}
        if axis is None:
            self.keys = list(dict.fromkeys(series.label for series in every))
            self.names, self.x_label = tuple(self.keys), ""
        else:
            shown = list(dict.fromkeys(map(self.key, every)))
            first = [place for place in map(label_of, axis.values) if place in shown]
            self.keys = first + [place for place in shown if place not in first]
            is_alone = len(request.sources) == 1 and request.sources[0].group_count == 1
            own = request.labels if is_alone else ()
            labels = dict(zip(self.keys, own, strict=False)) if len(self.keys) > 1 else {}
            self.names = tuple(labels.get(key) or self.tick(axis, key) for key in self.keys)
            source = request.sources[0]
            alike = alike_axes(axis, source.axes, source.cells)
            self.x_label = joint_label(axis, alike, names_of_groups(source))
        self.has_axis = axis is not None
        # Of a lone group the axis names the algorithms that it changes.
        groups = {(each.source, each.group) for series in every for each in series.values}
        is_along = axis is not None and is_of_cc(axis)
        is_named = len(groups) == 1 and is_along
        self.has_legend = self.has_axis and len(self.who) > 1 and not is_named

    @staticmethod
    def tick(axis: Axis, key: str) -> str:
        """Return the name of a place: without the unit, which the axis has, and results as such."""
        return tick_label(axis, key) if key in axis.labels else value_label(axis, key)

    def key(self, series: Series) -> str:
        """Return where a series stands on the axis: a result without it by its name."""
        return series.place or self.sources[series.values[0].source].name

    def of(self, series: Series) -> tuple[str, float]:
        """Return a series' entry in the legend and its place."""
        if self.has_axis:
            return (series.who if self.has_legend else ""), self.keys.index(self.key(series))
        return "", self.keys.index(series.label)

    def look(self, series: Series) -> tuple[str, str]:
        """Return a series' colour and marker: those of its entry in the legend, else its own."""
        return self.looks[series.who] if self.has_legend else (series.color, series.marker)

    def dashed(self, series: Series) -> int:
        """Return how a series is hatched."""
        return self.who.index(series.who) % PATTERNS if self.has_legend else 0
