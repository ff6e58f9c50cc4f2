"""`dumbbell tune`: the parameters with which a congestion control does best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from dumbbell.cli import options
from dumbbell.cli.base_scenario import base_scenario, single_values
from dumbbell.cli.completion import complete_what
from dumbbell.cli.console import note_cache, print_json, print_line, print_table, progress_bar
from dumbbell.errors import ScenarioError
from dumbbell.quantities.pluralize import pluralize
from dumbbell.runs import Cache, Progress
from dumbbell.scenario import Scenario
from dumbbell.tuning import Goal, Trial, Tuning, ranges_of, target_named, tune

__all__ = ["goal_columns", "split_over", "tune_command", "tuned_scenario"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell tune copa cubic --over default_inv_delta=1..8 --on goodput_bps,queue_delay_mean_us",
    "dumbbell tune ./mine.bpf.c --over gain,target_us --on ideal.own,ideal.cubic --trials 100",
)
#: Panel of `--help`.
TUNING = "Tuning"
#: Of a run, unless the user sets it.
TIME = "20s"

What = Annotated[
    list[str],
    typer.Argument(
        metavar="CC…",
        help="The congestion control whose parameters vary; with metrics, others compete with it.",
        show_default=False,
        autocompletion=complete_what,
    ),
]
On = Annotated[
    str,
    typer.Option(
        "--on",
        metavar="BOARD[.CATEGORY],…|METRIC,…",
        help="What to measure: scores of a board (`ideal`, `ideal.own`), or metrics of its group "
        "on the path of the options. Several are several goals.",
        rich_help_panel=TUNING,
    ),
]
Seeds = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help="Seeds of every run, the same for all settings.",
        rich_help_panel=TUNING,
    ),
]


@options.with_field_options
def tune_command(
    what: What,
    over: Annotated[
        str,
        typer.Option(
            metavar="PARAM[=LOW..HIGH],…",
            help="Parameters, and their ranges; without, from an eighth to eight times the "
            "default, within what is declared.",
            rich_help_panel=TUNING,
        ),
    ],
    fields: options.Fields,
    on: On = "ideal",
    trials: Annotated[
        int, typer.Option(min=1, metavar="N", help="Settings to try.", rich_help_panel=TUNING)
    ] = 50,
    seeds: Seeds = 2,
    unsafe: options.UnsafeNoSandbox = False,  # noqa: ARG001 -- its callback acts on it
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    jobs: options.Jobs = None,
    cache: options.SimulatorCacheFlag = True,
    json: options.Json = False,
) -> int:
    """Search for the parameters with which a congestion control does best.

    Every setting runs on the same seeds. The best one, or with several goals those that no other
    beats, are measured again on what the tuning has not seen: cells drawn at random of a board,
    fresh seeds of metrics. Needs Optuna (`dumbbell[tune]`).
    """
    scenario = tuned_scenario(what, fields, "tune")
    target = target_named(on, scenario, seeds)
    ranges = ranges_of(scenario.groups[0].cc, split_over(over))
    kept = Cache() if cache else None
    with progress_bar("tuning") as bar:

        def follow(done: int, progress: Progress) -> None:
            part = progress.finished / max(progress.total, 1)
            bar.at(min((done + part) / (trials + 2), 1.0), f"tuning: {done} of {trials} settings")

        result = tune(
            str(scenario.groups[0].cc), ranges, target, trials=trials, seed=scenario.seed,
            jobs=jobs, cache=kept or False, on_trials=follow,
        )  # fmt: skip
    note_cache(kept)
    if json:
        print_json(result.to_dict())
    else:
        show(result)
    return 0


def tuned_scenario(what: list[str], fields: options.Fields, command: str) -> Scenario:
    """Return the scenario of metrics; its first group is under test."""
    if any(word.endswith(".toml") for word in what):
        raise ScenarioError(
            f"`dumbbell {command}` takes congestion controls; say their path by options, like "
            "`--rate 20mbit`"
        )
    return base_scenario(what, {"time": TIME, **single_values(fields, command)})


def split_over(over: str) -> list[str]:
    """Return the parameters of ``--over``."""
    return [word.strip() for word in over.split(",") if word.strip()]


def goal_columns(goals: Sequence[Goal]) -> list[str]:
    """Return the heads of the goals' columns."""
    return [goal.head for goal in goals]


def show(result: Tuning) -> None:
    """Print the best settings and what was kept from the tuning, for a person."""
    goals = result.target.goals
    heads = goal_columns(goals)
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
