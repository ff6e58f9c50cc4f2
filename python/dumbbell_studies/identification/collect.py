"""Features of planned runs, a file for each, so that a training that was stopped goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

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

__all__ = ["Collected", "Reader", "collect", "of_quic", "of_tcp"]

#: Flows with fewer round trips get no answer, and teach nothing.
LEAST_ROUNDS = 40


@dataclass(frozen=True)
class Collected:
    """Flows with the names of their algorithms.

    Attributes
    ----------
    features
        A row per flow.
    labels, numbers
        The algorithm, and the run.
    is_quiet
        Whether a lone flow met nothing but a drop-tail queue.
    """

    features: Floats
    labels: list[str]
    numbers: list[int]
    is_quiet: list[bool]


#: Goes through the flows of a run in its capture: label and features.
Reader: TypeAlias = Callable[[PlannedRun, Path], Iterator[tuple[str, Floats]]]


def collect(
    plan: Iterable[PlannedRun],
    reader: Reader,
    kept: Path,
    scratch: Path,
    on_run: Callable[[PlannedRun], None],
) -> Collected:
    """Simulate runs and return their flows' features.

    Parameters
    ----------
    plan
        The runs.
    reader
        `of_tcp` or `of_quic`.
    kept
        Directory of a file for each run; what is there is not simulated again.
    scratch
        A file that captures may be written to.
    on_run
        Called after each.
    """
    kept.mkdir(parents=True, exist_ok=True)
    rows: list[Floats] = []
    labels: list[str] = []
    numbers: list[int] = []
    is_quiet: list[bool] = []
    for run in plan:
        file = kept / f"{run.number}.npz"
        if not file.is_file():
            dumbbell.run(scenario_of(run.path, run.cc), capture=scratch)
            write(file, list(reader(run, scratch)))
        with np.load(file, allow_pickle=False) as flows:
            rows += list(flows["features"])
            labels += flows["labels"].tolist()
        numbers += [run.number] * (len(rows) - len(numbers))
        is_quiet += [run.path.is_quiet] * (len(rows) - len(is_quiet))
        on_run(run)
    return Collected(np.array(rows), labels, numbers, is_quiet)


def write(file: Path, flows: list[tuple[str, Floats]]) -> None:
    """Write a run's flows: the file is there whole or not at all."""
    part = file.with_name(f"{file.stem}.part.npz")
    np.savez_compressed(
        part,
        features=np.array([features for _, features in flows]),
        labels=np.array([label for label, _ in flows], dtype=np.str_),
    )
    part.replace(file)


def of_tcp(run: PlannedRun, capture: Path) -> Iterator[tuple[str, Floats]]:
    """Go through a run's flows of TCP."""
    for flow in labelled_flows(capture):
        row = flow.flow.row
        features = features_in(
            trace_of(row, flow.flow.ack_row, flow.flow.bins),
            is_from_start=not row["began_before_capture"],
        )
        if features is not None:
            yield run.label if flow.group == 0 else run.path.neighbour, features


def of_quic(run: PlannedRun, capture: Path) -> Iterator[tuple[str, Floats]]:
    """Go through a run's flows of QUIC, with the spin bit and as if it were not set."""
    for flow in datagram_flows(capture):
        with_spin = datagram_trace_of(flow.row, flow.bins)
        # Most stacks that are in use do not set the bit.
        without = datagram_trace_of(flow.row, flow.bins, uses_spin=False)
        if with_spin is not None and with_spin.is_estimated:
            with_spin = None
        for trace in (with_spin, without):
            features = features_in(trace, is_from_start=True)
            if features is not None:
                yield run.label, features


def features_in(trace: Trace | None, *, is_from_start: bool) -> Floats | None:
    """Return the features of a flow, if it shows anything."""
    rounds = None if trace is None else rounds_of(trace)
    if trace is None or rounds is None or len(rounds) < LEAST_ROUNDS:
        return None
    return features_of(trace, rounds, is_from_start=is_from_start)
