"""`dumbbell help`: a page of the guide, or the help of a command."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.guide import topic_page, topics
from dumbbell.terminal.completion import matching
from dumbbell.terminal.console import out, print_line

__all__ = ["complete_topics", "help_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell help", "dumbbell help queues", "dumbbell help emulate set")


def complete_topics(incomplete: str) -> list[tuple[str, str]]:
    """Complete a page of the guide."""
    return matching(incomplete, topics().items())


def help_command(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC]",
            help="A page's name, or a command's.",
            autocompletion=complete_topics,
            show_default="lists them",
        ),
    ] = None,
) -> int:
    """Show a page of the guide, or the help of a command."""
    name = " ".join(topic or [])
    if not name:
        print_topics()
        return 0
    page = topic_page(name)
    if page is not None:
        from dumbbell.cli.guide_page import GuidePage  # slow to load

        out().print(GuidePage(page), crop=False)
        return 0
    return command_help(context, name)


def print_topics() -> None:
    """Print the pages' names and titles."""
    known = topics()
    width = max(map(len, known), default=0)
    for name, title in known.items():
        print_line(f"{name:{width}}  {title}")
    print_line("`dumbbell help TOPIC` shows one; `dumbbell docs` opens them in the browser")


def command_help(context: typer.Context, name: str) -> int:
    """Print the help of a command."""
    root: Any = context.find_root()
    command = root.command.get_command(root, name)
    if command is None:
        known = dict.fromkeys([*topics(), *root.command.commands])
        raise ScenarioError(f"no page or command is called `{name}`{nearest(name, known)}")
    command.make_context(name, ["--help"], parent=root)
    return 0
