"""`dumbbell archive`: the runs behind a paper, in one file that others can check."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.archive import archive
from dumbbell.archive.sources import FILE
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.terminal import options
from dumbbell.terminal.console import note, print_json, print_line, progress_bar

__all__ = ["archive_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell archive results/buffers -o paper.tar.zst",)


def archive_command(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Directory that `run`, `sweep`, `reproduce` or `validate` wrote with --out.",
        ),
    ],
    out_file: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE.tar.zst", help="The archive to write."),
    ],
    without_sources: Annotated[
        bool,
        typer.Option(
            "--without-sources",
            help="Leave out the source text of algorithms that are not built in; their "
            "digests stay, and `verify` cannot run them again.",
        ),
    ] = False,
    json: options.Json = False,
) -> int:
    """Write runs, scenarios and sources to one file; verify such a file.

    `dumbbell archive verify` runs them again and compares. The same runs give a byte-identical
    archive.
    """
    with progress_bar("reading the runs") as bar:
        result = archive(directory, out_file, on_progress=bar.at, texts=not without_sources)
    size = out_file.stat().st_size
    if json:
        document = {
            "archive": str(out_file),
            "bytes": size,
            "sha256": result.sha256,
            "kind": result.manifest.kind,
            "runs": len(result.manifest.runs),
        }
        print_json(document)
        return 0
    ccs = result.manifest.congestion_controls
    lacking = sum(cc["kind"] == FILE and cc["main"] is None for cc in ccs.values())
    sources = f", {lacking} without source" if lacking else " with sources"
    for line in (
        f"{pluralize(len(result.manifest.runs), 'run')}, "
        f"{pluralize(len(ccs), 'algorithm')}{sources}",
        f"archive: {out_file} ({size / 1e6:.1f} MB)",
        f"sha256: {result.sha256}",
    ):
        print_line(line)
    if result.left_out:
        note(f"left out: {pluralize(len(result.left_out), 'packet capture')}")
    return 0
