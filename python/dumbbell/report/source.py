"""What a report is of: a sweep's directory, or a run's, which is a sweep without axes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from dumbbell.errors import ResultError
from dumbbell.metrics import measure
from dumbbell.run import Run
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.design import make_design
from dumbbell.sweeps.plan import Plan

__all__ = ["load_results", "sweep_of_run"]


def load_results(directory: Path) -> SweepResult:
    """Read a sweep's directory or a run's.

    Raises
    ------
    ResultError
        It is neither, or was written by another version, or no run has finished.
    """
    if (directory / "run.json").is_file():
        return sweep_of_run(Run.load(directory))
    if not (directory / "sweep.json").is_file():
        raise ResultError(
            f"{directory}: holds neither a run nor a sweep; name what `dumbbell run --out` or "
            "`dumbbell sweep --out` wrote"
        )
    result = SweepResult.load(directory)
    if not result.runs:
        raise ResultError(f"{directory}: no run of the sweep has finished")
    return result


def sweep_of_run(run: Run) -> SweepResult:
    """Return a run as a sweep of one cell."""
    head = {"cell": 0, "rep": 0, "seed": run.scenario.seed}
    return SweepResult(
        design=make_design(run.scenario, {}),
        plan=Plan(),
        engine=run.engine,
        runs={(0, 0): run},
        rows=pa.Table.from_pylist([{**head, **group} for group in measure(run)]),
        provenance={"engine_version": run.summary["engine_version"]},
    )
