"""The transfers of a run, group by group: what was sent as a whole, and from when to when."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dumbbell.run.columns import KINDS
from dumbbell.run.transfers import has_any_transfer, transfers_of
from dumbbell.scenario.routes import payload_rate_bps
from dumbbell.statistics.survival import SurvivalCurve

if TYPE_CHECKING:
    from dumbbell.run import Run

__all__ = ["GroupTransfers", "group_transfers", "transfer_summaries"]


@dataclass(frozen=True, eq=False)
class GroupTransfers:
    """Transfers of one group, each an element of every array.

    Attributes
    ----------
    kind
        ``flow``, ``request``, ``page``, ``chunk`` or ``burst``.
    flow, connection
        Whose each was, and over which of its connections.
    size_bytes
        Application payload.
    start_us
        When each began.
    time_us
        How long each took; one that was not complete, until the end of the run.
    ended
        Which were complete.
    ideal_us
        What each would take at best: its size over what the narrowest link of the route carries of
        payload, and a base RTT.
    """

    kind: npt.NDArray[Any]
    flow: npt.NDArray[np.int64]
    connection: npt.NDArray[np.int64]
    size_bytes: npt.NDArray[np.float64]
    start_us: npt.NDArray[np.float64]
    time_us: npt.NDArray[np.float64]
    ended: npt.NDArray[np.bool_]
    ideal_us: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.kind.size)

    def where(self, which: npt.NDArray[np.bool_]) -> GroupTransfers:
        """Return some of them."""
        if not len(self):
            return self
        return GroupTransfers(*(getattr(self, field.name)[which] for field in fields(self)))

    def of(self, kind: str) -> GroupTransfers:
        """Return those of a kind."""
        return self.where(self.kind == kind) if len(self) else self

    @cached_property
    def times_us(self) -> SurvivalCurve:
        """How long they took."""
        return SurvivalCurve(self.time_us, self.ended)

    @cached_property
    def slowdowns(self) -> SurvivalCurve:
        """How many times as long as at best they took."""
        return SurvivalCurve(self.time_us / self.ideal_us, self.ended)


#: Those of a group that has none, as in most runs.
NONE = GroupTransfers(
    kind=np.empty(0, np.str_),
    flow=np.empty(0, np.int64),
    connection=np.empty(0, np.int64),
    size_bytes=np.empty(0),
    start_us=np.empty(0),
    time_us=np.empty(0),
    ended=np.empty(0, np.bool_),
    ideal_us=np.empty(0),
)


def group_transfers(run: Run, cut_us: int = 0, until_us: int | None = None) -> list[GroupTransfers]:
    """Return each group's transfers that began after the cut, in the scenario's order.

    Parameters
    ----------
    run
        The run.
    cut_us, until_us
        Between which times they began; until the end of the run by default.
    """
    table = transfers_of(run) if has_any_transfer(run) else None
    if table is None:
        return [NONE] * len(run.scenario.groups)
    end_us = run.summary["duration_ns"] / 1000
    groups = column(table, "group").astype(np.int64)
    after = column(table, "start_us") >= cut_us
    if until_us is not None:
        after &= column(table, "start_us") < until_us
    base_rtt_us = np.array([flow["base_rtt_us"] for flow in run.summary["flows"]], np.float64)
    flow = column(table, "flow").astype(np.int64)
    size_bytes = column(table, "size_bytes")
    start_us, ends_us = column(table, "start_us"), column(table, "end_us")
    ended = ~np.isnan(ends_us)
    kind = np.asarray(table["kind"].to_pylist(), dtype=np.str_)
    found = []
    for index, group in enumerate(run.scenario.groups):
        mine = (groups == index) & after
        rate_bps = payload_rate_bps(group, run.scenario)
        found.append(
            GroupTransfers(
                kind=kind[mine],
                flow=flow[mine],
                connection=column(table, "connection").astype(np.int64)[mine],
                size_bytes=size_bytes[mine],
                start_us=start_us[mine],
                time_us=(np.where(ended, ends_us, end_us) - start_us)[mine],
                ended=ended[mine],
                ideal_us=(8e6 * size_bytes[mine] / rate_bps + base_rtt_us[flow[mine]]),
            )
        )
    return found


def transfer_summaries(transfers: GroupTransfers) -> list[dict[str, Any]]:
    """Return a group's transfers by kind: how many, of how many bytes, and how long they took.

    Times are those of `SurvivalCurve`: transfers that were not complete count as longer than they
    were seen.
    """
    summaries = []
    for kind in KINDS:
        of_kind = transfers.of(kind)
        if not len(of_kind):
            continue
        times = of_kind.times_us
        summaries.append(
            {
                "kind": kind,
                "count": len(of_kind),
                "unfinished": int((~of_kind.ended).sum()),
                "size_bytes": int(of_kind.size_bytes.sum()),
                "time_mean_us": times.mean(),
                "time_p50_us": times.quantile(0.5),
                "time_p95_us": times.quantile(0.95),
                "time_p99_us": times.quantile(0.99),
            }
        )
    return summaries


def column(table: pa.Table, name: str) -> npt.NDArray[np.float64]:
    """Return a column; what is missing in it becomes NaN."""
    values: npt.NDArray[np.float64] = (
        table[name].cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    )
    return values
