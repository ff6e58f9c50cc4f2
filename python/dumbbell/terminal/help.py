"""What `--help` and `--help-all` print of a command.

`--help` has what most people need on one screen: the options whose panel is not `rare`, each with
as much of its description as fits in a line. `--help-all` has everything.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import typer

from dumbbell.terminal.console import out

__all__ = ["help_text", "rare"]

#: Widest line; longer ones are hard to read.
MAX_WIDTH = 100
#: Columns of an option's names; a longer one has a line of its own.
NAME_WIDTH = 28
#: Panels of options without one, of arguments and of commands.
OPTIONS, ARGUMENTS, COMMANDS = "Options", "Arguments", "Commands"
#: Most lines of a paragraph in `--help`.
MAX_TEXT_LINES = 3
#: Where a paragraph and a description may end.
SENTENCE = re.compile(r"(?<=[^.\s])\.(?=\s)")
CLAUSE = re.compile(r"(?<=[^.\s])[.;:](?=\s|$)")
#: Defaults that `--help` need not mention.
NOTHING = {"none", "False", "false"}
#: The default in what typer adds to a description, without the range of numbers.
DEFAULT = re.compile(r"default: (.*?)(?:; [^;]*x[<>][^;]*)?(?:; required)?\]$")
#: What typer adds to a description: its default, its range.
EXTRA = re.compile(r"\s*\[([^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*)\]$")


class Rare(str):
    """A panel whose options only `--help-all` lists."""

    __slots__ = ()


def rare(panel: str = OPTIONS) -> str:
    """Return a panel for an option that only `--help-all` lists."""
    return Rare(panel)


def help_text(command: Any, context: typer.Context, *, everything: bool = False) -> str:
    """Return the help of a command.

    Parameters
    ----------
    command
        Any, also one that has commands.
    context
        In which it is called.
    everything
        Whether options that few people need are listed, and all that is said of each.
    """
    width = min(shutil.get_terminal_size().columns, MAX_WIDTH)
    params = list(command.get_params(context))
    options = [each for each in params if each.param_type_name == "option" and not each.hidden]
    arguments = [each for each in params if each.param_type_name == "argument"]
    shown = [each for each in options if everything or not isinstance(each.rich_help_panel, Rare)]
    # A command with none but these would have a panel of them.
    shown = [each for each in shown if everything or not is_help(each)]

    def says(param: Any) -> Callable[[int], str]:
        if everything:
            return lambda _: " ".join(described(param, context)).strip()
        return lambda room: shortened(*described(param, context), room)

    words = [context.command_path, *(["[OPTIONS]"] if options else []), *map(name_of, arguments)]
    lines = [f"{bold('Usage:')} {' '.join(words)}", ""]
    for part in (command.help or "").split("\n\n"):
        text = " ".join(part.split())
        room = sys.maxsize if everything else MAX_TEXT_LINES * width
        lines += textwrap.wrap(longest(text, SENTENCE, room), width)
    lines.append("")
    lines += panel(ARGUMENTS, [(name_of(e), says(e)) for e in arguments], width)
    for title, of in commands_of(command, context):
        lines += panel(title, of.items(), width)
    for title in dict.fromkeys(each.rich_help_panel or OPTIONS for each in shown):
        of_panel = [each for each in shown if (each.rich_help_panel or OPTIONS) == title]
        lines += panel(title, [(names_of(e), says(e)) for e in of_panel], width)
    if command.epilog:
        lines += [bold("Examples"), *(f"  {line}" for line in command.epilog.split("\n"))]
    more = len([each for each in options if not is_help(each)]) - len(shown)
    if more > 0 and not everything:
        lines += [f"`{context.command_path} --help-all` lists {more} more options."]
    return "\n".join(lines)


def panel(
    title: str, rows: Iterable[tuple[str, str | Callable[[int], str]]], width: int
) -> Iterator[str]:
    """Yield the lines of a panel, and an empty one; a text may depend on the room for it."""
    rows = list(rows)
    column = min(NAME_WIDTH, max((len(name) for name, _ in rows), default=0) + 4)
    texts = [text if isinstance(text, str) else text(width - column) for _, text in rows]
    if not any(texts):
        return
    yield bold(title)
    for (name, _), text in zip(rows, texts, strict=True):
        first, *rest = textwrap.wrap(text, width - column, break_on_hyphens=False) or [""]
        if len(name) + 4 > column:
            yield f"  {name}"
            yield f"{'':{column}}{first}"
        else:
            yield f"  {name:{column - 2}}{first}".rstrip()
        yield from (f"{'':{column}}{line}" for line in rest)
    yield ""


def commands_of(command: Any, context: typer.Context) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield panels of the commands that a command has, with what they do."""
    if hasattr(command, "panels"):
        for title, names in command.panels(context).items():
            yield title, {name: command.commands[name].help for name in names}
        return
    own = {name: each.help for name, each in getattr(command, "commands", {}).items()}
    if context.parent is not None:
        prefix = f"{context.info_name} "
        beside = getattr(context.parent.command, "commands", {}).items()
        own |= {name: each.help for name, each in beside if name.startswith(prefix)}
    if own:
        yield COMMANDS, {name: (text or "").partition("\n\n")[0] for name, text in own.items()}


def is_help(option: Any) -> bool:
    """Whether an option is `--help` or `--help-all`."""
    return option.is_eager and any(name.startswith("--help") for name in option.opts)


def name_of(argument: Any) -> str:
    """Return how an argument is written."""
    name: str = argument.metavar or argument.name.upper()
    return name


def names_of(option: Any) -> str:
    """Return how an option is written: `-o, --out FILE`, `--cache/--no-cache`."""
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        return f"{names}/{option.secondary_opts[0]}"
    return f"{names} {option.metavar}" if option.metavar and not option.is_flag else names


def described(param: Any, context: typer.Context) -> tuple[str, str]:
    """Return what is said of an option or an argument, and its default and the like."""
    _, text = param.get_help_record(context) or ("", "")
    said = (param.help or "").strip()
    extra = EXTRA.search(text[len(said) :]) if text.startswith(said) else None
    return " ".join(said.split()), "" if extra is None else f"[{extra[1]}]"


def shortened(said: str, extra: str, room: int) -> str:
    """Return as many clauses of a description as fit, at least one, and the default."""
    default = DEFAULT.search(extra)
    shown = f"[{default[1]}]" if default and default[1] not in NOTHING else ""
    return f"{longest(said, CLAUSE, room - len(shown) - 1)} {shown}".strip()


def longest(text: str, end: re.Pattern[str], room: int) -> str:
    """Return as much of a text as fits, up to an end of a part; at least one part."""
    parts = [*(f"{text[: match.start()]}." for match in end.finditer(text)), text]
    fitting = [part for part in parts if len(part) <= room]
    return fitting[-1] if fitting else parts[0]


def bold(text: str) -> str:
    """Emphasise a heading, on a terminal that can."""
    return f"\x1b[1m{text}\x1b[0m" if out().color_system else text
