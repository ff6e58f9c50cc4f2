"""The result of a sweep: rows of metrics, and the runs, loaded on access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dumbbell.base.optional import optional
from dumbbell.base.quantities.html_table import html_table
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.metrics import METRICS
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell.sweeps.cell_labels import algorithm_names
from dumbbell.sweeps.design import Axis, Cell, Design, directory_name
from dumbbell.sweeps.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from dumbbell.figures.canvas import Canvas

__all__ = ["SweepResult"]

#: Groups that a title lists.
MAX_TITLED = 6
#: Metrics of a notebook's table, and its rows.
SHOWN = ("goodput_per_flow_bps", "share", "rtt_mean_us")
MAX_ROWS = 60


@dataclass(frozen=True)
class SweepResult:
    """A sweep's result; an interrupted one's too.

    Attributes
    ----------
    design
        Axes, cells, and the scenario of each.
    plan
        How often each cell was to be repeated.
    engine
        What ran it: ``simulator`` or ``kernel``.
    runs
        The runs that finished, by cell index and repetition; each is loaded on access.
    rows
        One row per cell, repetition and group: `cell`, `rep`, `seed`, the axes' labels and
        numbers, `group`, `name`, `cc`, `flows`, `verdict`, then every metric.
    provenance
        What made it: versions and builds, as `sweep.json` has them.
    notes
        What the reader should know of how it was made, in lines.
    failed
        What ended the runs that a congestion control algorithm crashed, by cell index and
        repetition, in a line each. They are in neither `runs` nor `rows`.
    """

    design: Design
    plan: Plan
    engine: str
    runs: Mapping[tuple[int, int], Run]
    rows: pa.Table
    provenance: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    failed: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def __repr__(self) -> str:
        crossed = " x ".join(f"{len(axis.values)} {axis.name}" for axis in self.axes) or "1 cell"
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<SweepResult {self.name}, {crossed}, {pluralize(len(self.runs), 'run')}{failed}>"

    @property
    def name(self) -> str:
        """What competed: ``copa+cubic``."""
        return directory_name(self.scenario, self.design.varied)

    @property
    def title(self) -> str:
        """The scenario's name; what competed where it has none, of many groups the first."""
        labels = self.design.group_labels
        more = len(labels) - MAX_TITLED
        shown = labels if more < 2 else (*labels[:MAX_TITLED], f"{more} more")
        return self.scenario.name or " + ".join(shown)

    @property
    def scenario(self) -> Scenario:
        """What no axis changes."""
        return self.design.scenario

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the sweep."""
        return self.design.axes

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Every combination of the axes' values."""
        return self.design.cells

    @property
    def reps(self) -> Mapping[int, int]:
        """How many repetitions finished, by cell index."""
        done = Counter(cell for cell, _ in self.runs)
        return {cell.index: done[cell.index] for cell in self.cells}

    def run_name(self, cell: int, rep: int) -> str:
        """Return what messages call a run: ``buffer=2bdp, rep 0``; the only one has no name."""
        if len(self.runs) + len(self.failed) == 1 and not self.axes:
            return ""
        return ", ".join([*([self.cells[cell].label] if self.axes else []), f"rep {rep}"])

    def runs_of(self, cell: int) -> Iterator[Run]:
        """Load the runs of a cell, in the order of their repetitions."""
        for key in sorted(key for key in self.runs if key[0] == cell):
            yield self.runs[key]

    def plot(
        self, metric: str | None = None, *, x: str | None = None, size: str = "2col"
    ) -> Canvas:
        """Draw a metric over the axes, for a notebook.

        Parameters
        ----------
        metric
            Its name in `rows`; by default the throughput share, or of one group its goodput.
        x
            Name of the axis along x; by default the longest.
        size
            ``1col`` or ``2col``.

        Returns
        -------
        dumbbell.figures.canvas.Canvas
            A matplotlib figure.
        """
        from dumbbell.figures.frame import drawn
        from dumbbell.plots.result_figures import ResultFigures

        figures = ResultFigures(self, x=x)
        found = figures.metric(metric) if metric else figures.usual[0]
        return drawn(figures.draw(found), size)

    def _repr_html_(self) -> str:
        means = self.rows.group_by(["cell", "group"]).aggregate(
            [("seed", "count"), *((name, "mean") for name in SHOWN)]
        )
        names = algorithm_names(self.design)
        labels = [names(cell) for cell in self.cells]
        ordered = means.sort_by([("cell", "ascending"), ("group", "ascending")])
        rows = [
            (
                self.cells[row["cell"]].label,
                labels[row["cell"]][row["group"]],
                row["seed_count"],
                *(f"{METRICS[name].scale * row[f'{name}_mean']:.2f}" for name in SHOWN),
            )
            for row in ordered.slice(0, MAX_ROWS).to_pylist()
        ]
        heads = [f"{METRICS[name].title}, {METRICS[name].shown_unit}" for name in SHOWN]
        return html_table(repr(self).strip("<>"), ["cell", "group", "n", *heads], rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame.

        Raises
        ------
        MissingPackageError
            pandas is not installed.
        """
        optional("pandas", extra="pandas", purpose="a data frame")
        frame: pd.DataFrame = self.rows.to_pandas()
        return frame

    def to_xarray(self) -> xr.Dataset:
        """Return the metrics as a labelled array.

        Its dims are the axes, ``rep`` and, where a metric is of a group, ``group``, whose
        congestion control algorithms are the coordinate ``cc``; axes that were zipped share a dim,
        named ``rate+rtt``. Each variable's attrs have `units` and `long_name`. Repetitions that did
        not run, or failed, are NaN.

        Raises
        ------
        MissingPackageError
            xarray is not installed.
        """
        from dumbbell.sweeps.labelled import to_xarray  # xarray takes long to import

        return to_xarray(self)

    def save(self, directory: str | Path) -> Path:
        """Write `sweep.json`, `rows.parquet` and `runs/`.

        Raises
        ------
        ResultError
            The directory holds something else, or cannot be written.
        """
        from dumbbell.sweeps.sweep_directory import save  # it needs this class

        return save(self, Path(directory))

    @classmethod
    def load(cls, directory: str | Path) -> SweepResult:
        """Read what `save` or `dumbbell sweep --out` wrote, of an interrupted sweep too.

        Raises
        ------
        ResultError
            There is no sweep, or it was written by another version.
        """
        from dumbbell.sweeps.sweep_directory import load  # it needs this class

        return load(Path(directory))
