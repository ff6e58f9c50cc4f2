"""What a sweep found: rows of metrics, and the runs when they are asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dumbbell.optional import optional
from dumbbell.quantities.pluralize import pluralize
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import Axis, Cell, Design, group_names
from dumbbell.sweeps.plan import Plan

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

__all__ = ["SweepResult"]


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
        The runs that finished, by cell index and repetition; each is loaded when asked for.
    rows
        One row per cell, repetition and group: `cell`, `rep`, `seed`, the axes' labels and
        numbers, `group`, `cc`, `flows`, `verdict`, then every metric.
    provenance
        What made it: versions and builds, as `sweep.json` has them.
    notes
        What the reader should know of how it was made, in lines.
    failed
        What ended the runs that a congestion control crashed, by cell index and repetition, in a
        line each. They are in neither `runs` nor `rows`.
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
        return group_names(self.scenario)

    @property
    def scenario(self) -> Scenario:
        """What no axis changes."""
        return self.design.scenario

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
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

    def runs_of(self, cell: int) -> Iterator[Run]:
        """Load the runs of a cell, in the order of their repetitions."""
        for key in sorted(key for key in self.runs if key[0] == cell):
            yield self.runs[key]

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
        congestion controls are the coordinate ``cc``; axes that were zipped share a dim, named
        ``rate+rtt``. Each variable's attrs have `units` and `long_name`. Repetitions that did not
        run, or failed, are NaN.

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
