"""The report of a reproduction as one HTML file."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from dumbbell._core import ENGINE_VERSION
from dumbbell.plots.interactive import plotly_js, to_plotly_json

if TYPE_CHECKING:
    from dumbbell.papers.reproduce import Reproduction

__all__ = ["render", "write_report"]


def write_report(reproduction: Reproduction, path: Path) -> Path:
    """Write a report, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".dumbbell-") as scratch:
        new = Path(scratch, path.name)
        new.write_text(render(reproduction), encoding="utf-8")
        new.replace(path)
    return path


def render(reproduction: Reproduction) -> str:
    """Return a report's HTML."""
    environment = Environment(
        loader=PackageLoader("dumbbell.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("reproduction.html.j2")
    return template.render(
        paper=reproduction.paper,
        findings=reproduction.findings,
        tables=reproduction.tables,
        figures=[(figure, script_json(to_plotly_json(figure))) for figure in reproduction.figures],
        verdicts=reproduction.verdicts,
        remarks=remarks(reproduction),
        run_count=len(reproduction.runs),
        simulated_s=sum(run.scenario.time.seconds for run in reproduction.runs.values()),
        seeds=reproduction.seeds,
        engine_version=ENGINE_VERSION,
        builds=builds(reproduction),
        # Both are ours or plotly's own, and no text of a user's.
        plotly_js=Markup(plotly_js()),  # noqa: S704
    )


def script_json(text: str) -> Markup:
    """Make JSON safe inside a script element: nothing in it can close the element."""
    return Markup(text.replace("<", "\\u003c"))  # noqa: S704


def remarks(reproduction: Reproduction) -> list[tuple[str, str, str]]:
    """Return what the runs' verdicts remark: (run, status, message)."""
    return [
        (name, reason.status, reason.message)
        for name, run in reproduction.runs.items()
        for reason in run.verdict.reasons
    ]


def builds(reproduction: Reproduction) -> list[tuple[str, str, str]]:
    """Return every congestion control that ran, once: (name, build, parameters that differ)."""
    found: dict[tuple[str, str], tuple[str, str, str]] = {}
    for run in reproduction.runs.values():
        for group, entry in zip(run.scenario.groups, run.groups, strict=True):
            params = ", ".join(f"{k}={v}" for k, v in group.cc.params.items())
            found[str(group.cc), entry["build"]] = (entry["cc"], entry["build"], params)
    return list(found.values())
