"""What each finding of a paper depends on: elements of the apparatus, tried one by one and together.

A finding that the plain set-up shows is checked under the paper's preset. One that it does not show
is tried with each candidate alone, under the preset and with each of the preset's elements removed,
and then with the candidates that matter together, by a fractional factorial experiment.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.papers.apparatus import (
    ELEMENTS,
    Element,
    Setup,
    Treatment,
    elements_for,
    is_control,
    name_of,
)
from dumbbell.papers.factorial_trial import Factorial, experiment
from dumbbell.papers.finding import Finding, Outcome
from dumbbell.papers.paper import Paper
from dumbbell.papers.prediction import Ended, Prediction
from dumbbell.papers.predictions import PREDICTIONS
from dumbbell.papers.presets import Preset, preset_for
from dumbbell.papers.question import Question
from dumbbell.papers.questions import QUESTIONS
from dumbbell.papers.trial import Effect, Trial, compare, settle
from dumbbell.papers.trials import Trials
from dumbbell.statistics import holm, newcombe

__all__ = ["SEEDS", "Attribution", "Conclusion", "FindingAttribution", "attribute"]

#: Seeds of each trial; and of each combination of a factorial experiment, half of whose
#: combinations have an element, so that its effect compares at least as many runs.
SEEDS = tuple(range(1, 11))
FACTORIAL_SEEDS = SEEDS[:5]
#: Elements in a factorial experiment: four make eight combinations.
MOST_FACTORS = 4
#: Set-ups in a sentence.
MOST_NAMED = 3
#: Of the test whether an element matters, over all that are tried on a finding (Holm).
SIGNIFICANT = 0.05


class Conclusion(StrEnum):
    """What a finding depends on."""

    BOTH = "shown by both engines"
    SIMULATED = "shown in the simulator"
    LOST = "shown, but not with the paper's apparatus"
    APPARATUS = "depends on the apparatus"
    CHANCE = "undecided by chance"
    REFUTED = "not shown with any candidate"
    OPEN = "not shown, and not every candidate could be tried"
    NO_PART = "not shown, and no apparatus has a part in it"


@dataclass(frozen=True)
class FindingAttribution:
    """What one finding depends on.

    Attributes
    ----------
    finding
        As the plain runs show it.
    question
        What it asks of runs; None if no apparatus has a part in it.
    plain
        Its rule in the plain set-up.
    preset
        Under the paper's preset; None if nothing of the preset changes its runs.
    screened
        Each candidate added to the plain set-up.
    without
        Each element of the preset removed from it.
    factorial
        Those that matter together; None if fewer than two do.
    together
        Combinations that show it where no single element does.
    untried
        Candidates that dumbbell does not have yet.
    on_kernel
        What the kernel's runs show; None if none ran.
    """

    finding: Finding
    question: Question[Any, Any] | None = None
    plain: Trial | None = None
    preset: Trial | None = None
    screened: tuple[Effect, ...] = ()
    without: tuple[Effect, ...] = ()
    factorial: Factorial | None = None
    together: tuple[Trial, ...] = ()
    untried: tuple[Element, ...] = ()
    on_kernel: Outcome | None = None

    @property
    def outcome(self) -> Outcome:
        """What the plain set-up shows."""
        return self.finding.outcome

    @property
    def deciding(self) -> tuple[Trial, ...]:
        """The set-ups that show it in at least nine of ten seeds, single elements before others.

        Empty for a finding that the plain set-up shows.
        """
        if self.outcome is Outcome.SHOWN:
            return ()
        single = [effect.trial for effect in self.screened]
        more = [*self.together, *([] if self.preset is None else [self.preset])]
        shown = [trial for trial in single if decides(trial)]
        return tuple(shown or [trial for trial in more if decides(trial)])

    @property
    def nearly(self) -> tuple[Trial, ...]:
        """The set-ups that show it by chance, or in averages and in too few seeds."""
        if self.outcome is Outcome.SHOWN:
            return ()
        trials = [*(effect.trial for effect in self.screened), *self.together]
        trials += [] if self.preset is None else [self.preset]
        most = max([0, *([] if self.plain is None else [self.plain.held])])
        return tuple(
            trial
            for trial in trials
            if not trial.is_certain
            and not is_control(trial.setup)
            and (trial.averages or (trial.held > most and trial.outcome is Outcome.BY_CHANCE))
        )

    @property
    def is_by_chance_with(self) -> bool:
        """Whether chance decides with some element, or all of the preset, and not without."""
        mattering = significant(self.screened)
        with_one = any(
            effect.trial.outcome is Outcome.BY_CHANCE and not is_control(effect.trial.setup)
            for effect in mattering
        )
        if with_one or self.plain is None or self.preset is None:
            return with_one
        more = newcombe(self.plain.results, self.preset.results).low > 0
        return more and self.preset.outcome is Outcome.BY_CHANCE

    @property
    def conclusion(self) -> Conclusion:
        """What it depends on."""
        if self.outcome is Outcome.SHOWN:
            if self.preset is not None and self.preset.outcome is Outcome.NOT_SHOWN:
                return Conclusion.LOST
            both = self.on_kernel is Outcome.SHOWN
            return Conclusion.BOTH if both else Conclusion.SIMULATED
        if self.question is None:
            return Conclusion.NO_PART
        if self.outcome is Outcome.BY_CHANCE:
            return Conclusion.CHANCE
        if self.deciding:
            return Conclusion.APPARATUS
        if self.is_by_chance_with:
            return Conclusion.CHANCE
        return Conclusion.OPEN if self.untried else Conclusion.REFUTED

    @property
    def sentence(self) -> str:
        """What it depends on, in a sentence for somebody who is new to it."""
        return describe(self)

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        quantities = () if self.question is None else self.question.quantities
        return {
            "finding": self.finding.id,
            "conclusion": str(self.conclusion),
            "sentence": self.sentence,
            "outcome": str(self.outcome),
            "shown_in": self.finding.held,
            "of": len(self.finding.results),
            "kernel": None if self.on_kernel is None else str(self.on_kernel),
            "quantities": [{"name": q.name, "unit": q.unit} for q in quantities],
            "plain": None if self.plain is None else self.plain.to_dict(),
            "preset": None if self.preset is None else self.preset.to_dict(),
            "screened": [effect.to_dict() for effect in self.screened],
            "without": [effect.to_dict() for effect in self.without],
            "factorial": None if self.factorial is None else self.factorial.to_dict(),
            "together": [trial.to_dict() for trial in self.together],
            "untried": [element.id for element in self.untried],
        }


@dataclass(frozen=True)
class Attribution:
    """What the findings of a paper depend on.

    Attributes
    ----------
    paper
        Which.
    preset
        Its apparatus; None if nothing of it is known.
    findings
        Each of them.
    predictions
        What was expected, and how it ended.
    executed, found
        Runs that were executed for it, and that were found in the cache.
    """

    paper: Paper[Any, Any]
    preset: Preset | None
    findings: tuple[FindingAttribution, ...]
    predictions: tuple[tuple[Prediction, Ended], ...] = ()
    executed: int = 0
    found: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "paper": self.paper.name,
            "engine_version": ENGINE_VERSION,
            "seeds": list(SEEDS),
            "preset": None if self.preset is None else self.preset.name,
            "findings": [each.to_dict() for each in self.findings],
            "predictions": [
                {
                    "id": prediction.id,
                    "text": prediction.text,
                    "verdict": str(ended.verdict),
                    "saw": ended.saw,
                }
                for prediction, ended in self.predictions
            ],
        }


def attribute(
    trials: Trials[Any, Any],
    findings: Sequence[Finding],
    on_kernel: Mapping[str, Outcome] | None = None,
    *,
    seeds: Sequence[int] = SEEDS,
    on_stage: Callable[[str], None] = lambda _what: None,
    questions: Sequence[Question[Any, Any]] | None = None,
    preset: Preset | None = None,
) -> Attribution:
    """Find out what a paper's findings depend on.

    Parameters
    ----------
    trials
        The paper's, which knows the plain runs.
    findings
        What the plain runs show.
    on_kernel
        What the kernel's runs show, by the finding's id.
    seeds
        Of every trial.
    on_stage
        Called with what is tried next.
    questions, preset
        In place of the paper's own.
    """
    paper = trials.paper
    asked = {q.finding: q for q in (QUESTIONS[paper.name] if questions is None else questions)}
    preset = preset_for(paper.name) if preset is None else preset
    kernel = on_kernel or {}
    done = []
    for finding in findings:
        if finding.id not in asked:
            done.append(FindingAttribution(finding, on_kernel=kernel.get(finding.id)))
            continue
        on_stage(f"what {finding.id} depends on")
        one = Screening(trials, asked[finding.id], seeds, preset)
        done.append(one.attribute(finding, kernel.get(finding.id)))
    ended = []
    for each in PREDICTIONS.get(paper.name, ()):
        on_stage(f"prediction {each.id}")
        ended.append((each, each.end(trials, seeds)))
    return Attribution(paper, preset, tuple(done), tuple(ended), trials.executed, trials.found)


@dataclass(frozen=True)
class Screening:
    """The trials of one finding.

    Attributes
    ----------
    trials, question, seeds, preset
        As `attribute` has them.
    """

    trials: Trials[Any, Any]
    question: Question[Any, Any]
    seeds: Sequence[int]
    preset: Preset | None

    def attribute(self, finding: Finding, on_kernel: Outcome | None) -> FindingAttribution:
        """Find out what the finding depends on."""
        whole = () if self.preset is None else self.preset.setup
        whole = whole if self.changes(whole) else ()
        plain, preset = (self.settle([setup])[0] for setup in ((), whole))
        candidates = list(elements_for(finding.id))
        is_shown = finding.outcome is Outcome.SHOWN
        screened = () if is_shown else self.screen(plain, candidates)
        without: tuple[Effect, ...] = ()
        if whole and preset.outcome is not finding.outcome:
            without = self.remove_each(preset, all_of_it=is_shown)
        factors = self.factors(screened)
        factorial = None
        if len(factors) > 1:
            factorial = experiment(
                self.trials, self.question, factors, self.seeds[: len(FACTORIAL_SEEDS)]
            )
        return FindingAttribution(
            finding,
            self.question,
            plain,
            preset if whole else None,
            screened,
            without,
            factorial,
            self.together(factorial),
            tuple(element for element in candidates if not element.levels),
            on_kernel,
        )

    def changes(self, setup: Setup) -> bool:
        """Whether a set-up changes any of the finding's runs."""
        return bool(setup) and self.trials.changes(setup, self.question.points)

    def settle(self, setups: Sequence[Setup]) -> list[Trial]:
        """Try set-ups."""
        found = settle(self.trials, [(self.question, setup) for setup in setups], self.seeds)
        return [found[self.question.finding, setup] for setup in setups]

    def screen(self, plain: Trial, candidates: Sequence[Element]) -> tuple[Effect, ...]:
        """Add each level of each candidate to the plain set-up."""
        setups = [
            (Treatment(element.id, level.name),)
            for element in candidates
            for level in element.levels
        ]
        setups = [setup for setup in setups if self.changes(setup)]
        return tuple(compare(name_of(each.setup), plain, each) for each in self.settle(setups))

    def remove_each(self, preset: Trial, *, all_of_it: bool) -> tuple[Effect, ...]:
        """Remove each of the preset's elements that is a candidate, or each that changes runs."""
        rests = {
            str(gone): tuple(each for each in preset.setup if each != gone)
            for gone in preset.setup
            if self.changes((gone,))
            and (all_of_it or self.question.finding in ELEMENTS[gone.element].findings)
        }
        found = self.settle(list(rests.values()))
        return tuple(
            compare(f"without {name}", preset, each)
            for name, each in zip(rests, found, strict=True)
        )

    def factors(self, screened: Sequence[Effect]) -> list[Treatment]:
        """Return the elements that matter, a level of each, those with the largest effect first.

        The level is the preset's, else the first in the list that matters. Of a family it is the
        element with the largest effect.
        """
        mattering = [e for e in significant(screened) if not is_control(e.trial.setup)]
        by_element: dict[str, Effect] = {}
        in_preset = set() if self.preset is None else set(self.preset.setup)
        for effect in mattering:
            treatment = effect.trial.setup[0]
            if treatment.element not in by_element or treatment in in_preset:
                by_element[treatment.element] = effect
        ordered = sorted(by_element.values(), key=size, reverse=True)
        by_family: dict[str, Treatment] = {}
        for treatment in (effect.trial.setup[0] for effect in ordered):
            family = ELEMENTS[treatment.element].family or treatment.element
            by_family.setdefault(family, treatment)
        return list(by_family.values())[:MOST_FACTORS]

    def together(self, factorial: Factorial | None) -> tuple[Trial, ...]:
        """Repeat with all seeds the combinations that show the finding in each of theirs."""
        runs = () if factorial is None else factorial.runs
        promising = [run.setup for run in runs if len(run.setup) > 1 and all(run.results)]
        return tuple(self.settle(promising))


