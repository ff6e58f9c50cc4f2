"""What findings depend on, with a made-up paper whose runs the elements change in known ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dumbbell.scenario import Group, Scenario
from dumbbell_studies.cli.attribution import STYLES
from dumbbell_studies.papers import (
    PAPERS,
    ClauseResult,
    Finding,
    Outcome,
    Paper,
    apparatus,
    screening,
)
from dumbbell_studies.papers.apparatus_element import ApparatusElement, Level, Setup, Treatment
from dumbbell_studies.papers.attribution import Attribution, AttributionInterrupted, attribute
from dumbbell_studies.papers.conclusion import Conclusion, FindingAttribution
from dumbbell_studies.papers.ogino2021 import runs as ogino
from dumbbell_studies.papers.prediction import predictions_on
from dumbbell_studies.papers.presets import Preset
from dumbbell_studies.papers.question import FindingQuantity, Question
from dumbbell_studies.papers.questions import QUESTIONS
from dumbbell_studies.papers.trial import Trial, compare, significant
from dumbbell_studies.papers.trials import Trials, fresh
from dumbbell_studies.report.attribution_page import render_attribution

SEEDS = range(1, 11)


@dataclass(frozen=True)
class Seen:
    """What is measured of a made-up run: a number that the elements of its scenario decide."""

    value: float


def marked(name: str) -> Callable[[Scenario], Scenario]:
    """Add an element that does nothing but leave its mark in the scenario."""
    return lambda scenario: scenario.replace(name=f"{scenario.name} {name}")


def element(name: str, *levels: str) -> ApparatusElement:
    return ApparatusElement(
        name, "Made up.", "nowhere", ("Z1",), tuple(Level(x, marked(f"{name}={x}")) for x in levels)
    )


#: Value of a run by its marks and its seed; a finding is shown where the value is above 1.
World = Callable[[set[str], int], float]


class MadeUp(Trials[float, Seen]):
    """Trials whose runs are computed."""

    def __init__(self, world: World) -> None:
        paper: Any = Paper(
            "made-up", "Made up", "", (), (), (1.0, 2.0), (1.0,), "",
            run_name=str,
            scenario=lambda at, seed: Scenario([Group("reno")], name=f"{at:g} {seed}", seed=seed),
            measure=lambda _point, _run: Seen(0.0),
            findings=lambda _results: [], tables=lambda _results: [], figures=lambda _results: [],
        )  # fmt: skip
        super().__init__(paper)
        self.world = world
        self.ran: list[tuple[Setup, float, int]] = []

    def key(self, wanted: Any) -> Any:
        class Key:
            digest = self.scenario(wanted).name

        return Key

    def run(self, wanted: Any) -> None:
        for each in wanted:
            name = str(self.scenario(each).name)
            if name not in self.measured:
                self.ran.append(each)
                self.measured[name] = Seen(self.world(set(name.split()[2:]), each[2]))


def rule(seen: Any) -> list[ClauseResult]:
    return [ClauseResult("above 1", "{:.1f}", (run.value,), run.value > 1) for run in seen.values()]


QUESTION: Question[float, Seen] = Question(
    "Z1", (1.0, 2.0), (1.0,), rule, (FindingQuantity("value", "", lambda seen: seen[1.0].value),)
)


def finding(world: World) -> Finding:
    repetitions = (
        tuple(rule({at: Seen(world(set(), seed)) for at in (1.0, 2.0)})) for seed in SEEDS
    )
    return Finding("Z1", "Something is above 1.", tuple(repetitions))


@pytest.fixture
def attributed(monkeypatch) -> Callable[..., tuple[FindingAttribution, MadeUp]]:
    def call(
        world: World,
        *elements: ApparatusElement,
        preset: Preset | None = None,
        question: Question[float, Seen] = QUESTION,
    ) -> tuple[FindingAttribution, MadeUp]:
        monkeypatch.setattr(apparatus, "ALL", elements)
        known = {each.id: each for each in elements}
        monkeypatch.setattr(apparatus, "ELEMENTS", known)
        monkeypatch.setattr(screening, "ELEMENTS", known)
        trials = MadeUp(world)
        found = attribute(trials, [finding(world)], questions=[question], preset=preset)
        return found.findings[0], trials

    return call


def test_an_element_that_shows_it_is_named(attributed):
    found, _ = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks and seed % 1000 > 1 else 0.0001 * seed,
        element("a", "1", "2"), element("b", "on"),
    )  # fmt: skip
    assert found.conclusion is Conclusion.APPARATUS
    assert [trial.setup for trial in found.deciding] == [(Treatment("a", "1"),)]
    assert found.sentence == (
        "Depends on the apparatus: shown with a: 1 (9 of 10 fresh seeds); in 0 of 10 repetitions "
        "of the plain set-up and in 0 of 10 more."
    )
    effects = {effect.name: effect for effect in found.screened}
    assert set(effects) == {"a: 1", "a: 2", "b: on"}
    assert effects["a: 1"].share.mean == pytest.approx(0.9)
    assert effects["a: 1"].share.excludes(0)
    assert not effects["b: on"].share.excludes(0)
    assert effects["a: 1"].changes[0].interval.low > 0
    assert effects["b: on"].changes[0].interval.mean == 0
    assert found.factorial is None  # one element alone matters


def test_eight_of_ten_seeds_are_not_enough(attributed):
    found, _ = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks and seed % 1000 > 2 else 0.0, element("a", "1")
    )
    assert found.conclusion is Conclusion.CHANCE
    assert found.sentence == (
        "Chance decides with the apparatus: shown in 0 of 10 repetitions of the plain set-up and "
        "in 0 of 10 more. No set-up shows it in nine of ten; most often it is shown with a: 1 (8 "
        "of 10 fresh seeds)."
    )


def test_what_no_candidate_shows_is_refuted(attributed):
    found, _ = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks and seed == 1 else 0.0, element("a", "1")
    )
    assert found.conclusion is Conclusion.REFUTED
    assert found.sentence == "Not shown, nor with the only candidate: a."


def test_chance_is_told_with_its_frequency_and_what_makes_it_certain(attributed):
    found, _ = attributed(
        lambda marks, seed: 2.0 if seed % 1000 > 6 or "a=1" in marks else 0.0, element("a", "1")
    )
    assert found.conclusion is Conclusion.CHANCE
    assert found.sentence == (
        "Chance decides: shown in 4 of 10 repetitions of the plain set-up. Shown in nine of ten "
        "with a: 1 (10 of 10 fresh seeds)."
    )


def test_two_elements_that_show_it_together_are_found_by_the_factorial(attributed):
    def world(marks: set[str], seed: int) -> float:
        value = 0.01 * (seed % 1000)
        value += 0.6 if "a=1" in marks else 0
        return value + (0.5 if "b=1" in marks else 0)

    found, _ = attributed(world, element("a", "1"), element("b", "1"), element("c", "1"))
    assert found.conclusion is Conclusion.APPARATUS
    assert [trial.setup for trial in found.deciding] == [(Treatment("a", "1"), Treatment("b", "1"))]
    assert found.factorial is not None
    by_name = {str(effect.treatment): effect for effect in found.factorial.effects}
    assert set(by_name) == {"a: 1", "b: 1"}
    assert by_name["a: 1"].changes[0].mean == pytest.approx(0.6)
    assert by_name["b: 1"].changes[0].mean == pytest.approx(0.5)


def test_two_elements_of_a_family_are_not_added_together(attributed):
    def world(marks: set[str], seed: int) -> float:
        return 0.01 * (seed % 1000) + 0.6 * ("a=1" in marks) + 0.5 * ("b=1" in marks)

    one, two = (replace(element(name, "1"), family="starts") for name in "ab")
    found, _ = attributed(world, one, two)
    assert found.factorial is None
    third = element("c", "1")
    found, _ = attributed(
        lambda marks, seed: world(marks, seed) + 0.2 * ("c=1" in marks), one, two, third
    )
    assert found.factorial is not None
    assert {e.treatment.element for e in found.factorial.effects} == {"a", "c"}


def test_a_shown_finding_is_not_screened_but_checked_under_the_preset(attributed):
    preset = Preset("p", "Made up.", (), (Treatment("a", "1"), Treatment("b", "1")), (), ())
    found, _ = attributed(
        lambda marks, _seed: 0.0 if "b=1" in marks else 2.0,
        element("a", "1"), element("b", "1"), preset=preset,
    )  # fmt: skip
    assert found.conclusion is Conclusion.LOST
    assert found.screened == ()
    assert found.preset is not None
    assert found.preset.outcome is Outcome.NOT_SHOWN
    # Removing one at a time says which part of the preset it is.
    without = {effect.name: effect.trial.held for effect in found.without}
    assert without == {"without a: 1": 0, "without b: 1": 10}
    assert found.sentence == (
        "Shown in 10 of 10 repetitions of the plain set-up; with `p` in 0 of 10, and in nine of "
        "ten or more without b: 1."
    )


def test_a_level_that_no_apparatus_had_decides_nothing(attributed):
    compared = replace(element("a", "1"), levels=(Level("1", marked("a=1"), is_control=True),))
    found, _ = attributed(
        lambda marks, _seed: 2.0 if "a=1" in marks else 0.0, compared, element("b", "1")
    )
    assert [effect.trial.held for effect in found.screened] == [10, 0]
    assert (found.deciding, found.nearly, found.repeated) == ((), (), ())
    assert found.conclusion is Conclusion.REFUTED


def test_a_preset_that_shows_it_in_one_seed_more_changes_nothing(attributed):
    """1 of 10 and 2 of 10 are the same for all that ten seeds tell."""
    preset = Preset("p", "Made up.", (), (Treatment("a", "1"),), (), ())
    found, _ = attributed(
        lambda marks, seed: 2.0 if seed == 1 or (seed == 2 and "a=1" in marks) else 0.0,
        element("a", "1"), preset=preset,
    )  # fmt: skip
    assert found.preset is not None
    assert found.preset.outcome is Outcome.BY_CHANCE
    assert found.conclusion is Conclusion.REFUTED


def test_a_list_of_set_ups_has_the_preset_by_its_name(attributed):
    preset = Preset("p", "Made up.", (), (Treatment("a", "1"), Treatment("b", "1")), (), ())
    found, _ = attributed(
        lambda marks, seed: 2.0 if seed < 9 and {"a=1", "b=1"} <= marks else 0.0,
        element("a", "1"), element("b", "1"), preset=preset,
    )  # fmt: skip
    assert found.conclusion is Conclusion.CHANCE
    assert found.sentence == (
        "Chance decides with the apparatus: shown in 0 of 10 repetitions of the plain set-up; with "
        "`p` in 8 of 10. No set-up shows it in nine of ten; most often it is shown with `p` (8 of "
        "10 seeds)."
    )


def test_a_finding_that_asks_nothing_of_runs_has_no_apparatus(attributed):
    del attributed
    alone = FindingAttribution(finding(lambda _marks, _seed: 0.0))
    assert alone.conclusion is Conclusion.NO_PART


def test_a_seed_counts_once_in_a_factorial_however_many_combinations_it_ran(attributed):
    """Five seeds that differ in nothing but luck: the share's interval is of five values."""
    found, _ = attributed(
        lambda marks, seed: 0.01 * (seed % 1000) + 0.6 * ("a=1" in marks) + 0.5 * ("b=1" in marks),
        element("a", "1"), element("b", "1"),
    )  # fmt: skip
    assert found.factorial is not None
    assert {effect.share.n for effect in found.factorial.effects} == {found.factorial.seeds}


