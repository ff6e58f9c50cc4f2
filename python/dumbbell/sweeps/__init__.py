"""Many runs: a scenario over its axes, repeated; cached, resumed, on all cores or a cluster."""

from dumbbell.runs.cache import Cache
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.runs.run_list import run_all
from dumbbell.sweeps.design import Axis, Cell
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.sweep import Sweep

__all__ = [
    "Axis",
    "Cache",
    "Cell",
    "Progress",
    "Sweep",
    "SweepInterrupted",
    "SweepResult",
    "run_all",
]
