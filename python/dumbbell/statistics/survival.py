"""Times of which some were not seen to their end: Kaplan and Meier's estimate.

A run ends before some of its transfers do. Leaving them out would leave out the slow ones; waiting
for them would change the load. All means and percentiles of times of transfers are therefore this
estimate, which is the plain mean and percentile where all ended.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

__all__ = ["MAX_TAIL", "SurvivalCurve"]

#: Share of the times that may be longer than any that was seen to its end, for a mean.
MAX_TAIL = 0.01
#: Products of fractions are a rounding error off.
ROUNDING = 1e-9


class SurvivalCurve:
    """How many of some times are longer than t, S(t), where some were cut off.

    A run ends before some of its transfers do. To leave these out would leave out the slow ones;
    S(t) = Π (1 - dᵢ/nᵢ) over the times tᵢ ≤ t at which some ended uses that they took at least as
    long as they were seen: dᵢ ended at tᵢ, nᵢ were seen for as long as tᵢ. Where none was cut off,
    it is the share that took longer.

    Parameters
    ----------
    times
        How long each was seen.
    ended
        Whether it was over then.

    References
    ----------
    Kaplan, Meier: "Nonparametric estimation from incomplete observations", JASA 53(282), 1958.
    """

    def __init__(self, times: npt.NDArray[np.float64], ended: npt.NDArray[np.bool_]) -> None:
        order = np.argsort(times, kind="stable")
        self._times, self._ended = times[order], ended[order]

    @cached_property
    def times(self) -> npt.NDArray[np.float64]:
        """The times at which some ended, each once, in order."""
        return np.unique(self._times[self._ended])

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """S at each of `times`."""
        if not self._ended.any():  # as in most runs, which have no transfers
            return np.empty(0)
        seen = self._times.size - np.searchsorted(self._times, self.times)
        past = np.searchsorted(self._times[self._ended], self.times, "right")
        ended = np.diff(past, prepend=0)
        shares: npt.NDArray[np.float64] = np.cumprod(1 - ended / seen).astype(np.float64)
        return shares

    @property
    def tail(self) -> float:
        """The share that is longer than the longest that was seen to its end."""
        return float(self.shares[-1]) if self.shares.size else 1.0

    def quantile(self, q: float) -> float | None:
        """Return the time that a share q does not exceed; None if too many were cut off."""
        if not self.shares.size:
            return None
        reached = np.flatnonzero(self.shares <= 1 - q + ROUNDING)
        return float(self.times[reached[0]]) if reached.size else None

    def mean(self) -> float | None:
        """Return ∫ S dt, which is the mean where none was cut off.

        What is longer than the longest that was seen to its end counts as that one; None if these
        are more than 1 %.
        """
        if self.tail > MAX_TAIL + ROUNDING:
            return None
        before = np.concatenate([[1.0], self.shares[:-1]])
        return float(np.sum(before * np.diff(self.times, prepend=0.0)))
