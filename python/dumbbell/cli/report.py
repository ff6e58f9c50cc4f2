"""`dumbbell report`: one HTML file of a run, a sweep, an analysis or a reproduction."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dumbbell.base.errors import ResultError
from dumbbell.base.writing import replacing
from dumbbell.capture_analysis import Analysis
from dumbbell.report.analysis_page import write_analysis_report
from dumbbell.report.source import WITH_ARTICLE, kind_of, load_results
from dumbbell.report.sweep_page import write_sweep_report
from dumbbell.report.verdict_table import verdict_counts
from dumbbell.terminal import options
from dumbbell.terminal.console import out, print_json, print_line, progress_bar, show_page

__all__ = ["report_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell report results/buffers",
    "dumbbell report results/buffers --against results/other --out comparison.html",
)


def report_command(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Directory that `run`, `sweep`, `analyze` or `reproduce` wrote with --out.",
        ),
    ],
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR2", help="Another run or sweep to compare with."),
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="The page to write.", show_default="DIR/report.html"),
    ] = None,
    lang: options.Lang = "",
    show: options.Show = False,
    json: options.Json = False,
) -> int:
    """Write a run, sweep, analysis or reproduction as one HTML page."""
    kind = kind_of(directory)
    if against is not None and kind not in ("run", "sweep"):
        raise ResultError(
            f"--against compares runs and sweeps; {directory} holds {WITH_ARTICLE[kind]}"
        )
    path = out_file or directory / "report.html"
    if path.suffix.lower() in NOT_PAGES:
        raise ResultError(
            f"`--out {out_file}`: a report is a page of HTML; use "
            f"`--out {path.with_suffix('.html')}`, and for figures as files `dumbbell plot`"
        )
    document = WRITERS[kind](directory, against, path, lang)
    size = path.stat().st_size
    if json:
        print_json({"report": str(path), "bytes": size, **document})
        return 0
    of_each = [document[key] for key in ("verdicts", "verdicts_against") if key in document]
    for side, verdicts in zip(("A: ", "B: ") if len(of_each) > 1 else ("",), of_each, strict=False):
        counts = ", ".join(f"{count} {status}" for status, count in verdicts.items())
        out().print(f"runs: {side}{counts}")
    print_line(f"report: {path} ({size / 1e6:.1f} MB)")
    if show:
        show_page(path)
    return 0


def write_results(
    directory: Path, against: Path | None, path: Path, language: str
) -> dict[str, Any]:
    """Write the page of a run or sweep; return what --json says of it."""
    result = load_results(directory)
    other = None if against is None else load_results(against)
    with progress_bar("report") as bar:
        write_sweep_report(
            result, path, against=other, names=(str(directory), str(against or "")),
            language=language, on_progress=bar.at,
        )  # fmt: skip
    return {
        "runs": len(result.runs),
        "cells": len(result.cells),
        "verdicts": dict(sorted(verdict_counts(result).items())),
        **(
            {}
            if other is None
            else {"verdicts_against": dict(sorted(verdict_counts(other).items()))}
        ),
    }


def write_analysis(directory: Path, _: Path | None, path: Path, language: str) -> dict[str, Any]:
    """Write the page of an analysis; return what --json says of it."""
    analysis = Analysis.load(directory)
    write_analysis_report(analysis, path, language)
    return {"connections": analysis.connection_count}


def copy_reproduction(directory: Path, _: Path | None, path: Path, __: str) -> dict[str, Any]:
    """Copy the page that `reproduce` wrote; return what --json says of it."""
    pages = [directory / "index.html", directory / "report.html", *directory.glob("*/report.html")]
    written = next((page for page in pages if page.is_file()), None)
    if written is None:
        raise ResultError(
            f"{directory}: its page is missing; `dumbbell reproduce` with the same --out writes it"
        )
    if os.path.realpath(written) != os.path.realpath(path):
        with replacing(path) as new:
            shutil.copyfile(written, new)
    return {}


#: How files end that a page is not.
NOT_PAGES = (".csv", ".json", ".pdf", ".png", ".svg", ".tex", ".zst")
WRITERS: dict[str, Callable[[Path, Path | None, Path, str], dict[str, Any]]] = {
    "run": write_results, "sweep": write_results, "analysis": write_analysis,
    "reproduction": copy_reproduction,
}  # fmt: skip
