"""`dumbbell emulate set`: change the path of a running `dumbbell emulate`."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.emulation.changes import CHANGEABLE, changes_of
from dumbbell.emulation.control_socket import connect, request
from dumbbell.terminal.console import print_line

__all__ = ["set_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell emulate set rate=5mbit",
    "dumbbell emulate set rtt=200ms loss=1%",
    "dumbbell emulate set up_rate=1mbit",
)
#: `--pid` of commands that speak to an emulation.
Pid = Annotated[
    int | None,
    typer.Option(
        "--pid", metavar="N", help="The process of `dumbbell emulate`.", show_default="the only one"
    ),
]


def set_command(
    changes: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE…",
            help=f"What changes, from now on: {', '.join(CHANGEABLE)}.",
            show_default=False,
        ),
    ],
    pid: Pid = None,
) -> int:
    """Change the path of a running `emulate`.

    Without `--pid`, the path that this terminal started. A packet whose transmission has begun is
    sent at the old rate.
    """
    values: dict[str, str] = {}
    for text in changes:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise ScenarioError(f"`{text}` sets nothing; use `NAME=VALUE`, e.g. `rate=5mbit`")
        values[name] = value
    changes_of(values)  # refuses what cannot be before anything changes
    with connect(pid) as connection:
        said = request(connection, {"set": values, "is_named": pid is not None})
    made = ", ".join(f"{name} {value}" for name, value in values.items())
    print_line(f"{made}: the path of `{said['command']}`, process {said['pid']}")
    return 0
