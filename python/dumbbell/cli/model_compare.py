"""`dumbbell model compare`: a model compared with runs of what it models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Time
from dumbbell.base.writing import check_writable
from dumbbell.cli.axes import RANGE
from dumbbell.figures.frame import save
from dumbbell.models import MODELS, Model
from dumbbell.models.comparison import ModelComparison, compare_model, summarize, verdict_counts
from dumbbell.plots.comparison_figure import draw_comparison
from dumbbell.run.engine import SIMULATOR, check_engine
from dumbbell.runs.cache import as_cache
from dumbbell.scenario import Group, Scenario
from dumbbell.sweeps.design import make_design
from dumbbell.terminal import options
from dumbbell.terminal.console import note_cache, out, print_json, print_line, progress_bar
from dumbbell.terminal.field_options import field_option
from dumbbell.terminal.scenario_options import single_values
from dumbbell.terminal.table import print_table

__all__ = ["compare_command"]

#: What each model describes: its flows, and their rival if it has one.
GROUPS = {
    "ware": ("bbr", "cubic"),
    "cubic-interval": ("cubic", None),
    "mathis": ("reno", None),
    "bbr-many": ("bbr", None),
    "copa": ("copa", None),
    "bbr-fca": ("bbr_fca", "cubic"),
}
#: Time series are only needed for the means over the last part.
SAMPLE = "100ms"
#: Ware et al.'s model assumes a buffer at least this deep.
DEEP_BDP = 2.0
#: A share above which the outcome is clear without a model.
FOREGONE = 0.9
#: Number of the largest errors that are printed.
WORST = 5

Key = tuple[float, int]


def compare_command(
    name: Annotated[
        str, typer.Argument(metavar="MODEL", help=f"Of: {', '.join(GROUPS)}.", show_default=False)
    ],
    rate: Annotated[str, field_option("rate", show_default=True)] = "10mbit",
    rtt: Annotated[str, field_option("rtt", show_default=True)] = "40ms",
    buffer: Annotated[str, field_option("buffer", RANGE, show_default=True)] = "1..64bdp",
    flows: Annotated[
        str,
        field_option(
            "flows", help="Number of flows of the model's congestion control.", show_default=True
        ),
    ] = "1..32",
    rivals: Annotated[
        int, typer.Option("--rivals", help="Number of flows that they compete with.", min=1)
    ] = 1,
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc",
            help="Congestion control of the model's flows: `bbr:extra_acked_gain=0`, `linux/bbr`.",
        ),
    ] = None,
    rival: Annotated[
        str | None, typer.Option("--rival", help="Congestion control of their rivals: `reno`.")
    ] = None,
    time: Annotated[str, field_option("time", show_default=True)] = "600s",
    last: Annotated[
        str,
        typer.Option(
            "--last", help="Measure this much of its end: models predict what flows converge to."
        ),
    ] = "400s",
    reps: Annotated[int, typer.Option(help="Repetitions, each with the next seed.")] = 1,
    seed: Annotated[int, typer.Option(help="First seed.")] = 1,
    engine: options.Engine = SIMULATOR,
    jobs: options.Jobs = None,
    cache: options.CacheFlag = None,
    json: options.Json = False,
    out_dir: Annotated[
        Path | None, typer.Option("--out", help="Draw figures into this directory.")
    ] = None,
) -> int:
    """Run what a model describes, and print the model's errors."""
    if name not in GROUPS:
        raise ScenarioError(f"unknown model `{name}`{nearest(name, GROUPS)}")
    if reps < 1:
        raise ScenarioError(f"reps is {excerpt(reps)}; use 1 or more")
    own, other = GROUPS[name]
    rival = rival or other
    groups = [Group(cc or own), *([] if rival is None else [Group(rival, rivals)])]
    words = single_values({"rate": rate, "rtt": rtt, "time": time}, "model compare")
    base = Scenario(groups, **words, seed=seed, sample=SAMPLE)
    scenarios = scenarios_at(base, {"0.flows": flows, "buffer": buffer})
    last_time = check_last(last, next(iter(scenarios.values())))
    check_engine(engine, *scenarios.values())
    if out_dir is not None:
        check_writable(out_dir)
    kept = as_cache(cache, engine)
    with progress_bar(f"running what {name} describes") as bar:
        compared = compare_model(
            MODELS[name], scenarios, reps=reps, last_s=last_time.seconds, engine=engine,
            jobs=jobs, cache=kept or False, on_progress=bar.at_run,
        )  # fmt: skip
    note_cache(kept)
    if out_dir is not None:
        for figure in draw_comparison(MODELS[name], compared):
            save(figure, out_dir)
    if json:
        print_json(to_document(name, last_time, compared))
        return 0
    print_comparison(out(), MODELS[name], last_time, compared)
    if out_dir is not None:
        print_line(f"figures in {out_dir}")
    return 0


def scenarios_at(base: Scenario, axes: Mapping[str, str]) -> dict[Key, Scenario]:
    """Return what to run, by buffer in BDP and the flows of the model's kind."""
    return {
        (buffer_bdp(point), point.groups[0].flows): point
        for _, point in make_design(base, axes).points
    }


