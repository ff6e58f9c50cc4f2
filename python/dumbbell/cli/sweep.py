"""`dumbbell sweep`: the same flows over the values of any axes, repeated."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from dumbbell.cli import axes, options
from dumbbell.cli.capture import (
    CaptureFlag,
    CapturePoints,
    Captures,
    CaptureSnap,
    captures_of,
    tidying,
)
from dumbbell.cli.console import error, note, out, print_json, progress_bar
from dumbbell.cli.options import Settings, base_scenario
from dumbbell.cli.sweep_table import sweep_table
from dumbbell.errors import ScenarioError
from dumbbell.plots.paper_figure import save_for_print
from dumbbell.plots.result_figures import ResultFigures
from dumbbell.quantities.plain_value import to_plain
from dumbbell.quantities.pluralize import pluralize
from dumbbell.run.directory import check_parent
from dumbbell.run.engine import SIMULATOR
from dumbbell.runs import Progress, SweepInterrupted
from dumbbell.runs.record_directory import file_digest
from dumbbell.sweeps import Sweep, SweepResult
from dumbbell.sweeps.sweep_directory import ROWS, place_of
from dumbbell.verdict import INVALID, WARN

__all__ = ["sweep_command"]

#: Says of which rows, and by which version, the figures beside it were drawn; then their names.
DRAWN = ".drawn"
#: Runs that failed of which each has a line; there may be thousands, of one fault.
MAX_FAILED_LINES = 5
#: Fewer points of an axis are a table's; more panels are no figure's.
MIN_POINTS, MAX_PANELS = 3, 24

What = Annotated[list[str] | None, *options.What.__metadata__]
AxisOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--axis",
        metavar="NAME=VALUES",
        help="Any field of a scenario: `jitter=0ms,50ms`, of one group `copa.flows=1..16`, "
        "`1.cc=cubic,bbr`, or a parameter, `copa.mode_window_rtts=2..16`. Repeatable.",
    ),
]
Zips = Annotated[
    list[str] | None,
    typer.Option(
        "--zip",
        metavar="NAME,NAME",
        help="Axes that change together instead of being crossed. Repeatable.",
    ),
]
Reps = Annotated[
    int | None,
    typer.Option(
        help="Repetitions of each cell, each with the next seed; with --until-ci, the fewest.",
        show_default="1; with --until-ci 5",
    ),
]
UntilCi = Annotated[
    str | None,
    typer.Option(
        "--until-ci",
        metavar="2%|0.5Mbit/s",
        help="Repeat each cell until the 95 % confidence interval of --metric is within this of "
        "its mean, for every group.",
        show_default=False,
    ),
]
Metric = Annotated[str, typer.Option(help="Metric for --until-ci.")]
MaxReps = Annotated[int, typer.Option(min=1, help="The most repetitions for --until-ci.")]
Warmup = Annotated[
    str | None,
    typer.Option(
        help="Leave so much of each run's start out of every metric; `auto` finds how much.",
        metavar="TIME|auto",
        show_default="count all",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler's address, `tcp://10.0.0.1:8786`.",
        show_default=False,
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Go on with the sweep that was begun in a directory; name nothing else to run.",
        show_default=False,
    ),
]


def sweep_command(
    what: What = None,
    rate: axes.Rates = None,
    rtt: axes.Rtts = None,
    buffer: axes.Buffers = None,
    flows: axes.Counts = None,
    axis: AxisOptions = None,
    zipped: Zips = None,
    reps: Reps = None,
    until_ci: UntilCi = None,
    metric: Metric = "goodput_bps",
    max_reps: MaxReps = 100,
    warmup: Warmup = None,
    time: options.TimeOption = None,
    seed: options.Seed = None,
    start: options.Start = None,
    jitter: options.Jitter = None,
    rwnd: options.Rwnd = None,
    sndbuf: options.Sndbuf = None,
    sample: options.Sample = None,
    ecn_threshold: options.EcnThreshold = None,
    ecn: options.Ecn = None,
    loss: options.Loss = None,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    engine: options.Engine = SIMULATOR,
    jobs: options.Jobs = None,
    cluster: Cluster = None,
    cache: options.CacheFlag = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Write the sweep to this directory as it runs, with time series and figures. "
            "One that was begun there is gone on with.",
        ),
    ] = None,
    resume: Resume = None,
    capture: CaptureFlag = False,
    capture_points: CapturePoints = None,
    capture_snap: CaptureSnap = None,
) -> int:
    """Run every combination of the axes' values, repeated, and sum up each metric.

    Simulated on all cores; on the kernel one run after the other. Runs that were done before, with
    the same scenario, seed and builds, come from the cache (`dumbbell cache`).
    """
    if resume is not None:
        others = (rate, rtt, buffer, flows, zipped, reps, until_ci, warmup, time, seed, start,
                  jitter, rwnd, sndbuf, sample, ecn_threshold, ecn, loss)  # fmt: skip
        check_alone(what, axis, out_dir, others)
        sweep, out_dir = Sweep.resume(resume), resume
    else:
        if not what:
            raise ScenarioError("name congestion controls, like `copa cubic`, or a scenario file")
        settings = Settings(
            time=time, seed=seed, sample=sample, start=start, jitter=jitter, rwnd=rwnd,
            sndbuf=sndbuf, ecn_threshold=ecn_threshold, ecn=ecn, loss=loss,
        )  # fmt: skip
        zips = [words.split(",") for words in zipped or []]
        named = axes.named_axes(rate, rtt, buffer, flows)
        more = axes.other_axes(axis or [], named)
        base, lists = axes.with_constants(
            base_scenario(what, settings), named, [name.strip() for words in zips for name in words]
        )
        sweep = Sweep(
            base, {**lists, **more}, zipped=zips,
            reps=reps, until_ci=until_ci, metric=metric, max_reps=max_reps, warmup=warmup,
            engine=engine,
        )  # fmt: skip
    captures = captures_of(capture, capture_points, capture_snap, out_dir)
    if out_dir is not None:
        check_parent(out_dir)
    how = {"jobs": jobs, "cluster": cluster, "cache": cache, "out": out_dir}
    result = run_sweep(sweep, how, captures)
    show(result, out_dir, json=json)
    return 1 if result.failed else 0


def check_alone(
    what: list[str] | None, axis: list[str] | None, out_dir: Path | None, others: tuple[Any, ...]
) -> None:
    """Refuse a resumed sweep that is said to be another one."""
    if what or axis or out_dir or any(other is not None for other in others):
        raise ScenarioError(
            "`--resume DIR` goes on with the sweep as it was begun; name no congestion controls, "
            "axes, repetitions or `--out`; for more repetitions, repeat the first command with "
            "more `--reps` and the same `--out`"
        )


def run_sweep(sweep: Sweep, how: dict[str, Any], captures: Captures | None) -> SweepResult:
    """Run, with a progress bar."""
    doing = "simulating" if sweep.engine == SIMULATOR else "running on the kernel"
    out_dir = how["out"]
    places = captured_places(sweep, out_dir if captures else None)
    with tidying(places), progress_bar(doing) as bar:

        def follow(progress: Progress) -> None:
            label = f"run {progress.finished} of {progress.total}"
            label += f" ({progress.cached} from before)" if progress.cached else ""
            bar.at(progress.simulated_s / progress.total_s, label)

        try:
            settings = None if captures is None else captures.settings
            return sweep.run(**how, capture=settings, on_progress=follow)
        except SweepInterrupted as interrupt:
            kept = out_dir is not None and interrupt.finished
            where = f", kept in {out_dir}; `--resume {out_dir}` goes on" if kept else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None


def captured_places(sweep: Sweep, out_dir: Path | None) -> list[Path]:
    """Return the directories that captures go to."""
    if out_dir is None:
        return []
    reps = sweep.plan.reps if sweep.plan.until_ci is None else sweep.plan.max_reps
    return [place_of(out_dir, cell, rep) for cell in sweep.design.cells for rep in range(reps)]


def show(result: SweepResult, out_dir: Path | None, *, json: bool) -> None:
    """Print a sweep, and draw it beside its runs."""
    if json:
        print_json(json_module.dumps(to_documents(result), indent=2, allow_nan=False))
    else:
        out().print(sweep_table(result))
    for line in result.notes:
        note(line)
    if out_dir is not None:
        draw_figures(result, out_dir)
        if not json:
            out().print(f"saved in {out_dir}", markup=False, soft_wrap=True)
    print_flagged_runs(result)
    print_failed_runs(result)


def draw_figures(result: SweepResult, out_dir: Path) -> None:
    """Draw a sweep, unless its figures are there already, of the same rows."""
    directory = out_dir / "figures"
    drawn = directory / DRAWN
    rows = file_digest((out_dir / ROWS).read_bytes())
    of_these = f"{rows} {result.provenance['engine_version']}"
    if drawn.is_file():
        lines = drawn.read_text(encoding="utf-8").splitlines()
        names = lines[1:]
        if lines[:1] == [of_these] and names and all((directory / n).is_file() for n in names):
            return
        drawn.unlink()
    files = draw(result, directory)
    if files:
        lines = [of_these, *(path.name for path in files)]
        drawn.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def draw(result: SweepResult, directory: Path) -> list[Path]:
    """Draw what `dumbbell plot` draws when nobody names a metric, models over it."""
    figures = ResultFigures(result)
    facets = figures.layout.facets
    if max(len(facet.cells) for facet in facets) < MIN_POINTS:
        return []
    if len(facets) > MAX_PANELS:
        place = directory.parent
        note(f"no figures: they would have {len(facets)} panels; `dumbbell report {place}`")
        return []
    return [
        path
        for metric in figures.usual
        for path in save_for_print(
            figures.draw(metric), directory, metric.name,
            formats=("svg", "png"), size="2col", style="report",
        )
    ]  # fmt: skip


def print_flagged_runs(result: SweepResult) -> None:
    """Say why runs are not OK: of each verdict how many have it, and the first one's reasons."""
    keys = result.rows.select(["cell", "rep", "verdict"]).to_pylist()
    for verdict in (WARN, INVALID):
        found = sorted({(row["cell"], row["rep"]) for row in keys if row["verdict"] == verdict})
        if not found:
            continue
        cell, rep = found[0]
        reasons = result.runs[cell, rep].verdict.reasons
        why = "; ".join(reason.message for reason in reasons if reason.status == verdict)
        runs = pluralize(len(found), "run")
        note(f"{runs} {verdict}; the first, {result.cells[cell].label}, rep {rep}: {why}")


def print_failed_runs(result: SweepResult) -> None:
    """Say what ended the runs that failed, to stderr."""
    for (cell, rep), why in list(result.failed.items())[:MAX_FAILED_LINES]:
        error(f"{result.cells[cell].label}, rep {rep}: {why}")
    more = len(result.failed) - MAX_FAILED_LINES
    if more > 0:
        error(f"{more} more {'run' if more == 1 else 'runs'} failed")


def to_documents(result: SweepResult) -> list[dict[str, Any]]:
    """Return each run as `run --json` has it, with its cell and repetition."""
    cells = result.cells
    return [
        {
            "point": {name: to_plain(value) for name, value in cells[cell].values.items()},
            "rep": rep,
            **run.to_dict(),
        }
        for (cell, rep), run in result.runs.items()
    ]
