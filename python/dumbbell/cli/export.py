"""`dumbbell export`: tables as CSV."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json
from dumbbell.errors import ResultError
from dumbbell.export import export_csv

__all__ = ["export_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell export results/buffers --csv",)


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
    if json:
        print_json(json_module.dumps({"files": [str(path) for path in written]}, indent=2))
        return 0
    for path in written:
        out().print(str(path), markup=False, soft_wrap=True)
    return 0
