"""`dumbbell sweep`: the same flows over a range of buffers, rates, RTTs and counts."""

from __future__ import annotations

import json as json_module
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from dumbbell.capture import Capture
from dumbbell.cli import axes, options
from dumbbell.cli.axes import Point, group_names, scenario_at, sweep_points
from dumbbell.cli.capture import (
    CaptureFlag,
    CapturePoints,
    Captures,
    CaptureSnap,
    captures_of,
    save_with_capture,
    tidying,
)
from dumbbell.cli.console import out, print_json, progress_bar, table
from dumbbell.cli.options import Settings
from dumbbell.engine import SIMULATOR, check_engine
from dumbbell.errors import ScenarioError
from dumbbell.plots import draw_sweep, static
from dumbbell.run import Run
from dumbbell.run_directory import check_parent
from dumbbell.scenario import Scenario
from dumbbell.statistics import mean_and_interval
from dumbbell.sweeps import Progress, SweepInterrupted, run_all
from dumbbell.verdict import gravest

__all__ = ["sweep_command"]

#: A point of the sweep and which of its repetitions.
Key = tuple[Point, int]


def sweep_command(
    what: options.What,
    rate: axes.Rates = None,
    rtt: axes.Rtts = None,
    buffer: axes.Buffers = None,
    flows: axes.Counts = None,
    reps: Annotated[int, typer.Option(help="Repetitions, each with the next seed.")] = 1,
    time: options.TimeOption = None,
    seed: options.Seed = None,
    start: options.Start = None,
    jitter: options.Jitter = None,
    rwnd: options.Rwnd = None,
    sndbuf: options.Sndbuf = None,
    sample: options.Sample = None,
    engine: options.Engine = SIMULATOR,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Save every run under this directory, as it finishes, and figures of them all.",
        ),
    ] = None,
    capture: CaptureFlag = False,
    capture_points: CapturePoints = None,
    capture_snap: CaptureSnap = None,
) -> int:
    """Run every combination of buffers, rates, RTTs and flow counts.

    Simulated on all cores; on the kernel one run after the other.
    """
    if reps < 1:
        raise ScenarioError(f"reps is {reps}; say 1 or more")
    fixed = Settings(
        time=time, seed=seed, sample=sample, start=start, jitter=jitter, rwnd=rwnd, sndbuf=sndbuf
    )
    captures = captures_of(capture, capture_points, capture_snap, out_dir)
    points = sweep_points(rate, rtt, buffer, flows)
    scenarios = [
        ((point, rep), scenario_at(what, fixed, point, rep))
        for point in points
        for rep in range(reps)
    ]

    check_engine(engine, *(scenario for _, scenario in scenarios))
    if out_dir is not None:
        check_parent(out_dir)

    runs = run_points(scenarios, engine, jobs, out_dir, captures)
    results = {p: [runs[p, rep] for rep in range(reps)] for p in points}
    if json:
        print_json(json_module.dumps(to_documents(results), indent=2, allow_nan=False))
    else:
        print_sweep(results)
    if out_dir is not None:
        save_figures(results, out_dir)
        if not json:
            out().print(f"saved in {out_dir}", markup=False, soft_wrap=True)
    return 0


def run_points(
    scenarios: Sequence[tuple[Key, Scenario]],
    engine: str,
    jobs: int | None,
    out_dir: Path | None,
    captures: Captures | None,
) -> dict[Key, Run]:
    """Run all, saving each as it finishes, and show how far they are."""
    places = {key: out_dir / run_name(key[0], s) for key, s in scenarios} if out_dir else {}

    def capture_at(key: Key) -> Capture | None:
        return None if captures is None else captures.of(places[key])

    def keep(key: Key, run: Run) -> Run:
        if key not in places:
            # Only the summary is printed; all tables together would not fit in memory.
            return Run(run.scenario, run.summary, {})
        return Run.load(save_with_capture(run, places[key]))

    with (
        tidying(places.values() if captures else []),
        progress_bar("simulating" if engine == SIMULATOR else "running on the kernel") as bar,
    ):

        def show(progress: Progress) -> None:
            label = f"run {progress.finished} of {progress.total}"
            bar.at(progress.simulated_s / progress.total_s, label)

        try:
            return run_all(
                scenarios,
                engine=engine,
                workers=jobs,
                on_progress=show,
                on_finished=keep,
                capture=capture_at,
            )
        except SweepInterrupted as interrupt:
            kept = out_dir is not None and interrupt.finished
            where = f", kept in {out_dir}" if kept else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None


def save_figures(results: dict[Point, list[Run]], out_dir: Path) -> None:
    """Draw the sweep beside its runs, with the models that are of such flows."""
    runs = [run for repetitions in results.values() for run in repetitions]
    for figure in draw_sweep(runs):
        static.save(figure, out_dir / group_names(runs[0].scenario) / "figures")


def run_name(point: Point, scenario: Scenario) -> str:
    """Return the directory of a run, below the sweep's."""
    return f"{group_names(scenario)}/{point.label()},seed={scenario.seed}"


def to_documents(results: dict[Point, list[Run]]) -> list[dict[str, Any]]:
    """Return each run as `run --json` has it, with its point."""
    return [
        {"point": {axis: v for axis, v in point._asdict().items() if v}, **run.to_dict()}
        for point, runs in results.items()
        for run in runs
    ]


def print_sweep(results: dict[Point, list[Run]]) -> None:
    """Print a row per point: each group's goodput per flow, RTT, fairness, verdict."""
    first = next(iter(results.values()))[0]
    swept = [axis for axis in Point._fields if any(getattr(p, axis) for p in results)]
    groups = [str(group.cc) for group in first.scenario.groups]
    columns = (
        *(swept or ["run"]),
        *(f"{cc}\nMbit/s/flow" for cc in groups),
        "used\n%", "queueing delay\nmean ms", "Jain", "verdict",
    )  # fmt: skip
    rows = [sweep_row(point, runs, swept) for point, runs in results.items()]
    out().print(table("", columns, rows))


def sweep_row(point: Point, runs: list[Run], swept: list[str]) -> tuple[str, ...]:
    """Return a point's row, means over its repetitions."""
    per_group = [
        [run.groups[group]["goodput_per_flow_bps"] / 1e6 for run in runs]
        for group in range(len(runs[0].groups))
    ]
    links = [run.summary["bottleneck"] for run in runs]
    verdicts = [run.verdict.status for run in runs]
    return (
        *([str(getattr(point, axis)) for axis in swept] or ["all"]),
        *(mean_and_interval(values) for values in per_group),
        f"{100 * np.mean([link['utilization'] for link in links]):.1f}",
        f"{np.mean([link['queue_delay_mean_us'] for link in links]) / 1e3:.1f}",
        f"{np.mean([run.jain for run in runs]):.3f}",
        gravest(verdicts),
    )
