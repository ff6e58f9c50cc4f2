"""A model's predictions on the command line: rows at the axes' points, as a table or as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Time, expand, expand_counts
from dumbbell.models import DERIVED, Bottleneck, Model
from dumbbell.models.calculation import Calculation
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import make_design
from dumbbell.terminal.console import print_json, print_line
from dumbbell.terminal.table import print_table

__all__ = ["answer", "source"]

#: One packet in 30 years at 10 Gbit/s; far below, floats lose their digits.
MIN_LOSS = 1e-15


def source(model: Model) -> str:
    """Return the source of a model, and whether it was derived in this project."""
    return f"{model.source} [derived]" if model.status == DERIVED else model.source


def answer(model: Model, words: Mapping[str, Any], *, json: bool) -> int:
    """Print a model's rows: as a table with the axes that change, or all as JSON.

    Parameters
    ----------
    model
        The model.
    words
        The options of its command, by name.
    json
        Whether to print JSON.
    """
    calculation = next(
        each for each in model.calculations if all(words[axis] is not None for axis in each.axes)
    )
    rows = rows_of(calculation, words)
    if json:
        print_json({"model": model.name, "status": model.status, "points": rows})
        return 0
    # A table of rivals has them in its first column already.
    order = ("rate", "rtt", "loss", "interval", "buffer", "flows")
    axes = [axis for axis in order if axis in calculation.axes]
    changing = [axis for axis in axes if len({row[axis] for row in rows}) > 1] or axes[-1:]
    fixed = ", ".join(f"{axis} {rows[0][axis]}" for axis in axes if axis not in changing)
    columns = calculation.columns
    print_line(source(model))
    print_table(
        (*changing, *(column.heading for column in columns)),
        [
            (*(f"{row[axis]}" for axis in changing), *(column.write(row) for column in columns))
            for row in rows
        ],
        title=fixed,
        optional=[column.heading for column in reversed(columns[1:])],
    )
    return 0


def rows_of(calculation: Calculation, words: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each point of the axes: where it is, and the model's prediction."""
    factors = {
        each.name: Time.parse(words[each.name], each.name, minimum=1).seconds
        if isinstance(each.default, str)
        else words[each.name]
        for each in calculation.factors
    }
    axes = {**{axis: words[axis] for axis in calculation.axes}, **calculation.fixed}
    if "loss" in axes:
        return [
            {"rtt": str(rtt), "loss": p, **calculation.solve(p, rtt.seconds, **factors)}
            for rtt in parse_times(axes["rtt"], "rtt")
            for p in parse_losses(axes["loss"])
        ]
    if "interval" in axes:
        return [
            {
                "rtt": str(rtt),
                "interval": str(interval),
                **calculation.solve(interval.seconds, rtt.seconds, **factors),
            }
            for rtt in parse_times(axes["rtt"], "rtt")
            for interval in parse_times(axes["interval"], "interval")
        ]
    rivals = expand_counts(axes.pop("rivals"), "rivals") if "rivals" in axes else [None]
    return [
        row
        for count in rivals
        for row in at_bottlenecks(
            calculation, axes, factors if count is None else {"rivals": count, **factors}
        )
    ]


def at_bottlenecks(
    calculation: Calculation, axes: Mapping[str, str], factors: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a row for each bottleneck and number of flows."""
    # The buffer changes fastest: a table is read along it.
    order = {axis: axes[axis] for axis in ("flows", "rate", "rtt", "buffer")}
    any_cc = Scenario(["reno"], sample="0s")  # nothing is run, so no samples limit it
    return [
        {
            "rate": str(scenario.rate),
            "rtt": str(scenario.rtt),
            "buffer": str(scenario.link_queue.limit),
            "flows": scenario.flow_count,
            **calculation.solve(
                Bottleneck.of(scenario.rate, scenario.rtt, scenario.link_queue.limit),
                scenario.flow_count,
                **factors,
            ),
            **{key: factors[key] for key in ("rivals",) if key in factors},
        }
        for _, scenario in make_design(any_cc, order).points
    ]


def parse_times(text: str, what: str) -> list[Time]:
    """Read a list of times."""
    return [Time.parse(word, what, minimum=1) for word in expand(text, what, Time.examples)]


def parse_losses(text: str) -> list[float]:
    """Read a list of loss rates: ``1e-3``, ``0.1%``, ``1e-6..1e-2``, which goes by tens."""
    losses: list[float] = []
    for part in text.split(","):
        low, dots, high = part.partition("..")
        first = parse_loss(low)
        last = parse_loss(high) if dots else first
        if last < first:
            raise ScenarioError(f"loss `{excerpt(part)}`: a range must increase", key="loss")
        decades = math.log10(last / first)
        losses += [first * 10**step for step in range(math.floor(decades + 1e-9) + 1)]
    return losses


def parse_loss(text: str) -> float:
    """Read a loss rate: a number below 1, or a percentage."""
    number, percent, rest = text.strip().partition("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = math.nan
    if rest or "_" in number or not number.isascii() or not MIN_LOSS <= value < 1:
        raise ScenarioError(
            f"invalid loss rate `{excerpt(text.strip())}`: use {MIN_LOSS:g} to below 1, e.g. "
            "`1e-3` or `0.1%`",
            key="loss",
        )
    return value
