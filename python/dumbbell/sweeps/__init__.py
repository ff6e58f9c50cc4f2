"""Sweeps: a scenario is run for each cell of its axes, the fields that vary, with several seeds.

Finished runs come from the cache, an interrupted sweep resumes, and all cores or a cluster work on
it. `run` is one run, `runs` executes and keeps many, `sweeps` says which and what came of them.
"""

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
