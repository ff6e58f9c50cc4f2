"""`dumbbell plot`: runs, sweeps and captures as figures for papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import typer

from dumbbell.base.errors import ResultError, ScenarioError, nearest
from dumbbell.capture_analysis import Analysis, analyze
from dumbbell.figures.figure import Figure
from dumbbell.figures.frame import WIDTHS_MM
from dumbbell.figures.y_range import Range, y_ranges
from dumbbell.metrics import METRICS, judged_by
from dumbbell.metrics.metric import canonical
from dumbbell.models import MODELS, DoesNotApply
from dumbbell.plots.capacity import PEAKS
from dumbbell.plots.capture_source import CaptureSource
from dumbbell.plots.kinds import KINDS, default_kind, draw_kind
from dumbbell.plots.kinds.request import Request
from dumbbell.plots.kinds.scatter import default_pair
from dumbbell.plots.labels import check_labels, group_labels
from dumbbell.plots.paper_figure import FORMATS, STYLES, file_names, save_for_print
from dumbbell.plots.quantities import SERIES, USUAL_SERIES
from dumbbell.plots.result_figures import USUAL, ResultFigures, usual_names
from dumbbell.plots.result_source import ResultSource
from dumbbell.plots.run_figures import draw_series, names_of, usual_series
from dumbbell.plots.tidy import Source
from dumbbell.report.side_by_side import second_view
from dumbbell.report.source import kind_of, load_results
from dumbbell.sweeps import SweepResult
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_metrics, complete_models
from dumbbell.terminal.console import note, print_files
from dumbbell.terminal.field_options import with_grouped_options
from dumbbell.terminal.out_directory import out_directory

__all__ = ["plot_command"]

#: A file: its name, its figures, and the ranges of their y axes (None: their own).
Frame: TypeAlias = tuple[str, Sequence[Figure], Sequence[Range] | None]
#: What the help ends with.
EXAMPLES = (
    "dumbbell plot results/buffers --metric share --size 1col --format pdf",
    "dumbbell plot results/mine --series cwnd,rtt --size 1col",
    "dumbbell plot results/cubic results/bbr --series fct --kind cdf",
    "dumbbell plot results/queues --kind scatter",
)
#: Kinds whose quantities stand above one another over one time axis.
OVER_TIME = ("line", "band")
#: What is drawn of transfers by default, if there are any; else the RTT, or of what has none the
#: time in the queue.
DISTRIBUTIONS = ("fct", "latency", "page-load-time", "rtt", "sojourn")
#: What captures have of each connection.
OF_CONNECTIONS = ("goodput_bps", "rtt_mean_us")


class Words(NamedTuple):
    """What the reader wants to read in the figure."""

    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEXT",
            help="Name of a result, in their order; of one result, of its groups or curves. "
            "Repeatable.",
            show_default="the directories' and the groups' names",
        ),
    ] = None
    title: Annotated[str, typer.Option(metavar="TEXT", help="A heading.", show_default="none")] = ""
    xlim: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Ends of the x axis.", show_default="what is drawn"),
    ] = None
    ylim: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Ends of the y axis.", show_default="what is drawn"),
    ] = None


class Output(NamedTuple):
    """How files are written."""

    style: Annotated[
        str,
        typer.Option(
            metavar="|".join(STYLES), help="`paper`: without titles of single figures; `report`."
        ),
    ] = "paper"
    formats: Annotated[
        str, typer.Option("--format", metavar=",".join(FORMATS), help="File formats.")
    ] = "svg,pdf"
    size: Annotated[
        str,
        typer.Option(
            metavar="|".join(WIDTHS_MM),
            help="Width of one column or of both, in ACM's and IEEE's templates: 84 or 177 mm. "
            "In one column each value of the other axes is a file.",
        ),
    ] = "1col"
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            callback=out_directory,
            help="Directory of the files.",
            show_default="DIR/plots",
        ),
    ] = None


@with_grouped_options
def plot_command(
    directories: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR…",
            help="What `run`, `sweep`, `emulate` or `analyze` wrote with --out, or a capture.",
        ),
    ],
    *,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(KINDS), help="Kind of figure.", show_default="what suits the data"
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,…",
            help=f"Of runs: {', '.join(SERIES)}; of transfers `fct`, `slowdown`, `latency`, "
            "`page-load-time`; of one run a series of its algorithms (`mode`) or queue "
            "disciplines (`prob`).",
            show_default=",".join(USUAL_SERIES),
        ),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="A metric, by its name in rows.parquet. Repeatable.",
            autocompletion=complete_metrics,
            show_default=", ".join(USUAL),
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS",
            help="The axis along x, or that distinguishes curves.",
            show_default="the longest",
        ),
    ] = None,
    y: Annotated[
        str | None,
        typer.Option(
            metavar="AXIS", help="The axis along y, of `heat`.", show_default="the next longest"
        ),
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
    words: Words,
    output: Output,
    json: options.Json = False,
) -> int:
    """Draw runs, sweeps and captures, sized for print."""
    for name in model or ():
        if name not in MODELS:
            raise ScenarioError(f"unknown model `{name}`{nearest(name, MODELS)}")
    places = [*directories, *([] if against is None else [against])]
    if len(places) > 1:
        check_labels(words.label or (), len(places), "result")
    sources = load_sources(places, words.label or ())
    metrics = [canonical(name) for text in metric or () for name in split(text)]
    check_metrics(sources, metrics)
    wanted = [*split(series or ""), *metrics]
    asked = Request(sources, wanted, x, y, words.label or ())
    frames = frames_asked(asked, kind, model or [], output.size, is_named=against is None)
    x_range, y_range = limits("--xlim", words.xlim), limits("--ylim", words.ylim)
    if x_range is not None and any(f.x_names for _, frame, _ in frames for f in frame):
        raise ResultError("--xlim is for an axis of numbers; the x axis of this figure has names")
    written = [
        path
        for name, frame, ranges in frames
        for path in save_for_print(
            [with_limits(figure, x_range, y_range) for figure in frame],
            output.out_dir or default_place(directories[0]), name,
            formats=split(output.formats), size=output.size, style=output.style,
            ranges=ranges, heading=heading_of(words.title, name, frame),
        )
    ]  # fmt: skip
    print_files(written, json=json)
    for caption in dict.fromkeys(each.caption for _, frame, _ in frames for each in frame):
        if caption == PEAKS and output.style == "paper":  # the other has it above the figure
            note(caption)
    return 0


def default_place(path: Path) -> Path:
    """Return where figures go: into the first result's directory, or beside the capture."""
    return path / "plots" if path.is_dir() else path.parent / "plots"


