"""`dumbbell report`: one HTML file of a run's or a sweep's directory."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json, progress_bar
from dumbbell.errors import ScenarioError, nearest
from dumbbell.report.source import load_results
from dumbbell.report.sweep_page import write_sweep_report
from dumbbell.report.verdict_table import verdict_counts

__all__ = ["report_command"]

LANGUAGES = ("en", "ja")


def report_command(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="What `dumbbell run --out` or `dumbbell sweep --out` wrote."
        ),
    ],
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR2", help="Another such directory, to put beside it."),
    ] = None,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", help="The file.", show_default="DIR/report.html"),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            metavar="en|ja",
            help="Language that the page opens in; it has both.",
            show_default="the browser's",
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Write a run or a sweep as one HTML page that needs no network."""
    if lang is not None and lang not in LANGUAGES:
        raise ScenarioError(f"unknown language `{lang}`{nearest(lang, LANGUAGES)}")
    result = load_results(directory)
    other = None if against is None else load_results(against)
    path = out_file or directory / "report.html"
    with progress_bar("report") as bar:
        write_sweep_report(result, path, against=other, language=lang or "", on_progress=bar.at)
    size = path.stat().st_size
    counts = verdict_counts(result)
    if json:
        document = {
            "report": str(path),
            "bytes": size,
            "runs": len(result.runs),
            "cells": len(result.cells),
            "verdicts": dict(sorted(counts.items())),
        }
        print_json(json_module.dumps(document, indent=2))
        return 0
    verdicts = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    out().print(f"runs: {verdicts}")
    out().print(f"report: {path} ({size / 1e6:.1f} MB)", markup=False, soft_wrap=True)
    return 0
