"""The report of a capture's analysis as one HTML file."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.writing import write_file
from dumbbell.capture_analysis import Analysis
from dumbbell.capture_analysis.connection_table import COLUMNS, connection_row
from dumbbell.capture_analysis.figures import draw_figures
from dumbbell.report.template import plot, render_template

__all__ = ["MAX_ROWS", "render_analysis", "write_analysis_report"]

#: Connections in the page's table; connections.parquet has all.
MAX_ROWS = 200


def write_analysis_report(analysis: Analysis, path: Path, language: str = "") -> Path:
    """Write the page, whole or not at all."""
    return write_file(path, render_analysis(analysis, language))


def render_analysis(analysis: Analysis, language: str = "") -> str:
    """Return the page's HTML."""
    shown = analysis.largest[:MAX_ROWS]
    return render_template(
        "analysis.html.j2",
        language,
        analysis=analysis,
        columns=[column.split("\n") for column in COLUMNS],
        rows=[connection_row(analysis, analysis.row_of(number)) for number in shown],
        left_out=analysis.data.num_rows - len(shown),
        plots=[plot(figure) for figure in draw_figures(analysis)],
    )
