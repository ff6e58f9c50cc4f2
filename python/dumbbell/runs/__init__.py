"""Many runs: executed on all cores or a cluster, found again in a cache, kept as records."""

from dumbbell.runs.cache import Cache
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.runs.run_list import measure_all, measure_each, repetitions, run_all

__all__ = [
    "Cache", "Progress", "SweepInterrupted", "measure_all", "measure_each", "repetitions",
    "run_all",
]  # fmt: skip
