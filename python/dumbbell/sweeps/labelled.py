"""A sweep's metrics as a labelled array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.base.optional import optional
from dumbbell.metrics import METRICS
from dumbbell.sweeps.design import Axis

if TYPE_CHECKING:
    import xarray as xr

    from dumbbell.sweeps.result import SweepResult

__all__ = ["to_xarray"]


def to_xarray(result: SweepResult) -> xr.Dataset:
    """Return the rows as a dataset over the axes, the repetitions and the groups.

    What is of the run, and of no group, has no dim of groups.
    """
    dataset = optional("xarray", extra="xarray", purpose="a labelled array").Dataset
    rows, design = result.rows, result.design
    reps = max(rows["rep"].to_pylist(), default=-1) + 1
    shape = (len(design.cells), reps, len(result.scenario.groups))
    at = tuple(rows[name].to_numpy() for name in ("cell", "rep", "group"))
    of_run = (*("+".join(names) for names in design.dims), "rep")

    def laid_out(
        name: str, missing: object, attrs: Mapping[str, str], *, of_groups: bool
    ) -> tuple[Any, ...]:
        values = np.full(shape, missing, dtype=object if isinstance(missing, str) else None)
        values[at] = rows[name].to_numpy()
        values = values.reshape(*design.shape, *shape[1:])
        if not of_groups:  # it is in each group's row
            return of_run, values[..., 0], attrs
        return (*of_run, "group"), values, attrs

    variables = {
        name: laid_out(name, np.nan, attrs_of(name), of_groups=METRICS[name].of_groups)
        for name in rows.column_names
        if name in METRICS
    }
    variables["verdict"] = laid_out(
        "verdict", "", {"long_name": "verdict of the run"}, of_groups=False
    )
    labelled: xr.Dataset = dataset(variables, coords_of(result, reps), attrs_of_sweep(result))
    return labelled


def coords_of(result: SweepResult, reps: int) -> dict[str, Any]:
    """Return where each index of each dim lies."""
    coords: dict[str, Any] = {
        "rep": np.arange(reps),
        "seed": ("rep", [result.scenario.seed + rep for rep in range(reps)]),
        "group": np.arange(len(result.scenario.groups)),
        "cc": congestion_controls(result),
    }
    axes = {axis.name: axis for axis in result.axes}
    for names in result.design.dims:
        for name in names:
            coords[name] = ("+".join(names), *coordinate(axes[name]))
    return coords


def congestion_controls(result: SweepResult) -> tuple[Any, ...]:
    """Return each group's congestion control; by cell, where an axis changes it."""
    design = result.design
    by_cell = [
        [str(group.cc) for group in design.scenario_of(cell).groups] for cell in design.cells
    ]
    if all(ccs == by_cell[0] for ccs in by_cell):
        return "group", by_cell[0]
    dims = ("+".join(names) for names in design.dims)
    return (*dims, "group"), np.array(by_cell, dtype=object).reshape(*design.shape, -1)


def coordinate(axis: Axis) -> tuple[Any, dict[str, str]]:
    """Return an axis's numbers, or its labels where it has none, and its attrs."""
    attrs = {"units": axis.unit} if axis.unit else {}
    if axis.numbers is None:
        return list(axis.labels), attrs
    counts = all(type(value) is int for value in axis.values)
    return np.array(axis.values if counts else axis.numbers), attrs


def attrs_of(name: str) -> dict[str, str]:
    """Return a metric's unit and title."""
    return {"units": METRICS[name].unit, "long_name": METRICS[name].title}


def attrs_of_sweep(result: SweepResult) -> dict[str, Any]:
    """Return what the array is of."""
    return {"title": result.name, "engine": result.engine}
