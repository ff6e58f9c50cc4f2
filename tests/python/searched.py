"""What the tests' searches start from."""

from __future__ import annotations

import dumbbell
from dumbbell import Scenario
from dumbbell.scenario_space.candidate import Plain

__all__ = ["BASE", "plain_of"]

BASE = Scenario(["reno"], time="8s", sample="50ms")


def plain_of(base: Scenario, against: str = "cubic") -> Plain:
    """Return what is searched around: the scenario, with its algorithm under test."""
    choice = dumbbell.CongestionControlChoice.parse
    return Plain(base, base.groups[0].cc, choice(against))
