"""Parameters of CCAs: tuned on a score, and what each is worth: docs/tune.md.

`target.py` is what is measured, boards or metrics; `tune.py` asks Optuna and reports to it;
`ablate.py` sets each parameter off or at its ends.
"""

from dumbbell_studies.tuning.ablate import Ablation, ablate
from dumbbell_studies.tuning.parameter_range import ParameterRange, ranges_of
from dumbbell_studies.tuning.target import Goal, Target, target_named
from dumbbell_studies.tuning.tune import Trial, Tuning, tune

__all__ = [
    "Ablation", "Goal", "ParameterRange", "Target", "Trial", "Tuning", "ablate", "ranges_of",
    "target_named", "tune",
]  # fmt: skip
