"""The axes of a sweep: lists of rates, RTTs, buffers and flow counts, and a scenario for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Annotated, NamedTuple

import typer

from dumbbell.cli.options import Settings, base_scenario
from dumbbell.errors import ScenarioError
from dumbbell.quantity import Buffer, Rate, Time, expand, expand_counts
from dumbbell.scenario import Scenario

__all__ = [
    "Buffers",
    "Counts",
    "Point",
    "Rates",
    "Rtts",
    "axes_of",
    "scenario_at",
    "sweep_points",
]

RANGE = "A list `a,b,c`, a doubling range `a..b` or even steps `a..b/n`."

Rates = Annotated[str | None, typer.Option("--rate", help=f"Capacities. {RANGE}")]
Rtts = Annotated[str | None, typer.Option("--rtt", help=f"Base RTTs. {RANGE}")]
Buffers = Annotated[str | None, typer.Option("--buffer", help=f"Buffers: `0.5..64bdp`. {RANGE}")]
Counts = Annotated[str | None, typer.Option("--flows", help="Flows of each group: `1,4`, `1..16`.")]


class Point(NamedTuple):
    """Where a run of the sweep lies; None on an axis that is not swept."""

    rate: str | None
    rtt: str | None
    buffer: str | None
    flows: int | None

    def label(self) -> str:
        """Return the point as a directory name: ``buffer=2bdp,flows=4``."""
        set_axes = [f"{axis}={value}" for axis, value in self._asdict().items() if value]
        return ",".join(set_axes) or "all"


def sweep_points(
    rate: str | None, rtt: str | None, buffer: str | None, flows: str | None
) -> list[Point]:
    """Return every combination of the axes' values."""
    rates = [None] if rate is None else expand(rate, "rate", Rate.examples)
    rtts = [None] if rtt is None else expand(rtt, "rtt", Time.examples)
    buffers = [None] if buffer is None else expand(buffer, "buffer", Buffer.examples)
    counts = [None] if flows is None else expand_counts(flows, "flows")
    # The buffer changes fastest: a table is read along it.
    points = (Point(r, t, b, n) for n, r, t, b in product(counts, rates, rtts, buffers))
    return list(dict.fromkeys(points))


def scenario_at(what: list[str], fixed: Settings, point: Point, rep: int) -> Scenario:
    """Return the scenario of a point and repetition."""
    settings = Settings(**{**vars(fixed), **point._asdict()})
    scenario = base_scenario(what, settings)
    return scenario.replace(seed=scenario.seed + rep)


def axes_of(named: Mapping[str, str | None], others: Iterable[str]) -> dict[str, str]:
    """Return the axes that options name: those with an option of their own, then `--axis`."""
    axes = {name: values for name, values in named.items() if values is not None}
    for text in others:
        name, equals, values = (part.strip() for part in text.partition("="))
        if not equals or not name:
            raise ScenarioError(f"axis `{text}` names no values; say `--axis NAME=VALUES`")
        if name in axes:
            raise ScenarioError(f"axis `{name}` is named twice; list all its values in one")
        axes[name] = values
    return axes
