"""A model's predictions on the command line: rows at the axes' points, as a table or as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.cli.console import print_json, print_line, print_table
from dumbbell.errors import ScenarioError
from dumbbell.models import DERIVED, MODELS, Bottleneck, Model
from dumbbell.models.sawtooth import Sawtooth
from dumbbell.quantities.excerpt import excerpt
from dumbbell.quantities.quantity import Time, expand
from dumbbell.scenario import Scenario
from dumbbell.sweeps.design import make_design

__all__ = [
    "Column",
    "answer",
    "answer_sawtooth",
    "at_points",
    "parse_losses",
    "parse_times",
    "source",
]

#: One packet in 30 years at 10 Gbit/s; far below, floats lose their digits.
MIN_LOSS = 1e-15


@dataclass(frozen=True)
class Column:
    """A column of a table: the key of a row, its heading, and how a value is written."""

    key: str
    heading: str
    form: str = "{}"

    def write(self, row: Mapping[str, Any]) -> str:
        """Write a row's value."""
        value = row[self.key]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return self.form.format(value)


def source(model: Model) -> str:
    """Return the source of a model, and whether it was derived in this project."""
    return f"{model.source} [derived]" if model.status == DERIVED else model.source


def at_points(
    rate: str,
    rtt: str,
    buffer: str,
    flows: str,
    solve: Callable[[Bottleneck, int], Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """Return a row for each point of the axes: where it is, and the model's prediction."""
    # The buffer changes fastest: a table is read along it.
    axes = {"flows": flows, "rate": rate, "rtt": rtt, "buffer": buffer}
    any_cc = Scenario(["reno"], sample="0s")  # nothing is run, so no samples limit it
    return [
        {
            "rate": str(scenario.rate),
            "rtt": str(scenario.rtt),
            "buffer": str(scenario.link_queue.limit),
            "flows": scenario.flow_count,
            **solve(
                Bottleneck.of(scenario.rate, scenario.rtt, scenario.link_queue.limit),
                scenario.flow_count,
            ),
        }
        for _, scenario in make_design(any_cc, axes).points
    ]


def answer_sawtooth(
    name: str,
    rate: str,
    rtt: str,
    buffer: str,
    flows: str,
    solve: Callable[[Bottleneck, int], Sawtooth],
    *,
    json: bool,
) -> int:
    """Print the sawtooth of loss-based flows at each point."""
    rows = at_points(rate, rtt, buffer, flows, lambda b, n: vars(solve(b, n)))
    columns = (
        Column("peak_pkts", "W\npkts", "{:.1f}"),
        Column("window_mean_pkts", "mean window\npkts", "{:.1f}"),
        Column("loss_interval_s", "loss every\ns", "{:.2f}"),
        Column("queue_delay_mean_ms", "queueing delay\nmean ms", "{:.1f}"),
        Column("rtt_mean_ms", "RTT\nmean ms", "{:.1f}"),
        Column("utilization", "utilisation", "{:.3f}"),
    )
    return answer(name, rows, columns, json=json)


def answer(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    *,
    json: bool,
    axes: Iterable[str] = ("rate", "rtt", "buffer", "flows"),
) -> int:
    """Print a model's rows: as a table with the axes that change, or all as JSON."""
    if json:
        print_json({"model": name, "status": MODELS[name].status, "points": list(rows)})
        return 0
    axes = list(axes)
    changing = [axis for axis in axes if len({row[axis] for row in rows}) > 1] or axes[-1:]
    fixed = ", ".join(f"{axis} {rows[0][axis]}" for axis in axes if axis not in changing)
    print_line(source(MODELS[name]))
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
