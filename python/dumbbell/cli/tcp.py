"""`dumbbell list tcp`: the releases of Linux whose TCP simulated hosts can have, and switches."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dumbbell.cli.listed import listed
from dumbbell.scenario.element import Element
from dumbbell.scenario.linux_release import kernels
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_tcp
from dumbbell.terminal.console import out, print_json, print_line
from dumbbell.terminal.table import print_table

__all__ = ["tcp_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell list tcp", "dumbbell list tcp 4.15")


def tcp_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One of them, or part of names.", autocompletion=complete_tcp
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List the releases of Linux that `--tcp` takes, or one's switches."""
    known = kernels()
    chosen = [known[each] for each in listed(name, known, "release of Linux")]
    if json:
        print_json([describe(each) for each in chosen])
    elif name not in known:
        for each in chosen:
            print_line(f"--tcp  {each.name}  {each.doc}")
        print_line("`dumbbell list tcp NAME` for switches")
    else:
        print_one(chosen[0])
    return 0


def describe(kernel: Element) -> dict[str, Any]:
    """Return a release as JSON lists it."""
    return {
        "name": kernel.name,
        "option": "--tcp",
        "description": kernel.doc,
        "switches": [
            {
                "name": switch.name,
                "value": switch.default_text,
                "range": switch.range_text,
                "description": switch.doc,
            }
            for switch in kernel.parameters.values()
        ],
    }


def print_one(kernel: Element) -> None:
    """Print a release for a person."""
    out().print(f"[bold]{kernel.name}[/]  ", end="")
    print_line(kernel.doc)
    rows = [
        (each.name, each.default_text, each.range_text, each.doc)
        for each in kernel.parameters.values()
    ]
    print_table(("switch", "here", "values", "what it is"), rows, left=range(4))
    first = next(iter(kernel.parameters))
    print_line(f"`--tcp {kernel.name}:{first}=…`")
