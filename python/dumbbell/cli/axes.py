"""Axes on the command line: lists of rates, RTTs, buffers and flow counts, and any field."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Annotated

import typer

from dumbbell.errors import ScenarioError
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import Cell, make_design
from dumbbell.sweeps.field import field_of

__all__ = [
    "RANGE",
    "Buffers",
    "Counts",
    "Rates",
    "Rtts",
    "named_axes",
    "other_axes",
    "points_of",
    "with_constants",
]

RANGE = "A list `a,b,c`, a doubling range `a..b` or even steps `a..b/n`."

Rates = Annotated[str | None, typer.Option("--rate", help=f"Capacities. {RANGE}")]
Rtts = Annotated[str | None, typer.Option("--rtt", help=f"Base RTTs. {RANGE}")]
Buffers = Annotated[str | None, typer.Option("--buffer", help=f"Buffers: `0.5..64bdp`. {RANGE}")]
Counts = Annotated[str | None, typer.Option("--flows", help="Flows of each group: `1,4`, `1..16`.")]


def with_constants(
    base: Scenario, axes: Mapping[str, str], kept: Iterable[str] = ()
) -> tuple[Scenario, dict[str, str]]:
    """Put what has a single value into the scenario; the rest are axes.

    Parameters
    ----------
    base
        What no axis changes.
    axes
        Values by field, as text.
    kept
        Axes even so.
    """
    fixed = {
        name: values
        for name, values in axes.items()
        if name not in kept and len(field_of(name, base).expand(values)) == 1
    }
    ((_, scenario),) = points_of(base, fixed)
    return scenario, {name: values for name, values in axes.items() if name not in fixed}


def points_of(base: Scenario, axes: Mapping[str, str]) -> list[tuple[Cell, Scenario]]:
    """Return every combination of the axes' values; the last axis changes fastest."""
    design = make_design(base, axes)
    return [(cell, design.scenario_of(cell)) for cell in design.cells]


def named_axes(
    rate: str | None, rtt: str | None, buffer: str | None, flows: str | None
) -> dict[str, str]:
    """Return the axes with an option of their own that were said."""
    said = {"rate": rate, "rtt": rtt, "buffer": buffer, "flows": flows}
    return {name: values for name, values in said.items() if values is not None}


def other_axes(said: Iterable[str], named: Container[str]) -> dict[str, str]:
    """Return the axes of `--axis`."""
    axes: dict[str, str] = {}
    for text in said:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ScenarioError(f"axis `{text}` names no values; say `--axis NAME=VALUES`")
        if name in axes or name in named:
            raise ScenarioError(f"axis `{name}` is named twice; list all its values in one")
        axes[name] = values
    return axes
