"""The connections of a capture as figures are drawn from them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from dumbbell.capture_analysis import Analysis
from dumbbell.capture_analysis.connection_table import connection_label
from dumbbell.capture_analysis.figures import looks_of, name_of, rate_bin_us, rate_mbps
from dumbbell.figures.figure import FloatArray
from dumbbell.figures.floats import to_floats
from dumbbell.figures.style import distinct_markers, style_of
from dumbbell.plots.tidy import Quantity, Values
from dumbbell.sweeps import Axis, Cell

__all__ = ["CaptureSource"]

#: By name: the column of a connection or of its time series, its title, unit, and the factor to it.
SERIES = {
    "goodput": ("payload_bytes", "throughput", "Mbit/s", 1.0),
    "rtt": ("rtt_us", "RTT", "ms", 1e-3),
    "inflight": ("inflight_sack_bytes", "in flight", "kB", 1e-3),
}
NUMBERS = {
    "goodput_bps": ("goodput_bps", "goodput", "Mbit/s", 1e-6),
    "rtt_mean_us": ("rtt_mean_us", "mean RTT", "ms", 1e-3),
    "rtt_min_us": ("rtt_min_us", "minimum RTT", "ms", 1e-3),
}
#: Connections that are drawn, those with most payload; more cannot be distinguished.
MAX_CONNECTIONS = 8


class CaptureSource:
    """A capture; its connections are the groups.

    Parameters
    ----------
    analysis
        Of the capture.
    name
        What it is called beside others.
    """

    axes: Sequence[Axis] = ()
    cells: Sequence[Cell] = (Cell(0, {}),)
    title = ""
    is_repeated = False
    swept: Mapping[int, Axis] = {}
    base_rtt_s = 0.0
    link_mbps: float | None = None
    drawn_alone: Collection[str] = ()

    def __init__(self, analysis: Analysis, name: str) -> None:
        self.analysis = analysis
        self.name = name

    @cached_property
    def connections(self) -> list[int]:
        """The connections that are drawn."""
        largest = self.analysis.largest[:MAX_CONNECTIONS]
        return [n for n in largest if self.analysis.row_of(n)["payload_bytes"] > 0]

    @cached_property
    def bin_us(self) -> float:
        """How wide the bins of throughput are."""
        return rate_bin_us(self.analysis, self.connections)

    @cached_property
    def duration_s(self) -> float:
        """The time of the last sample."""
        return float(to_floats(self.analysis.series["time_us"]).max(initial=0.0)) / 1e6

    @property
    def group_count(self) -> int:
        """How many connections are drawn."""
        return len(self.connections)

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """What it can be drawn by."""
        return {
            name: Quantity(name, title, unit, over_time=name in SERIES)
            for name, (_, title, unit, _) in (SERIES | NUMBERS).items()
        }

    def values(self, name: str) -> Iterator[Values]:
        """Return the values of a quantity."""
        for place, number in enumerate(self.connections):
            if name in NUMBERS:
                column, _, _, scale = NUMBERS[name]
                value = self.analysis.row_of(number)[column]
                if value is not None:
                    yield Values(0, 0, 0, place, np.array([scale * value]))
                continue
            if name == "goodput":
                time_s, mbps = rate_mbps(self.analysis, [number], self.bin_us)
                yield Values(0, 0, 0, place, mbps, time_s)
                continue
            column, _, _, scale = SERIES[name]
            rows = self.analysis.series_of(number)
            values = scale * to_floats(rows[column])
            yield Values(0, 0, 0, place, values, to_floats(rows["time_us"]) / 1e6)

    def algorithms(self, group: int) -> Sequence[str]:  # noqa: ARG002 -- no axis changes any
        """Return one without a name."""
        return [""]

    def algorithm(self, group: int, cell: int) -> str:  # noqa: ARG002 -- no axis changes any
        """Return an empty name: a capture has no axes."""
        return ""

    def group_label(self, group: int, cell: int | None) -> str:  # noqa: ARG002 -- it has one cell
        """Return a connection's name."""
        return connection_label(self.analysis, self.connections[group])

    def look(self, group: int, cell: int | None) -> tuple[str, str]:  # noqa: ARG002 -- it has one cell
        """Return a connection's colour and marker."""
        return self._looks[group]

    @cached_property
    def _looks(self) -> list[tuple[str, str]]:
        """Each connection's colour and marker: its algorithm's, if it is known."""
        ccs = self.analysis.congestion_controls
        groups = [self.analysis.group_of(number) for number in self.connections]
        styles = [style_of("" if g is None else name_of(ccs[g])) for g in groups]
        colors = [color for _, _, color in looks_of(self.analysis, self.connections)]
        return list(zip(colors, distinct_markers(styles), strict=True))

    def capacity_mbps(
        self,
        bins: FloatArray,  # noqa: ARG002
        cell: int | None = None,  # noqa: ARG002
    ) -> FloatArray | None:
        """Return nothing: a capture does not say what a link could carry."""
        return None
