"""How much worse a metric may become before it counts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dumbbell.base.errors import GateError
from dumbbell.gate.metric_value import NUMBER, read_value, write_value
from dumbbell.metrics import Metric

__all__ = ["Tolerance"]

RELATIVE = re.compile(rf"({NUMBER.pattern})\s*%", re.ASCII)


@dataclass(frozen=True)
class Tolerance:
    """A share of the baseline's value, plus a fixed amount.

    The fixed amount keeps the doubling of a small value from counting: 0.01 % of packets
    retransmitted instead of 0.005 % is twice as many, and harmless.

    Attributes
    ----------
    relative
        Of the baseline's absolute value: 0.05.
    absolute
        In the metric's unit.
    """

    relative: float = 0.0
    absolute: float = 0.0

    @classmethod
    def parse(cls, text: str, metric: Metric) -> Tolerance:
        """Read ``5%``, ``2ms`` or ``5% + 2ms``; a ``%`` is always of the baseline's value.

        Raises
        ------
        GateError
            It is not a tolerance, or below zero.
        """
        if not isinstance(text, str) or not text.strip():
            raise GateError(f"tolerance of {metric.name} must be a string like `5%`, not `{text}`")
        relative = absolute = 0.0
        for part in text.split("+"):
            match = RELATIVE.fullmatch(part.strip())
            if match is None and metric.unit != "1" and NUMBER.fullmatch(part.strip()):
                raise GateError(
                    f"tolerance of {metric.name} `{part.strip()}` has no unit; use "
                    f"`{part.strip()}%` of the baseline, or an amount, "
                    f"`{part.strip()} {metric.shown_unit or metric.unit}`"
                )
            if match:
                relative += float(match[1]) / 100
            else:
                absolute += read_value(part, metric)
        if relative < 0 or absolute < 0:
            raise GateError(f"tolerance of {metric.name} is `{text}`; it must not be negative")
        return cls(relative, absolute)

    def of(self, value: float) -> float:
        """Return the tolerated worsening from a baseline's value, in the metric's unit."""
        return self.relative * abs(value) + self.absolute

    def write(self, metric: Metric) -> str:
        """Write it for people: ``5 % + 1 ms``."""
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        if self.absolute or not parts:
            parts.append(write_value(self.absolute, metric))
        return " + ".join(parts)
