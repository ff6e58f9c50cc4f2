"""How predictions of the apparatus end, and that six of those there are can end either way."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from dumbbell.statistics import mean_interval
from dumbbell_studies.papers import PAPERS
from dumbbell_studies.papers.apparatus import ELEMENTS
from dumbbell_studies.papers.element import Setup
from dumbbell_studies.papers.prediction import (
    Ended,
    Evidence,
    Prediction,
    Verdict,
    at_least,
    counted,
    only,
    predicted,
    within,
)
from dumbbell_studies.papers.predictions import PREDICTIONS
from dumbbell_studies.papers.predictions.ogino2021 import OLD_LOSS
from dumbbell_studies.papers.predictions.saito2022 import GSO, IN_TURN
from dumbbell_studies.papers.questions import QUESTIONS

SEEDS = range(1, 11)


def test_what_changes_nothing_confirms_neither_more_nor_less():
    nothing = mean_interval([0.0] * 10)
    for low, high in ((0.0, math.inf), (-math.inf, 0.0)):
        assert within(nothing, low, high) is Verdict.REFUTED
    some = mean_interval([0.1, 0.2, 0.3, 0.2])
    assert within(some, 0.0, math.inf) is Verdict.CONFIRMED
    assert within(some, -math.inf, 0.0) is Verdict.REFUTED
    assert within(mean_interval([100.0] * 4), 90, 100) is Verdict.CONFIRMED


def ended(low: float, high: float, *values: float) -> str:
    return str(predicted(mean_interval(values), low, high, "{:.1f} ({:.1f} to {:.1f})").verdict)


def test_a_prediction_ends_by_its_whole_interval():
    assert ended(0, 10, 4, 5, 6) == "confirmed"
    assert ended(20, 30, 4, 5, 6) == "refuted"
    assert ended(5, 30, 4, 5, 6) == "undecidable"


def test_predictions_are_of_points_and_findings_that_papers_have():
    for name, predictions in PREDICTIONS.items():
        points = set(PAPERS[name].points)
        findings = {question.finding for question in QUESTIONS[name]}
        for each in predictions:
            assert set(each.points) <= points
            assert each.finding in findings
            for treatment in (one for setup in each.setups for one in setup):
                levels = ELEMENTS[treatment.element].levels
                assert treatment.level in {level.name for level in levels}
    ids = [each.id for predictions in PREDICTIONS.values() for each in predictions]
    assert len(ids) == len(set(ids))


def test_a_share_of_few_seeds_is_confirmed_by_its_count():
    """No interval of 20 seeds is inside 40 to 80 %."""
    verdicts = {
        held: counted([True] * held + [False] * (20 - held), 0.4, 0.8, "lock").verdict
        for held in (2, 6, 8, 16, 17, 20)
    }
    assert verdicts == {
        2: Verdict.REFUTED, 6: Verdict.UNDECIDABLE, 8: Verdict.CONFIRMED, 16: Verdict.CONFIRMED,
        17: Verdict.UNDECIDABLE, 20: Verdict.REFUTED,
    }  # fmt: skip
    assert counted([True] * 20, 0.4, 0.8, "lock").saw == ("20 of 20 seeds lock: 100% (84% to 100%)")


def test_a_majority_needs_enough_runs():
    assert at_least(0.5, [True] * 10, "runs").verdict is Verdict.CONFIRMED
    assert at_least(0.5, [False] * 10, "runs").verdict is Verdict.REFUTED
    assert at_least(0.5, [True, False], "runs").verdict is Verdict.UNDECIDABLE
    assert at_least(0.5, [], "runs").verdict is Verdict.UNDECIDABLE


def test_a_prediction_may_need_more_seeds():
    class Noted:
        def __init__(self) -> None:
            self.seeds: list[int] = []

        def run(self, wanted: Any) -> None:
            self.seeds = [seed for _, _, seed in wanted]

    trials: Any = Noted()
    prediction = Prediction(
        "Z1.more", "More.", ((),), (1.0,), lambda _: Ended(Verdict.CONFIRMED, ""), seeds_factor=2
    )
    prediction.end(trials, SEEDS)
    assert trials.seeds == list(range(1, 21))


class Told(Evidence):
    """Evidence whose values are given by the set-up and the buffer or flows of the point."""

    def __init__(self, values: Mapping[Setup, Any]) -> None:
        super().__init__(trials=None, seeds=SEEDS)  # type: ignore[arg-type]
        object.__setattr__(self, "told", values)

    def values(self, setup: Setup, point: Any, of: Any) -> list[float]:
        del of
        told = self.told[setup]  # type: ignore[attr-defined]
        return list(told(point) if callable(told) else told)


def end(id_: str, values: Mapping[Setup, Any]) -> str:
    predictions = [each for every in PREDICTIONS.values() for each in every]
    (prediction,) = (each for each in predictions if each.id == id_)
    return str(prediction.decide(Told(values)).verdict)


def locked(count: int, of: int = 20) -> list[float]:
    return [1.0] * count + [0.0] * (of - count)


def test_starts_in_turn_and_bursts_can_be_confirmed_and_refuted():
    assert end("B2.in-turn", {IN_TURN: locked(12)}) == "confirmed"
    assert end("B2.in-turn", {IN_TURN: locked(20)}) == "refuted"
    for bursts, verdict in ((8, "confirmed"), (20, "refuted"), (12, "undecidable")):
        assert end("B2.gso", {(): locked(8), GSO: locked(bursts)}) == verdict


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [(1.0, 0.0, "confirmed"), (1.0, 1.0, "refuted"), (0.0, 0.0, "undecidable")],
)
def test_a_dip_that_goes_with_the_window_has_to_be_there_first(before, after, verdict):
    def total(dip: float) -> Any:
        """At 32 BDP lower by `dip`; each seed is a little different."""
        return lambda point: [
            47.8 + 0.001 * seed - (dip + 0.01 * seed if point.buffer_bdp == 32 else 0.0)
            for seed in SEEDS
        ]

    def level(point: Any) -> list[float]:
        return [47.81 if point.buffer_bdp == 64 else 47.8] * len(SEEDS)

    large = next(
        each for every in PREDICTIONS.values() for each in every if each.id == "A4.window-16"
    ).setups[1]
    told = {
        OLD_LOSS: total(before) if before else level,
        large: total(after) if after else level,
    }
    assert end("A4.window-16", told) == verdict


def test_the_two_bbrs_of_c1_are_told_apart():
    def reach(now: float, then: float) -> str:
        return end(
            "C1.versions",
            {(): lambda point: [(then if point.cc == "bbr_4_15" else now) + s for s in SEEDS]},
        )

    assert reach(214, 148) == "confirmed"
    assert reach(150, 148) == "refuted"
    assert reach(214, 230) == "refuted"
    assert reach(195, 148) == "undecidable"


def test_over_pacing_s_sign_and_size_end_apart():
    setup = only("bbr_over_pacing", "Linux 4.15")

    def share(change: float) -> dict[Setup, list[float]]:
        return {(): [30.0 + s for s in SEEDS], setup: [30.0 + change + 1.1 * s for s in SEEDS]}

    assert (end("A6.over-pacing", share(3)), end("A6.over-pacing-size", share(3))) == (
        "confirmed", "confirmed",
    )  # fmt: skip
    assert (end("A6.over-pacing", share(14)), end("A6.over-pacing-size", share(14))) == (
        "confirmed", "refuted",
    )  # fmt: skip
    assert end("A6.over-pacing", share(-14)) == "refuted"
