"""What is measured of a run: each metric is a function, with its formula and its source.

`METRICS` lists them, `measure` takes all of a run, `register` adds a metric of your own. Without a
warm-up they are the engine's own figures of the whole run, as papers report them.

`metric.py` has `register`; formulas are in files by subject, like `delay.py`. `observation.py` is a
run, whole or after its warm-up. `link_observation.py` is the same of a link.
"""

from dumbbell.metrics.all_metrics import AllMetrics, measuring_build, user_metrics
from dumbbell.metrics.chosen_metrics import ChosenMetrics
from dumbbell.metrics.harm import harm, harm_of
from dumbbell.metrics.judged import judged_by
from dumbbell.metrics.metric import METRICS, Metric, column_in, metric_named, register, value_in
from dumbbell.metrics.observation import Observation
from dumbbell.metrics.phase import IN, Phase
from dumbbell.metrics.registry import measure
from dumbbell.metrics.warmup import Warmup, mser5

__all__ = [
    "IN",
    "METRICS",
    "AllMetrics",
    "ChosenMetrics",
    "Metric",
    "Observation",
    "Phase",
    "Warmup",
    "column_in",
    "harm",
    "harm_of",
    "judged_by",
    "measure",
    "measuring_build",
    "metric_named",
    "mser5",
    "register",
    "user_metrics",
    "value_in",
]
