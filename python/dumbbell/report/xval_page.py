"""The comparison of simulator and kernel as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell.base.writing import write_file
from dumbbell.compare.xval import CrossValidation, XvalCase
from dumbbell.compare.xval_table import (
    COLUMNS,
    OVERVIEW_COLUMNS,
    comparison_row,
    counts,
    overview_rows,
)
from dumbbell.report.template import plot, render_template
from dumbbell.report.xval_figures import draw_case

if TYPE_CHECKING:
    from dumbbell.records.rows import EmulationRecord

__all__ = ["render", "write_page_of"]


def write_page_of(result: CrossValidation, path: Path, language: str = "") -> Path:
    """Write the page, whole or not at all."""
    return write_file(path, render(result, language))


def render(result: CrossValidation, language: str = "") -> str:
    """Return the page's HTML, which opens in a language or, without one, the browser's."""
    return render_template(
        "cross_validation.html.j2",
        language,
        summary=result.summary,
        columns=COLUMNS,
        overview_columns=OVERVIEW_COLUMNS,
        overview=overview_rows(result),
        verdicts=result.verdicts,
        cases=[
            (case, f"case-{index}", rows(case), [plot(figure) for figure in draw_case(case)])
            for index, case in enumerate(result.cases)
        ],
        counts=counts,
        remarks=[
            (case.name, run.summary["seed"], reason.status, reason.message)
            for case in result.cases
            for run in case.kernel
            for reason in run.verdict.reasons
        ],
        kernels=sorted({facts(run.emulation) for case in result.cases for run in case.kernel}),
    )


def rows(case: XvalCase) -> list[tuple[str, ...]]:
    """Return the rows of a case's table."""
    return [comparison_row(entry) for entry in case.comparisons]


def facts(emulation: EmulationRecord | None) -> str:
    """Return the machine that a run was on."""
    if emulation is None:
        return "no kernel"
    return f"Linux {emulation['kernel_release']}, {emulation['cpus']} CPUs"
