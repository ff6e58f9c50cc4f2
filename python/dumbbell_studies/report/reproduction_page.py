"""The report of a reproduction as one HTML file: a paper's page, or the site of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from dumbbell.base.writing import write_file
from dumbbell.figures import Figure
from dumbbell.report import plot, render_template
from dumbbell.scenario import label_of

if TYPE_CHECKING:
    from dumbbell_studies.papers.finding import Finding
    from dumbbell_studies.papers.paper import ModelCheck, Paper
    from dumbbell_studies.papers.reproduce import EngineResult, Reproduction

__all__ = ["render", "render_site", "write_report", "write_site"]


@dataclass(frozen=True)
class PaperPage:
    """What a paper's page is made of.

    Attributes
    ----------
    paper
        Which.
    results
        Each engine's, with its figures as the page draws them.
    findings
        Each finding, and what each engine shows of it.
    verdicts
        How many runs were OK, WARN and INVALID.
    remarks
        Notes of the verdicts: engine, run, status, message.
    run_count, traffic_s
        Runs, and seconds of their scenarios' time.
    seeds, quick, missing, command
        How it was run.
    models
        What models predict, by the finding's id.
    builds
        Every congestion control algorithm that ran: engine, name, build, parameters that differ.
    """

    paper: Paper[Any, Any]
    results: list[tuple[EngineResult, list[tuple[Figure, Markup]]]]
    findings: list[tuple[Finding, list[tuple[str, Finding]]]]
    verdicts: Counter[str]
    remarks: list[tuple[str, str, str, str]]
    run_count: int
    traffic_s: float
    seeds: tuple[int, ...]
    quick: bool
    missing: str
    command: str
    models: dict[str, ModelCheck]
    builds: list[tuple[str, str, str, str]]

    @property
    def engines(self) -> tuple[str, ...]:
        """The engines that ran."""
        return tuple(result.engine for result, _ in self.results)

    def shown(self, engine: str) -> str:
        """Return how many findings an engine shows, ``4 / 7``; empty when it did not run."""
        for result, _ in self.results:
            if result.engine == engine:
                shown = sum(finding.shown for finding in result.findings)
                return f"{shown} / {len(result.findings)}"
        return ""


def write_report(reproduction: Reproduction, path: Path, language: str = "") -> Path:
    """Write a paper's page, whole or not at all."""
    return write_file(path, render(reproduction, language))


def write_site(
    reproductions: Sequence[Reproduction], command: str, path: Path, language: str = ""
) -> Path:
    """Write a page per paper and a front page into one file, whole or not at all."""
    return write_file(path, render_site(reproductions, command, language))


def render(reproduction: Reproduction, language: str = "") -> str:
    """Return a paper's page as HTML, which opens in a language or, without one, the browser's."""
    return render_template(
        "reproduction.html.j2",
        language,
        package="dumbbell_studies.report",
        page=paper_page(reproduction),
    )


def render_site(reproductions: Sequence[Reproduction], command: str, language: str = "") -> str:
    """Return all papers' pages and the front page as HTML."""
    by_engine: dict[str, list[Finding]] = {}
    for result in (result for each in reproductions for result in each.results):
        by_engine.setdefault(result.engine, []).extend(result.findings)
    return render_template(
        "site.html.j2",
        language,
        package="dumbbell_studies.report",
        pages=[paper_page(each) for each in reproductions],
        totals=[
            (engine, Counter(finding.outcome for finding in findings))
            for engine, findings in by_engine.items()
        ],
        verdicts=sum((each.verdicts for each in reproductions), Counter()),
        command=command,
    )


def paper_page(reproduction: Reproduction) -> PaperPage:
    """Gather what a paper's page is made of."""
    runs = [run for result in reproduction.results for run in result.runs.values()]
    return PaperPage(
        paper=reproduction.paper,
        results=[
            (result, [plot(figure) for figure in result.figures]) for result in reproduction.results
        ],
        findings=reproduction.findings_by_engine,
        verdicts=reproduction.verdicts,
        remarks=[remark for result in reproduction.results for remark in remarks(result)],
        run_count=len(runs),
        traffic_s=sum(run.scenario.time.seconds for run in runs),
        seeds=reproduction.seeds_run,
        quick=reproduction.quick,
        missing=reproduction.missing,
        command=reproduction.command,
        models={each.finding: each for each in reproduction.paper.model_checks()},
        builds=builds(reproduction),
    )


def remarks(result: EngineResult) -> list[tuple[str, str, str, str]]:
    """Return the notes of the runs' verdicts: (engine, run, status, message)."""
    return [
        (result.engine, name, reason.status, reason.message)
        for name, run in result.runs.items()
        for reason in run.verdict.reasons
    ]


def builds(reproduction: Reproduction) -> list[tuple[str, str, str, str]]:
    """Return each CCA that ran: (engine, name, build, parameters that differ)."""
    found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    runs = [run for result in reproduction.results for run in result.runs.values()]
    for run in runs:
        for group, entry in zip(run.scenario.groups, run.groups, strict=True):
            params = ", ".join(f"{k}={v}" for k, v in group.cc.params.items())
            label = label_of(group.cc)
            found[str(group.cc), entry["build"]] = (run.engine, label, entry["build"], params)
    return list(found.values())