def test_bbr_s_pace_charges_a_header_once():
    """Where TCP's own timer charges it, BBR's parameters do not."""
    plain = ogino.scenario(ogino.Point("bbr", 1, 16.0), 1)
    for setup, charged in (
        ((Treatment("bbr_4_15", "whole"),), True),
        ((Treatment("bbr_4_15", "whole"), Treatment("tcp_4_15", "whole")), False),
        ((Treatment("bbr_over_pacing", "Linux 4.15"), Treatment("timer_lateness", "0us")), False),
    ):
        bbr = apparatus.apply(setup, plain).groups[ogino.RIVAL].cc
        assert ("timer_burst_bytes" in bbr.params) is charged


def test_points_that_cannot_change_the_answer_do_not_run(attributed):
    _, trials = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks and seed == 1 else 0.0, element("a", "1")
    )
    with_a = [(point, seed) for setup, point, seed in trials.ran if setup]
    assert sorted(with_a) == sorted([*((1.0, seed) for seed in SEEDS), (2.0, 1)])


def test_an_element_without_effect_on_the_scenario_is_not_tried(attributed):
    nothing = ApparatusElement("none", "Made up.", "nowhere", ("Z1",), (Level("on", lambda s: s),))
    found, _ = attributed(lambda _marks, _seed: 0.0, nothing)
    assert found.screened == ()


