"""What each parameter is worth: the goals with it off, or at its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.runs import Execution
from dumbbell_studies.tuning.parameter_range import ParameterRange
from dumbbell_studies.tuning.target import Target, Values
from dumbbell_studies.tuning.tune import named

__all__ = ["Ablation", "Variant", "ablate"]


@dataclass(frozen=True)
class Variant:
    """The congestion control algorithm with one parameter changed; with none it is as it was.

    Attributes
    ----------
    parameter, value
        What was changed; empty and None for nothing.
    values
        Of the goals.
    """

    parameter: str
    value: int | None
    values: Values


@dataclass(frozen=True)
class Ablation:
    """Each parameter changed by itself.

    Attributes
    ----------
    cc
        The congestion control algorithm.
    target
        What it was measured on.
    variants
        The first one is the congestion control algorithm as it was.
    """

    cc: str
    target: Target
    variants: tuple[Variant, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        names = [goal.name for goal in self.target.goals]
        return {
            "cc": self.cc,
            "measured_on": self.target.description,
            "variants": [
                {
                    "parameter": each.parameter or None,
                    "value": each.value,
                    "values": dict(zip(names, each.values, strict=True)),
                }
                for each in self.variants
            ],
        }


def ablate(
    cc: str,
    ranges: Sequence[ParameterRange],
    target: Target,
    **how: Unpack[Execution],
) -> Ablation:
    """Measure a CCA with each parameter off, where it can be, and at its ends."""
    own = CongestionControlChoice.parse(cc)
    changes = [(each.name, value) for each in ranges for value in each.ends
               if own.params.get(each.name, each.parameter.default) != value]  # fmt: skip
    ccs = [str(own), *(named(own, {name: value}) for name, value in changes)]
    measured = target.measure(ccs, **how)
    first = Variant("", None, measured[0])
    others = (
        Variant(name, value, values)
        for (name, value), values in zip(changes, measured[1:], strict=True)
    )
    return Ablation(str(own), target, (first, *others))
