"""What ogino2021's rules say of runs on the kernel: tests/data/ogino2021-kernel-*.jsonl.

Copa against CUBIC and against BBR, n = 1 and 4: one run at each buffer, one at a time on two
cores (Linux 6.18, `Paper.scenario` of each point with seed 1, measured by `Paper.measure`). Other
programs ran during those of four BBR flows.
"""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dumbbell.papers.finding import evaluate
from dumbbell.papers.inflight_counts import Counts
from dumbbell.papers.ogino2021.measurements import Kind, Measured
from dumbbell.papers.ogino2021.rules import Rule, a1, a2, a3, a4, a5, a6, a7
from dumbbell.papers.ogino2021.runs import BUFFERS_BDP, Point
from dumbbell.statistics import Interval

FILE = Path(__file__).parents[1] / "data" / "ogino2021-kernel-2026-11.jsonl"


def kind(document: dict[str, Any]) -> Kind:
    return Kind(**{name: math.nan if value is None else value for name, value in document.items()})


def counts(document: dict[str, Any] | None) -> Counts | None:
    if document is None:
        return None
    return Counts(**{**document, "difference_pkts": Interval(**document["difference_pkts"])})


@pytest.fixture(scope="module")
def seen() -> dict[Point, Measured]:
    runs = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    assert {run["verdict"] for run in runs} <= {"OK", "WARN"}
    return {
        Point(run["point"]["rival"], run["point"]["n"], run["point"]["buffer_bdp"]): Measured(
            kind(run["measured"]["copa"]),
            kind(run["measured"]["rival"]),
            run["measured"]["default_share"],
            counts(run["measured"]["counts"]),
        )
        for run in runs
    }


def test_there_is_a_run_at_each_buffer(seen: dict[Point, Measured]) -> None:
    mixes = (("cubic", 1), ("cubic", 4), ("bbr", 1), ("bbr", 4))
    assert set(seen) == {Point(*mix, buffer) for mix in mixes for buffer in BUFFERS_BDP}


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (a1, True),
        (a2, True),
        (a3, True),
        (a4, False),
        (a5, True),
        (a6, False),
        (a7, False),
    ],
)
def test_the_kernel_shows_what_the_simulator_shows(
    seen: dict[Point, Measured], rule: Rule, shown: bool
) -> None:
    """As docs/findings.md says."""
    assert evaluate(rule(seen)) is shown