def test_the_page_has_a_chart_for_each_change(attributed):
    found, _ = attributed(
        lambda marks, seed: 0.7 * ("a=1" in marks) + 0.6 * ("b=1" in marks) + 0.01 * (seed % 1000),
        element("a", "1"), element("b", "1"),
    )  # fmt: skip
    paper: Any = PAPERS["ogino2021"]
    prediction = replace(predictions_on("A1")[0], saw="nothing of it")
    page = render_attribution([Attribution(paper, None, (found,), (prediction,))], "dumbbell x")
    assert page.count('<svg class="effect') == 8  # of two elements, alone and together, two columns
    for text in ("a: 1", "nothing of it", "depends on the apparatus", "dumbbell x"):
        assert text in page


def test_questions_are_of_points_that_papers_have():
    for name, questions in QUESTIONS.items():
        points = set(PAPERS[name].points)
        for question in questions:
            assert set(question.points) <= points
            assert set(question.first) <= set(question.points)


def test_the_attribution_is_json(attributed):
    found, _ = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks else 0.01 * (seed % 1000), element("a", "1")
    )
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["conclusion"] == "depends on the apparatus"
    assert document["screened"][0]["shown_in"] == 10


def test_parts_of_an_element_are_tried_where_the_whole_changes_something(attributed):
    levels = (Level("1", marked("a=1")), Level("2", marked("a=2"), is_part=True))
    parted = replace(element("a", "1"), levels=levels)
    for value, tried in ((0.0, ["a: 1"]), (2.0, ["a: 1", "a: 2"])):
        found, _ = attributed(lambda marks, _seed, v=value: v if "a=1" in marks else 0.0, parted)
        assert [effect.name for effect in found.screened] == tried


