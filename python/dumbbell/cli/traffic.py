"""`dumbbell list traffic`: the applications, their parameters and presets, the distributions."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from dumbbell.base.errors import ScenarioError
from dumbbell.cli.listed import listed
from dumbbell.scenario.distribution import CDF, CDF_DOC, DistributionDeclaration, distributions
from dumbbell.scenario.element import Element
from dumbbell.scenario.traffic import PRESET, applications
from dumbbell.terminal import options
from dumbbell.terminal.completion import complete_traffic
from dumbbell.terminal.console import out, print_json, print_line
from dumbbell.terminal.table import print_table

__all__ = ["traffic_command"]

#: What the help ends with.
EXAMPLES = (
    "dumbbell list traffic",
    "dumbbell list traffic poisson",
    "dumbbell list traffic pareto",
)


def traffic_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One of them, or part of names.", autocompletion=complete_traffic
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List applications and distributions, or the parameters of one."""
    known: dict[str, Element | DistributionDeclaration] = {**applications(), **distributions()}
    if name is not None and name not in known and (of := presets_of(name)):
        raise ScenarioError(f"`{name}` is a preset: use {' or '.join(of)}")
    chosen = [known[each] for each in listed(name, known, "application or distribution")]
    if json:
        print_json([describe(each) for each in chosen])
    elif name is None:
        print_all()
    elif name not in known:
        for each in chosen:
            print_line(f"{each.name}  {each.doc}")
    else:
        print_one(chosen[0])
    return 0


def presets_of(name: str) -> list[str]:
    """Return the commands that list the applications with a preset, and how traffic has it."""
    return [
        f"`dumbbell list traffic {each.name}`, and `--traffic {each.name}:{PRESET}={name}`"
        for each in applications().values()
        if name in each.presets
    ]


def describe(of: Element | DistributionDeclaration) -> dict[str, Any]:
    """Return an application or a distribution as JSON lists it."""
    facts: dict[str, Any] = {}
    if isinstance(of, Element):
        facts = {
            "option": "--traffic",
            "takes_load": of.takes_load,
            "has_requests": of.has_requests,
            "sends_datagrams": of.sends_datagrams,
            "presets": [{"name": key, "description": each.doc} for key, each in of.presets.items()],
        }
    return {
        "name": of.name,
        "kind": "application" if isinstance(of, Element) else "distribution",
        "description": of.doc,
        **facts,
        "parameters": [
            {
                "name": parameter.name,
                "unit": parameter.unit,
                "default": parameter.default_text,
                "range": parameter.range_text,
                "description": parameter.doc,
            }
            for parameter in of.parameters.values()
        ],
    }


def print_all() -> None:
    """Print a line per application and distribution."""
    names = [*applications(), *distributions(), CDF]
    width = max(map(len, names))
    for element in applications().values():
        print_line(f"--traffic     {element.name:{width}}  {element.doc}")
    for each in distributions().values():
        print_line(f"distribution  {each.name:{width}}  {each.doc}")
    print_line(f"distribution  {CDF:{width}}  {CDF_DOC}")
    print_line("`dumbbell list traffic NAME` for parameters")


def print_one(of: Element | DistributionDeclaration) -> None:
    """Print an application or a distribution for a person."""
    out().print(f"[bold]{of.name}[/]  ", end="")
    print_line(of.doc)
    if of.parameters:
        rows = [
            (each.name, each.default_text, each.range_text, each.doc)
            for each in of.parameters.values()
        ]
        print_table(("parameter", "default", "range", "what it is"), rows, left=range(4))
    if not isinstance(of, Element):
        print_line(f"`size={example_of(of)}`")
        return
    for key, preset in of.presets.items():
        print_line(f"`{PRESET}={key}`  {preset.doc}")
    first = next(iter(of.parameters), "")
    print_line(f"`--traffic {of.name}:{first}=…`" if first else f"`--traffic {of.name}`")


def example_of(distribution: DistributionDeclaration) -> str:
    """Return how a distribution is written."""
    needed = [each.name for each in distribution.parameters.values() if each.must_be_set]
    return f"{distribution.name}({';'.join(needed)})" if needed else distribution.name
