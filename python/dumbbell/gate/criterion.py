"""What a suite requires of the congestion control algorithm under test: ``jain >= 0.95``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dumbbell.base.errors import GateError
from dumbbell.gate.metric_value import NUMBER, read_value, write_value
from dumbbell.gate.subject import Measure

__all__ = ["Criterion"]

FORM = re.compile(r"\s*(\S[^<>=]*?)\s*(>=|<=)\s*(\S.*?)\s*", re.ASCII)
RELATIVE = re.compile(rf"({NUMBER.pattern})\s*%\s*of\s+reference\s*(?:\+\s*(\S.*?))?", re.ASCII)


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
    of_reference
        The part of the reference's value that is added to the bound; None without a reference.
    """

    measure: Measure
    at_least: bool
    bound: float
    of_reference: float | None = None

    @classmethod
    def parse(cls, text: str) -> Criterion:
        """Read ``METRIC >= VALUE``, ``METRIC <= 50% of reference`` or ``… of reference + VALUE``.

        Examples
        --------
        >>> from dumbbell.gate import Criterion
        >>> print(Criterion.parse("others.share >= 30%"))
        others.share >= 30 %
        >>> print(Criterion.parse("queue_delay_p95_us in 9s..20s <= 50% of reference + 1ms"))
        queue_delay_p95_us in 9s..20s <= 50 % of the reference + 1 ms

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
        relative = RELATIVE.fullmatch(match[3])
        if relative is None:
            return cls(measure, match[2] == ">=", read_value(match[3], measure.metric))
        more = read_value(relative[2], measure.metric) if relative[2] else 0.0
        return cls(measure, match[2] == ">=", more, float(relative[1]) / 100)

    def __str__(self) -> str:
        relation = ">=" if self.at_least else "<="
        parts = (
            [] if self.of_reference is None else [f"{100 * self.of_reference:g} % of the reference"]
        )
        if self.bound or not parts:
            parts.append(write_value(self.bound, self.measure.metric))
        return f"{self.measure} {relation} {' + '.join(parts)}"

    def shortfall(self, value: float, reference: float = 0.0) -> float:
        """Return by how much a value misses the bound; zero or less when it is met.

        Parameters
        ----------
        value
            What was measured.
        reference
            What was measured of the reference with the same seed.
        """
        bound = self.bound + (self.of_reference or 0.0) * reference
        return bound - value if self.at_least else value - bound
