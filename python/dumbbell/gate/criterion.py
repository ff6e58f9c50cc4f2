"""What a suite requires of any congestion control: ``jain >= 0.95``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dumbbell.errors import GateError
from dumbbell.gate.metric_value import read_value, write_value
from dumbbell.gate.subject import Measure

__all__ = ["Criterion"]

FORM = re.compile(r"\s*([\w.]+(?:@[\w-]+)?)\s*(>=|<=)\s*(\S.*?)\s*", re.ASCII)


@dataclass(frozen=True)
class Criterion:
    """A bound on a metric.

    Attributes
    ----------
    measure
        Which metric, and of which groups.
    at_least
        Whether the bound is a lower one.
    bound
        In the metric's unit.
    """

    measure: Measure
    at_least: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Criterion:
        """Read ``METRIC >= VALUE`` or ``METRIC <= VALUE``.

        Examples
        --------
        >>> from dumbbell.gate import Criterion
        >>> print(Criterion.parse("others.share >= 30%"))
        others.share >= 30 %

        Raises
        ------
        GateError
            It has another form, there is no such metric, or the value does not fit its unit.
        """
        match = FORM.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            raise GateError(
                f"invalid criterion `{text}`: use `METRIC >= VALUE` or `METRIC <= VALUE`"
            )
        measure = Measure(match[1])
        return cls(measure, match[2] == ">=", read_value(match[3], measure.metric))

    def __str__(self) -> str:
        relation = ">=" if self.at_least else "<="
        return f"{self.measure} {relation} {write_value(self.bound, self.measure.metric)}"

    def shortfall(self, value: float) -> float:
        """Return by how much a value misses the bound; zero or less when it is met."""
        return self.bound - value if self.at_least else value - self.bound
