"""`dumbbell sweep`: the same flows over the values of any axes, repeated."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.base.writing import check_writable
from dumbbell.cli import axes
from dumbbell.cli.show_sweep import show_sweep
from dumbbell.metrics import metric_named
from dumbbell.run.engine import SIMULATOR
from dumbbell.runs import SweepInterrupted
from dumbbell.runs.cluster import WORKER_TIMEOUT
from dumbbell.scenario.fields import RUN
from dumbbell.sweeps import Sweep, SweepResult
from dumbbell.sweeps.sweep_directory import place_of
from dumbbell.terminal import options
from dumbbell.terminal.capture import CaptureOptions, Captures, tidying
from dumbbell.terminal.completion import complete_metrics
from dumbbell.terminal.console import (
    progress_bar,
)
from dumbbell.terminal.field_options import COMMON_FIELDS, Fields, with_field_options
from dumbbell.terminal.help import rare
from dumbbell.terminal.options import OUTPUT
from dumbbell.terminal.out_directory import out_directory
from dumbbell.terminal.real_time import doing
from dumbbell.terminal.scenario_options import base_of_axes
from dumbbell.terminal.up_link import axis_names, of_up_link

__all__ = ["sweep_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell sweep copa cubic --buffer 1..64bdp --flows 1,4 --out results/buffers",
    "dumbbell sweep bbr cubic --axis bbr.flows=1..16 --until-ci 5% --metric share",
)

#: Panel of `--help` for axes and repetitions.
SWEEP = "Sweep"
#: Metric of `--until-ci`.
DEFAULT_METRIC = "goodput_bps"

What = Annotated[list[str] | None, *options.What.__metadata__]
AxisOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--axis",
        metavar="NAME=VALUES",
        help="Any field: `jitter=0ms,50ms`, `copa.flows=1..16`. Also of one group "
        "(`1.cc=cubic,bbr`), or a parameter (`copa.mode_window_rtts=2..16`). Steps "
        "are separated by `;`. Repeatable.",
        rich_help_panel=SWEEP,
    ),
]
Zips = Annotated[
    list[str] | None,
    typer.Option(
        "--zip",
        metavar="NAME,NAME",
        help="Axes that change together instead of being crossed, as `--axis a=…+b=…` does. "
        "Repeatable.",
        rich_help_panel=rare(SWEEP),
    ),
]
Reps = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Repetitions of each cell. Each has the next seed. With --until-ci, the minimum.",
        rich_help_panel=SWEEP,
        show_default="1, with --until-ci 5",
    ),
]
UntilCi = Annotated[
    str | None,
    typer.Option(
        "--until-ci",
        metavar="2%|1Mbit/s",
        help="Repeat each cell until this precision: until the 95 % confidence interval of "
        "--metric is within this of its mean, for every group.",
        rich_help_panel=SWEEP,
        show_default=False,
    ),
]
Metrics = Annotated[
    str | None,
    typer.Option(
        "--metric",
        metavar="NAME,…",
        autocompletion=complete_metrics,
        help="Metrics in the table: `dumbbell list metrics`. --until-ci uses the first.",
        rich_help_panel=SWEEP,
        show_default="the usual ones",
    ),
]
MaxReps = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Maximum repetitions with --until-ci.",
        rich_help_panel=rare(SWEEP),
    ),
]
Warmup = Annotated[
    str | None,
    typer.Option(
        help="Exclude this much of each run's start from every metric; `auto` detects how much.",
        metavar="TIME|auto",
        rich_help_panel=rare(SWEEP),
        show_default="none",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Dask cluster: its scheduler's address, `tcp://10.0.0.1:8786`.",
        rich_help_panel=rare(RUN),
        show_default=False,
    ),
]
WorkerTimeout = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="With --cluster: how long to wait while there is no worker.",
        rich_help_panel=rare(RUN),
    ),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Resume the sweep in DIR; takes no other arguments than --cc and --trust.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]

Files = Annotated[
    list[Path] | None,
    typer.Option(
        "--cc",
        metavar="FILE",
        help="With --resume: where the file of an algorithm is now; it must be the one "
        "that ran. Repeatable.",
        rich_help_panel=rare(OUTPUT),
        show_default=False,
    ),
]
Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="With --resume: compile and run the source that DIR carries, and run the programs it "
        "names. It is code: read it first.",
        rich_help_panel=rare(OUTPUT),
    ),
]


class Repetition(NamedTuple):
    """How often each cell runs, and what is measured of its runs."""

    reps: Reps = None
    until_ci: UntilCi = None
    metric: Metrics = None
    max_reps: MaxReps = 100
    warmup: Warmup = None

    def metrics(self) -> list[str]:
        """Return the names of the metrics."""
        names = [name.strip() for name in (self.metric or "").split(",") if name.strip()]
        return [metric_named(name, ScenarioError).name for name in names]


class Where(NamedTuple):
    """Where runs are executed and kept."""

    jobs: options.Jobs = None
    cluster: Cluster = None
    worker_timeout: WorkerTimeout = WORKER_TIMEOUT
    cache: options.CacheFlag = None


class Resumed(NamedTuple):
    """The sweep that is resumed."""

    resume: Resume = None
    files: Files = None
    trust: Trust = False

    def sweep(self, directory: Path) -> Sweep:
        """Return the sweep in a directory."""
        return Sweep.resume(directory, files=self.files or [], trust=self.trust)


@partial(with_field_options, common=COMMON_FIELDS - {"start", "seed"})
def sweep_command(
    *,
    fields: Fields,
    what: What = None,
    name: options.Names = None,
    axis: AxisOptions = None,
    settings: options.Settings = None,
    upload: options.Uploads = None,
    zipped: Zips = None,
    repetition: Repetition,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    engine: options.Engine = SIMULATOR,
    where: Where,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            callback=out_directory,
            help="Write the sweep to this directory. As it runs, with time series and figures. "
            "Resumes a sweep already started there.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    without_sources: options.WithoutSources = False,
    resumed: Resumed,
    capture: CaptureOptions,
) -> int:
    """Run every combination of values, repeated, and summarise each metric.

    A field of several values is an axis: `1,4`, doubling `1..16`, even `10..50/5`.
    """
    metrics = repetition.metrics()
    if resumed.resume is not None:
        others = (
            what, name, axis, settings, upload, out_dir, fields, zipped,
            repetition.reps, repetition.until_ci, repetition.warmup,
        )  # fmt: skip
        check_alone(is_other=any(other not in (None, {}, []) for other in others))
        sweep, out_dir = resumed.sweep(resumed.resume), resumed.resume
    else:
        if resumed.files or resumed.trust:
            raise ScenarioError(without_resume(resumed, what or []))
        if not what:
            raise ScenarioError("name algorithms, like `copa cubic`, or a scenario file")
        zips = [[name.strip() for name in words.split(",")] for words in zipped or []]
        constants, lists = axes.constants_and_lists(
            fields, kept=[name for words in zips for name in words]
        )
        more, joined = axes.other_axes(axis or [], fields)
        base, named = base_of_axes(what, constants, lists, settings, upload, name)
        has_up_link = bool(upload or of_up_link(fields))
        zips = [axis_names(names, has_up_link=has_up_link) for names in zips] + joined
        sweep = Sweep(
            base, {**named, **more}, zipped=zips,
            reps=repetition.reps, until_ci=repetition.until_ci,
            metric=metrics[0] if metrics else DEFAULT_METRIC, max_reps=repetition.max_reps,
            warmup=repetition.warmup, engine=engine,
        )  # fmt: skip
    captures = capture.captures(out_dir)
    if out_dir is not None:
        check_writable(out_dir)
    how = {**where._asdict(), "out": out_dir, "texts": not without_sources}
    result = run_sweep(sweep, how, captures)
    show_sweep(result, out_dir, metrics, json=json)
    return 1 if result.failed else 0


def check_alone(*, is_other: bool) -> None:
    """Refuse to resume a sweep as another one."""
    if is_other:
        raise ScenarioError(
            "`--resume DIR` runs the sweep as it was started: it cannot be combined with "
            "algorithms, fields, axes, repetitions or `--out`; for more repetitions, "
            "repeat the first command with more `--reps` and the same `--out`"
        )


def run_sweep(sweep: Sweep, how: dict[str, Any], captures: Captures | None) -> SweepResult:
    """Run, with a progress bar."""
    out_dir = how["out"]
    places = captured_places(sweep, out_dir if captures else None)
    with tidying(places), progress_bar(doing(sweep.engine), is_even=True) as bar:
        try:
            settings = None if captures is None else captures.settings
            return sweep.run(**how, capture=settings, on_progress=bar.at_run)
        except SweepInterrupted as interrupt:
            kept = out_dir is not None and interrupt.finished
            where = f", kept in {out_dir}; `--resume {out_dir}` continues" if kept else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None


def captured_places(sweep: Sweep, out_dir: Path | None) -> list[Path]:
    """Return the directories that captures go to."""
    if out_dir is None:
        return []
    reps = sweep.plan.reps if sweep.plan.until_ci is None else sweep.plan.max_reps
    return [place_of(out_dir, cell, rep) for cell in sweep.design.cells for rep in range(reps)]


def without_resume(resumed: Resumed, what: list[str]) -> str:
    """Say what to use instead of an option of `--resume`: `--cc` elsewhere is an algorithm."""
    if not resumed.files:
        return "`--trust` goes with `--resume DIR`; leave it out"
    given = " ".join(map(str, resumed.files))
    line = " ".join(["dumbbell sweep", *what, given])
    axis = ",".join([*what[:1], *map(str, resumed.files)])
    return (
        f"`--cc {given}` goes with `--resume DIR`; for another algorithm use `{line}`, or one "
        f"after the other `--axis 0.cc={axis}`"
    )
