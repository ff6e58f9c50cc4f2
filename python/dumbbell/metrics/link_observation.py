"""A link as metrics see it: its summary, and its queue's samples after the warm-up."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dumbbell.run.links import queue_rows

if TYPE_CHECKING:
    from dumbbell.metrics.observation import Observation

__all__ = ["LinkObservation"]


class LinkObservation:
    """A link of a run; what several metrics need is computed once.

    Parameters
    ----------
    obs
        The run.
    summary
        The engine's counts of the link.
    """

    def __init__(self, obs: Observation, summary: Mapping[str, Any]) -> None:
        self.obs = obs
        self.summary = summary

    @property
    def whole(self) -> bool:
        """Whether nothing is left out, so that `summary` holds."""
        return self.obs.whole

    @cached_property
    def queue_table(self) -> pa.Table:
        """The link's rows of the table `queue`; a cut asks that it is there."""
        return queue_rows(self.obs.queue_table, self.summary["name"])

    @cached_property
    def queue_cut(self) -> int:
        """How many rows of `queue_table` are before or at the cut."""
        times = self.queue_table["time_us"].to_numpy()
        return int(np.searchsorted(times, self.obs.cut_us, "right"))

    @cached_property
    def queue_end(self) -> int:
        """How many rows of `queue_table` are before or at the end."""
        times = self.queue_table["time_us"].to_numpy()
        return (
            int(np.searchsorted(times, self.obs.end_us, "right"))
            if self.obs.is_phase
            else len(times)
        )

    @property
    def queue_span_us(self) -> tuple[int, int]:
        """The time from the queue's last sample before the cut to its last one."""
        times = self.queue_table["time_us"].to_numpy()[: self.queue_end]
        start = int(times[self.queue_cut - 1]) if self.queue_cut else 0
        return start, int(times[-1]) if times.size else start

    def counted(self, name: str) -> float:
        """Return by how much a column of `queue_table` grew over `queue_span_us`."""
        values = self.queue_table[name].to_numpy()[: self.queue_end]
        if not values.size:
            return 0.0
        return float(values[-1]) - (float(values[self.queue_cut - 1]) if self.queue_cut else 0.0)

    def after_cut(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column of `queue_table` from the cut to the end, without what is missing."""
        kept = self.queue_table[name].to_numpy()[self.queue_cut : self.queue_end]
        values: npt.NDArray[np.float64] = kept.astype(np.float64)
        return values[~np.isnan(values)]
