"""`dumbbell sweep`: the same flows over a range of buffers, rates, RTTs and counts."""

from __future__ import annotations

import json as json_module
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json, progress_bar, table
from dumbbell.cli.options import Settings, base_scenario
from dumbbell.errors import ScenarioError
from dumbbell.metrics import mean_and_range
from dumbbell.quantity import Buffer, Rate, Time, expand, expand_counts
from dumbbell.run import Run
from dumbbell.run_directory import check_parent
from dumbbell.scenario import Scenario
from dumbbell.sweep import Progress, SweepInterrupted, run_all
from dumbbell.verdict import gravest

__all__ = ["sweep_command"]

RANGE = "A list `a,b,c`, a doubling range `a..b` or even steps `a..b/n`."


class Point(NamedTuple):
    """Where a run of the sweep lies; None on an axis that is not swept."""

    rate: str | None
    rtt: str | None
    buffer: str | None
    flows: int | None

    def label(self) -> str:
        """Return the point as a directory name: ``buffer=2bdp,flows=4``."""
        set_axes = [f"{axis}={value}" for axis, value in self._asdict().items() if value]
        return ",".join(set_axes) or "all"


def sweep_command(
    what: options.What,
    rate: Annotated[str | None, typer.Option(help=f"Capacities. {RANGE}")] = None,
    rtt: Annotated[str | None, typer.Option(help=f"Base RTTs. {RANGE}")] = None,
    buffer: Annotated[str | None, typer.Option(help=f"Buffers: `0.5..64bdp`. {RANGE}")] = None,
    flows: Annotated[str | None, typer.Option(help="Flows of each group: `1,4`, `1..16`.")] = None,
    reps: Annotated[int, typer.Option(help="Repetitions, each with the next seed.")] = 1,
    time: options.TimeOption = None,
    seed: options.Seed = None,
    start: options.Start = None,
    jitter: options.Jitter = None,
    rwnd: options.Rwnd = None,
    sndbuf: options.Sndbuf = None,
    sample: options.Sample = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", help="Save every run under this directory, as it finishes."),
    ] = None,
) -> int:
    """Run every combination of buffers, rates, RTTs and flow counts, on all cores."""
    if reps < 1:
        raise ScenarioError(f"reps is {reps}; say 1 or more")
    fixed = Settings(
        time=time, seed=seed, sample=sample, start=start, jitter=jitter, rwnd=rwnd, sndbuf=sndbuf
    )
    points = sweep_points(rate, rtt, buffer, flows)
    scenarios = [
        ((point, rep), scenario_at(what, fixed, point, rep))
        for point in points
        for rep in range(reps)
    ]

    if out_dir is not None:
        check_parent(out_dir)

    def keep(key: tuple[Point, int], run: Run) -> Run:
        if out_dir is None:
            # Only the summary is printed; all tables together would not fit in memory.
            return Run(run.scenario, run.summary, {})
        return Run.load(run.save(out_dir / run_name(key[0], run.scenario)))

    with progress_bar("simulating") as bar:

        def show(progress: Progress) -> None:
            label = f"run {progress.finished} of {progress.total}"
            bar.at(progress.simulated_s / progress.total_s, label)

        try:
            runs = run_all(scenarios, on_progress=show, on_finished=keep)
        except SweepInterrupted as interrupt:
            kept = out_dir is not None and interrupt.finished
            where = f", kept in {out_dir}" if kept else ""
            raise KeyboardInterrupt(f"{interrupt}{where}") from None
    results = {p: [runs[p, rep] for rep in range(reps)] for p in points}
    if json:
        print_json(json_module.dumps(to_documents(results), indent=2, allow_nan=False))
    else:
        print_sweep(results)
        if out_dir is not None:
            out().print(f"saved in {out_dir}", markup=False, soft_wrap=True)
    return 0


def sweep_points(
    rate: str | None, rtt: str | None, buffer: str | None, flows: str | None
) -> list[Point]:
    """Return every combination of the axes' values."""
    rates = [None] if rate is None else expand(rate, "rate", Rate.examples)
    rtts = [None] if rtt is None else expand(rtt, "rtt", Time.examples)
    buffers = [None] if buffer is None else expand(buffer, "buffer", Buffer.examples)
    counts = [None] if flows is None else expand_counts(flows, "flows")
    # The buffer changes fastest: a table is read along it.
    points = (Point(r, t, b, n) for n, r, t, b in product(counts, rates, rtts, buffers))
    return list(dict.fromkeys(points))


def scenario_at(what: list[str], fixed: Settings, point: Point, rep: int) -> Scenario:
    """Return the scenario of a point and repetition."""
    settings = Settings(**{**vars(fixed), **point._asdict()})
    scenario = base_scenario(what, settings)
    return scenario.replace(seed=scenario.seed + rep)


def run_name(point: Point, scenario: Scenario) -> str:
    """Return the directory of a run, below the sweep's."""
    ccs = "+".join(Path(str(group.cc)).name for group in scenario.groups)
    return f"{ccs}/{point.label()},seed={scenario.seed}"


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
    axes = [axis for axis in Point._fields if any(getattr(p, axis) for p in results)]
    groups = [str(group.cc) for group in first.scenario.groups]
    columns = (
        *(axes or ["run"]),
        *(f"{cc}\nMbit/s/flow" for cc in groups),
        "used\n%", "queueing delay\nmean ms", "Jain", "verdict",
    )  # fmt: skip
    rows = [sweep_row(point, runs, axes) for point, runs in results.items()]
    out().print(table("", columns, rows))


def sweep_row(point: Point, runs: list[Run], axes: list[str]) -> tuple[str, ...]:
    """Return a point's row, means over its repetitions."""
    per_group = [
        [run.groups[group]["goodput_per_flow_bps"] / 1e6 for run in runs]
        for group in range(len(runs[0].groups))
    ]
    links = [run.summary["bottleneck"] for run in runs]
    verdicts = [run.verdict.status for run in runs]
    return (
        *([str(getattr(point, axis)) for axis in axes] or ["all"]),
        *(mean_and_range(values) for values in per_group),
        f"{100 * np.mean([link['utilization'] for link in links]):.1f}",
        f"{np.mean([link['queue_delay_mean_us'] for link in links]) / 1e3:.1f}",
        f"{np.mean([run.jain for run in runs]):.3f}",
        gravest(verdicts),
    )
