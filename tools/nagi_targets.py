"""nagi's targets: what was asked and what it reaches, in each engine, the misses first.

``python tools/nagi_targets.py run --seed 9000 --seeds 10 --out simulator.json`` runs
``docs/notes/data/nagi-targets.toml``; ``--engine uml:6.12`` runs it on Linux in virtual time, and
``--engine kernel`` nine cells on this machine's, shortened so that three seeds take half an hour.
``python tools/nagi_targets.py table simulator.json uml.json`` prints a table in Markdown, a column
for each file. A target is met if the mean over the seeds is within its bounds in all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from dumbbell.gate import write_value
from dumbbell.run import KERNEL, SIMULATOR
from dumbbell.statistics import mean_interval
from dumbbell_studies.score import Board, ScoredCase, find_board, score_board
from dumbbell_studies.score.control import CellScore, MetricScore

__all__ = ["Outcome", "outcomes_of", "shortened", "table_of"]

BOARD = Path(__file__).parents[1] / "docs" / "notes" / "data" / "nagi-targets.toml"
#: In real time: how long a cell of a category runs; nine cells and three seeds are 31 minutes.
LASTS = {"bbr": "67s", "cubic": "67s", "late": "62s", "return": "85s", "base": "60s"}


@dataclass(frozen=True)
class Outcome:
    """A target, and what was measured.

    Attributes
    ----------
    where
        Category and cell.
    asked
        The metric, and what is asked of it.
    measured
        Mean and interval, as text.
    within, seeds
        How many of the seeds are within the bounds.
    is_met
        Whether the mean is.
    """

    where: str
    asked: str
    measured: str
    within: int
    seeds: int
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
    if interval is not None and interval.bounded:
        ends = [write_value(end, of).partition(" ")[0] for end in (interval.low, interval.high)]
        text += f" ({'–'.join(ends)})"
    return Outcome(
        f"`{cell.case.category}` {cell.label}",
        str(metric.bound).partition(", 0 from")[0],
        text,
        sum(score == 1 for score in metric.scores),
        len(metric.values),
        interval is not None
        and len(values) == len(metric.values)
        and metric.bound.scale.score(interval.mean) == 1,
    )


def table_of(engines: dict[str, list[Outcome]]) -> str:
    """Return the table: a column for each engine, targets that one of them misses first."""
    rows: dict[tuple[str, str], dict[str, Outcome]] = {}
    for engine, outcomes in engines.items():
        for each in outcomes:
            rows.setdefault((each.where, each.asked), {})[engine] = each
    columns = ["target", "asked", *engines, ""]
    lines = [f"| {' | '.join(columns)} |", "|" + "---|" * len(columns)]
    for (where, asked), row in sorted(rows.items(), key=lambda item: is_met(item[1])):
        texts = [text_of(row[engine]) if engine in row else "" for engine in engines]
        met = "met" if is_met(row) else "missed"
        lines.append(f"| {where} | {asked} | {' | '.join(texts)} | {met} |")
    counts = [
        f"{engine}: {sum(each.is_met for each in outcomes)} of {len(outcomes)}"
        for engine, outcomes in engines.items()
    ]
    return "\n".join([*lines, "", f"Targets met: {'; '.join(counts)}."])


def text_of(outcome: Outcome) -> str:
    """Return what a column says of a target."""
    missed = "" if outcome.is_met else ", missed"
    return f"{outcome.measured}, {outcome.within}/{outcome.seeds}{missed}"


def is_met(row: dict[str, Outcome]) -> bool:
    """Whether all engines meet a target."""
    return all(each.is_met for each in row.values())


def shortened(board: Board) -> Board:
    """Return the board with runs as long as there is time for on the kernel engine."""

    def with_time(case: ScoredCase) -> ScoredCase:
        return replace(case, words={**case.words, "time": LASTS[case.category]})

    return replace(board, categories=tuple(
        replace(each, cases=tuple(map(with_time, each.cases))) for each in board.categories
    ))  # fmt: skip


def run(given: argparse.Namespace) -> None:
    """Run the targets on one engine, and write and print what they are."""
    board = find_board(BOARD)
    if given.only:
        board = board.only(given.only.split(","))
    if given.engine == KERNEL:
        board = shortened(board)
    seeds = range(given.seed, given.seed + given.seeds)
    league = score_board(board, [given.cc], seeds=seeds, engine=given.engine, jobs=given.jobs)
    cells = [cell for each in league.controls[0].cells.values() for cell in each]
    for cell in cells:
        if cell.problem:
            print(f"{cell.label}: {cell.problem}", file=sys.stderr)
    outcomes = list(outcomes_of(cells))
    title = f"{given.engine}, seeds {seeds[0]} to {seeds[-1]}"
    if given.out:
        rows = [asdict(each) for each in outcomes]
        given.out.write_text(json.dumps({"title": title, "targets": rows}, indent=1), "utf-8")
    print(table_of({title: outcomes}))


def table(given: argparse.Namespace) -> None:
    """Print the table of some files."""
    files = [json.loads(path.read_text("utf-8")) for path in given.files]
    print(table_of({
        each["title"]: [Outcome(**row) for row in each["targets"]] for each in files
    }))  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Run the targets, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    runs = verbs.add_parser("run")
    runs.set_defaults(act=run)
    runs.add_argument("cc", nargs="?", default="nagi")
    runs.add_argument("--seed", type=int, default=1)
    runs.add_argument("--seeds", type=int, default=10)
    runs.add_argument("--engine", default=SIMULATOR)
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--only", default="")
    runs.add_argument("--out", type=Path)
    tables = verbs.add_parser("table")
    tables.set_defaults(act=table)
    tables.add_argument("files", nargs="+", type=Path)
    given = parser.parse_args(arguments)
    given.act(given)


if __name__ == "__main__":
    main(sys.argv[1:])
