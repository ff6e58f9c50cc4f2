"""The congestion controls of the papers' hosts are those that the guide documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell import Scenario, run
from dumbbell.scenario import Group
from dumbbell_studies.papers import hosts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("cc", "name"),
    [
        ("bbr", "BBR_4_15"),
        ("bbr", "BBR_4_12"),
        ("bbr", "BBR_4_12_UNPACED"),
        ("copa", "COPA_CCP_KERNEL"),
    ],
)
def test_the_guide_has_the_set(cc: str, name: str) -> None:
    lines = (DOCS / f"{cc}.md").read_text(encoding="utf-8").splitlines()
    assert hosts.spelled(cc, getattr(hosts, name)) in lines


def test_bbr_of_4_15_alone_keeps_a_queue() -> None:
    delay_ms = {}
    for name in ("BBR_BEFORE_5_1", "BBR_4_15", "BBR_4_12"):
        cc = hosts.spelled("bbr", getattr(hosts, name))
        found = run(Scenario([Group(cc)], buffer="8bdp", time="9s", seed=1))
        delay_ms[name] = found.summary["bottleneck"]["queue_delay_mean_us"] / 1e3
    # It paces above the bandwidth until cwnd, 2 BDP, holds it.
    assert delay_ms["BBR_4_15"] > 20 > 10 > max(delay_ms["BBR_4_12"], delay_ms["BBR_BEFORE_5_1"])