def significant(screened: Sequence[Effect]) -> list[Effect]:
    """Return the effects that are not chance, in the share of seeds or in the main quantity.

    All tests of both kinds are one family.
    """
    p_values = [
        (at, p)
        for at, effect in enumerate(screened)
        for p in (effect.share_p, effect.changes[0].p if effect.changes else None)
        if p is not None
    ]
    adjusted = holm([p for _, p in p_values])
    found = {at for (at, _), p in zip(p_values, adjusted, strict=True) if p < SIGNIFICANT}
    return [effect for at, effect in enumerate(screened) if at in found]


def decides(trial: Trial) -> bool:
    """Whether a set-up that the paper may have had shows a finding in nine of ten seeds."""
    return trial.is_certain and not is_control(trial.setup)


def size(effect: Effect) -> float:
    """Return how large an effect is compared with the spread of the seeds."""
    change = effect.changes[0] if effect.changes else None
    if change is None or math.isnan(change.interval.mean):
        return abs(effect.share.mean)
    # Without a spread the change is as certain as can be.
    return float("inf") if change.effect is None else abs(change.effect)


def describe(each: FindingAttribution) -> str:
    """Return what a finding depends on in a sentence."""
    of = f" in {each.finding.count} runs" if each.finding.count else ""
    match each.conclusion:
        case Conclusion.BOTH:
            return f"Shown{of} without anything of the apparatus, and on the kernel."
        case Conclusion.SIMULATED | Conclusion.LOST:
            return f"Shown{of} without anything of the apparatus{under_preset(each)}."
        case Conclusion.APPARATUS:
            without = f"shown{of}" if of else "not shown"
            caveat = "" if each.question is None else each.question.caveat
            return (
                f"Depends on the apparatus: shown with {listed(each.deciding)}; without, {without}."
                f"{caveat and f' {caveat}'}"
            )
        case Conclusion.CHANCE:
            if each.outcome is Outcome.NOT_SHOWN:
                whole = f", {each.preset.count} with all of it" if each.preset else ""
                return (
                    f"Chance decides with the apparatus: shown{of} without it{whole}."
                    f"{what_makes_it_certain(each)}"
                )
            return f"Chance decides: shown{of}.{what_makes_it_certain(each)}"
        case _:
            return not_shown(each)


