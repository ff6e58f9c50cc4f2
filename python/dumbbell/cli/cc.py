"""`dumbbell cc`: the congestion controls, and one's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dumbbell.cc_check import Check, check
from dumbbell.cli import options
from dumbbell.cli.completion import complete_what
from dumbbell.cli.console import err, note, out, print_json, print_table
from dumbbell.cli.lazy_command import examples
from dumbbell.congestion_control import Description, congestion_controls, describe
from dumbbell.congestion_control.linux_tree import tree_in_use
from dumbbell.congestion_control.new import new
from dumbbell.errors import EngineError, ScenarioError, nearest

__all__ = ["cc_app"]

cc_app = typer.Typer(
    add_completion=False,
    help="List the congestion controls, check or start one of your own.",
    no_args_is_help=True,
)


@cc_app.command("list", epilog=examples("dumbbell cc list", "dumbbell cc list copa"))
def list_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME…]",
            help="These, with their parameters and state series.",
            show_default=False,
            autocompletion=complete_what,
        ),
    ] = None,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
) -> int:
    """List the built-in congestion controls, or a Linux tree's; with names, all about each."""
    known = known_names()
    chosen = []
    for name in [one_of(known, name) for name in names or known]:
        try:
            chosen.append(dataclasses.replace(describe(known[name]), name=name))
        except EngineError as error:
            if names:
                raise
            note(f"{name} cannot be hosted: {str(error).splitlines()[0].rstrip(':')}")
    if json:
        print_json(to_documents(chosen))
    elif names:
        for description in chosen:
            print_description(out(), description)
    else:
        width = max((len(description.name) for description in chosen), default=0)
        for description in chosen:
            say(out(), f"{description.name:{width}}  {description.title}")
        say(out(), "`dumbbell cc list NAME` for parameters and state series")
    return 0


@cc_app.command("check", epilog=examples("dumbbell cc check ./mine.bpf.c --storms 10"))
def check_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A congestion control: mine.bpf.c or mine.py.")
    ],
    storms: Annotated[int, typer.Option(min=1, max=1000, help="How many random storms.")] = 3,
    linux_tree: options.LinuxTreeOption = None,  # noqa: ARG001 -- its callback acts on it
    json: options.Json = False,
) -> int:
    """Check a congestion control of your own: build, sanitizers, storms, verifier, a run.

    Exit code 1 if it fails.
    """
    if "." not in file and "/" not in file:
        known = known_names()
        file = known[one_of(known, file)]
    elif "/" not in file:
        file = f"./{file}"
    checked = check(file, storms=storms, on_step=tell_step)
    if json:
        print_json(checked.to_dict())
    else:
        print_check(out(), checked)
    return 1 if checked.verdict == "FAILED" else 0


@cc_app.command("new", epilog=examples("dumbbell cc new mine --in experiments"))
def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Small letters, digits and `_`.")],
    directory: Annotated[
        Path, typer.Option("--in", metavar="DIR", help="Where its directory is made.")
    ] = Path(),
) -> int:
    """Write a congestion control that works, its test and a scenario, to be changed."""
    for path in new(name, directory):
        say(out(), str(path))
    say(out(), f"next: cd {directory / name} && dumbbell run scenario.toml")
    say(out(), "choose its licence; the kernel accepts GPL-compatible ones only")
    return 0


def known_names() -> dict[str, str]:
    """Return the built-in congestion controls, and ``tcp_vegas`` and so on of the tree in use.

    The value is what the engine knows it by.
    """
    known = {name: name for name in congestion_controls()}
    tree = tree_in_use()
    linuxs = {f"tcp_{name}": tree.source(name) for name in tree.names()} if tree else {}
    return known | linuxs


def one_of(known: Mapping[str, str], name: str) -> str:
    """Find a name as `run` does: ``westwood`` is the tree's ``tcp_westwood``."""
    for candidate in (name, f"tcp_{name}"):
        if candidate in known:
            return candidate
    raise ScenarioError(f"unknown congestion control `{name}`{nearest(name, known)}")


def tell_step(step: str) -> None:
    """Say on stderr what is being done."""
    err().print(f"{step} …", markup=False, highlight=False, soft_wrap=True)


def print_check(console: Console, checked: Check) -> None:
    """Print a check for a person."""
    if checked.description is not None:
        print_description(console, checked.description)
        say(console, f"ops         {', '.join(checked.description.ops)}")
    if checked.storm is not None and checked.storm.calls:
        calls = sum(checked.storm.calls.values())
        found = checked.storm.sanitizers.replace(",", " and ") or "no"
        ends = checked.storm.settings
        at_ends = f", {ends} at the ends of parameters' ranges" if ends else ""
        say(
            console,
            f"storm       {checked.storm.seeds} × {calls:,} calls{at_ends}, {found} sanitizers",
        )
    if checked.verifier is not None:
        say(console, f"verifier    {'accepts it' if checked.verifier else 'rejects it'}")
    if checked.sanity is not None:
        shares = ", ".join(
            f"{label} {group['goodput_bps'] / 1e6:.1f} Mbit/s"
            for label, group in zip(
                checked.sanity.scenario.group_labels, checked.sanity.groups, strict=True
            )
        )
        say(console, f"two flows   {shares}")
    for left_out in checked.left_out:
        say(console, f"not checked {left_out.step}: {left_out.why}")
    for finding in checked.findings:
        say(console, f"{finding.level:11} {finding.step}: {finding.message}")
    say(console, f"verdict     {checked.verdict}")


def say(console: Console, line: str) -> None:
    """Print a line as it is."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)


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
        print_table(columns, rows, left=range(5), optional=("unit", "default"))
    if description.series:
        series = [(s.name, " ".join(s.labels) or s.unit, s.doc) for s in description.series]
        print_table(("state series", "unit or values", "what it is"), series, left=range(3))
    console.print()


def to_documents(descriptions: Iterable[Description]) -> list[dict[str, object]]:
    """Return descriptions as JSON has them."""
    return [
        {
            "name": description.name,
            "title": description.title,
            "params": [vars(parameter) for parameter in description.parameters],
            "series": [vars(series) for series in description.series],
        }
        for description in descriptions
    ]
