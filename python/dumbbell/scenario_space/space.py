"""The spaces of scenarios in which a search looks."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario import Scenario
from dumbbell.scenario_space.kind import DrawnElement, ElementKind
from dumbbell.scenario_space.path_kinds import (
    BufferSize,
    Flows,
    LinkRate,
    Outage,
    Outages,
    QueueDiscipline,
    RandomLoss,
    RateStep,
    Rtt,
    RttStep,
)
from dumbbell.scenario_space.scale import linear
from dumbbell.scenario_space.traffic_kinds import (
    Competitor,
    Datagrams,
    OnOffCompetitor,
    Pauses,
    Pulses,
)

__all__ = ["SPACES", "Space", "space_named"]

#: The spaces, and what each varies.
SPACES: Mapping[str, str] = {
    "static": "rate, RTT, buffer, flows, random loss and queue discipline",
    "segments": "rate, RTT, buffer, and steps of rate and RTT in time",
    "cross": "rate, RTT, buffer, flows, competitors that come and go, pause or send pulses",
    "loss-window": "rate, RTT, buffer, outages from 1 ms, periodic outages and pulses",
    "pulses": "rate, RTT, buffer, and a competitor that sends pulses of datagrams",
}
#: The shortest run: events need time to happen in and to recover from.
LEAST_S = 2
#: Times of events, in steps of this many ms, from 1 s to 1 s before the end.
EVERY_MS = 500


@dataclass(frozen=True)
class Space:
    """Kinds of elements.

    Attributes
    ----------
    name
        What the user calls it.
    kinds
        By name.
    """

    name: str
    kinds: Mapping[str, ElementKind]

    def draw(self, source: random.Random, name: str = "") -> DrawnElement:
        """Return any element, or any of a kind."""
        kind = self.kinds[name or source.choice(sorted(self.kinds))]
        numbers = tuple(scale.draw(source) for scale in kind.parameters.values())
        return kind.element(numbers)


def space_named(name: str, base: Scenario, *, flows: int = 1) -> Space:
    """Return a space by its name.

    Parameters
    ----------
    name
        One of `SPACES`.
    base
        The plain scenario; its time says when events may be.
    flows
        How many the plain scenario has of the congestion control algorithm under test.

    Raises
    ------
    ScenarioError
        There is no such space, or the run is too short for it.
    """
    if name not in SPACES:
        raise ScenarioError(f"unknown space `{excerpt(name)}`{nearest(name, SPACES)}", key="space")
    if base.time.seconds < LEAST_S + 1:
        raise ScenarioError(
            f"a search in runs of `{base.time}` finds little; use `--time {LEAST_S + 1}s` or more",
            key="time",
        )
    times = linear(1000, int(base.time) // 1_000_000 - 1000, EVERY_MS)
    path: list[ElementKind] = [LinkRate(), Rtt(), BufferSize()]
    more: dict[str, list[ElementKind]] = {
        "static": [Flows(flows + 1), RandomLoss(), QueueDiscipline()],
        "segments": [RateStep(times), RttStep(times)],
        "cross": [
            Flows(flows + 1), Competitor(times), OnOffCompetitor(), Pauses(), Datagrams(times),
            Pulses(),
        ],
        "loss-window": [Outage(times), Outages(), Pulses()],
        "pulses": [Pulses()],
    }  # fmt: skip
    return Space(name, {kind.name: kind for kind in [*path, *more[name]]})
