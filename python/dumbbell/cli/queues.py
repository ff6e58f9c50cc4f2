"""`dumbbell list queues`: the queue disciplines, impairments, and their parameters."""

from __future__ import annotations

import textwrap
from typing import Annotated, Any

import typer

from dumbbell.cli.listed import listed
from dumbbell.scenario.element import Element, impairments, queue_disciplines
from dumbbell.scenario.parameter import LIMIT
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_queues
from dumbbell.terminal.console import print_json, print_line
from dumbbell.terminal.table import print_table

__all__ = ["queues_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell list queues", "dumbbell list queues fq_codel")
#: Columns that a range takes at most, unless one of its words is longer.
RANGE_WIDTH = 24


def queues_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One of them, or part of names.", autocompletion=complete_queues
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List queue disciplines and impairments, or the parameters of one."""
    options_of = {"--queue": queue_disciplines(), "--impair": impairments()}
    known = {each: option for option, of in options_of.items() for each in of}
    chosen = listed(name, known, "queue discipline or impairment")
    described = [(known[each], options_of[known[each]][each]) for each in chosen]
    if json:
        print_json([describe(element, option) for option, element in described])
    elif name not in known:
        width = max(map(len, known))
        for option, element in described:
            print_line(f"{option:8}  {element.name:{width}}  {element.doc}")
        print_line("`dumbbell list queues NAME` for parameters")
    else:
        print_element(described[0][1], known[name])
    return 0


def describe(discipline: Element, option: str) -> dict[str, Any]:
    """Return a discipline or an impairment as JSON lists it."""
    return {
        "name": discipline.name,
        "option": option,
        "description": discipline.doc,
        "is_fifo": discipline.is_fifo,
        "can_mark": discipline.can_mark,
        "holds_back": discipline.holds_back,
        "series": list(discipline.series),
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "default": parameter.default_text,
                "range": parameter.range_text,
                "description": parameter.doc,
            }
            for parameter in discipline.parameters.values()
        ],
    }


def print_element(discipline: Element, option: str) -> None:
    """Print a discipline or an impairment for a person."""
    print_line(f"{discipline.name}  {discipline.doc}")
    rows = [
        (parameter.name, parameter.default_text, wrapped(parameter.range_text), parameter.doc)
        for parameter in discipline.parameters.values()
    ]
    print_table(("parameter", "default", "range", "what it is"), rows, left=range(4))
    first = next(iter(discipline.parameters))
    print_line(f"`{option} {discipline.name}:{first}=…`")
    if LIMIT in discipline.parameters:
        print_line(f"`--buffer` is its `{LIMIT}`")


def wrapped(text: str) -> str:
    """Wrap a range, so that a list of choices leaves room for what the parameter is."""
    return textwrap.fill(text, RANGE_WIDTH, break_long_words=False, break_on_hyphens=False)
