"""`dumbbell cc`: the congestion controls, and one's own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.console import Console

from dumbbell.cli import options
from dumbbell.cli.console import out, print_json, table
from dumbbell.congestion_control import Description, congestion_controls, describe
from dumbbell.errors import ScenarioError, nearest

__all__ = ["cc_app"]

cc_app = typer.Typer(
    help="The congestion controls: what there is, and whether your own is one.",
    no_args_is_help=True,
)


@cc_app.command("list")
def list_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Only these.", show_default=False)
    ] = None,
    json: options.Json = False,
) -> int:
    """List the built-in congestion controls with their parameters and state series."""
    known = congestion_controls()
    for name in names or ():
        if name not in known:
            raise ScenarioError(f"unknown congestion control `{name}`{nearest(name, known)}")
    chosen = [known[name] for name in names or known]
    if json:
        print_json(to_json(chosen))
    else:
        for description in chosen:
            print_description(out(), description)
    return 0


@cc_app.command("check")
def check_command(
    file: Annotated[str, typer.Argument(metavar="FILE.bpf.c", help="A congestion control.")],
    json: options.Json = False,
) -> int:
    """Compile a congestion control of your own, load it and say what it is."""
    if "/" not in file and file not in congestion_controls():
        file = f"./{file}"
    description = describe(file)
    if json:
        print_json(to_json([description]))
    else:
        print_description(out(), description)
        out().print(f"{file} compiles and loads", markup=False, soft_wrap=True)
    return 0


def print_description(console: Console, description: Description) -> None:
    """Print a congestion control for a person."""
    console.print(f"[bold]{description.name}[/]  ", end="")
    console.print(description.title, markup=False, soft_wrap=True)
    if description.parameters:
        rows = [
            (p.name, f"{p.default}", f"{p.min} to {p.max}", p.unit, p.doc)
            for p in description.parameters
        ]
        columns = ("parameter", "default", "range", "unit", "what it does")
        console.print(text_table(columns, rows))
    if description.series:
        series = [(s.name, " ".join(s.labels) or s.unit, s.doc) for s in description.series]
        console.print(text_table(("state series", "unit or values", "what it is"), series))
    console.print()


def text_table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> object:
    """Lay out a table of words, all to the left."""
    grid = table("", columns, rows)
    for column in grid.columns:
        column.justify = "left"
    return grid


def to_json(descriptions: Iterable[Description]) -> str:
    """Return descriptions as JSON."""
    documents = [
        {
            "name": description.name,
            "title": description.title,
            "params": [vars(parameter) for parameter in description.parameters],
            "series": [vars(series) for series in description.series],
        }
        for description in descriptions
    ]
    return json.dumps(documents, indent=2, ensure_ascii=False)
