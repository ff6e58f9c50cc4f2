"""Whether a congestion control algorithm does about as well as a reference in a scenario."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.compare.reference import compared
from dumbbell.compare.worst import worst_named
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.runs.cache import Cache
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.describe_path import describe_path

__all__ = ["assert_keeps_up"]


def assert_keeps_up(
    scenario: Scenario | str | Path,
    against: str | CongestionControlChoice = "cubic",
    *,
    worst: str = "gap",
    at_most: float = 0.25,
    seeds: int = 3,
    cache: Cache | bool | None = None,
) -> None:
    """Assert that the congestion control algorithm of group 0 is not much worse than a reference.

    The scenario runs with it and with the reference in its place, on the same seeds.

    Parameters
    ----------
    scenario
        A scenario with one link, or its file; `dumbbell search` writes such files.
    against
        The reference.
    worst
        What is compared: ``gap``, ``stall``, ``starved``, ``bufferbloat``, ``harm``, or a metric.
    at_most
        How much worse the mean over the seeds may be: for a gap, by this part of its fair share.
    seeds
        How many runs of each: with the scenario's seed and the following.
    cache
        Where runs are found and kept.

    Raises
    ------
    AssertionError
        It is worse; the message has the values of both.
    ResultError
        A run does not count: it is INVALID, or the reference does not do well there.
    """
    __tracebackhide__ = True
    badness = worst_named(worst)
    reference = CongestionControlChoice.parse(against)
    base = scenario if isinstance(scenario, Scenario) else Scenario.from_toml(scenario)
    if not base.is_dumbbell:
        raise ScenarioError("a comparison with a reference needs a scenario with one link")
    pairs = [
        (each, with_reference(each, reference))
        for each in (base.replace(seed=base.seed + number) for number in range(seeds))
    ]
    outcomes = compared(pairs, badness, cache=cache)
    scores = []
    for (each, _), outcome in zip(pairs, outcomes, strict=True):
        score = outcome.score(badness)
        if score is None:
            why = outcome.tested.fault or outcome.reference.fault
            why = why or f"{reference} gets {100 * outcome.reference.part:.0f} % of its fair share"
            raise ResultError(f"the comparison on seed {each.seed} does not count: {why}")
        scores.append(score)
    if fmean(scores) <= at_most:
        return
    tested = fmean(outcome.tested.value or 0.0 for outcome in outcomes)
    of_reference = fmean(outcome.reference.value or 0.0 for outcome in outcomes)
    raise AssertionError(
        f"{base.groups[0].cc} {badness.verb()} {badness.shown(tested, base)}, {reference} in its "
        f"place {badness.shown(of_reference, base)}: worse by {fmean(scores):.3g}, tolerated "
        f"{at_most:.3g}\n  {describe_path(base)}, {base.time}, {seeds} seeds from {base.seed} on"
    )


def with_reference(scenario: Scenario, reference: CongestionControlChoice) -> Scenario:
    """Return a scenario with the reference in the place of group 0's congestion control."""
    words = scenario.to_dict()["group"][0]
    groups = [Group(**{**words, "cc": reference}), *scenario.groups[1:]]
    return scenario.replace(groups=groups)
