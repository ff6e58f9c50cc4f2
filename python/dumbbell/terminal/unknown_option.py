"""What is said about an option that a command does not have."""

from __future__ import annotations

from itertools import chain
from typing import Any

from dumbbell.base.errors import nearest
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import field_meant

__all__ = ["unknown_option"]

#: Commands whose options people mix up.
MIXED_UP = (("run", "sweep", "emulate"), ("plot", "report", "compare"))


def unknown_option(problem: Any) -> str:
    """Return the message about an option that a command does not have."""
    option, command = problem.option_name, problem.ctx.command
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    meant = field_meant(option, [Scenario, Group])
    if option == "--csv":
        return f"no such option: {option}; use --out DIR, then `dumbbell report export DIR --csv`"
    if option == "--cc" or (meant and meant.name == "cc"):
        return f"no such option: {option}; algorithms are arguments: `copa cubic`"
    if meant and meant.option in known:
        return f"no such option: {option}; did you mean `{meant.option}`?"
    if other := command_with(option, problem.ctx):
        return f"no such option: {option}; that is `{other} {option}`"
    words = sorted(name[2:] for name in known if name.startswith("--"))
    near = nearest(option.strip("-"), words).replace("mean `", "mean `--")
    if "did you mean" not in near:
        near = f"; `{problem.ctx.command_path} --help` lists the options"
    return f"no such option: {option}{near}"


def command_with(option: str, context: Any) -> str:
    """Return the command of `dumbbell` that has an option which another one lacks; empty if none.

    Of those that people mix up: what runs, and what shows.
    """
    root = context.find_root()
    likely = sorted(MIXED_UP, key=lambda names: context.info_name not in names)
    for name in chain.from_iterable(likely):
        command = root.command.get_command(root, name)
        if command is not None and name != context.info_name:
            names = {each for param in command.load().params for each in param.opts}
            if option in names:
                return f"{root.info_name} {name}"
    return ""
