"""The command line that runs a sweep again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dumbbell.run.engine import SIMULATOR
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import fields_of
from dumbbell.sweeps import SweepResult
from dumbbell.sweeps.field import field_of

__all__ = ["rerun_text", "seeds_text"]


def rerun_text(result: SweepResult) -> str:
    """Return the command line of a sweep or run, with its base scenario in `scenario.toml`."""
    plan = result.plan
    words = ["dumbbell", "sweep" if result.axes else "run", "scenario.toml"]
    for axis in result.axes:
        field = fields_of(Scenario).get(axis.name) or fields_of(Group).get(axis.name)
        if field is not None and field.takes_list:
            words += [field.option, field.kind.separator.join(axis.labels)]
        else:
            separator = field_of(axis.name, result.scenario).kind.separator
            words += ["--axis", f"{axis.name}={separator.join(axis.labels)}"]
    for names in result.design.dims:
        words += ["--zip", ",".join(names)] if len(names) > 1 else []
    words += ["--reps", str(plan.reps)] if plan.reps > 1 else []
    if plan.until_ci is not None:
        words += ["--until-ci", plan.until_ci, "--metric", plan.metric]
        words += ["--max-reps", str(plan.max_reps)]
    words += ["--warmup", plan.warmup] if plan.warmup else []
    words += ["--engine", result.engine] if result.engine != SIMULATOR else []
    return shlex.join(words)


def seeds_text(seeds: Sequence[int]) -> str:
    """Write seeds: ``1–10`` if consecutive."""
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]}–{seeds[-1]}"
    return ", ".join(map(str, seeds))
