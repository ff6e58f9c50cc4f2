"""Parameters of congestion controls: tuned on a score, and what each is worth: docs/tune.md."""

from dumbbell.tuning.ablate import Ablation, ablate
from dumbbell.tuning.parameter_range import ParameterRange, ranges_of
from dumbbell.tuning.target import Goal, Target, target_named
from dumbbell.tuning.tune import Trial, Tuning, tune

__all__ = [
    "Ablation", "Goal", "ParameterRange", "Target", "Trial", "Tuning", "ablate", "ranges_of",
    "target_named", "tune",
]  # fmt: skip
