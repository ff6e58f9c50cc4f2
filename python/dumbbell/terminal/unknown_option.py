"""What is said about an option that a command does not have."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

from typer.exceptions import TyperException

from dumbbell.base.errors import nearest
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import field_meant

__all__ = ["unknown_option"]

#: Commands whose options people mix up.
MIXED_UP = (("run", "sweep", "emulate"), ("plot", "report", "compare"))
#: An option of other programs that lists what an argument may be, and how help lists that.
LIST, ONE_OF = "--list", "One of: "
#: What an option of other programs is here.
INSTEAD = {
    "--cc": "algorithms are arguments: `copa cubic`",
    "--csv": "use --out DIR, then `dumbbell report export DIR --csv`",
    "--pdf": "use `dumbbell plot DIR --format pdf` for figures, or print the page from a browser",
    "--plot": "use --out DIR, then `dumbbell plot DIR`",
    "--pcap": "use `--capture`, which writes packets as pcapng",
    "-t": "use `--time 10s`, with a unit",
    "--stagger": "use `--start 0s,5s`, a time per group, or `--jitter 5s`, a random delay of up to "
    "that for each flow",
}
#: The same, of one command.
INSTEAD_OF_COMMAND = {
    ("fit", "--engine"): "a fit simulates; to run the path on Linux, write it with `-o path.toml`, "
    "then `dumbbell run path.toml --engine uml`",
    ("what-if", "--engine"): "predictions are simulated; to run the path on Linux, write it with "
    "`dumbbell fit CAPTURE -o path.toml`, then `dumbbell run path.toml --engine uml`",
    ("identify", "--engine"): "captures are read; `--probe COMMAND` makes one, on Linux in virtual "
    "time with `--serve COMMAND --virtual`",
    ("fit", "--cc"): "`--sender CC` says who sent the capture; `dumbbell what-if CAPTURE --cc CC` "
    "predicts another algorithm",
    ("identify", "--cc"): "the algorithm is what `identify` finds; `dumbbell fit CAPTURE --sender "
    "CC` takes it as given",
    ("fit", "--out"): "use `-o path.toml`",
}
#: What is called otherwise elsewhere, and is no field of a scenario by that name.
OTHER_NAMES = {"-o": "--out", "--packet-loss": "--loss", "--plr": "--loss"}


def unknown_option(problem: Any, arguments: Sequence[str]) -> str:
    """Return the message about an option that a command does not have.

    Parameters
    ----------
    problem
        What typer raised.
    arguments
        Of `dumbbell`.
    """
    option, command = problem.option_name, problem.ctx.command
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    meant = field_meant(option, [Scenario, Group])
    wrong = f"no such option: {option}"
    if corrected := with_dashes(problem.ctx, arguments):
        return f"{wrong}; put `--` before the command: `{corrected}`"
    if special := INSTEAD_OF_COMMAND.get((problem.ctx.info_name, option)):
        return f"{wrong}; {special}"
    instead = "--cc" if meant and meant.name == "cc" else option
    if instead in INSTEAD:
        return f"{wrong}; {INSTEAD[instead]}"
    if other := by_its_long_name(option, known):
        return f"{wrong}; did you mean `{other}`?"
    if option == LIST and (what := listed_by(command)):
        return f"{wrong}; {what}"
    if meant and meant.option in known:
        return f"{wrong}; did you mean `{meant.option}`?"
    if other := command_with(option, problem.ctx):
        return f"{wrong}; that is `{other} {option}`"
    words = sorted(name[2:] for name in known if name.startswith("--"))
    turned = [each for each in words if "".join(reversed(each.split("-"))) == option.strip("-")]
    near = nearest(option.strip("-"), turned or words).replace("mean `", "mean `--")
    if "did you mean" not in near:
        near = f"; `{problem.ctx.command_path} --help` lists the options"
    return f"{wrong}{near}"


def by_its_long_name(option: str, known: Collection[str]) -> str:
    """Return what `-o` and `--down-loss` are here, where the command has it; else nothing."""
    long = OTHER_NAMES.get(option) or option.replace("--down-", "--")
    return long if long != option and long in known else ""


def listed_by(command: Any) -> str:
    """Return what the help of a command's first argument lists; empty if it lists nothing."""
    texts = [each.help or "" for each in command.params if each.param_type_name == "argument"]
    is_list = bool(texts) and texts[0].startswith(ONE_OF)
    return f"the arguments are {texts[0].removeprefix(ONE_OF).rstrip('.')}" if is_list else ""


def with_dashes(context: Any, arguments: Sequence[str]) -> str:
    """Return a command line whose option belongs to a program, as it is right; empty if none.

    Parameters
    ----------
    context
        Of the command, like `emulate`, that an option was not found for.
    arguments
        Of `dumbbell`.
    """
    places = [each for each in context.command.params if each.param_type_name == "argument"]
    if not places or "--" not in (places[-1].metavar or ""):
        return ""
    at = arguments.index(context.info_name.split()[-1]) + 1
    parser = context.command.make_parser(context)
    parser.allow_interspersed_args = False
    try:
        program = parser.parse_args(list(arguments[at:]))[0][places[-1].name]
    except TyperException:
        return ""
    if not program or program[0].startswith("-"):
        return ""
    before = arguments[: len(arguments) - len(program)]
    return shlex.join(["dumbbell", *before, "--", *program])


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
