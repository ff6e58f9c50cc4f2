"""Features of planned runs, kept in a file so that training need not simulate again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dumbbell
from dumbbell.identify import (
    Floats,
    Trace,
    datagram_trace_of,
    features_of,
    rounds_of,
    trace_of,
)
from dumbbell_studies.identification.path import scenario_of
from dumbbell_studies.identification.plan import PlannedRun
from dumbbell_studies.identification.samples import datagram_flows, labelled_flows

__all__ = ["Collected", "collect_quic", "collect_tcp"]

#: What is in the file.
ARRAYS = ("features", "labels", "numbers", "points", "kinds")
#: Flows with fewer round trips get no answer, and teach nothing.
LEAST_ROUNDS = 40


@dataclass(frozen=True)
class Collected:
    """Flows with the names of their algorithms.

    Attributes
    ----------
    features
        A row per flow.
    labels, numbers, points
        The algorithm, the run, and where the flow was captured.
    kinds
        ``first`` or ``neighbour``: whether it is the run's first group.
    """

    features: Floats
    labels: tuple[str, ...]
    numbers: tuple[int, ...]
    points: tuple[str, ...]
    kinds: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Write a file."""
        np.savez_compressed(
            path,
            features=self.features,
            labels=np.array(self.labels),
            numbers=np.array(self.numbers),
            points=np.array(self.points),
            kinds=np.array(self.kinds),
        )

    @classmethod
    def load(cls, path: Path) -> Collected:
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            lists = {name: tuple(file[name].tolist()) for name in ARRAYS[1:]}
            return cls(file["features"], **lists)


class Rows:
    """Collects features of flows, with their labels."""

    def __init__(self) -> None:
        self.rows: list[tuple[Floats, str, int, str, str]] = []

    def add(self, trace: Trace | None, label: str, run: PlannedRun, point: str, *, is_first: bool,
            is_from_start: bool = True) -> None:  # fmt: skip
        """Add a flow, if it shows anything."""
        rounds = None if trace is None else rounds_of(trace)
        if trace is None or rounds is None or len(rounds) < LEAST_ROUNDS:
            return
        features = features_of(trace, rounds, is_from_start=is_from_start)
        kind = "first" if is_first else "neighbour"
        self.rows.append((features, label, run.number, point.split("-")[0], kind))

    def collected(self) -> Collected:
        """Return all that was added."""
        features, labels, numbers, points, kinds = zip(*self.rows, strict=True)
        return Collected(np.array(features), labels, numbers, points, kinds)


def collect_tcp(
    plan: Iterable[PlannedRun], scratch: Path, on_run: Callable[[PlannedRun], None]
) -> Collected:
    """Simulate runs of TCP and return their flows' features.

    Parameters
    ----------
    plan
        The runs.
    scratch
        A file that captures may be written to.
    on_run
        Called after each.
    """
    rows = Rows()
    for run in plan:
        dumbbell.run(scenario_of(run.path, run.cc), capture=scratch)
        for flow in labelled_flows(scratch):
            is_first = flow.group == 0
            row = flow.flow.row
            rows.add(
                trace_of(row, flow.flow.ack_row, flow.flow.bins),
                run.label if is_first else run.path.neighbour,
                run, row["point"], is_first=is_first,
                is_from_start=not row["began_before_capture"],
            )  # fmt: skip
        on_run(run)
    return rows.collected()


def collect_quic(
    plan: Iterable[PlannedRun], scratch: Path, on_run: Callable[[PlannedRun], None]
) -> Collected:
    """Simulate runs of QUIC and return their flows' features."""
    rows = Rows()
    for run in plan:
        dumbbell.run(scenario_of(run.path, run.cc), capture=scratch)
        for flow in datagram_flows(scratch):
            with_spin = datagram_trace_of(flow.row, flow.bins)
            if with_spin is not None and not with_spin.is_estimated:
                rows.add(with_spin, run.label, run, flow.row["point"], is_first=True)
            # Most stacks that are in use do not set the bit.
            without = datagram_trace_of(flow.row, flow.bins, uses_spin=False)
            rows.add(without, run.label, run, flow.row["point"], is_first=True)
        on_run(run)
    return rows.collected()
