"""nagi's targets: what was asked, what it reaches, the misses first.

``python tools/nagi_targets.py --seed 9000 --seeds 10`` runs ``docs/notes/data/nagi-targets.toml``
and prints a table in Markdown. A target is met if the mean over the seeds is within its bounds.
``--engine uml`` and ``--engine kernel`` run it on Linux's TCP, the latter some cells only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dumbbell.gate import write_value
from dumbbell.run import SIMULATOR
from dumbbell.statistics import mean_interval
from dumbbell_studies.score import find_board, score_board
from dumbbell_studies.score.control import CellScore, MetricScore

__all__ = ["Outcome", "outcomes_of", "table_of"]

BOARD = Path(__file__).parents[1] / "docs" / "notes" / "data" / "nagi-targets.toml"


@dataclass(frozen=True)
class Outcome:
    """A target, and what was measured.

    Attributes
    ----------
    where
        Category and cell.
    what
        The metric, and what is asked of it.
    measured
        Mean, interval and number of good runs, as text.
    within
        How many of the seeds are within the bounds.
    is_met
        Whether the mean is.
    """

    where: str
    what: str
    measured: str
    within: str
    is_met: bool


def outcomes_of(cells: Sequence[CellScore]) -> Iterator[Outcome]:
    """Yield the outcome of each target of these cells."""
    for cell in cells:
        for metric in cell.metrics:
            yield outcome_of(cell, metric)


def outcome_of(cell: CellScore, metric: MetricScore) -> Outcome:
    """Compare what was measured with what is asked; a seed without a value misses."""
    values = [value for value in metric.values if value is not None]
    of = metric.bound.measure.metric
    interval = mean_interval(values) if values else None
    text = "no value" if interval is None else write_value(interval.mean, of)
    if interval is not None and interval.low is not None and interval.high is not None:
        text += f" ({write_value(interval.low, of)} to {write_value(interval.high, of)})"
    met = sum(score == 1 for score in metric.scores)
    return Outcome(
        f"`{cell.case.category}` {cell.label}",
        str(metric.bound),
        text,
        f"{met} of {len(metric.values)}",
        interval is not None
        and len(values) == len(metric.values)
        and metric.bound.scale.score(interval.mean) == 1,
    )


def table_of(outcomes: Sequence[Outcome]) -> str:
    """Return the table, misses first."""
    rows = ["| target | asked | mean (95 %) | seeds within | |", "|---|---|---|---|---|"]
    rows += [
        f"| {each.where} | {each.what} | {each.measured} | {each.within} | "
        f"{'met' if each.is_met else 'missed'} |"
        for each in sorted(outcomes, key=lambda outcome: outcome.is_met)
    ]
    met = sum(each.is_met for each in outcomes)
    return "\n".join([*rows, "", f"{met} of {len(outcomes)} targets are met."])


def main(arguments: Sequence[str]) -> None:
    """Run the targets and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cc", nargs="?", default="nagi")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--engine", default=SIMULATOR)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="")
    given = parser.parse_args(arguments)
    board = find_board(BOARD)
    if given.only:
        board = board.only(given.only.split(","))
    seeds = range(given.seed, given.seed + given.seeds)
    league = score_board(board, [given.cc], seeds=seeds, engine=given.engine, jobs=given.jobs)
    cells = [cell for each in league.controls[0].cells.values() for cell in each]
    for cell in cells:
        if cell.problem:
            print(f"{cell.label}: {cell.problem}", file=sys.stderr)
    print(table_of(list(outcomes_of(cells))))


if __name__ == "__main__":
    main(sys.argv[1:])
