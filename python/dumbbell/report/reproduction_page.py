"""The report of a reproduction as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.report.template import plot, render_template, write_page

if TYPE_CHECKING:
    from dumbbell.papers.reproduce import EngineResult, Reproduction

__all__ = ["render", "write_report"]


def write_report(reproduction: Reproduction, path: Path) -> Path:
    """Write a report, whole or not at all."""
    return write_page(render(reproduction), path)


def render(reproduction: Reproduction) -> str:
    """Return a report's HTML."""
    return render_template(
        "reproduction.html.j2",
        paper=reproduction.paper,
        results=[
            (result, [plot(figure) for figure in result.figures]) for result in reproduction.results
        ],
        findings=reproduction.findings_by_engine,
        verdicts=reproduction.verdicts,
        remarks=[remark for result in reproduction.results for remark in remarks(result)],
        run_count=sum(len(result.runs) for result in reproduction.results),
        traffic_s=sum(
            run.scenario.time.seconds
            for result in reproduction.results
            for run in result.runs.values()
        ),
        seeds=reproduction.seeds,
        quick=reproduction.quick,
        missing=reproduction.missing,
        command=reproduction.command,
        builds=builds(reproduction),
    )


def remarks(result: EngineResult) -> list[tuple[str, str, str, str]]:
    """Return what the runs' verdicts remark: (engine, run, status, message)."""
    return [
        (result.engine, name, reason.status, reason.message)
        for name, run in result.runs.items()
        for reason in run.verdict.reasons
    ]


def builds(reproduction: Reproduction) -> list[tuple[str, str, str]]:
    """Return every congestion control that ran, once: (name, build, parameters that differ)."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    runs = [run for result in reproduction.results for run in result.runs.values()]
    for run in runs:
        for group, entry in zip(run.scenario.groups, run.groups, strict=True):
            params = ", ".join(f"{k}={v}" for k, v in group.cc.params.items())
            found[str(group.cc), entry["build"]] = (entry["cc"], entry["build"], params)
    return list(found.values())
