"""Many runs: executed on all cores or a cluster, found again in a cache, kept as records.

All runs go through here. `run_all` (runs with their time series, for cross-validation and papers),
`measure_all` (metrics alone, for the gate and comparisons with models) and `Sweep` hand their runs
to one `RunHandler`, which finds each in the cache or executes it on one executor.
"""

from dumbbell.runs.cache import Cache
from dumbbell.runs.execution import Execution
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.runs.run_list import measure_all, measure_each, repetitions, run_all

__all__ = [
    "Cache", "Execution", "Progress", "SweepInterrupted", "measure_all", "measure_each",
    "repetitions", "run_all",
]  # fmt: skip
