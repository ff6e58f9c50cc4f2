"""Measurements on the kernel as data: what a simulator is tested against, with its provenance."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.compare.measures import Values, measure
from dumbbell.errors import ResultError, os_reason
from dumbbell.run import Run
from dumbbell.scenario import Scenario
from dumbbell.verdict import INVALID

__all__ = ["FORMAT", "Measurement", "load", "save"]

#: Version of the file; docs/format-cross-validation.md describes it.
FORMAT = 1
#: Significant digits of a value: more than the kernel repeats.
DIGITS = 6


@dataclass(frozen=True)
class Measurement:
    """One scenario, measured on the kernel.

    Attributes
    ----------
    name
        What it is called.
    scenario
        With the first repetition's seed.
    reps
        A document per run: seed, verdict, lateness and the measures.
    """

    name: str
    scenario: Scenario
    reps: tuple[Mapping[str, Any], ...]

    @property
    def values(self) -> list[Values]:
        """The measures of each run that is not INVALID."""
        return [rep["measures"] for rep in self.reps if rep["verdict"] != INVALID]


def save(measured: Iterable[tuple[str, Scenario, Sequence[Run]]], path: Path) -> None:
    """Write measurements: a name, a scenario and its runs on the kernel for each.

    Raises
    ------
    ResultError
        The file cannot be written, or a run is none of the kernel's.
    """
    cases = list(measured)
    head = {
        "format": FORMAT,
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        "dumbbell": ENGINE_VERSION,
        **provenance(run for _, _, runs in cases for run in runs),
    }
    lines = [
        json.dumps(
            {"name": name, "scenario": scenario.to_dict(), "reps": [digest(run) for run in runs]},
            ensure_ascii=False, separators=(",", ":"), allow_nan=False,
        )
        for name, scenario, runs in cases
    ]  # fmt: skip
    # A case a line: a measurement that is added or made again is a line of a diff.
    text = (
        json.dumps(head, ensure_ascii=False)[:-1] + ', "cases": [\n' + ",\n".join(lines) + "\n]}\n"
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise ResultError(f"{path}: cannot be written: {os_reason(error)}") from None


def provenance(runs: Iterable[Run]) -> dict[str, Any]:
    """Return on what the runs were measured: the same machine for all of them."""
    machines = set()
    for run in runs:
        if run.emulation is None:
            raise ResultError("only runs on the kernel are measurements of it")
        machines.add((run.emulation["kernel_release"], run.emulation["cpus"]))
    if len(machines) != 1:
        raise ResultError(f"one file is of one machine, and the runs are of {len(machines)}")
    release, cpus = machines.pop()
    return {"kernel_release": release, "cpus": cpus}


def digest(run: Run) -> dict[str, Any]:
    """Return what is kept of a run."""
    facts = run.emulation or {}
    return {
        "seed": run.summary["seed"],
        "verdict": run.verdict.status,
        "reasons": [str(reason) for reason in run.verdict.reasons],
        "lateness_p99_us": rounded(facts["lateness_p99_us"]),
        "builds": [group["build"] for group in run.groups],
        "measures": {
            key: [None if value is None else rounded(value) for value in values]
            for key, values in measure(run).items()
        },
    }


def rounded(value: float) -> float:
    """Round to the digits that are kept."""
    return float(f"{value:.{DIGITS}g}")


def load(path: Path) -> list[Measurement]:
    """Read a file of measurements.

    Raises
    ------
    ResultError
        It is none, or of another version.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultError(f"{path}: cannot be read: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{path}: is no file of measurements in format {FORMAT}")
    return [
        Measurement(case["name"], Scenario.from_dict(case["scenario"]), tuple(case["reps"]))
        for case in document["cases"]
    ]
