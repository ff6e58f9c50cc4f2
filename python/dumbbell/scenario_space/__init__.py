"""Spaces of random scenarios: what each may have that a plain one has not.

`dumbbell search` looks in them, and `dumbbell.testing.scenarios` draws from them.
"""

from dumbbell.scenario_space.candidate import MAX_ELEMENTS, Candidate, Plain, with_drawn_phase
from dumbbell.scenario_space.kind import DrawnElement, ElementKind, Roles, Values, Words
from dumbbell.scenario_space.scale import Scale, linear, logarithmic, roundness
from dumbbell.scenario_space.space import SPACES, Space, space_named

__all__ = [
    "MAX_ELEMENTS",
    "SPACES",
    "Candidate",
    "DrawnElement",
    "ElementKind",
    "Plain",
    "Roles",
    "Scale",
    "Space",
    "Values",
    "Words",
    "linear",
    "logarithmic",
    "roundness",
    "space_named",
    "with_drawn_phase",
]
