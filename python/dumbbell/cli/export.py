"""`dumbbell report export`: results as CSV, a LaTeX table or qlog."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ResultError
from dumbbell.export import export_csv, export_latex, export_qlog
from dumbbell.metrics.metric import canonical
from dumbbell.plots.result_figures import USUAL
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_metrics
from dumbbell.terminal.console import print_files
from dumbbell.terminal.out_directory import out_directory

__all__ = ["export_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell report export results/buffers --csv",
    "dumbbell report export results/buffers --latex --metric share,rtt_mean_us",
)


def export_command(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="What `run`, `sweep` or `analyze` wrote with --out."),
    ],
    csv: Annotated[
        bool,
        typer.Option(
            "--csv",
            help="A CSV file per table, columns named with their units, and `values.csv`, which "
            "has a metric's value a row.",
        ),
    ] = False,
    latex: Annotated[
        bool,
        typer.Option("--latex", help="A table for LaTeX's `booktabs`: means with their intervals."),
    ] = False,
    qlog: Annotated[
        bool, typer.Option("--qlog", help="A run's flows as qlog, for qvis: recovery events.")
    ] = False,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help="Metrics of --latex.",
            autocompletion=complete_metrics,
            show_default=", ".join(USUAL),
        ),
    ] = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=out_directory,
            help="Directory of the files.",
            show_default="DIR/csv, DIR/latex, DIR/qlog",
        ),
    ] = None,
) -> int:
    """Write results as CSV, a LaTeX table or qlog."""
    if metric is not None and not latex:
        raise ResultError("`--metric` needs `--latex`: the other files have every metric")
    written = list(export_csv(directory, out_dir)) if csv else []
    if latex:
        names = [canonical(name.strip()) for name in (metric or "").split(",") if name.strip()]
        written.append(export_latex(directory, out_dir, names))
    if qlog:
        written.append(export_qlog(directory, out_dir))
    if not written:
        raise ResultError("`export` needs a format: use --csv, --latex or --qlog")
    print_files(written, json=json)
    return 0
