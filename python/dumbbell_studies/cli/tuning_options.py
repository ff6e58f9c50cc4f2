"""What `tune` and `ablate` have in common: whose parameters vary, and what is measured."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.terminal import Fields, base_scenario, complete_what, single_values
from dumbbell_studies.tuning import ParameterRange, Target, ranges_of, target_named

__all__ = ["TUNING", "On", "Over", "Seeds", "Tuned", "What", "goal_columns", "tuned"]

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
Over = Annotated[
    str,
    typer.Option(
        metavar="PARAM[=LOW..HIGH],…",
        help="Parameters, and their ranges; without, from an eighth to eight times the "
        "default, within what is declared.",
        rich_help_panel=TUNING,
        show_default="all",
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


class Tuned(NamedTuple):
    """What the options say.

    Attributes
    ----------
    cc
        The congestion control algorithm, with its parameters.
    ranges
        Of the parameters that vary.
    target
        What is measured.
    seed
        The first of the runs.
    """

    cc: str
    ranges: list[ParameterRange]
    target: Target
    seed: int


def tuned(what: list[str], fields: Fields, over: str, on: str, seeds: int, command: str) -> Tuned:
    """Read what to measure; the first congestion control is under test.

    Raises
    ------
    ScenarioError
        Something is unknown, or a scenario file is named.
    """
    if any(word.endswith(".toml") for word in what):
        raise ScenarioError(
            f"`dumbbell {command}` takes algorithms; set their path by options, like "
            "`--rate 20mbit`"
        )
    scenario = base_scenario(what, {"time": TIME, **single_values(fields, command)})
    cc = scenario.groups[0].cc
    target = target_named(on, scenario, seeds)
    names = [word.strip() for word in over.split(",") if word.strip()]
    return Tuned(str(cc), ranges_of(cc, names), target, scenario.seed)


def goal_columns(target: Target) -> list[str]:
    """Return the heads of the goals' columns."""
    return [goal.head for goal in target.goals]
