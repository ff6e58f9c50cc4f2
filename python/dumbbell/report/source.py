"""What a directory holds: a run, a sweep, an analysis or a reproduction."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.errors import ResultError, check_directory
from dumbbell.metrics import measure
from dumbbell.run import Run
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.design import make_design
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.rows import make_rows

__all__ = ["WITH_ARTICLE", "kind_of", "load_results", "sweep_of_run"]

#: The file that says what a directory holds.
KINDS = {
    "run.json": "run",
    "sweep.json": "sweep",
    "analysis.json": "analysis",
    "findings.json": "reproduction",
    "index.html": "reproduction",
}
WITH_ARTICLE = {"analysis": "an analysis", "reproduction": "a reproduction"}


def kind_of(directory: Path) -> str:
    """Return what a directory holds: ``run``, ``sweep``, ``analysis`` or ``reproduction``.

    Raises
    ------
    ResultError
        None of these.
    """
    for name, kind in KINDS.items():
        if (directory / name).is_file():
            return kind
    check_directory(directory)
    if any(directory.glob("*/findings.json")):
        return "reproduction"
    raise ResultError(
        f"{directory}: holds no results; use a directory that `run`, `sweep`, `analyze` or "
        "`reproduce` wrote with --out"
    )


def load_results(directory: Path) -> SweepResult:
    """Read a sweep's directory, or a run's, which is a sweep without axes.

    Raises
    ------
    ResultError
        It holds neither, or was written by another version, or no run has finished.
    """
    kind = kind_of(directory)
    if kind == "run":
        return sweep_of_run(Run.load(directory))
    if kind != "sweep":
        raise ResultError(f"{directory}: holds neither a run nor a sweep but {WITH_ARTICLE[kind]}")
    result = SweepResult.load(directory)
    if not result.runs:
        raise ResultError(f"{directory}: no run of the sweep has finished")
    return result


def sweep_of_run(run: Run) -> SweepResult:
    """Return a run as a sweep of one cell."""
    design = make_design(run.scenario, {})
    return SweepResult(
        design=design,
        plan=Plan(),
        engine=run.engine,
        runs={(0, 0): run},
        rows=make_rows(design, [((0, 0), run.scenario.seed, measure(run))]),
        provenance={"engine_version": run.summary["engine_version"]},
    )
