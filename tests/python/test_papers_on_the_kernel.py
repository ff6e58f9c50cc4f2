"""What the papers' rules say of runs on the kernel: tests/data/papers-kernel-*.jsonl.

One run at each point (Linux 6.18 on two cores, `Paper.scenario` of the point with seed 1, measured
by `Paper.measure`); docs/notes/findings.md has how they were made and what they reached.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.finding import Outcome
from dumbbell_studies.papers.measured_text import decode
from dumbbell_studies.papers.ogino2021.runs import BUFFERS_BDP, Point
from dumbbell_studies.papers.results import Results

FILE = Path(__file__).parents[1] / "data" / "papers-kernel-2026-11.jsonl"
#: As docs/notes/findings.md says.
OUTCOMES = {
    "ogino2021": {
        "A1": "shown", "A2": "shown", "A3": "shown", "A4": "not shown", "A5": "shown",
        "A6": "not shown", "A7": "not shown",
    },
    "saito2022": {"B1": "shown", "B2": "undecided by chance", "B3": "not shown"},
    "kakenhi2024": {"C1": "shown", "C2": "not shown", "C5": "not shown"},
    "coexistence": {"D1": "shown", "D2": "shown", "D3": "not shown"},
}  # fmt: skip


@pytest.fixture(scope="module")
def runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def results(runs: list[dict[str, Any]], paper: str) -> Results[Any, Any]:
    found = {decode(r["point"]): [decode(r["measured"])] for r in runs if r["paper"] == paper}
    return Results(found)


def test_every_run_says_where_it_comes_from(runs: list[dict[str, Any]]) -> None:
    assert {run["verdict"] for run in runs} <= {"OK", "WARN"}
    for run in runs:
        assert run["kernel_release"].startswith("6.18.")
        assert run["date"].startswith("2026-11-")
        assert (run["cpus"], run["seed"]) == (2, 1)
        assert 0 < run["lateness_p99_us"] < math.inf


def test_copa_ran_at_each_buffer(runs: list[dict[str, Any]]) -> None:
    mixes = (("cubic", 1), ("cubic", 4), ("bbr", 1), ("bbr", 4))
    points = {Point(*mix, buffer) for mix in mixes for buffer in BUFFERS_BDP}
    assert set(results(runs, "ogino2021").measured) == points


@pytest.mark.parametrize("paper", OUTCOMES)
def test_the_kernel_shows_this(runs: list[dict[str, Any]], paper: str) -> None:
    found = {each.id: each.outcome for each in PAPERS[paper].findings(results(runs, paper))}
    decided = {name: str(o) for name, o in found.items() if o is not Outcome.NOT_DECIDED}
    assert decided == OUTCOMES[paper]
