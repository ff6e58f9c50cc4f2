"""Commands whose modules are loaded when they are called: the others need not wait for them."""

from __future__ import annotations

import copy
import importlib
import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.terminal.help import help_text
from dumbbell.terminal.option_values import take_text_as_it_is
from dumbbell.terminal.without_pandas import leave_pandas_out

__all__ = ["CommandGroup", "LazyCommand", "examples", "with_plain_help"]

#: A line break within a paragraph.
SINGLE_BREAK = re.compile(r"(?<!\n)\n(?!\n)")
#: Options that take a value per group.
LISTED = ("--start", "--stop")
#: What ``--help`` calls the types of options.
TYPES = {"bool": "", "int": "N", "float": "X", "str": "TEXT", "Path": "PATH", "list[str]": "TEXT"}


#: What a command of other programs is here.
INSTEAD = {
    "cache clear": "dumbbell cache prune --all",
    "cc info": "dumbbell cc list NAME",
    "cc show": "dumbbell cc list NAME",
    "dumbbell version": "dumbbell --version",
}


class CommandGroup(TyperGroup):
    """Commands of one name; an error about another one names the nearest."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments begin with."""
        name = args[0]
        if name in self.commands or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        instead = INSTEAD.get(f"{ctx.info_name} {name}")
        near = f"; use `{instead}`" if instead else nearest(name, self.commands)
        raise ScenarioError(f"no such command: `{excerpt(name)}`{near}")


class LazyCommand(TyperCommand):
    """A command of `dumbbell`, by its name and its line in `dumbbell --help`.

    Parameters
    ----------
    name
        Of the command; its module is `<package>.<name>` (its last word, `-` as `_`), with
        `<name>_command` and `EXAMPLES`, or `<name>_app` where it has commands of its own.
    help_line
        The first line of its help.
    package
        The package that has its module.
    """

    def __init__(self, name: str, help_line: str, package: str = "dumbbell.cli") -> None:
        super().__init__(name, help=help_line)
        self.package = package
        self.place = name.split()[-1].replace("-", "_")

    def load(self) -> Any:
        """Return the command itself."""
        leave_pandas_out()
        module = importlib.import_module(f"{self.package}.{self.place}")
        app = getattr(module, f"{self.place}_app", None)
        if app is None:
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            command = app.command(self.name, epilog=examples(*getattr(module, "EXAMPLES", ())))
            command(getattr(module, f"{self.place}_command"))
        return with_plain_help(get_command(app))

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Begin to call it."""
        command = self.load()
        refuse_repeated(command, arguments[1])
        return command.make_context(*arguments, **named)


def refuse_repeated(command: Any, words: Sequence[str]) -> None:
    """Refuse an option of a value per group that is given twice: the first would be lost.

    Raises
    ------
    ScenarioError
        There is one before `--`.
    """
    given = [word.partition("=")[0] for word in words[: [*words, "--"].index("--")]]
    known = {name for param in command.params for name in param.opts if not param.multiple}
    for option in LISTED:
        if option in known and given.count(option) > 1:
            raise ScenarioError(
                f"`{option}` is given twice; list the groups' values in one: `{option} A,B`"
            )


def with_plain_help(command: Any) -> Any:
    """Let the help of a command and its own commands be ours, with types named as users do."""
    # typer keeps the line breaks of a docstring after its first paragraph.
    command.help = command.help and SINGLE_BREAK.sub(" ", command.help)
    params_of = command.get_params
    everything: list[Any] = []

    def get_params(context: typer.Context) -> Any:
        params = params_of(context)
        if not everything:
            everything.append(option_for_everything(command.get_help_option(context)))
        params = [*params, *everything]
        take_text_as_it_is(params)
        for param in params:
            if param.param_type_name == "argument":  # its metavar is its name
                param.display_type_rich = lambda **_: ""
            elif param.metavar is None:
                param.metavar = TYPES.get(param.bare_type())
            if isinstance(param.show_default, str):  # which typer puts in parentheses
                text = param.show_default
                vars(param)["_get_default_string"] = lambda text=text, **_: text
        return params

    command.get_params = get_params
    command.get_help = lambda context: help_text(command, context)
    for each in getattr(command, "commands", {}).values():
        with_plain_help(each)
    return command


def option_for_everything(help_option: Any) -> Any:
    """Return `--help-all`, which is as `--help` is."""
    option = copy.copy(help_option)
    option.name, option.opts = "help_all", ["--help-all"]
    option.help = "Show every option and exit."

    def show(context: typer.Context, _: Any, is_wanted: Any) -> None:
        if is_wanted and not context.resilient_parsing:
            typer.echo(help_text(context.command, context, everything=True))
            raise typer.Exit

    option.callback = show
    return option


def examples(*lines: str) -> str | None:
    """Return the end of a command's help: command lines to start from."""
    return "\n".join(lines) or None
