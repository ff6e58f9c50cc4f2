"""What a run amounts to: each metric a function, with its formula and its source.

`METRICS` lists them, `measure` takes all of a run. Without a warm-up they are the engine's own
figures of the whole run, as the papers have them.
"""

from dumbbell.metrics.harm import harm, harm_of
from dumbbell.metrics.metric import Metric
from dumbbell.metrics.registry import METRICS, measure
from dumbbell.metrics.warmup import Warmup, mser5

__all__ = ["METRICS", "Metric", "Warmup", "harm", "harm_of", "measure", "mser5"]
