"""`dumbbell docs`: the guide in the browser."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.cli.help import complete_topics
from dumbbell.guide import place_of, topics
from dumbbell.terminal.console import print_line, show_page

__all__ = ["docs_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell docs", "dumbbell docs emulate")


def docs_command(
    topic: Annotated[
        str,
        typer.Argument(metavar="[TOPIC]", help="A page.", autocompletion=complete_topics),
    ] = "index",
) -> int:
    """Open the guide in the browser, or say where it is."""
    known = topics()
    if topic not in known:
        raise ScenarioError(f"no page is called `{topic}`{nearest(topic, known)}")
    pages = place_of("pages")
    built = [pages / f"{topic}.html", pages / "_build/html" / f"{topic}.html"]
    print_line(f"scenarios  {place_of('scenarios')}")
    print_line(f"notebooks  {place_of('notebooks')}")
    show_page(next((page for page in built if page.is_file()), pages / f"{topic}.md"))
    return 0
