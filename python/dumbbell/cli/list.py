"""`dumbbell list`: what there is to name in commands."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.terminal.completion import matching
from dumbbell.terminal.console import print_line

__all__ = ["list_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell list metrics",
    "dumbbell list metrics rtt",
    "dumbbell list queues fq_codel",
)
#: What can be listed, and by which command.
LISTS = {
    "metrics": "what is measured of a run",
    "queues": "queue disciplines and impairments",
    "traffic": "applications and distributions of their sizes",
    "scenarios": "scenario files that come with dumbbell",
    "tcp": "releases of Linux whose TCP hosts can have",
}

#: What people call what another command lists.
ALGORITHMS = ("algorithms", "cc", "ccs", "congestion-controls")


def complete_lists(incomplete: str) -> list[tuple[str, str]]:
    """Complete what can be listed."""
    return matching(incomplete, LISTS.items())


def list_command(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[WHAT]", help="One of them.", autocompletion=complete_lists),
    ] = None,
) -> int:
    """List metrics, queue disciplines, traffic or releases of TCP."""
    if what in ALGORITHMS:
        raise ScenarioError(f"nothing to list is called `{what}`; use `dumbbell cc list`")
    if what is not None:
        raise ScenarioError(f"nothing to list is called `{what}`{nearest(what, LISTS)}")
    for name, text in LISTS.items():
        print_line(f"dumbbell list {name:9}  {text}")
    print_line("dumbbell cc list         congestion control algorithms")
    print_line("dumbbell gate --list     suites")
    return 0