def buffer_bdp(scenario: Scenario) -> float:
    """Return a buffer in BDP; one in packets by the first group's packets."""
    buffer = scenario.link_queue.limit
    limit_bytes = (
        float(buffer.amount) * scenario.groups[0].packet_bytes
        if buffer.unit == "pkt"
        else buffer.limit_bytes(scenario.rate, scenario.rtt)
    )
    return limit_bytes / scenario.bdp_bytes


def check_last(last: str, scenario: Scenario) -> Time:
    """Return how much of a run's end is measured."""
    time = Time.parse(last, "last", minimum=Time.parse(SAMPLE, "sample"))
    if time > scenario.time:
        raise ScenarioError(
            f"last `{last}` is longer than the run; use at most `{scenario.time}`", key="last"
        )
    return time


def to_document(
    name: str, last: Time, compared: Mapping[Key, ModelComparison]
) -> dict[str, object]:
    """Return the comparison as JSON has it."""
    return {
        "model": name,
        "last": str(last),
        "errors": {label: vars(summarize(cases)) for label, cases in parts(compared) if cases},
        "points": [
            {
                "buffer_bdp": at,
                "flows": flows,
                "scenario": each.scenario.to_dict(),
                **each.to_dict(),
            }
            for (at, flows), each in compared.items()
        ],
    }


def print_comparison(
    console: Console, model: Model, last: Time, compared: Mapping[Key, ModelComparison]
) -> None:
    """Print the errors as a grid, their summary, and the worst."""
    first = next(iter(compared.values()))
    headline, scenario = first.headline, first.scenario
    unit = "%" if headline.is_relative else "points"
    counts = sorted({flows for _, flows in compared})
    others = "".join(f" against {group.flows} {group.cc}" for group in scenario.groups[1:])
    rows = []
    for at in sorted({at for at, _ in compared}):
        cells = [cell(compared.get((at, n))) for n in counts]
        rows.append((f"{at:g}", *cells))
    seeds = len(first.measured)
    console.print(
        f"{model.label}: {headline.label}, {headline.unit}: model / runs (error, {unit})",
        soft_wrap=True,
    )
    console.print(
        f"N {scenario.groups[0].cc}{others}, {scenario.rate}, {scenario.rtt}, last {last} of "
        f"{scenario.time}, {seeds} {'seed' if seeds == 1 else 'seeds'}",
        markup=False,
        soft_wrap=True,
    )
    print_table(("buffer\nBDP", *(f"N = {n}" for n in counts)), rows)
    for label, cases in parts(compared):
        if cases:
            errors = summarize(cases)
            console.print(
                f"{label}: {errors.count} points, |error| median {100 * errors.median:.1f}, mean "
                f"{100 * errors.mean:.1f}, worst {100 * errors.worst:.1f} {unit}; "
                f"on average {100 * errors.bias:+.1f}",
                soft_wrap=True,
            )
    worst = sorted(compared.items(), key=lambda item: -abs(item[1].error))[:WORST]
    named = ", ".join(f"{at:g} BDP N = {n} ({100 * each.error:+.1f})" for (at, n), each in worst)
    console.print(f"worst: {named}", soft_wrap=True)
    verdicts = verdict_counts(compared.values())
    counted = ", ".join(f"{count} {status}" for status, count in sorted(verdicts.items()))
    console.print(f"runs: {counted}", soft_wrap=True)


def cell(compared: ModelComparison | None) -> str:
    """Write a comparison: predicted, measured, and the error."""
    if compared is None:
        return "–"
    scale = compared.headline.scale
    mean = float(np.mean(compared.measured))
    return f"{scale * compared.predicted:.1f} / {scale * mean:.1f} ({100 * compared.error:+.1f})"


def is_foregone(compared: ModelComparison) -> bool:
    """Whether model and runs agree that one side gets everything."""
    if compared.headline.key != "share":
        return False
    return min(compared.predicted, float(np.mean(compared.measured))) > FOREGONE


def parts(compared: Mapping[Key, ModelComparison]) -> list[tuple[str, Sequence[ModelComparison]]]:
    """Return the comparisons in the groups that are summed up: deep and not, by N, by buffer."""
    deep = {key: each for key, each in compared.items() if key[0] >= DEEP_BDP}
    shallow = [each for key, each in compared.items() if key not in deep]
    name = f"{DEEP_BDP:g} BDP and more"
    found: list[tuple[str, Sequence[ModelComparison]]] = [(name, list(deep.values()))]
    open_ = [each for each in deep.values() if not is_foregone(each)]
    if len(open_) < len(deep):
        found.append((f"{name}, not all for one side ({FOREGONE:.0%}) in both", open_))
    found.append(("less", shallow))
    buffers, counts = (sorted(set(axis)) for axis in zip(*compared, strict=True))
    if len(counts) > 1 and len(deep) > len(counts):
        found += [(f"{name}, N = {n}", [e for (_, m), e in deep.items() if m == n]) for n in counts]
    if len(buffers) > 1:
        found += [
            (f"{b:g} BDP", [e for (at, _), e in compared.items() if at == b]) for b in buffers
        ]
    return found
