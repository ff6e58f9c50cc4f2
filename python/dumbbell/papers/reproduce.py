"""Repeat a paper's experiment: run, check the findings, draw the figures, write the report."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.papers.paper import Finding, Paper, ResultTable
from dumbbell.plots import Figure, static
from dumbbell.report import write_report
from dumbbell.run import SCHEMA_VERSION, Run
from dumbbell.sweep import Progress, run_all

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True)
class Reproduction:
    """A paper's experiment, repeated.

    Attributes
    ----------
    paper
        Which.
    seeds
        Each scenario ran once per seed.
    runs
        By the name they are saved under.
    findings, tables, figures
        What the runs show.
    """

    paper: Paper
    seeds: tuple[int, ...]
    runs: Mapping[str, Run]
    findings: tuple[Finding, ...]
    tables: tuple[ResultTable, ...]
    figures: tuple[Figure, ...]

    @property
    def verdicts(self) -> Counter[str]:
        """How many runs were OK, WARN and INVALID."""
        return Counter(run.verdict.status for run in self.runs.values())

    @property
    def holds(self) -> bool:
        """Whether every finding is shown, by runs that may be believed."""
        return all(finding.shown for finding in self.findings) and not self.verdicts["INVALID"]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `reproduce --json` prints it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "paper": self.paper.name,
            "engine": "simulator",
            "engine_version": ENGINE_VERSION,
            "seeds": list(self.seeds),
            "findings": [finding.to_dict() for finding in self.findings],
            "runs": {name: run_digest(run) for name, run in self.runs.items()},
        }


def run_digest(run: Run) -> dict[str, Any]:
    """Return what `reproduce --json` has of a run: all but the flows, which its directory has."""
    document = run.to_dict()
    return {key: value for key, value in document.items() if key not in ("flows", "scenario")}


def reproduce(
    paper: Paper,
    out: Path,
    *,
    seeds: Sequence[int] = (1,),
    on_progress: Callable[[Progress], None] | None = None,
    on_stage: Callable[[float, str], None] | None = None,
) -> Reproduction:
    """Repeat a paper's experiment.

    Parameters
    ----------
    paper
        Which.
    out
        Directory for `runs/`, `figures/`, `report.html` and `findings.json`.
    seeds
        Run each scenario once per seed.
    on_progress
        Told how far the runs are.
    on_stage
        Told the share of the work after the runs that is done, and what is done next.

    Returns
    -------
    Reproduction
        Findings, tables and figures; the runs are read from `out` when asked for.

    Raises
    ------
    SweepInterrupted
        Ctrl-C; finished runs are in `out`.
    """

    def keep(name: str, run: Run) -> Run:
        # Saved and read back when needed: 32 runs' tables are more than a small machine has.
        return Run.load(run.save(out / "runs" / name))

    runs = run_all(paper.scenarios(seeds), on_progress=on_progress, on_finished=keep)
    tell = on_stage or (lambda _share, _what: None)
    tell(0.0, "checking the findings")
    findings = tuple(paper.findings(runs))
    tell(0.1, "reading the time series")
    figures = tuple(paper.figures(runs))
    result = Reproduction(paper, tuple(seeds), runs, findings, tuple(paper.tables(runs)), figures)
    for index, figure in enumerate(figures):
        tell(0.3 + 0.6 * index / len(figures), f"drawing {figure.name}")
        static.save(figure, out / "figures")
    tell(0.9, "writing the report")
    write_report(result, out / "report.html")
    text = json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)
    (out / "findings.json").write_text(text + "\n", encoding="utf-8")
    return result
