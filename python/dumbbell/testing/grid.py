"""A test for each cell of a grid of scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import make_design

__all__ = ["grid"]


def grid(
    scenario: Scenario,
    *,
    reps: int = 1,
    argument: str = "scenario",
    zipped: Sequence[Sequence[str]] = (),
    **axes: str | Sequence[Any],
) -> pytest.MarkDecorator:
    """Parametrize a test over a grid: it is called with each cell's scenario.

    Parameters
    ----------
    scenario
        What no axis changes.
    reps
        Repetitions of each cell, each with the next seed.
    argument
        The test's argument.
    zipped
        Names of axes that change together instead of being crossed.
    axes
        Values by field, as a sweep's: ``buffer="0.5..8bdp"``, ``flows=[1, 4]``; a dot in an axis's
        name is written as two underscores: ``copa__flows``.

    Returns
    -------
    pytest.MarkDecorator
        ``@grid(Scenario(["copa", "cubic"]), buffer="1..4bdp")``.

    Raises
    ------
    ScenarioError
        No such field, or a value that it cannot have.
    """
    named = {name.replace("__", "."): values for name, values in axes.items()}
    design = make_design(scenario, named, zipped)
    check_run_count(len(design.cells), reps)
    cells = [
        pytest.param(
            design.scenario_of(cell, rep),
            id=cell.label if reps == 1 else f"{cell.label},rep={rep}",
        )
        for cell in design.cells
        for rep in range(reps)
    ]
    return pytest.mark.parametrize(argument, cells)
