"""`dumbbell plot`: a sweep's metrics, or a run over time, as figures for papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from dumbbell.base.errors import ResultError, ScenarioError, nearest
from dumbbell.figures.figure import Figure
from dumbbell.figures.frame import WIDTHS_MM
from dumbbell.figures.y_range import Range, y_ranges
from dumbbell.models import MODELS
from dumbbell.plots.paper_figure import FORMATS, STYLES, save_for_print
from dumbbell.plots.result_figures import USUAL, ResultFigures
from dumbbell.plots.run_figures import SERIES, USUAL_SERIES, draw_series
from dumbbell.report.side_by_side import second_view
from dumbbell.report.source import load_results
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_metrics, complete_models
from dumbbell.terminal.console import print_files

__all__ = ["plot_command"]

#: A file: its name, its figures, and the ranges of their y axes (None: their own).
Frame: TypeAlias = tuple[str, Sequence[Figure], Sequence[Range] | None]
#: What the help ends with.
EXAMPLES = (
    "dumbbell plot results/buffers --metric share --size 1col --format pdf",
    "dumbbell plot results/mine --series cwnd,rtt --size 1col",
)


def plot_command(
    directory: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="What `dumbbell run --out` or `dumbbell sweep --out` wrote."
        ),
    ],
    series: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help=f"Of a run: {', '.join(SERIES)}, or a series of its algorithms (`mode`) "
            "or queue disciplines (`prob`).",
            show_default=",".join(USUAL_SERIES),
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Of a sweep: a metric, by its name in rows.parquet. Repeatable.",
            autocompletion=complete_metrics,
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
            metavar="NAME",
            help="A model to lay over it (`dumbbell model` lists them). Repeatable.",
            autocompletion=complete_models,
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
    """Draw a run over time or a sweep over an axis, sized for print."""
    for name in model or ():
        if name not in MODELS:
            raise ScenarioError(f"unknown model `{name}`{nearest(name, MODELS)}")
    result = load_results(directory)
    if result.axes:
        if series is not None:
            raise ResultError("--series is for a run; a sweep is drawn by --metric")
        other = None if against is None else load_results(against)
        figures = ResultFigures(result, second_view(result, other), x=x)
        frames = frames_of_sweep(figures, metric, model or [], size)
    else:
        for option, value in {
            "--metric": metric, "--x": x, "--against": against, "--model": model,
        }.items():  # fmt: skip
            if value is not None:
                raise ResultError(f"{option} is for a sweep; {directory} is a run: use --series")
        names = split(series) if series else list(USUAL_SERIES)
        frames = [("-".join(names), draw_series(next(iter(result.runs.values())), names), None)]
    written = [
        path
        for name, frame, ranges in frames
        for path in save_for_print(
            frame, out_dir or directory / "plots", name,
            formats=split(formats), size=size, style=style, ranges=ranges,
        )
    ]  # fmt: skip
    print_files(written, json=json)
    return 0


def frames_of_sweep(
    figures: ResultFigures, metrics: Sequence[str] | None, models: Sequence[str], size: str
) -> list[Frame]:
    """Draw every metric before the first file is written: an unknown name leaves no file behind."""
    wanted = metrics or [each.name for each in figures.usual]
    drawn = {name: figures.draw(figures.metric(name), models=models) for name in wanted}
    for name, small in drawn.items():
        check_models(small, models, name)
    return [frame for name, small in drawn.items() for frame in frames_of(name, small, size)]


def frames_of(name: str, figures: Sequence[Figure], size: str) -> list[Frame]:
    """Return a metric's files: name, figures, ranges of their y axes; in one column a file each.

    Files of one metric share a range, as panels of one file do: they may stand side by side.
    """
    ranges = y_ranges(figures, whole_bars=True)
    if size == "2col":
        return [(name, figures, ranges)]
    return [(figure.name, [figure], [each]) for figure, each in zip(figures, ranges, strict=True)]


def split(text: str) -> list[str]:
    """Split a list, without duplicates."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def check_models(figures: Sequence[Figure], models: Sequence[str], metric: str) -> None:
    """Refuse a model that does not predict what is drawn."""
    labels = [curve.label for figure in figures for curve in figure.curves]
    for name in models:
        label = f"model: {MODELS[name].label}"
        if not any(each.startswith(label) for each in labels):
            raise ResultError(
                f"model `{name}` does not predict `{metric}` of these flows; leave it out, or "
                "choose another `--metric`"
            )
