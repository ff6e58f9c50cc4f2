"""A sweep: one scenario over the values of its axes, repeated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION, Control
from dumbbell.engine import SIMULATOR
from dumbbell.errors import ScenarioError
from dumbbell.run import Run, execute
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import make_design
from dumbbell.sweeps.plan import Plan
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.rows import make_rows, measure_run

__all__ = ["Sweep"]


class Sweep:
    """A scenario over the values of its axes.

    Parameters
    ----------
    scenario
        What no axis changes.
    axes
        Values by field: ``{"buffer": "0.5..64bdp", "flows": [1, 4]}``. A field is the scenario's
        (``rate``), every group's (``flows``), one group's (``1.cc``, ``copa.flows``), or a
        parameter of its congestion control (``copa.mode_window_rtts``).
    zipped
        Names of axes that change together instead of being crossed: ``[("rate", "rtt")]``.
    reps
        Repetitions of each cell, each with the next seed; the same seeds in every cell.
    until_ci
        Repeat each cell until the confidence interval of `metric`'s mean is within this of it:
        ``"2%"`` of the mean, or a number in the metric's unit.
    metric, max_reps
        For `until_ci`.
    warmup
        What of each run's start no metric counts: ``"20s"``, ``"auto"``.
    engine
        ``simulator`` or ``kernel``.

    Examples
    --------
    >>> import dumbbell
    >>> scenario = dumbbell.Scenario(["copa", "cubic"], time="2s")
    >>> result = dumbbell.Sweep(scenario, {"buffer": "1..2bdp"}, reps=2).run(cache=False)
    >>> [cell.label for cell in result.cells], len(result.runs)
    (['buffer=1bdp', 'buffer=2bdp'], 4)
    """

    def __init__(
        self,
        scenario: Scenario,
        axes: Mapping[str, Sequence[Any] | str],
        *,
        zipped: Iterable[Sequence[str]] = (),
        reps: int = 1,
        until_ci: str | float | None = None,
        metric: str = "goodput_bps",
        max_reps: int = 100,
        warmup: str | None = None,
        engine: str = SIMULATOR,
    ) -> None:
        if reps < 1:
            raise ScenarioError(f"reps is {reps}; say 1 or more")
        self.design = make_design(scenario, axes, zipped)
        said = None if until_ci is None else str(until_ci)
        self.plan = Plan(reps, said, metric, max_reps, warmup)
        self.engine = engine

    def run(
        self,
        *,
        executor: Any = None,
        cluster: Any = None,
        jobs: int | None = None,
        cache: Any = None,
        out: str | Path | None = None,
        on_progress: Any = None,
    ) -> SweepResult:
        """Run it."""
        runs: dict[tuple[int, int], Run] = {}
        measured = []
        for cell in self.design.cells:
            for rep in range(self.plan.reps):
                run = execute(self.design.scenario_of(cell, rep), Control(), self.engine)
                runs[cell.index, rep] = run
                measured.append(
                    (cell.index, rep, run.scenario.seed, measure_run(run, self.plan.warmup))
                )
        rows = make_rows(self.design.axes, self.design.cells, measured)
        provenance = {"engine_version": ENGINE_VERSION}
        result = SweepResult(self.design, self.plan, self.engine, runs, rows, provenance)
        if out is not None:
            result.save(out)
        return result
