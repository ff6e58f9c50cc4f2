"""What elements of the papers' apparatus change on the kernel: tests/data/elements-kernel-*.jsonl.

One or two runs at each point (Linux 6.18 on two cores, `Paper.scenario` with the elements of its
`setup`, measured by `Paper.measure`); docs/notes/findings.md has how they were made.
"""

from __future__ import annotations

import json
import math
import runpy
from pathlib import Path
from typing import Any

import pytest

from dumbbell.run.engine import check_for_kernel
from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.apparatus import apply
from dumbbell_studies.papers.apparatus_element import Treatment
from dumbbell_studies.papers.measured_text import decode
from dumbbell_studies.papers.presets import PRESETS, kernel_part
from dumbbell_studies.papers.questions import QUESTIONS

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "data" / "elements-kernel-2026-11.jsonl"
MODULE = runpy.run_path(str(ROOT / "tools" / "kernel_elements.py"))
QUESTION = {each.finding: (paper, each) for paper, some in QUESTIONS.items() for each in some}


@pytest.fixture(scope="module")
def runs() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def setup_of(run: dict[str, Any]) -> tuple[Treatment, ...]:
    return tuple(Treatment(*each) for each in run["setup"])


def quantity(finding: str, *setup: Treatment, at: int = 0) -> list[float]:
    """Return a finding's quantity on the kernel, by seed."""
    paper, question = QUESTION[finding]
    seeds = MODULE["complete"](question.first, MODULE["read"]()[paper, setup])
    return [question.quantities[at].of(seen) for seen in seeds]


def test_every_run_says_where_it_comes_from(runs):
    for run in runs:
        assert run["verdict"] in ("OK", "WARN")
        assert run["kernel_release"].startswith("6.18.")
        assert run["date"].startswith("2026-11-")
        assert run["cpus"] == 2
        assert 0 < run["lateness_p99_us"] < math.inf


def test_the_kernel_can_have_what_ran(runs):
    for run in runs:
        scenario = PAPERS[run["paper"]].scenario(decode(run["point"]), run["seed"])
        check_for_kernel(apply(setup_of(run), scenario))


def test_the_whole_grid_of_the_first_paper_ran_with_its_apparatus(runs):
    paper = PAPERS["ogino2021"]
    part = kernel_part(PRESETS["mininet-2021"].setup, paper.scenario(paper.points[0], 1))
    ran = {
        decode(run["point"]) for run in runs if run["paper"] == paper.name and setup_of(run) == part
    }
    assert ran == set(paper.points)


def test_the_agent_takes_copas_lead_on_the_kernel_too():
    """A1: the same element decides as in the simulator."""
    assert min(quantity("A1")) > 0 > max(quantity("A1", Treatment("copa_agent", "on")))
    delayed = Treatment("tclink_htb", "limit counts delayed packets")
    assert min(quantity("A1", delayed)) > 10


def test_processes_in_turn_lock_copa_on_the_kernel_too():
    """B3: 64 flows in competitive mode, where some of those within 0.1 s are not."""
    in_turn = quantity("B3", Treatment("starts", "50ms apart"))
    assert len(in_turn) == 2
    assert min(in_turn) > 90


def test_a_script_measures_what_the_files_have():
    script = runpy.run_path(str(ROOT / "tools" / "measure_papers.py"))
    wanted = [
        script["Wanted"](batch.paper, batch.setup, point, seed)
        for batch in script["BATCHES"]
        for seed in batch.seeds
        for point in batch.points
    ]
    assert len(wanted) == len(set(wanted))
    assert script["measured"]() == set(wanted)
    lines = [len(file.read_text().splitlines()) for file in (script["PLAIN"], script["ELEMENTS"])]
    assert sum(lines) == len(wanted)


def test_the_page_has_the_table():
    """`python tools/findings_tables.py` writes it."""
    page = (ROOT / "docs" / "notes" / "findings.md").read_text(encoding="utf-8")
    assert MODULE["table"]() in page
