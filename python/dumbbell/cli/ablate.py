"""`dumbbell ablate`: what each parameter of a congestion control is worth."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli import options
from dumbbell.cli.console import note_cache, print_json, print_line, print_table, progress_bar
from dumbbell.cli.tune import (
    TUNING,
    On,
    Seeds,
    What,
    goal_columns,
    split_over,
    tuned_scenario,
)
from dumbbell.runs import Cache, Progress
from dumbbell.tuning import Ablation, ablate, ranges_of, target_named

__all__ = ["ablate_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell ablate cubic --on utilization,queue_delay_mean_us",
    "dumbbell ablate ./mine.bpf.c --on ideal,ideal.own --over gain,target_us",
)


@options.with_field_options
def ablate_command(
    what: What,
    fields: options.Fields,
    on: On = "ideal",
    over: Annotated[
        str,
        typer.Option(
            metavar="PARAM[=LOW..HIGH],…",
            help="These parameters, with these ends.",
            rich_help_panel=TUNING,
            show_default="all",
        ),
    ] = "",
    seeds: Seeds = 2,
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: options.Jobs = None,
    cache: options.SimulatorCacheFlag = True,
    json: options.Json = False,
) -> int:
    """Measure a congestion control with each parameter off or at its ends, in one table.

    A parameter that changes nothing on what matters to you earns nothing. Each is changed by
    itself: 0 where that is allowed, and both ends of its range, from an eighth to eight times the
    default within what is declared.
    """
    scenario = tuned_scenario(what, fields, "ablate")
    target = target_named(on, scenario, seeds)
    ranges = ranges_of(scenario.groups[0].cc, split_over(over))
    kept = Cache() if cache else None
    with progress_bar("measuring") as bar:

        def follow(progress: Progress) -> None:
            label = f"run {progress.finished} of {progress.total}"
            bar.at(progress.simulated_s / max(progress.total_s, 1e-9), label)

        result = ablate(
            str(scenario.groups[0].cc), ranges, target, jobs=jobs, cache=kept or False,
            on_progress=follow,
        )  # fmt: skip
    note_cache(kept)
    if json:
        print_json(result.to_dict())
    else:
        show(result)
    return 0


def show(result: Ablation) -> None:
    """Print the table, for a person."""
    goals = result.target.goals
    own, *others = result.variants
    rows = [("as it is", "", *(goal.shown(v) for goal, v in zip(goals, own.values, strict=True)))]
    for each in others:
        cells = []
        for goal, value, before in zip(goals, each.values, own.values, strict=True):
            change = ""
            if value is not None and before is not None:
                change = f" ({(value - before) * goal.scale:+.3g})"
            cells.append(goal.shown(value) + change)
        rows.append((each.parameter, str(each.value), *cells))
    print_table(("parameter", "value", *goal_columns(goals)), rows)
    print_line(f"{result.cc}, measured on {result.target.description}; in brackets the difference")
