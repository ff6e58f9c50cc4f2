"""What metrics look at: a run's summary, and its time series after the warm-up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dumbbell.metrics.link_observation import LinkObservation
from dumbbell.metrics.phase import Phase
from dumbbell.metrics.warmup import Warmup
from dumbbell.run.engine import SIMULATOR
from dumbbell.run.group_transfers import GroupTransfers, group_transfers
from dumbbell.run.links import index_of_link

if TYPE_CHECKING:
    from dumbbell.records.rows import FlowRecord
    from dumbbell.run import Run
    from dumbbell.run.groups import GroupRecord

__all__ = ["FloatArray", "Observation"]

FloatArray = npt.NDArray[np.float64]

#: Shortest window that rates are looked at in, µs, and how many round trips it has at least: a
#: congestion control that reacts once per RTT shows nothing in less.
WINDOW_US = 1_000_000
WINDOW_RTTS = 10


class Observation:
    """A run as metrics see it; what several of them need is computed once.

    Parameters
    ----------
    run
        The run.
    window
        What to leave out: a warm-up at its beginning, or all but a phase.

    Attributes
    ----------
    cut_us, end_us
        Where metrics begin and end; 0 and the run's end without a window.
    whole
        Whether nothing is left out, so that the engine's summary holds.

    Raises
    ------
    ResultError
        There is a window, and the run has no time series or is over before it begins.
    """

    def __init__(self, run: Run, window: Warmup | Phase | None = None) -> None:
        self.run = run
        self.whole = window is None
        self.cut_us, self.end_us = 0, run.summary["duration_ns"] // 1000
        if isinstance(window, Phase):
            self.cut_us, end_us = window.span_us(run)
            self.end_us = min(self.end_us, end_us)
        elif window is not None:
            self.cut_us = window.cut_us(run)
        self.is_phase = isinstance(window, Phase)
        self._window_rates: dict[int, FloatArray] = {}
        self._columns: dict[str, npt.NDArray[Any]] = {}

    @property
    def flows(self) -> Sequence[FlowRecord]:
        """Every flow's summary, by its number."""
        flows: Sequence[FlowRecord] = self.run.summary["flows"]
        return flows

    @cached_property
    def links(self) -> list[LinkObservation]:
        """Every link, in the result's order."""
        return [LinkObservation(self, link) for link in self.run.links]

    def index_of(self, link: str = "") -> int:
        """Return the place of a link in `links`; of the bottleneck without a name.

        Raises
        ------
        ResultError
            The run has no such link.
        """
        return index_of_link(self.run.links, link or self.run.summary["bottleneck"]["name"])

    @cached_property
    def groups(self) -> Sequence[GroupRecord]:
        """Every group's whole-run metrics, in the scenario's order."""
        return self.run.groups

    @cached_property
    def members(self) -> list[list[int]]:
        """The flows of each group that run between the cut and the end, by their numbers."""
        return [
            [
                number
                for number, flow in enumerate(self.flows)
                if flow["group"] == group["group"]
                and flow["end_us"] > self.cut_us
                and flow["start_us"] <= self.end_us
            ]
            for group in self.groups
        ]

    def span_us(self, numbers: Sequence[int]) -> tuple[int, int]:
        """Return the time of some flows: from the first start after the cut to the last end."""
        first = min(self.flows[number]["start_us"] for number in numbers)
        last = max(self.flows[number]["end_us"] for number in numbers)
        return max(self.cut_us, first), min(self.end_us, last) if self.is_phase else last

    @cached_property
    def flow_table(self) -> pa.Table | None:
        """The table `flows`; None when the run has none at hand."""
        return self.run.tables.get("flows")

    @cached_property
    def sample_times_us(self) -> npt.NDArray[np.int64]:
        """When each row of `flow_table` was sampled."""
        times: npt.NDArray[np.int64] = self.column("time_us")
        return times

    @cached_property
    def sample_flows(self) -> npt.NDArray[np.uint32]:
        """Flow of each row of `flow_table`."""
        flows: npt.NDArray[np.uint32] = self.column("flow")
        return flows

    def column(self, name: str) -> npt.NDArray[Any]:
        """Return a column of `flow_table`, read-only; what is missing in it becomes NaN."""
        assert self.flow_table is not None  # noqa: S101 - callers have asked
        if name not in self._columns:
            values: npt.NDArray[Any] = self.flow_table[name].to_numpy()
            values.setflags(write=False)  # all metrics share it
            self._columns[name] = values
        return self._columns[name]

    @cached_property
    def kept(self) -> npt.NDArray[np.bool_]:
        """Whether each row of `flow_table` is after the cut and not after the end."""
        times_us = self.sample_times_us
        after: npt.NDArray[np.bool_] = times_us > self.cut_us
        return after & (times_us <= self.end_us) if self.is_phase else after

    @cached_property
    def rows_by_flow(self) -> list[npt.NDArray[np.intp]]:
        """Rows of `flow_table` of each flow, in order of time, by its number."""
        flows = self.sample_flows
        if len(self.flows) <= 1 << 16:
            flows = flows.astype(np.uint16)  # which numpy sorts in linear time
        ends = np.cumsum(np.bincount(flows, minlength=len(self.flows)))
        return np.split(np.argsort(flows, kind="stable"), ends[:-1])

    def kept_rows(self, number: int) -> npt.NDArray[np.intp]:
        """Return which rows of `flow_table` are a flow's and `kept`, in order of time."""
        rows = self.rows_by_flow[number]
        return rows[self.kept[rows]]

    @cached_property
    def instants(self) -> npt.NDArray[np.intp]:
        """First row of `flow_table` of each instant: all flows are sampled at once."""
        times = self.sample_times_us
        begins = np.flatnonzero(times[1:] != times[:-1]) + 1
        return np.concatenate([np.zeros(min(times.size, 1), begins.dtype), begins])

    @cached_property
    def received_bits(self) -> FloatArray:
        """What each row's flow received since the sample before, bits."""
        interval_us = int(self.run.scenario.sample) / 1000
        goodput_bps: FloatArray = self.column("goodput_bps")
        if self.run.engine == SIMULATOR:  # each sample is of one interval of its clock
            return goodput_bps * (interval_us / 1e6)
        times = self.sample_times_us
        begins = self.instants
        elapsed_us = np.diff(times[begins], prepend=times[:1] - interval_us)
        return goodput_bps * np.repeat(elapsed_us / 1e6, np.diff(begins, append=times.size))

    @cached_property
    def flow_bits(self) -> FloatArray:
        """What each flow received after the cut, bits, by its number."""
        if self.whole:
            return np.array([8.0 * flow["received_bytes"] for flow in self.flows])
        kept = self.kept
        return np.bincount(
            self.sample_flows[kept], weights=self.received_bits[kept], minlength=len(self.flows)
        ).astype(np.float64)

    def after_cut(self, number: int, name: str) -> FloatArray:
        """Return a column of a flow's samples after the cut, without those that are missing."""
        values: FloatArray = self.column(name)[self.kept_rows(number)].astype(np.float64)
        return values[~np.isnan(values)]

    def grown(self, number: int, name: str) -> float:
        """Return by how much a flow's count has grown since the cut."""
        rows, values = self.rows_by_flow[number], self.column(name)
        before = values[rows[self.sample_times_us[rows] <= self.cut_us]]
        after = values[self.kept_rows(number)]
        if not after.size:
            return 0.0
        return float(after[-1]) - (float(before[-1]) if before.size else 0.0)

    @cached_property
    def window_us(self) -> int:
        """The window that rates are looked at in: 1 s, or 10 of the longest base RTT if longer.

        In whole samples: a window that ends between two would get the goodput of another.
        """
        scenario = self.run.scenario
        later_us = (int(rtt) // 1000 for rtt in scenario.rtt_steps.before(scenario.time))
        longest_us = max(*(int(flow["base_rtt_us"]) for flow in self.flows), *later_us, 0)
        sample_us = max(int(self.run.scenario.sample) // 1000, 1)
        return -(-max(WINDOW_US, WINDOW_RTTS * longest_us) // sample_us) * sample_us

    def window_rates_bps(self, origin_us: int) -> FloatArray | None:
        """Return each flow's goodput in windows from a time on.

        Parameters
        ----------
        origin_us
            Where the first window begins.

        Returns
        -------
        array or None
            Flow by window, bit/s; NaN where the flow does not live throughout the window. None when
            the run has no time series at hand.
        """
        if self.flow_table is None:
            return None
        if origin_us not in self._window_rates:
            self._window_rates[origin_us] = self._rates_in_windows(origin_us)
        return self._window_rates[origin_us]

    def _rates_in_windows(self, origin_us: int) -> FloatArray:
        """Compute what `window_rates_bps` returns."""
        width_us = self.window_us
        count = max((self.end_us - origin_us) // width_us, 0)
        # A sample at the end of a window is of what came in it. Rows are in order of time.
        edges_us = origin_us + width_us * np.arange(count + 1)
        rows = np.searchsorted(self.sample_times_us, edges_us, "right")
        inside = slice(rows[0], rows[-1])
        flows = len(self.flows)
        # A bin for each window and flow, numbered as the rows are ordered.
        bins = np.repeat(np.arange(0, count * flows, flows), np.diff(rows))
        bins += self.sample_flows[inside]
        bits = np.bincount(bins, self.received_bits[inside], minlength=count * flows)
        rates: FloatArray = bits.reshape(count, flows).T.copy() * 1e6 / width_us
        starts_us, ends_us = (
            np.array([[flow[key]] for flow in self.flows]) for key in ("start_us", "end_us")
        )
        rates[(starts_us > edges_us[:-1]) | (ends_us < edges_us[1:])] = np.nan
        return rates

    @cached_property
    def transfers(self) -> list[GroupTransfers]:
        """Each group's transfers that begin between the cut and the end, in order."""
        return group_transfers(self.run, self.cut_us, self.end_us if self.is_phase else None)

    @cached_property
    def applications(self) -> list[list[Mapping[str, int | None]]]:
        """What each group's applications measured, without those that measured nothing.

        An application measures over the whole run; of a part of it there is nothing.
        """
        of_flows = [flow.get("application") if self.whole else None for flow in self.flows]
        return [
            [found for number in numbers if (found := of_flows[number])] for numbers in self.members
        ]

    def measured(self, name: str) -> list[list[int]]:
        """Return one of their measurements, by group, without those that do not have it."""
        return [
            [value for found in of_group if (value := found.get(name)) is not None]
            for of_group in self.applications
        ]

    @cached_property
    def queue_table(self) -> pa.Table:
        """The table `queue`, of all links; a cut asks that it is there."""
        return self.run.tables["queue"]