def load_sources(places: Sequence[Path], labels: Sequence[str]) -> list[Source]:
    """Read results, named after their directories; with several, by the reader's labels."""
    counts = Counter(place.resolve().name for place in places)
    names = [
        place.resolve().name if counts[place.resolve().name] == 1 else str(place)
        for place in places
    ]
    if len(places) > 1:
        names[: len(labels)] = labels[: len(names)]
    return [load_source(place, name) for place, name in zip(places, names, strict=True)]


def load_source(place: Path, name: str) -> Source:
    """Read a result, or analyse a capture."""
    if place.is_file():
        return CaptureSource(analyze(place), name)
    if kind_of(place) == "analysis":
        return CaptureSource(Analysis.load(place), name)
    return ResultSource(load_results(place), name)


def heading_of(title: str, name: str, frame: Sequence[Figure]) -> str:
    """Return the reader's heading; over a file of one of several panels, with the panel's title."""
    is_panel = len(frame) == 1 and name != frame[0].name
    return f"{title}: {frame[0].title}" if title and is_panel else title


def frames_asked(
    asked: Request, kind: str | None, models: Sequence[str], size: str, *, is_named: bool
) -> list[Frame]:
    """Draw what is asked for before the first file is written: an error leaves no file behind."""
    sources = asked.sources
    has_axes = any(source.axes for source in sources)
    if asked.x is not None and not has_axes:
        raise ResultError(f"--x is for a sweep; {sources[0].name} has no axes")
    names = asked.names or default_names(sources, kind)
    if not names and kind is not None:
        raise ResultError(
            f"{sources[0].name} has nothing that --kind {kind} draws by default; name what with "
            "--series or --metric"
        )
    request = replace(asked, names=names)
    sweeps = [each for each in sources if isinstance(each, ResultSource) and each.result.axes]
    is_metric = [name in METRICS for name in names]
    if kind in (None, "line") and len(sweeps) == len(sources) and all(is_metric):
        return frames_of_sweeps(request, sweeps, models, size, is_named=is_named)
    if models:
        raise ResultError("--model is laid over a metric along an axis: use it with a sweep")
    alone = sources[0] if len(sources) == 1 else None
    is_plain = kind in (None, "line") and not has_axes and not any(is_metric)
    if is_plain and isinstance(alone, ResultSource) and len(alone.keys) == 1:
        return [frame_of_run(alone, asked.names, request.labels)]
    return frames_of_kinds(request, kind, size)


