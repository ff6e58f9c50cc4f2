"""`dumbbell report export`: tables as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ResultError
from dumbbell.export import export_csv
from dumbbell.terminal import options
from dumbbell.terminal.console import print_files

__all__ = ["export_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell report export results/buffers --csv",)


def export_command(
    directory: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="What `run`, `sweep` or `analyze` wrote with --out."),
    ],
    csv: Annotated[
        bool, typer.Option("--csv", help="A CSV file per table, columns named with their units.")
    ] = False,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of the files.", show_default="DIR/csv"),
    ] = None,
) -> int:
    """Write the tables of a run, a sweep or an analysis as CSV."""
    if not csv:
        raise ResultError("`export` needs a format: use --csv")
    written = export_csv(directory, out_dir)
    print_files(written, json=json)
    return 0