def test_a_shown_finding_without_a_preset_is_tried_with_each_element(attributed):
    found, _ = attributed(
        lambda marks, _seed: 0.0 if "a=1" in marks else 2.0, element("a", "1"), element("b", "1")
    )
    assert found.conclusion is Conclusion.SIMULATED
    assert found.sentence == (
        "Shown in 10 of 10 repetitions of the plain set-up. Of 2 elements, lost with a: 1 (0 of "
        "10 fresh seeds)."
    )
    kept, _ = attributed(lambda _marks, _seed: 2.0, element("a", "1"), element("b", "1"))
    assert kept.sentence.endswith("None of 2 elements loses it.")


def test_chance_that_no_apparatus_has_a_part_in_is_chance():
    alone = FindingAttribution(finding(lambda _marks, seed: 2.0 if seed > 5 else 0.0))
    assert alone.conclusion is Conclusion.CHANCE
    assert alone.sentence == "Chance decides: shown in 5 of 10 repetitions of the plain set-up."


def test_the_sentence_names_the_runs_that_elements_were_added_to(attributed):
    question = replace(QUESTION, base="with starts within 0.1 s")
    found, _ = attributed(
        lambda _marks, seed: 2.0 if seed > 5 else 0.0, element("a", "1"), question=question
    )
    assert found.sentence.startswith(
        "Chance decides: shown in 5 of 10 repetitions of the plain set-up; of those with starts "
        "within 0.1 s, to which elements are added, in 5 of 10."
    )


