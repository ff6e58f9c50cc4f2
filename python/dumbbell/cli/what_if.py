"""`dumbbell what-if`: what another algorithm would have got on a capture's path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities import json_text
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.writing import check_writable, write_file
from dumbbell.cli.fit import Captures, Connection, Point, Sender, print_path
from dumbbell.congestion_control import congestion_controls
from dumbbell.fit import FittedPath, Outcome, Prediction, fit, what_if
from dumbbell.fit.sender import checked_sender
from dumbbell.report.what_if_page import write_what_if_page
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_what
from dumbbell.terminal.console import print_json, print_line, progress_bar
from dumbbell.terminal.out_directory import out_directory
from dumbbell.terminal.table import print_table

__all__ = ["what_if_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell what-if capture.pcapng --cc bbr3,copa",
    "dumbbell what-if capture.pcapng --cc ./mine.bpf.c --out results/what-if",
)
#: Version of `what-if --json`: docs/fit.md.
WHAT_IF_SCHEMA_VERSION = 1
JSON_FILE, PAGE_FILE, PATH_FILE = "what-if.json", "what-if.html", "path.toml"
#: Of the work: the fit; the rest are the predictions.
FIT_SHARE = 0.5


def what_if_command(
    captures: Captures,
    cc: Annotated[
        list[str],
        typer.Option(
            metavar="CC,…",
            help="The algorithms in its place: `bbr3,copa,./mine.bpf.c`.",
            show_default=False,
            autocompletion=complete_what,
        ),
    ],
    sender: Sender = None,
    connection: Connection = None,
    point: Point = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    lang: options.Lang = "",
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            callback=out_directory,
            help=f"Write {JSON_FILE}, {PATH_FILE} and a page, {PAGE_FILE}, to this directory.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
) -> int:
    """Predict what other algorithms would have got on a capture's path.

    Fits the path as `dumbbell fit` does, and simulates each algorithm on paths that explain the
    capture. The intervals are of 90 %, over what the fit left open. The sender's own algorithm is
    predicted too: how far that is from the capture is how good the fit is.
    """
    check_captures(captures, cc)
    wanted = algorithms_in(",".join(cc))
    if out_dir is not None:
        check_writable(out_dir)
    with progress_bar("fitting") as bar:
        fitted = fit(
            captures,
            sender=sender,
            connection=connection,
            points=None if point is None else [point],
            jobs=jobs,
            on_progress=lambda share: bar.at(FIT_SHARE * share),
        )
        predictions = what_if(
            fitted,
            [fitted.cc, *(word for word in wanted if word != fitted.cc)],
            jobs=jobs,
            on_progress=lambda share: bar.at(FIT_SHARE + (1 - FIT_SHARE) * share),
        )
    document = {
        "schema_version": WHAT_IF_SCHEMA_VERSION,
        "fit": fitted.to_dict(),
        "captured": Outcome.of(fitted.seen).to_dict(),
        "predictions": [each.to_dict() for each in predictions],
    }
    if out_dir is not None:
        write_file(out_dir / JSON_FILE, json_text(document) + "\n")
        fitted.save(out_dir / PATH_FILE)
        write_what_if_page(fitted, predictions, out_dir / PAGE_FILE, lang)
    if json:
        print_json(document)
        return 0
    print_path(fitted)
    print_predictions(fitted, predictions)
    if out_dir is not None:
        print_line(f"saved in {out_dir}: open {out_dir / PAGE_FILE}")
    return 0


def check_captures(captures: Sequence[str], cc: Sequence[str]) -> None:
    """Refuse an algorithm in the place of a capture: `--cc` takes one word.

    Raises
    ------
    ScenarioError
        It says how algorithms are listed.
    """
    for each in captures:
        is_algorithm = each in congestion_controls() or each.endswith((".bpf.c", ".py"))
        if is_algorithm and (not Path(each).exists() or Path(each).suffix in (".c", ".py")):
            raise ScenarioError(
                f"`{excerpt(each)}` is an algorithm, not a capture; separate algorithms with "
                f"commas: `--cc {excerpt(','.join([*cc, each]))}`"
            )


def algorithms_in(text: str) -> list[str]:
    """Read a list of algorithms; a parameter after the first of one begins no new one.

    Raises
    ------
    ScenarioError
        It names none, or one of QUIC's.
    CongestionControlError
        There is no such algorithm.
    """
    found: list[str] = []
    for word in (each.strip() for each in text.split(",")):
        is_parameter = "=" in word and ":" not in word.partition("=")[0]
        if is_parameter and found:
            found[-1] += f",{word}"
        elif word and word not in found:
            found.append(word)
    if not found:
        raise ScenarioError("`--cc` names no algorithm; use e.g. `--cc bbr3,copa`")
    return [checked_sender(each) for each in found]


def print_predictions(fitted: FittedPath, predictions: Sequence[Prediction]) -> None:
    """Print what was captured, and what is predicted."""
    print_table(
        ("", "goodput\nMbit/s", "RTT p50\nms", "RTT p95\nms", "retransmitted\n%"),
        [
            (f"{fitted.cc}, captured", *Outcome.of(fitted.seen).words),
            *((f"{each.cc}, predicted", *each.words) for each in predictions),
        ],
        left=(0,),
        apart=True,
    )
    print_line(
        f"compare algorithms with `{fitted.cc}, predicted`; how far that is from what was captured "
        "is how good the fit is"
    )
