"""The trials of one finding: elements one by one, the preset, and what matters together."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell_studies.papers.apparatus import ELEMENTS, elements_for, is_control, is_part
from dumbbell_studies.papers.apparatus_element import (
    ApparatusElement,
    Level,
    Setup,
    Treatment,
    name_of,
)
from dumbbell_studies.papers.conclusion import FindingAttribution
from dumbbell_studies.papers.factorial_trial import Factorial, experiment
from dumbbell_studies.papers.finding import Finding, Outcome
from dumbbell_studies.papers.presets import Preset
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.trial import SIGNIFICANT, Effect, Trial, compare, settle, significant
from dumbbell_studies.papers.trials import Trials, fresh

__all__ = ["Screening"]

#: Seeds of each combination of a factorial experiment, half of whose combinations have an element,
#: so that its effect compares at least as many runs as ten seeds with and without it.
FACTORIAL_SEEDS = 5
#: Elements in a factorial experiment: four make eight combinations.
FACTORS_TRIED = 4
#: Single elements, and combinations, that are repeated with fresh seeds.
MOST_REPEATED = 3


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
        (base,) = self.settle([()], self.question.of_elements)
        is_shown = finding.outcome is Outcome.SHOWN
        # A finding that is shown is checked under the preset; without one, with each element.
        is_screened = not is_shown or self.preset is None
        screened = self.screen(base, list(elements_for(finding.id))) if is_screened else ()
        is_lost = bool(whole) and is_shown and preset.outcome is not Outcome.SHOWN
        without = self.remove_each(whole) if is_lost else ()
        factors = [] if is_shown else self.factors(screened)
        factorial = None
        if len(factors) > 1:
            factorial = experiment(
                self.trials, self.question.of_elements, factors, self.seeds[:FACTORIAL_SEEDS]
            )
        repeated: list[Trial] = []
        for chosen in worth_repeating(finding, base, screened, factorial):
            if not any(trial.outcome is Outcome.SHOWN for trial in repeated):
                repeated += self.repeat(chosen)
        is_plain_repeated = finding.outcome is Outcome.NOT_SHOWN and (plain.held > 0 or repeated)
        return FindingAttribution(
            finding,
            self.question,
            plain,
            base,
            preset if whole else None,
            screened,
            without,
            factorial,
            self.repeat([()])[0] if is_plain_repeated else None,
            tuple(repeated),
            on_kernel,
            "" if self.preset is None else self.preset.name,
        )

    def changes(self, setup: Setup) -> bool:
        """Whether a set-up changes any of the finding's runs."""
        return bool(setup) and self.trials.changes(setup, self.question.points)

    def settle(
        self,
        setups: Sequence[Setup],
        question: Question[Any, Any] | None = None,
        seeds: Sequence[int] | None = None,
    ) -> list[Trial]:
        """Try set-ups; another question than the finding's has fewer points."""
        asked = question or self.question
        found = settle(self.trials, [(asked, setup) for setup in setups], seeds or self.seeds)
        return [found[self.question.finding, setup] for setup in setups]

    def repeat(self, setups: Sequence[Setup]) -> list[Trial]:
        """Try set-ups at all points with fresh seeds."""
        return self.settle(setups, seeds=fresh(self.seeds))

    def screen(self, base: Trial, candidates: Sequence[ApparatusElement]) -> tuple[Effect, ...]:
        """Add each level of each candidate to the plain set-up, parts of one only if it matters."""
        whole = self.add(base, candidates, lambda level: not level.is_part)
        changed = {each.trial.setup[0].element for each in whole if is_different(base, each)}
        parted = [element for element in candidates if element.id in changed]
        return (*whole, *self.add(base, parted, lambda level: level.is_part))

    def add(
        self, base: Trial, candidates: Sequence[ApparatusElement], wanted: Callable[[Level], bool]
    ) -> list[Effect]:
        """Add some levels of candidates to the plain set-up."""
        setups = [
            (Treatment(element.id, level.name),)
            for element in candidates
            for level in element.levels
            if wanted(level)
        ]
        setups = [setup for setup in setups if self.changes(setup)]
        question = self.question.of_elements
        return [compare(name_of(each.setup), base, each) for each in self.settle(setups, question)]

    def remove_each(self, whole: Setup) -> tuple[Effect, ...]:
        """Remove from the preset each element that changes runs by itself."""
        question = self.question.of_elements
        (preset,) = self.settle([whole], question)
        rests = {
            str(gone): tuple(each for each in whole if each != gone)
            for gone in whole
            if self.changes((gone,))
        }
        found = self.settle(list(rests.values()), question)
        return tuple(
            compare(f"without {name}", preset, each)
            for name, each in zip(rests, found, strict=True)
        )

    def factors(self, screened: Sequence[Effect]) -> list[Treatment]:
        """Return the elements that matter, a level of each, those with the largest effect first.

        The level is the preset's, else the first in the list that matters. Of a family it is the
        element with the largest effect.
        """
        by_element: dict[str, Effect] = {}
        in_preset = set() if self.preset is None else set(self.preset.setup)
        for effect in significant(screened):
            treatment = effect.trial.setup[0]
            if treatment.element not in by_element or treatment in in_preset:
                by_element[treatment.element] = effect
        ordered = sorted(by_element.values(), key=size, reverse=True)
        by_family: dict[str, Treatment] = {}
        for treatment in (effect.trial.setup[0] for effect in ordered):
            family = ELEMENTS[treatment.element].family or treatment.element
            by_family.setdefault(family, treatment)
        return list(by_family.values())[:FACTORS_TRIED]