def test_elements_are_tried_at_fewer_points_if_the_question_says_so(attributed):
    question = replace(QUESTION, fewer=(1.0,))
    found, trials = attributed(
        lambda marks, _seed: 2.0 if "a=1" in marks else 0.0, element("a", "1"), question=question
    )
    assert found.conclusion is Conclusion.APPARATUS
    points = {(point, seed > 1000) for setup, point, seed in trials.ran if setup}
    # What shows it is repeated at all points before it is named.
    assert points == {(1.0, False), (1.0, True), (2.0, True)}


def test_elements_are_compared_with_the_plain_set_up_at_the_same_points(attributed):
    """The second point alone loses the finding: without it chance does not decide."""

    def world(_marks: set[str], _seed: int) -> float:
        return 2.0

    question = replace(
        QUESTION, fewer=(1.0,), rule=lambda seen: [ClauseResult("one", "{}", (0,), len(seen) == 1)]
    )
    found, _ = attributed(world, element("a", "1"), question=question)
    assert found.plain is not None
    assert found.base is not None
    assert (found.plain.held, found.base.held) == (0, 10)
    assert found.screened[0].share.mean == 0


def test_what_only_the_first_seeds_show_decides_nothing(attributed):
    """The best of many levels is good by luck in part: fresh seeds have none of that."""
    found, _ = attributed(
        lambda marks, seed: 2.0 if "a=1" in marks and seed < 1000 else 0.0, element("a", "1")
    )
    assert found.screened[0].trial.held == 10
    assert [(trial.setup[0].level, trial.held) for trial in found.repeated] == [("1", 0)]
    assert found.conclusion is Conclusion.REFUTED


def test_an_element_that_was_lucky_hides_nothing(attributed):
    """`luck` shows it in the first seeds only; a and b together in all."""

    def world(marks: set[str], seed: int) -> float:
        value = 0.01 * (seed % 1000) + 0.6 * ("a=1" in marks) + 0.5 * ("b=1" in marks)
        return value + 2.0 * ("luck=1" in marks and seed < 1000)

    found, _ = attributed(world, *(element(name, "1") for name in ("a", "b", "luck")))
    shown = [trial.setup for trial in found.deciding]
    assert (Treatment("a", "1"), Treatment("b", "1")) in shown
    assert found.conclusion is Conclusion.APPARATUS


def test_a_part_of_an_element_decides_nothing(attributed):
    """No host had a rule of loss recovery without the others."""
    levels = (Level("whole", marked("a=1")), Level("part", marked("a=2"), is_part=True))

    def world(marks: set[str], seed: int) -> float:
        return 2.0 if "a=2" in marks else 0.5 * ("a=1" in marks) + 0.01 * (seed % 1000)

    found, _ = attributed(world, replace(element("a", "1"), levels=levels))
    assert [effect.trial.held for effect in found.screened] == [0, 10]
    assert found.deciding == ()
    assert found.conclusion is Conclusion.REFUTED


def test_plain_seeds_that_are_few_by_luck_are_chance(attributed):
    """1 of 10 is not shown; with 4 of 10 fresh seeds it is chance."""
    found, _ = attributed(
        lambda _marks, seed: 2.0 if seed == 1 or seed > 1006 else 0.0, element("a", "1")
    )
    assert found.outcome is Outcome.NOT_SHOWN
    assert found.conclusion is Conclusion.CHANCE
    assert found.sentence == (
        "Chance decides: shown in 1 of 10 repetitions of the plain set-up and in 4 of 10 more."
    )


