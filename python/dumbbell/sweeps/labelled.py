"""A sweep's metrics as a labelled array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dumbbell.errors import ResultError
from dumbbell.metrics import METRICS
from dumbbell.sweeps.design import Axis

if TYPE_CHECKING:
    import xarray as xr

    from dumbbell.sweeps.result import SweepResult

__all__ = ["to_xarray"]


def to_xarray(result: SweepResult) -> xr.Dataset:
    """Return the rows as a dataset over the axes, the repetitions and the groups."""
    try:
        import xarray as xr
    except ImportError:
        raise ResultError(
            "labelled arrays need xarray; say `pip install dumbbell[xarray]`"
        ) from None
    rows, design = result.rows, result.design
    reps = max(rows["rep"].to_pylist(), default=-1) + 1
    groups = len(result.scenario.groups)
    dims = ("+".join(names) for names in design.dims)
    shape = (len(design.cells), reps, groups)
    at = tuple(rows[name].to_numpy() for name in ("cell", "rep", "group"))
    every = (*dims, "rep", "group")
    variables = {}
    for name in (name for name in METRICS if name in rows.column_names):
        values = np.full(shape, np.nan)
        values[at] = rows[name].to_numpy()
        variables[name] = (every, values.reshape(*design.shape, reps, groups), attrs_of(name))
    verdicts = np.full(shape, "", dtype=object)
    verdicts[at] = rows["verdict"].to_pylist()
    variables["verdict"] = (
        every, verdicts.reshape(*design.shape, reps, groups), {"long_name": "verdict of the run"}
    )  # fmt: skip
    return xr.Dataset(variables, coords_of(result, reps), attrs_of_sweep(result))


def coords_of(result: SweepResult, reps: int) -> dict[str, Any]:
    """Return where each index of each dim lies."""
    coords: dict[str, Any] = {
        "rep": np.arange(reps),
        "seed": ("rep", [result.scenario.seed + rep for rep in range(reps)]),
        "group": np.arange(len(result.scenario.groups)),
    }
    axes = {axis.name: axis for axis in result.axes}
    for names in result.design.dims:
        for name in names:
            coords[name] = ("+".join(names), *coordinate(axes[name]))
    return coords


def coordinate(axis: Axis) -> tuple[Any, dict[str, str]]:
    """Return an axis's numbers, or its labels where it has none, and its attrs."""
    attrs = {"units": axis.unit} if axis.unit else {}
    return (list(axis.labels) if axis.numbers is None else np.array(axis.numbers)), attrs


def attrs_of(name: str) -> dict[str, str]:
    """Return a metric's unit and title."""
    return {"units": METRICS[name].unit, "long_name": METRICS[name].title}


def attrs_of_sweep(result: SweepResult) -> dict[str, Any]:
    """Return what the array is of."""
    return {"title": result.name, "engine": result.engine}
