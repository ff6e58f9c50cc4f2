"""`dumbbell tune ablate`: what each parameter of a congestion control algorithm is worth."""

from __future__ import annotations

from functools import partial

from dumbbell.runs import Cache
from dumbbell.terminal import (
    Fields,
    Jobs,
    Json,
    LinuxTreeOption,
    SimulatorCacheFlag,
    UnsafeNoSandbox,
    note_cache,
    print_json,
    print_line,
    print_table,
    progress_bar,
    with_field_options,
)
from dumbbell_studies.cli.tuning_options import On, Over, Seeds, What, goal_columns, tuned
from dumbbell_studies.tuning import Ablation, ablate

__all__ = ["ablate_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell tune ablate cubic --on utilization,queue_delay_mean_us",
    "dumbbell tune ablate ./mine.bpf.c --on ideal,ideal.own --over beta_pct",
)


@partial(with_field_options, common=("time", "seed"))
def ablate_command(
    what: What,
    fields: Fields,
    on: On = "ideal",
    over: Over = "",
    seeds: Seeds = 2,
    unsafe: UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: Jobs = None,
    cache: SimulatorCacheFlag = True,
    json: Json = False,
) -> int:
    """Measure an algorithm with each parameter off or at its ends.

    A parameter that changes nothing on what matters to you earns nothing. Each is changed by
    itself: 0 where that is allowed, and both ends of its range, from an eighth to eight times the
    default within what is declared.
    """
    cc, ranges, target, _ = tuned(what, fields, over, on, seeds, "ablate")
    kept = Cache() if cache else None
    with progress_bar("measuring") as bar:
        result = ablate(cc, ranges, target, jobs=jobs, cache=kept or False, on_progress=bar.at_run)
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
    print_table(("parameter", "value", *goal_columns(result.target)), rows)
    print_line(f"{result.cc}, measured on {result.target.description}; in brackets the difference")
