"""How to run a sweep again: a command line, or Python where no command line says it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dumbbell.engine import SIMULATOR
from dumbbell.sweeps import SweepResult

__all__ = ["rerun_text", "seeds_text"]

#: Axes that `dumbbell sweep` has an option for.
OPTIONS = ("rate", "rtt", "buffer", "flows")


def rerun_text(result: SweepResult) -> str:
    """Return what runs a sweep again, with its base scenario in `scenario.toml`."""
    plan = result.plan
    is_crossed = all(len(names) == 1 for names in result.design.dims)
    if not result.axes or (
        is_crossed and plan.until_ci is None and all(axis.name in OPTIONS for axis in result.axes)
    ):
        words = ["dumbbell", "sweep" if result.axes else "run", "scenario.toml"]
        for axis in result.axes:
            words += [f"--{axis.name}", ",".join(axis.labels)]
        words += ["--reps", str(plan.reps)] if plan.reps > 1 else []
        words += ["--engine", result.engine] if result.engine != SIMULATOR else []
        return shlex.join(words)
    return python_text(result)


def python_text(result: SweepResult) -> str:
    """Return the same as Python."""
    plan = result.plan
    axes = ",\n    ".join(f"{axis.name!r}: {list(axis.labels)!r}" for axis in result.axes)
    zipped = [names for names in result.design.dims if len(names) > 1]
    words = [f"{{\n    {axes},\n}}"]
    words += [f"zipped={zipped!r}"] if zipped else []
    words += [f"reps={plan.reps}"] if plan.reps > 1 else []
    if plan.until_ci is not None:
        words += [f"until_ci={plan.until_ci!r}, metric={plan.metric!r}, max_reps={plan.max_reps}"]
    words += [f"warmup={plan.warmup!r}"] if plan.warmup else []
    words += [f"engine={result.engine!r}"] if result.engine != SIMULATOR else []
    return (
        "import dumbbell\n\n"
        'scenario = dumbbell.Scenario.from_toml("scenario.toml")\n'
        f"dumbbell.Sweep(scenario, {', '.join(words)}).run()"
    )


def seeds_text(seeds: Sequence[int]) -> str:
    """Write seeds: ``1–10`` when they follow one another."""
    if len(seeds) > 2 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]}–{seeds[-1]}"
    return ", ".join(map(str, seeds))