def what_makes_it_certain(each: FindingAttribution) -> str:
    """Say with what chance no longer decides, or with what it is shown most often."""
    if each.deciding:
        return f" What makes it certain: {listed(each.deciding)}."
    if each.nearly:
        return f" Nothing makes it certain; most often it is shown with {listed(each.nearly)}."
    return ""


def listed(trials: Sequence[Trial]) -> str:
    """List the set-ups that show a finding most often, with how often each does."""
    ordered = sorted(trials, key=lambda trial: trial.held, reverse=True)[:MOST_NAMED]
    names = "; ".join(f"{name_of(trial.setup)} ({trial.count})" for trial in ordered)
    others = len(trials) - len(ordered)
    return f"{names}; and {others} more" if others else names


def under_preset(each: FindingAttribution) -> str:
    """Say whether the preset shows a finding too."""
    if each.preset is None:
        return ""
    if each.preset.outcome is Outcome.SHOWN:
        return f", and with it ({each.preset.count})"
    why = [effect.name for effect in each.without if effect.trial.is_certain]
    because = f", and in nine of ten seeds or more {'; or '.join(why)}" if why else ""
    return f"; with it in {each.preset.count} only{because}"


def not_shown(each: FindingAttribution) -> str:
    """Say what was tried."""
    if each.question is None:
        return "Not shown, and no part of an apparatus could be why: what it is about is not that."
    tried = dict.fromkeys(effect.trial.setup[0].element for effect in each.screened)
    text = f"Not shown, whichever of {len(tried)} candidates is added: {', '.join(tried)}."
    if not tried:
        text = "Not shown, and there is no candidate to add."
    elif each.nearly:
        text = (
            "Not shown, and with no candidate in nine of ten seeds; but more often with "
            f"{listed(each.nearly)}."
        )
    if each.untried:
        text += f" Not tried: {', '.join(element.id for element in each.untried)}."
    return text
