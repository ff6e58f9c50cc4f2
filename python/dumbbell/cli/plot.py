"""`dumbbell plot`: a sweep's metrics as figures for papers."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json
from dumbbell.errors import ResultError, ScenarioError, nearest
from dumbbell.models import MODELS
from dumbbell.plots.figure import Figure
from dumbbell.plots.paper_figure import FORMATS, STYLES, WIDTHS_MM, save_for_print
from dumbbell.plots.result_figures import USUAL, ResultFigures
from dumbbell.plots.y_range import Range, y_ranges
from dumbbell.report.source import load_results

__all__ = ["plot_command"]


def plot_command(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="What `dumbbell sweep --out` wrote.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric, by its name in rows.parquet. Repeatable.",
            show_default=", ".join(USUAL),
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="The axis along x.", show_default="the longest"),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="DIR2", help="Another sweep, drawn with hollow markers."),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A model to lay over it (`dumbbell model` lists them). Repeatable."
        ),
    ] = None,
    style: Annotated[
        str,
        typer.Option(
            metavar="|".join(STYLES), help="`paper`: without titles of single figures; `report`."
        ),
    ] = "paper",
    formats: Annotated[
        str, typer.Option("--format", metavar=",".join(FORMATS), help="File formats.")
    ] = "svg,pdf",
    size: Annotated[
        str,
        typer.Option(
            metavar="|".join(WIDTHS_MM),
            help="Width of one column or of both, in ACM's and IEEE's templates: 84 or 177 mm. "
            "In one column each value of the other axes is a file.",
        ),
    ] = "1col",
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", help="Directory of the files.", show_default="DIR/plots"),
    ] = None,
) -> int:
    """Draw a sweep's metrics over an axis, at the size they have in print, intervals drawn."""
    for name in model or ():
        if name not in MODELS:
            raise ScenarioError(f"unknown model `{name}`{nearest(name, MODELS)}")
    result = load_results(directory)
    if not result.axes:
        raise ResultError(f"{directory}: is one run and has no axis; `dumbbell report` shows it")
    other = None if against is None else load_results(against)
    figures = ResultFigures(result, other, x=x)
    wanted = metric or [each.name for each in figures.usual]
    place = out_dir or directory / "plots"
    # All of them before the first file: a word that is wrong leaves nothing behind.
    drawn = {name: figures.draw(figures.metric(name), models=model or ()) for name in wanted}
    for name, small in drawn.items():
        check_models(small, model or (), name)
    frames = [frame for name, small in drawn.items() for frame in frames_of(name, small, size)]
    written = [
        path
        for name, frame, ranges in frames
        for path in save_for_print(
            frame, place, name, formats=split(formats), size=size, style=style, ranges=ranges
        )
    ]
    if json:
        print_json(json_module.dumps({"files": [str(path) for path in written]}, indent=2))
        return 0
    for path in written:
        out().print(str(path), markup=False, soft_wrap=True)
    return 0


def frames_of(
    name: str, figures: Sequence[Figure], size: str
) -> Iterable[tuple[str, Sequence[Figure], Sequence[Range]]]:
    """Return a metric's files: name, figures, ranges of their y axes; in one column one of each.

    Files of one metric have the same range, as its panels in one file do: they lie side by side.
    """
    ranges = y_ranges(figures, whole_bars=True)
    if size == "2col":
        return [(name, figures, ranges)]
    return [(figure.name, [figure], [each]) for figure, each in zip(figures, ranges, strict=True)]


def split(text: str) -> list[str]:
    """Split a list; each word once."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def check_models(figures: list[Figure], models: list[str] | tuple[()], metric: str) -> None:
    """Refuse a model that says nothing of what is drawn."""
    labels = [curve.label for figure in figures for curve in figure.curves]
    for name in models:
        label = f"model: {MODELS[name].label}"
        if not any(each.startswith(label) for each in labels):
            raise ResultError(
                f"model `{name}` says nothing of `{metric}` of these flows; leave it out, or name "
                "another `--metric`"
            )