def check_metrics(sources: Sequence[Source], names: Sequence[str]) -> None:
    """Refuse a metric that a result does not have."""
    for source in sources:
        known = [name for name in source.quantities if name in METRICS]
        for name in names:
            if name not in known:
                whose = f"{source.name}: " if len(sources) > 1 else ""
                near = nearest(name, known)
                if name in source.quantities and "did you mean" not in near:
                    raise ResultError(f"{whose}`{name}` is a series: use `--series {name}`")
                raise ResultError(f"{whose}the runs have no metric `{name}`{near}")


def default_names(sources: Sequence[Source], kind: str | None) -> list[str]:
    """Return what is drawn unless the reader says what: what every result has."""
    has = [name for name in sources[0].quantities if all(name in s.quantities for s in sources)]
    alone = all(source.group_count == 1 for source in sources)  # its share is always 100 %
    usual = usual_names(has, is_alone=alone)
    series = [name for name in USUAL_SERIES if name in has]
    if kind == "scatter":
        return default_pair(sources)
    if kind in ("cdf", "box"):
        return [name for name in DISTRIBUTIONS if name in has][:1]
    if kind == "band":
        return series[:1] or ["goodput"]
    if kind in ("bar", "points", "heat") or any(source.axes for source in sources):
        of_connections = [name for name in OF_CONNECTIONS if name in has]
        return [name for name in judging(sources) if name in has] or usual or of_connections
    return series or [name for name in ("goodput", "rtt", "inflight") if name in has]


def judging(sources: Sequence[Source]) -> list[str]:
    """Return the metrics that groups are judged by."""
    results = [source.result for source in sources if isinstance(source, ResultSource)]
    found = [metric.name for each in results for metric in judged_by(each.scenario).values()]
    return list(dict.fromkeys(found))


def frames_of_kinds(request: Request, kind: str | None, size: str) -> list[Frame]:
    """Draw quantities of any results, each by the kind that suits it unless one is asked for."""
    by_kind: dict[str, list[str]] = {}
    for name in request.names:
        by_kind.setdefault(kind or default_kind(request, name), []).append(name)
    frames: list[Frame] = []
    for each, names in by_kind.items():
        drawn = draw_kind(replace(request, names=names), each)
        if each in OVER_TIME and all(len(panels) == 1 for _, panels in drawn):
            suffix = "" if each == "line" else f"-{each}"
            figures = [panels[0] for _, panels in drawn]
            frames.append(("-".join(names) + suffix, figures, None))
            continue
        for _, panels in drawn:
            frames += frames_of(panels[0].name, panels, size) if panels else []
    return frames


