"""`dumbbell tune`: the parameters with which a congestion control algorithm does best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from dumbbell.base.quantities import pluralize
from dumbbell.runs import Cache, Progress
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
from dumbbell_studies.cli.tuning_options import TUNING, On, Over, Seeds, What, goal_columns, tuned
from dumbbell_studies.tuning import Goal, Trial, Tuning, tune

__all__ = ["tune_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell tune copa --over default_inv_delta=1..8 --on goodput_bps,rtt_p95_us",
    "dumbbell tune ./mine.bpf.c --over beta_pct --on ideal.own --trials 100",
)


@partial(with_field_options, common=("time", "seed"))
def tune_command(
    what: What,
    over: Over,
    fields: Fields,
    on: On = "ideal",
    trials: Annotated[
        int, typer.Option(min=1, metavar="N", help="Settings to try.", rich_help_panel=TUNING)
    ] = 50,
    seeds: Seeds = 2,
    unsafe: UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: Jobs = None,
    cache: SimulatorCacheFlag = True,
    json: Json = False,
) -> int:
    """Search for the parameters with which an algorithm does best.

    Every setting runs on the same seeds. The best one, or with several goals those that no other
    beats, are measured again on what the tuning has not seen: cells drawn at random of a board,
    fresh seeds of metrics. Needs Optuna, which the extra `tune` installs.
    """
    cc, ranges, target, first_seed = tuned(what, fields, over, on, seeds, "tune")
    kept = Cache() if cache else None
    with progress_bar("tuning") as bar:

        def follow(done: int, progress: Progress) -> None:
            part = progress.finished / max(progress.total, 1)
            bar.at(min((done + part) / (trials + 2), 1.0), f"tuning: {done} of {trials} settings")

        result = tune(
            cc, ranges, target, trials=trials, seed=first_seed, jobs=jobs, cache=kept or False,
            on_trials=follow,
        )  # fmt: skip
    note_cache(kept)
    if json:
        print_json(result.to_dict())
    else:
        show(result)
    return 0


def show(result: Tuning) -> None:
    """Print the best settings and what was kept from the tuning, for a person."""
    goals = result.target.goals
    heads = goal_columns(result.target)
    columns = ("setting", *heads, *(f"{head}\nheld out" for head in heads))
    better = [each for each in result.best if each.cc != result.untuned.cc]
    print_table(columns, [row_of(each, goals) for each in (result.untuned, *better)])
    if not better:
        print_line("no setting that was tried is better")
    print_line(f"tuned on {result.target.description}; held out: {result.held_out.description}")
    if result.importances:
        names = list(next(iter(result.importances.values())))
        print_table(
            ("parameter", *(f"importance\n{name}" for name in result.importances)),
            [
                (name, *(f"{of.get(name, 0.0):.2f}" for of in result.importances.values()))
                for name in names
            ],
        )
    failed = sum(None in each.values for each in result.trials)
    if failed:
        print_line(f"{pluralize(failed, 'setting')} without values (INVALID runs) do not count")


def row_of(trial: Trial, goals: Sequence[Goal]) -> tuple[str, ...]:
    """Return a setting's row."""
    held_out = trial.held_out or (None,) * len(goals)
    return (
        trial.cc,
        *(goal.shown(value) for goal, value in zip(goals, trial.values, strict=True)),
        *(goal.shown(value) for goal, value in zip(goals, held_out, strict=True)),
    )
