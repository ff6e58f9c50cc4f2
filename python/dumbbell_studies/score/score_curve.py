"""From a metric's value to a score between 0 and 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["ScoreCurve"]

#: Smaller values have no logarithm of interest.
LEAST = 1e-12


@dataclass(frozen=True)
class ScoreCurve:
    """Where a value scores 1, where 0, and how it falls in between.

    Attributes
    ----------
    good
        Lowest and highest value that scores 1; infinite on a side that is open.
    bad
        From which value on, below and above, the score is 0; not used on an open side.
    is_log
        Whether it falls with the logarithm of the value, for delays and ratios, of which a factor
        matters; else with the value.

    Examples
    --------
    >>> from dumbbell_studies.score import ScoreCurve
    >>> delay = ScoreCurve.one_sided(5.0, 80.0, is_log=True)
    >>> [round(delay.score(ms), 3) for ms in (2, 5, 20, 80, 300)]
    [1.0, 1.0, 0.5, 0.0, 0.0]
    >>> share = ScoreCurve((0.8, 1.25), (0.2, 5.0), is_log=True)
    >>> [round(share.score(ratio), 3) for ratio in (0.1, 0.4, 1.0, 2.5)]
    [0.0, 0.5, 1.0, 0.5]
    """

    good: tuple[float, float]
    bad: tuple[float, float]
    is_log: bool = False

    @classmethod
    def one_sided(cls, good: float, bad: float, *, is_log: bool = False) -> ScoreCurve:
        """Return the scale of a value that is good beyond one end."""
        if bad > good:
            return cls((-math.inf, good), (-math.inf, bad), is_log)
        return cls((good, math.inf), (bad, math.inf), is_log)

    @property
    def is_two_sided(self) -> bool:
        """Whether values may be both too low and too high."""
        return all(map(math.isfinite, self.good))

    def score(self, value: float | None) -> float:
        """Return the score of a value; 0 for one that is missing."""
        if value is None or math.isnan(value):
            return 0.0
        if value > self.good[1]:
            return self._fallen(value, self.good[1], self.bad[1])
        if value < self.good[0]:
            return self._fallen(value, self.good[0], self.bad[0])
        return 1.0

    def _fallen(self, value: float, good: float, bad: float) -> float:
        """Return the score between a good end and a bad one."""
        if self.is_log:
            value, good, bad = (math.log(max(each, LEAST)) for each in (value, good, bad))
        return min(max((bad - value) / (bad - good), 0.0), 1.0)