def frame_of_run(source: ResultSource, names: Sequence[str], labels: Sequence[str]) -> Frame:
    """Draw series of one run, each flow by itself, in one frame; by default what is not all 0."""
    run = source.first_run
    series = names or usual_series(run)
    drawn = draw_series(run, series)
    if not names:
        drawn = [f for f in drawn if any(np.nanmax(c.y, initial=0) > 0 for c in f.curves)] or drawn
    check_labels(labels, len(run.scenario.groups), "group")
    old = group_labels(run.scenario)[: len(labels)]
    for before, after in zip(old, labels, strict=False):
        drawn = [
            replace(
                figure,
                curves=tuple(
                    replace(curve, label=after + curve.label.removeprefix(before))
                    if curve.label == before or curve.label.startswith(f"{before},")
                    else curve
                    for curve in figure.curves
                ),
            )
            for figure in drawn
        ]
    if not names:
        shown = {name for figure in drawn for name in names_of(figure.name)}
        series = [name for name in series if name in shown]
    return "-".join(names or series), drawn, None


def frames_of_sweeps(
    request: Request,
    sweeps: Sequence[ResultSource],
    models: Sequence[str],
    size: str,
    *,
    is_named: bool,
) -> list[Frame]:
    """Draw metrics over an axis, with the models that are asked for."""
    first, *rest = sweeps
    views = [
        second_view(first.result, other.result, other.name if is_named else "B") for other in rest
    ]
    figures = ResultFigures(first.result, *views, x=request.x, name=first.name if is_named else "A")
    if not rest:
        figures.first.name_all(request.labels)
    wanted = request.names
    drawn = {name: figures.draw(figures.metric(name), models=models) for name in wanted}
    for name, small in drawn.items():
        check_models(small, models, name, first.result)
    return [frame for name, small in drawn.items() for frame in frames_of(name, small, size)]


def frames_of(name: str, figures: Sequence[Figure], size: str) -> list[Frame]:
    """Return a metric's files: name, figures, ranges of their y axes; in one column a file each.

    Files of one metric share a range, as panels of one file do: they may stand side by side.
    """
    ranges = y_ranges(figures, whole_bars=True)
    if size == "2col":
        return [(name, figures, ranges)]
    names = file_names(name, figures)
    return [
        (file, [figure], [each]) for file, figure, each in zip(names, figures, ranges, strict=True)
    ]


def split(text: str) -> list[str]:
    """Split a list, without duplicates."""
    return list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))


def limits(option: str, text: str | None) -> Range | None:
    """Read the ends of an axis, two different numbers: ``0,20``."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low = high = 0.0
    if low == high:
        raise ResultError(f"invalid {option} `{text}`: use two numbers, like `{option} 0,20`")
    return low, high


def with_limits(figure: Figure, x_range: Range | None, y_range: Range | None) -> Figure:
    """Return a figure whose axes end where the reader says."""
    return replace(figure, x_range=x_range or figure.x_range, y_range=y_range or figure.y_range)


def check_models(
    figures: Sequence[Figure], models: Sequence[str], metric: str, result: SweepResult
) -> None:
    """Refuse a model that does not predict what is drawn; say what it does, or why not."""
    labels = [curve.label for figure in figures for curve in figure.curves]
    for name in models:
        label = f"model: {MODELS[name].label}"
        if not any(each.startswith(label) for each in labels):
            raise ResultError(
                f"model `{name}` does not predict `{metric}` of these flows: "
                f"{what_it_predicts(name, result)}"
            )


def what_it_predicts(name: str, result: SweepResult) -> str:
    """Return the metrics that a model has of a sweep's runs; why it has none, where it has not."""
    found: dict[str, None] = {}
    reason = ""
    for cell in result.cells:
        try:
            said = MODELS[name].predict(result.design.scenario_of(cell))
        except DoesNotApply as error:
            reason = str(error)
            continue
        values = [*said.groups, said.bottleneck]
        found |= {key: None for each in values for key in each if key in METRICS}
    if not found:
        return f"{reason}; leave it out"
    return f"use `--metric {next(iter(found))}`; it has {', '.join(f'`{key}`' for key in found)}"
