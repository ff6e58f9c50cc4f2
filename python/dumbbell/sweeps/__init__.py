"""Many runs: a scenario over its axes, repeated; cached, resumed, on all cores or a cluster."""

from dumbbell.sweeps.design import Axis, Cell
from dumbbell.sweeps.result import SweepResult
from dumbbell.sweeps.executor import Progress, SweepInterrupted, run_all
from dumbbell.sweeps.sweep import Sweep

__all__ = ["Axis", "Cell", "Progress", "Sweep", "SweepInterrupted", "SweepResult", "run_all"]
