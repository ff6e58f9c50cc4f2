"""Measurements on the kernel as data, with provenance: the simulator is tested against them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import ResultError
from dumbbell.base.result_file import read_json
from dumbbell.base.writing import write_file
from dumbbell.compare.engines import METRIC_NAMES, OPTIONAL_METRIC_NAMES, Rows
from dumbbell.metrics import METRICS, measure
from dumbbell.run import Run
from dumbbell.run.verdict import INVALID
from dumbbell.scenario import Scenario

__all__ = ["FORMAT", "Measurement", "digest", "load", "save", "write"]

#: Version of the file; docs/format-cross-validation.md describes it.
FORMAT = 1
#: Names that files before November 2026 have for metrics.
OLDER_NAMES = {"retransmitted_share": "retransmission_rate", "dropped_share": "drop_rate"}
#: Significant digits of a value: more than the kernel repeats.
DIGITS = 6


@dataclass(frozen=True)
class Measurement:
    """One scenario, measured on the kernel.

    Attributes
    ----------
    name
        Its name in tables.
    scenario
        With the first repetition's seed.
    reps
        A document per run: seed, verdict, lateness and the metrics.
    """

    name: str
    scenario: Scenario
    reps: tuple[Mapping[str, Any], ...]

    @property
    def values(self) -> list[Rows]:
        """The metrics of each run that is not INVALID, a row per group."""
        return [to_rows(rep["measures"]) for rep in self.reps if rep["verdict"] != INVALID]


def save(measured: Iterable[tuple[str, Scenario, Sequence[Run]]], path: Path) -> None:
    """Write measurements: a name, a scenario and its runs on the kernel for each.

    Raises
    ------
    ResultError
        The file cannot be written, or a run is not of the kernel engine.
    """
    cases = list(measured)
    head = {
        "format": FORMAT,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "dumbbell": ENGINE_VERSION,
        **provenance(run for _, _, runs in cases for run in runs),
    }
    documents = [
        {"name": name, "scenario": scenario.to_dict(), "reps": [digest(run) for run in runs]}
        for name, scenario, runs in cases
    ]
    write(head, documents, path)


def write(head: Mapping[str, Any], cases: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write a file of measurements from its documents.

    Raises
    ------
    ResultError
        The file cannot be written.
    """
    lines = [
        json.dumps(case, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        for case in cases
    ]
    # One line per case, so that a new measurement is one line of a diff.
    text = (
        json.dumps(head, ensure_ascii=False)[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    )
    write_file(path, text)


def provenance(runs: Iterable[Run]) -> dict[str, Any]:
    """Return the kernel and the number of CPUs, which all runs must share."""
    machines = set()
    for run in runs:
        if run.emulation is None:
            raise ResultError("only runs on the kernel are measurements of it")
        machines.add((run.emulation["kernel_release"], run.emulation["cpus"]))
    if len(machines) != 1:
        raise ResultError(f"the runs are of {len(machines)} machines; write one file for each")
    release, cpus = machines.pop()
    return {"kernel_release": release, "cpus": cpus}


def digest(run: Run) -> dict[str, Any]:
    """Return what is kept of a run."""
    facts: Mapping[str, Any] = run.emulation or {}
    rows = measure(run)
    measured = {name: values_of(rows, name) for name in (*METRIC_NAMES, *OPTIONAL_METRIC_NAMES)}
    return {
        "seed": run.summary["seed"],
        "verdict": run.verdict.status,
        "reasons": [str(reason) for reason in run.verdict.reasons],
        "lateness_p99_us": rounded(facts["lateness_p99_us"]),
        "builds": [group["build"] for group in run.groups],
        "measures": {name: values for name, values in measured.items() if is_kept(name, values)},
    }


def is_kept(name: str, values: Sequence[float | None]) -> bool:
    """Whether a metric is kept: one that only some scenarios have only where it is known."""
    return name in METRIC_NAMES or any(value is not None for value in values)


def values_of(rows: Rows, name: str) -> list[float | None]:
    """Return a metric's values by group, or the run's one value, rounded."""
    kept = rows if METRICS[name].of_groups else rows[:1]
    return [None if row[name] is None else rounded(row[name]) for row in kept]


def to_rows(measures: Mapping[str, Sequence[float | None]]) -> Rows:
    """Return the metrics of a file as rows, which are read under their older names too."""
    named = {OLDER_NAMES.get(name, name): values for name, values in measures.items()}
    groups = range(max(len(values) for values in named.values()))
    return [
        {name: values[group if len(values) > 1 else 0] for name, values in named.items()}
        for group in groups
    ]


def rounded(value: float) -> float:
    """Round to the digits that are kept."""
    return float(f"{value:.{DIGITS}g}")


def load(path: Path) -> list[Measurement]:
    """Read a file of measurements.

    Raises
    ------
    ResultError
        It is not such a file, or of another version.
    """
    try:
        document = read_json(path)
    except (FileNotFoundError, NotADirectoryError):
        raise ResultError(f"{path}: no such file") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{path}: not a file of measurements in format {FORMAT}")
    return [
        Measurement(case["name"], Scenario.from_dict(case["scenario"]), tuple(case["reps"]))
        for case in document["cases"]
    ]
