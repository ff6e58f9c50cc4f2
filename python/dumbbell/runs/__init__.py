"""Execute many runs on all cores or a cluster, with a cache, and keep them as records.

Three callers hand their runs to one `RunHandler`, which takes each from the cache or executes it:

- `run_all` returns runs with their time series, for cross-validation and papers.
- `measure_all` returns metrics alone, for the gate and comparisons with models.
- `Sweep` (`dumbbell.sweeps`) varies the fields of a scenario.

All of them use the same executor.
"""

from dumbbell.runs.cache import Cache, as_cache
from dumbbell.runs.execution import Execution
from dumbbell.runs.key import RunKey, run_key
from dumbbell.runs.measuring import Measures
from dumbbell.runs.progress import Progress, SweepInterrupted
from dumbbell.runs.record import make_record
from dumbbell.runs.run_count import check_run_count
from dumbbell.runs.run_list import measure_all, measure_each, repetitions, run_all

__all__ = [
    "Cache",
    "Execution",
    "Measures",
    "Progress",
    "RunKey",
    "SweepInterrupted",
    "as_cache",
    "check_run_count",
    "make_record",
    "measure_all",
    "measure_each",
    "repetitions",
    "run_all",
    "run_key",
]
