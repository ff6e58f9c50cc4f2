"""The planted faults of docs/search.md: each is found and has three elements at most.

`make test` has one, which takes the least time; `make test-all` has all of them.

Counted in scenarios and not in time, so that they find the same on every machine; the times of
docs/search.md were measured.
"""

from __future__ import annotations

from typing import Any

import pytest

import dumbbell
from dumbbell_studies.search import search
from dumbbell_studies.search.search import NOISE
from tests.python.planted_faults import BBR_TIMEOUT, CUBIC_IDLE, RENO_NO_SACK, PlantedFault

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]

#: What is under test, the reference, what is bad, where, and how many scenarios it takes.
FAULTS: dict[str, Any] = {
    "cubic without the mend of 2015": (CUBIC_IDLE, "cubic", "retransmission_rate", "cross", 200),
    "bbr without its answer to timeouts": (BBR_TIMEOUT, "bbr", "gap", "loss-window", 49),
    "reno without sack": (RENO_NO_SACK, "reno", "gap", "loss-window", 49),
    "copa in shallow buffers": ("copa", "cubic", "drop_rate", "static", 49),
    "the shrew attack on reno": ("reno", "bbr", "gap", "loss-window", 49),
    "the shrew attack on reno, as pulses": ("reno", "bbr", "gap", "pulses", 49),
}


SHORT = "reno without sack"
CASES = [name if name == SHORT else pytest.param(name, marks=pytest.mark.long) for name in FAULTS]


@pytest.mark.parametrize("name", CASES)
def test_a_planted_fault_is_found_and_small(name, tmp_path):
    fault, against, worst, space, evaluations = FAULTS[name]
    cc = fault.write(tmp_path) if isinstance(fault, PlantedFault) else fault
    scenario = dumbbell.Scenario([cc], time="20s", sample="50ms", impair=NOISE)
    result = search(
        scenario, against, worst=worst, space=space, budget_s=None, evaluations=evaluations,
        cache=False,
    )  # fmt: skip
    assert result.finding is not None, result.best
    assert result.failure is not None, result.finding.scores
    assert result.finding.holds, result.finding.scores
    assert 1 <= len(result.finding.candidate.elements) <= 3, result.finding.sentence
