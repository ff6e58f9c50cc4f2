"""`dumbbell fit`: which path explains a capture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import CaptureError
from dumbbell.base.writing import check_replacing
from dumbbell.fit import FittedPath, fit
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what
from dumbbell.terminal.console import print_json, print_line, progress_bar

__all__ = ["Captures", "Connection", "Point", "Sender", "fit_command", "print_path"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell fit capture.pcapng -o path.toml",
    "dumbbell fit capture.pcapng --sender bbr --connection 3",
)

Captures = Annotated[
    list[str],
    typer.Argument(
        metavar="CAPTURE…",
        help="pcap or pcapng, made at the sender; several of one path say more. A run's directory "
        "stands for its capture.",
        show_default=False,
    ),
]
Sender = Annotated[
    str | None,
    typer.Option(
        metavar="CC",
        help="The algorithm that sent it.",
        show_default="of a run its own, else as identified",
        autocompletion=complete_what,
    ),
]
Connection = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="The connection to fit.", show_default="that with most payload"
    ),
]
Point = Annotated[
    str | None, typer.Option(help="Only this capture point.", show_default="the sender's")
]


def fit_command(
    captures: Captures,
    sender: Sender = None,
    connection: Connection = None,
    point: Point = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.toml",
            help="Write the path as a scenario, which `dumbbell run` takes.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
) -> int:
    """Find the path that explains a capture.

    Says the bottleneck's rate, base RTT, buffer or queue discipline, random loss and competing
    flows, each with an interval of 90 %, and what the capture does not show. Kinds of path are
    simulated until their captures measure as this one.
    """  # fmt: skip
    if output is not None:
        check_name(output)
        check_replacing(output, is_file=True)
    with progress_bar("fitting") as bar:
        fitted = fit(
            captures,
            sender=sender,
            connection=connection,
            points=None if point is None else [point],
            jobs=jobs,
            on_progress=bar.at,
        )
    if output is not None:
        fitted.save(output)
    if json:
        print_json(fitted.to_dict())
        return 0
    print_path(fitted)
    if output is not None:
        print_line(f"saved as {output}: `dumbbell run {output}`")
    return 0


def check_name(output: Path) -> None:
    """Refuse a name that is not a scenario's.

    Raises
    ------
    CaptureError
        It says which name to use.
    """
    if output.is_dir():
        raise CaptureError(f"`-o {output}` is a directory; use `-o {output / 'path.toml'}`")
    if output.suffix != ".toml":
        instead = output.with_name(f"{output.stem or 'path'}.toml")
        raise CaptureError(
            f"`-o {output}`: the path is written as a scenario, whose name ends in `.toml`; use "
            f"`-o {instead}`"
        )


def print_path(fitted: FittedPath) -> None:
    """Print a path for a person."""
    if fitted.warning:
        print_line(f"warning: {fitted.warning}")
    print_line(
        f"{fitted.capture}, connection {fitted.connection}: {fitted.cc} ({fitted.how_known}), "
        f"{fitted.seen.series.duration_s:.1f} s"
    )
    for line in fitted.lines:
        print_line(f"  {line}")
    if len(fitted.explanations) > 1:
        print_line("kinds of path that explain it:")
        for each in fitted.explanations:
            print_line(f"  {100 * each.probability:3.0f} %  {each.path.kind}")
    for note in fitted.notes:
        print_line(f"not shown: {note}")
