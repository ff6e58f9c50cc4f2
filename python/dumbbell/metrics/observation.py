"""What metrics look at: a run's summary, and its time series after the warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dumbbell.metrics.warmup import Warmup

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["FloatArray", "Observation"]

FloatArray = npt.NDArray[np.float64]


class Observation:
    """A run as metrics see it; what several of them need is computed once.

    Parameters
    ----------
    run
        The run.
    warmup
        What to leave out of its beginning.

    Attributes
    ----------
    cut_us
        Where metrics begin; 0 without a warm-up.
    whole
        Whether nothing is left out, so that the engine's summary holds.

    Raises
    ------
    ResultError
        There is a warm-up, and the run has no time series or is not longer than that.
    """

    def __init__(self, run: Run, warmup: Warmup | None = None) -> None:
        self.run = run
        self.whole = warmup is None
        self.cut_us = 0 if warmup is None else warmup.cut_us(run)

    @property
    def flows(self) -> Sequence[Mapping[str, Any]]:
        """Every flow's summary, by its number."""
        flows: Sequence[Mapping[str, Any]] = self.run.summary["flows"]
        return flows

    @property
    def link(self) -> Mapping[str, Any]:
        """The bottleneck's summary."""
        link: Mapping[str, Any] = self.run.summary["bottleneck"]
        return link

    @cached_property
    def groups(self) -> Sequence[Mapping[str, Any]]:
        """Every group's whole-run metrics, in the scenario's order."""
        return self.run.groups

    @cached_property
    def members(self) -> list[list[int]]:
        """The flows of each group that run after the cut, by their numbers."""
        return [
            [
                number
                for number, flow in enumerate(self.flows)
                if flow["group"] == group["group"] and flow["end_us"] > self.cut_us
            ]
            for group in self.groups
        ]

    def span_us(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Return the time of some flows: from the first start after the cut to the last end."""
        first = min(self.flows[number]["start_us"] for number in numbers)
        return max(self.cut_us, first), max(self.flows[number]["end_us"] for number in numbers)

    @cached_property
    def flow_table(self) -> pa.Table | None:
        """The table `flows`; None when the run has none at hand."""
        return self.run.tables.get("flows")

    @cached_property
    def queue_table(self) -> pa.Table | None:
        """The rows of the table `queue` after the cut; None when the run has none at hand."""
        table = self.run.tables.get("queue")
        if table is None or self.whole:
            return table
        return table.slice(int(np.searchsorted(table["time_us"].to_numpy(), self.cut_us, "right")))

    @cached_property
    def sample_times_us(self) -> npt.NDArray[np.int64]:
        """When each row of `flow_table` was sampled."""
        times: npt.NDArray[np.int64] = self.column("time_us").astype(np.int64)
        return times

    @cached_property
    def sample_flows(self) -> npt.NDArray[np.int64]:
        """Which flow each row of `flow_table` is of."""
        flows: npt.NDArray[np.int64] = self.column("flow").astype(np.int64)
        return flows

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of `flow_table`; what is missing in it becomes NaN."""
        assert self.flow_table is not None  # noqa: S101 - callers have asked
        values: npt.NDArray[Any] = self.flow_table[name].to_numpy()
        return values

    @cached_property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Which rows of `flow_table` are after the cut."""
        return self.sample_times_us > self.cut_us

    @cached_property
    def received_bits(self) -> FloatArray:
        """What each row's flow received since the sample before, bits."""
        times = self.sample_times_us
        interval_us = int(self.run.scenario.sample) / 1000
        # All flows are sampled at once: an instant begins where the time changes.
        begins = np.flatnonzero(np.diff(times, prepend=-1))
        elapsed_us = np.diff(times[begins], prepend=times[:1] - interval_us)
        rows = np.diff(begins, append=times.size)
        bits: FloatArray = self.column("goodput_bps") * np.repeat(elapsed_us, rows) / 1e6
        return bits

    @cached_property
    def flow_bits(self) -> FloatArray:
        """What each flow received after the cut, bits, by its number."""
        if self.whole:
            return np.array([8.0 * flow["received_bytes"] for flow in self.flows])
        kept = self.kept
        return np.bincount(
            self.sample_flows[kept], weights=self.received_bits[kept], minlength=len(self.flows)
        ).astype(np.float64)
