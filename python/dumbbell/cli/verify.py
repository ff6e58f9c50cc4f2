"""`dumbbell archive verify`: run an archive's runs again and compare."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.archive import Verification, verify
from dumbbell.base.quantities.pluralize import pluralize
from dumbbell.base.quantities.quantity import Size
from dumbbell.terminal import options
from dumbbell.terminal.console import error, note, print_json, print_line, progress_bar

__all__ = ["verify_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell archive verify paper.tar.zst", "dumbbell archive verify paper.tar.zst --json")

#: Differences that are listed; `--json` has all.
MAX_LINES = 10


def verify_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `dumbbell archive` wrote.")],
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Compile and run the algorithms that the archive carries, in a confined "
            "process. Read them first.",
        ),
    ] = False,
    max_size: Annotated[
        str, typer.Option(metavar="SIZE", help="Refuse an archive that decompresses to more.")
    ] = "20GB",
    jobs: options.Jobs = None,
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
) -> int:
    """Run an archive's runs again and compare them byte by byte.

    Checks digests first. Exits with 1 if anything differs. Runs on the kernel are measurements and
    are not run again.
    """
    limit = int(Size.parse(max_size, "max-size"))
    with progress_bar("running again") as bar:
        result = verify(file, trust=trust, jobs=jobs, max_bytes=limit, on_progress=bar.at_run)
    if json:
        print_json(result.to_dict())
    else:
        print_verification(result)
    return 0 if result.is_identical else 1


def print_verification(result: Verification) -> None:
    """Print what was compared and what differs, for a person."""
    print_line(f"digests      {pluralize(len(result.manifest.members), 'file')} match the manifest")
    for line in result.notes:
        note(line)
    for each in result.differences[:MAX_LINES]:
        error(f"{each.run}/{each.part} differs: {each.what}")
    if len(result.differences) > MAX_LINES:
        error(f"{len(result.differences) - MAX_LINES:,} more; `--json` lists all")
    if result.measured:
        print_line(
            f"kernel       {pluralize(len(result.measured), 'run')}: measured, not run again"
        )
    if result.without_sources:
        print_line(f"no source    {pluralize(len(result.without_sources), 'run')}: not run again")
    different = len({each.run for each in result.differences})
    verdict = f"{different} differ" if different else "identical" if result.compared else "none"
    print_line(f"simulated    {pluralize(len(result.compared), 'run')} repeated: {verdict}")
