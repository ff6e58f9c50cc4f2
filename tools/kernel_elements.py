"""What elements of the papers' apparatus change on the kernel, as a table for findings.md.

The runs are in ``tests/data/elements-kernel-*.jsonl``, those without elements in
``tests/data/papers-kernel-*.jsonl`` too. Findings' rules are applied to them as to simulated runs.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from markdown_tables import markdown_table  # next to this file

from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.apparatus_element import Setup, Treatment, name_of
from dumbbell_studies.papers.measured_text import decode
from dumbbell_studies.papers.presets import kernel_part, preset_for
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.questions import QUESTIONS

__all__ = ["Seen", "complete", "read", "table"]

DATA = Path(__file__).parents[1] / "tests" / "data"
#: What was measured: by the paper and what was added, by the seed, by the point.
Seen = Mapping[tuple[str, Setup], Mapping[int, Mapping[Any, Any]]]


def read() -> Seen:
    """Return the runs on the kernel, with elements and without."""
    found: dict[tuple[str, Setup], dict[int, dict[Any, Any]]] = {}
    for file in sorted(DATA.glob("*-kernel-2026-11.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            run = json.loads(line)
            setup = tuple(Treatment(*each) for each in run.get("setup", ()))
            seeds = found.setdefault((run["paper"], setup), {})
            seeds.setdefault(run["seed"], {})[decode(run["point"])] = decode(run["measured"])
    return found


def table() -> str:
    """Return the table of elements on the kernel."""
    seen = read()
    rows = [
        [question.finding, called(paper, setup), of_points(points, question), *cells]
        for (paper, setup), seeds in seen.items()
        if setup
        for question in QUESTIONS[paper]
        for points in point_sets(question, seeds)
        for cells in [row(question, points, seen[paper, ()], seeds)]
    ]
    head = ["", "added", "points", "without", "with it", "what changes"]
    return markdown_table(head, sorted(rows, key=lambda cells: cells[0]))


def called(paper: str, setup: Setup) -> str:
    """Return a set-up's name: the preset's, if it is what a kernel can have of it."""
    preset = preset_for(paper)
    plain = PAPERS[paper].scenario(PAPERS[paper].points[0], 1)
    if preset is not None and setup == kernel_part(preset.setup, plain):
        return f"`{preset.name}`, as far as a kernel can have it"
    return name_of(setup)


def of_points(points: Sequence[Any], question: Question[Any, Any]) -> str:
    """Say at how many of a finding's points something ran."""
    return (
        "all" if len(points) == len(question.points) else f"{len(points)} of {len(question.points)}"
    )


def point_sets(
    question: Question[Any, Any], seeds: Mapping[int, Mapping[Any, Any]]
) -> Iterator[tuple[Any, ...]]:
    """Return the points that decide a finding, or can refute it, if some seed ran at them.

    Fewer points only if more seeds ran at them.
    """
    most = 0
    for points in (question.points, question.fewer, question.first):
        ran = len(complete(points, seeds)) if points else 0
        if ran > most:
            most = ran
            yield points


def complete(points: Sequence[Any], seeds: Mapping[int, Mapping[Any, Any]]) -> list[dict[Any, Any]]:
    """Return what each seed measured at some points, of those seeds that ran at all of them."""
    return [
        {point: runs[point] for point in points}
        for _, runs in sorted(seeds.items())
        if set(points) <= set(runs)
    ]


def row(
    question: Question[Any, Any],
    points: Sequence[Any],
    plain: Mapping[int, Mapping[Any, Any]],
    seeds: Mapping[int, Mapping[Any, Any]],
) -> list[str]:
    """Return the outcomes without and with a set-up, and the quantities that it changes."""
    before, after = complete(points, plain), complete(points, seeds)
    changes = [
        f"{quantity.name}: {mean(quantity.of, before)} to {mean(quantity.of, after)} "
        f"{quantity.unit}".rstrip()
        for quantity in question.quantities
    ]
    return [
        counted(outcomes(question, before)),
        counted(outcomes(question, after)),
        "; ".join(changes) or "–",
    ]


def outcomes(question: Question[Any, Any], seen: Sequence[Mapping[Any, Any]]) -> list[bool | None]:
    """Return whether each seed shows a finding; None if it does as far as its points go."""
    if question.average is not None:
        seen = [question.average(seen)] if seen else []
    return [question.shown(each) for each in seen]


def counted(shown: Sequence[bool | None]) -> str:
    """Say how many seeds show a finding, or could."""
    if not shown:
        return "–"
    if None in shown:
        return f"not refuted in {sum(each is not False for each in shown)} of {len(shown)}"
    return f"shown in {sum(map(bool, shown))} of {len(shown)}"


def mean(of: Any, seen: Sequence[Mapping[Any, Any]]) -> str:
    """Return a quantity's mean over seeds."""
    values = [of(each) for each in seen]
    return f"{math.fsum(values) / len(values):.3g}" if values else "–"
