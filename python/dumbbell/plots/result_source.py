"""A run or a sweep as figures are drawn from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import pyarrow as pa

from dumbbell.figures.figure import FloatArray
from dumbbell.figures.floats import to_floats
from dumbbell.metrics import METRICS
from dumbbell.plots.capacity import capacity_mbps
from dumbbell.plots.quantities import SERIES
from dumbbell.plots.result_figures import SweepView, with_unit
from dumbbell.plots.run_figures import column_of, drawables, names_of
from dumbbell.plots.sweep_layout import Facet
from dumbbell.plots.tidy import Quantity, Values
from dumbbell.plots.transfer_figures import TIMES
from dumbbell.plots.zipped_axes import folded
from dumbbell.run import Run
from dumbbell.run.directions import payload_link
from dumbbell.run.group_transfers import group_transfers
from dumbbell.run.links import queue_rows
from dumbbell.run.verdict import INVALID
from dumbbell.sweeps import Axis, Cell, SweepResult

__all__ = ["ResultSource"]

#: The slowdown of transfers, beside how long they took.
SLOWDOWN = "slowdown"


class ResultSource:
    """A sweep, or a run, which is a sweep of one cell.

    Parameters
    ----------
    result
        Its INVALID runs are left out, unless all are.
    name
        What it is called beside others.
    """

    def __init__(self, result: SweepResult, name: str) -> None:
        self.result = result
        self.name = name
        self.view = SweepView(result)

    @property
    def title(self) -> str:
        """The scenario's name, where one group without a name and an axis of its own has it.

        A program's group has the program's name.
        """
        (first, *others) = self.result.scenario.groups
        has_own = bool(first.name or first.client is not None or others or self.view.swept)
        return "" if has_own else self.result.scenario.name

    @property
    def group_count(self) -> int:
        """How many groups it has."""
        return len(self.view.labels)

    @property
    def is_repeated(self) -> bool:
        """Whether a cell has several runs."""
        return len(self.keys) > len({cell for cell, _ in self.keys})

    @property
    def axes(self) -> Sequence[Axis]:
        """Its axes with more than one value; of those that change together maybe one."""
        return self._folded[0]

    @property
    def cells(self) -> Sequence[Cell]:
        """Return every cell that it has."""
        return self._folded[1]

    @cached_property
    def _folded(self) -> tuple[list[Axis], list[Cell]]:
        return folded(self.result)

    @cached_property
    def keys(self) -> list[tuple[int, int]]:
        """The cells and repetitions of its runs."""
        columns = (self.result.rows[name].to_pylist() for name in ("cell", "rep", "verdict"))
        invalid = {(cell, rep) for cell, rep, said in zip(*columns, strict=True) if said == INVALID}
        every = sorted(self.result.runs)
        return [key for key in every if key not in invalid] or every

    @property
    def runs(self) -> Iterator[tuple[int, Run]]:
        """Its runs with their cells, each loaded when it is reached."""
        return ((key[0], self.result.runs[key]) for key in self.keys)

    @cached_property
    def first_run(self) -> Run:
        """The first run, of which the others have what it has."""
        return self.result.runs[self.keys[0]]

    @cached_property
    def _spans(self) -> list[tuple[float, float, float]]:
        """Return of each run: its time and longest base RTT, s, and its link's rate, Mbit/s."""
        return [
            (
                run.summary["duration_ns"] / 1e9,
                max((flow["base_rtt_us"] for flow in run.summary["flows"]), default=0) / 1e6,
                (run.link(payload_link(run))["link_rate_bps"] or 0) / 1e6,
            )
            for _, run in self.runs
        ]

    @property
    def duration_s(self) -> float:
        """How long its longest run is."""
        return max(duration_s for duration_s, _, _ in self._spans)

    @property
    def base_rtt_s(self) -> float:
        """The longest base RTT of its flows: the least bin of a rate."""
        return max(rtt_s for _, rtt_s, _ in self._spans)

    @property
    def link_mbps(self) -> float | None:
        """The highest rate of the payload's link; None if that is not known, or changes."""
        if self.capacity_mbps(np.array([0.0, 1.0])) is not None:
            return None
        return max(mbps for _, _, mbps in self._spans) or None

    @cached_property
    def quantities(self) -> Mapping[str, Quantity]:
        """Its metrics, the series of its runs, and the times of their transfers."""
        found = {
            metric.name: Quantity(
                metric.name, *split_unit(with_unit(metric)), of_links=not metric.of_groups
            )
            for metric in self.view.values.metrics
        }
        run = self.first_run
        if run.scenario.sample != 0 and "flows" in run.tables:
            tables = {name: run.tables[name] for name in ("flows", "queue")}
            for name, each in SERIES.items():
                column = tables[each.table][each.column]
                if column.null_count == len(column):
                    continue  # no socket says it, of programs
                of_links = each.table == "queue"
                several = of_links and len(run.links) > 1
                title = f"{each.title} at {payload_link(run)}" if several else each.title
                found[name] = Quantity(name, title, each.unit, over_time=True, of_links=of_links)
        for of in TIMES:
            if any((each.kind == of.kind).any() for each in group_transfers(run)):
                found[of.name] = Quantity(of.name, of.title, "ms", of_transfers=True)
        if "fct" in found:
            found[SLOWDOWN] = Quantity(SLOWDOWN, "slowdown", "", of_transfers=True)
        return found

    @cached_property
    def drawn_alone(self) -> set[str]:
        """Names of what its first run is drawn by."""
        run = self.first_run
        has_series = run.scenario.sample != 0 and "flows" in run.tables
        return (
            {name for each in drawables(run) for name in names_of(each.name)}
            if has_series
            else set()
        )

    def values(self, name: str) -> Iterator[Values]:
        """Return the values of a quantity."""
        if name in METRICS:
            yield from self._of_metric(name)
        elif name in SERIES:
            yield from self._of_series(name)
        else:
            yield from self._of_transfers(name)

    def _of_metric(self, name: str) -> Iterator[Values]:
        groups = self.view.groups_of(METRICS[name])
        for cell in self.cells:
            for group in groups:
                for seed, value in self.view.values.values(name, cell.index, group).items():
                    yield Values(0, cell.index, seed, group, np.array([value]))

    def _of_series(self, name: str) -> Iterator[Values]:
        series = SERIES[name]
        for cell, run in self.runs:
            seed = run.scenario.seed
            if series.table == "queue":
                rows = queue_rows(run.queues, payload_link(run))
                values = series.scale * to_floats(rows[series.column])
                yield Values(0, cell, seed, 0, values, times_of(rows))
                continue
            flows = run.flows
            for group in range(len(run.scenario.groups)):
                members = [f["flow"] for f in run.summary["flows"] if f["group"] == group]
                time_s, values = column_of(flows, members, series.column)
                if np.isfinite(values).any():
                    yield Values(0, cell, seed, group, series.scale * values, time_s)

    def _of_transfers(self, name: str) -> Iterator[Values]:
        kind = next((of.kind for of in TIMES if of.name == name), "flow")
        for cell, run in self.runs:
            for group, each in enumerate(group_transfers(run)):
                mine = each.of(kind)
                if len(mine):
                    time_us = mine.time_us
                    values = time_us / mine.ideal_us if name == SLOWDOWN else time_us / 1e3
                    yield Values(0, cell, run.scenario.seed, group, values, ended=mine.ended)

    @property
    def swept(self) -> Mapping[int, Axis]:
        """The axis that changes the CCA of each group whose axis does."""
        return self.view.swept

    def algorithms(self, group: int) -> Sequence[str]:
        """Return the CCAs that an axis gives a group; one without a name where none does."""
        return self.view.algorithms(group)

    def algorithm(self, group: int, cell: int) -> str:
        """Return the one that it has in a cell."""
        return self.view.swept_in(self._facet(cell), group) or ""

    def group_label(self, group: int, cell: int | None) -> str:
        """Return a group's name in a cell: its algorithm's, where an axis changes that."""
        return self.view.label_of(METRICS["goodput_bps"], group, self._facet(cell))

    def look(self, group: int, cell: int | None) -> tuple[str, str]:
        """Return a group's colour and marker in a cell."""
        return self.view.look_of(METRICS["goodput_bps"], group, self._facet(cell))

    def _facet(self, cell: int | None) -> Facet | None:
        return None if cell is None else Facet("", (self.cells[cell],), (0.0,))

    def capacity_mbps(self, bins: FloatArray, cell: int | None = None) -> FloatArray | None:
        """Return what the payload's link can carry between times, s; None if that is constant.

        Of the first run, of a cell if there is one.
        """
        key = next((key for key in self.keys if key[0] == cell), self.keys[0])
        run = self.result.runs[key]
        return capacity_mbps(run.scenario, payload_link(run), bins)


def times_of(rows: pa.Table) -> FloatArray:
    """Return the times of samples, s."""
    return to_floats(rows["time_us"]) / 1e6


def split_unit(label: str) -> tuple[str, str]:
    """Split ``goodput (Mbit/s)`` into its title and unit."""
    title, bracket, unit = label.rpartition(" (")
    return (title, unit.removesuffix(")")) if bracket else (label, "")