def test_averages_are_one_result_and_not_decided_by_chance(monkeypatch):
    """Five seeds in ten are above 1, their average is not."""
    monkeypatch.setattr(apparatus, "ALL", ())

    def world(_marks: set[str], seed: int) -> float:
        return 1.5 if seed % 2 else 0.0

    def average(seeds: Any) -> Any:
        return {at: Seen(sum(seen[at].value for seen in seeds) / len(seeds)) for at in (1.0, 2.0)}

    averaged = Finding("Z1", "Something is above 1.", (tuple(rule({1.0: Seen(0.75)})),))
    question = replace(QUESTION, average=average)
    found = attribute(MadeUp(world), [averaged], questions=[question]).findings[0]
    assert found.plain is not None
    assert (found.plain.held, found.plain.averages) == (5, False)
    assert found.plain_again is not None
    assert found.conclusion is Conclusion.REFUTED


def test_fresh_seeds_are_others_however_many_there_are(monkeypatch):
    for of in (10, 1200):
        seeds = range(1, of + 1)
        assert len(set(fresh(seeds))) == of
        assert not {*seeds} & {*fresh(seeds)}
    assert fresh(SEEDS) == tuple(range(1001, 1011))
    monkeypatch.setattr(apparatus, "ALL", ())
    made = MadeUp(lambda _marks, _seed: 2.0)
    found = attribute(made, [finding(made.world)], questions=[QUESTION], seeds=range(1, 21))
    assert found.to_dict()["seeds"] == list(range(1, 21))


def test_controls_and_parts_make_no_other_test_weaker():
    """Nine seeds of ten have p = 1/256: significant among twelve levels, not among thirteen."""
    trial = Trial((), tuple(SEEDS), (False,) * 10, None, ())
    changed = replace(trial, results=(*(True,) * 9, False))
    for more, found in ((11, 1), (12, 0)):
        effects = [compare("", trial, replace(changed, setup=(Treatment("noise", "20us"),)))]
        effects += more * [compare("", trial, replace(trial, setup=(Treatment("noise", "20us"),)))]
        effects += 20 * [compare("", trial, replace(trial, setup=(Treatment("rwnd", "4MiB"),)))]
        effects += [compare("", trial, replace(trial, setup=(Treatment("tcp_4_15", "timeout"),)))]
        assert len(significant(effects)) == found


def test_the_terminal_has_a_colour_for_each_conclusion():
    assert set(STYLES) == set(Conclusion)


def test_an_interrupt_keeps_the_findings_that_are_finished(monkeypatch):
    monkeypatch.setattr(apparatus, "ALL", ())

    def world(_marks: set[str], _seed: int) -> float:
        return 2.0

    def interrupt(_seen: Any) -> list[ClauseResult]:
        raise KeyboardInterrupt

    second = replace(QUESTION, finding="Z2", rule=interrupt)
    one = finding(world)
    findings = [one, replace(one, id="Z2"), replace(one, id="Z3")]
    with pytest.raises(AttributionInterrupted) as caught:
        attribute(MadeUp(world), findings, questions=[QUESTION, second])
    partial = caught.value.attribution
    assert [each.finding.id for each in partial.findings] == ["Z1"]
    assert partial.findings[0].conclusion is Conclusion.SIMULATED
    assert partial.unfinished == ("Z2", "Z3")
    assert partial.to_dict()["unfinished"] == ["Z2", "Z3"]
    page = render_attribution([partial], "dumbbell reproduce --attribute")
    assert "missing are" in page
    assert "Z2, Z3" in page
    whole = attribute(MadeUp(world), [one], questions=[QUESTION])
    assert whole.unfinished == ()
    assert "missing are" not in render_attribution([whole], "dumbbell reproduce --attribute")