def worth_repeating(
    finding: Finding, base: Trial, screened: Sequence[Effect], factorial: Factorial | None
) -> list[list[Setup]]:
    """Return the set-ups that fresh seeds decide on, the later ones if none before shows it again.

    Of a finding that is shown those that lose it. Of another the single elements that show it; then
    those that show it more often than the plain set-up, and the combinations that show it in all of
    their seeds. One level of an element, and a few of each.
    """
    tried = [
        effect.trial
        for effect in screened
        if not is_control(effect.trial.setup) and not is_part(effect.trial.setup)
    ]
    if finding.outcome is Outcome.SHOWN:
        return [strongest([trial for trial in tried if trial.outcome is not Outcome.SHOWN], -1)]
    shown = strongest([trial for trial in tried if trial.outcome is Outcome.SHOWN], 1)
    more = [
        trial for trial in tried if trial.outcome is Outcome.BY_CHANCE and trial.held > base.held
    ]
    combined = [
        run.setup
        for run in (() if factorial is None else factorial.runs)
        if len(run.setup) > 1 and run.outcome is Outcome.SHOWN
    ]
    return [shown, [*strongest(more, 1), *combined[:MOST_REPEATED]]]


def strongest(trials: Sequence[Trial], sign: int) -> list[Setup]:
    """Return the set-ups that show a finding most often, or least, one level of each element."""
    ordered = sorted(trials, key=lambda trial: sign * trial.held, reverse=True)
    by_element: dict[str, Setup] = {}
    for trial in ordered:
        by_element.setdefault(trial.setup[0].element, trial.setup)
    return list(by_element.values())[:MOST_REPEATED]


def is_different(base: Trial, effect: Effect) -> bool:
    """Whether adding something shows the finding in other seeds, or changes its quantity."""
    change = effect.changes[0].p if effect.changes else None
    return effect.trial.held != base.held or (change is not None and change < SIGNIFICANT)


def size(effect: Effect) -> float:
    """Return how large an effect is compared with the spread of the seeds."""
    change = effect.changes[0] if effect.changes else None
    if change is None or math.isnan(change.interval.mean):
        return abs(effect.share.mean)
    # Without a spread the change is as certain as can be.
    return float("inf") if change.effect is None else abs(change.effect)
