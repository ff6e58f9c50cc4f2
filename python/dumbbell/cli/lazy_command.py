"""Commands whose modules are loaded when they are called: the others need not wait for them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

__all__ = ["LazyCommand", "with_plain_types"]

#: What ``--help`` calls the types of options.
TYPES = {"bool": "", "int": "N", "float": "X", "str": "TEXT", "Path": "PATH", "list[str]": "TEXT"}


class LazyCommand(TyperCommand):
    """A command of `dumbbell`, by its name and what `dumbbell --help` says of it.

    Parameters
    ----------
    name
        Of the command; its module is `dumbbell.cli.<name>`, with `<name>_command`, or `<name>_app`
        where it has commands of its own.
    help_line
        The first line of its help.
    before_loading
        Called before the module is loaded.
    """

    def __init__(
        self, name: str, help_line: str, before_loading: Callable[[], None] = lambda: None
    ) -> None:
        super().__init__(name, help=help_line)
        self.place = name
        self.before_loading = before_loading

    def load(self) -> Any:
        """Return the command itself."""
        self.before_loading()
        module = importlib.import_module(f"dumbbell.cli.{self.place}")
        app = getattr(module, f"{self.place}_app", None)
        if app is None:
            app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
            app.command(self.place)(getattr(module, f"{self.place}_command"))
        return with_plain_types(get_command(app))

    def make_context(self, *arguments: Any, **named: Any) -> Any:
        """Begin to call it."""
        return self.load().make_context(*arguments, **named)


def with_plain_types(command: Any) -> Any:
    """Let a command's help, and that of its own commands, name types as users do."""
    params_of = command.get_params

    def get_params(context: typer.Context) -> Any:
        params = params_of(context)
        for param in params:
            if param.param_type_name == "argument":  # its metavar is its name
                param.display_type_rich = lambda **_: ""
            elif param.metavar is None:
                param.metavar = TYPES.get(param.bare_type())
        return params

    command.get_params = get_params
    for each in getattr(command, "commands", {}).values():
        with_plain_types(each)
    return command
