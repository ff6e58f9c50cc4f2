"""What a finding depends on: the conclusion from its trials, and the sentence that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell.statistics import mcnemar
from dumbbell_studies.papers.apparatus_element import name_of
from dumbbell_studies.papers.factorial_trial import Factorial
from dumbbell_studies.papers.finding import Finding, Outcome, outcome_of
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.trial import Effect, Trial, significant_of

__all__ = ["Conclusion", "FindingAttribution"]


class Conclusion(StrEnum):
    """What a finding depends on."""

    BOTH = "shown by both engines"
    SIMULATED = "shown in the simulator"
    LOST = "shown, but not with the paper's apparatus"
    APPARATUS = "depends on the apparatus"
    CHANCE = "undecided by chance"
    REFUTED = "not shown with any candidate"
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
    base
        The same at the points at which single elements are tried: what they are compared with.
    preset
        Under the paper's preset; None if nothing of the preset changes its runs.
    screened
        Each candidate added to the plain set-up.
    without
        Each element of the preset removed from it.
    factorial
        Those that matter together; None if fewer than two do.
    plain_again
        Its rule in the plain set-up with fresh seeds; None if that decides nothing.
    repeated
        With fresh seeds, the set-ups that had shown it, or lost it, with the others.
    on_kernel
        What the kernel's runs show; None if none ran.
    preset_name
        Name of the paper's preset; empty if there is none.
    """

    finding: Finding
    question: Question[Any, Any] | None = None
    plain: Trial | None = None
    base: Trial | None = None
    preset: Trial | None = None
    screened: tuple[Effect, ...] = ()
    without: tuple[Effect, ...] = ()
    factorial: Factorial | None = None
    plain_again: Trial | None = None
    repeated: tuple[Trial, ...] = ()
    on_kernel: Outcome | None = None
    preset_name: str = ""

    @property
    def outcome(self) -> Outcome:
        """What the plain set-up shows."""
        return self.finding.outcome

    @property
    def deciding(self) -> tuple[Trial, ...]:
        """The set-ups that show it in nine of ten fresh seeds, single elements before others.

        The preset is not chosen by its outcome and needs no fresh seeds. Empty for a finding that
        the plain set-up shows.
        """
        if self.outcome is Outcome.SHOWN:
            return ()
        shown = [trial for trial in self.repeated if trial.outcome is Outcome.SHOWN]
        single = [trial for trial in shown if len(trial.setup) == 1]
        if not shown and self.preset is not None and self.preset.outcome is Outcome.SHOWN:
            return (self.preset,)
        return tuple(single or shown)

    @property
    def nearly(self) -> tuple[Trial, ...]:
        """The set-ups that show it in more seeds than the plain set-up, but not in nine of ten."""
        if self.outcome is Outcome.SHOWN:
            return ()
        pairs = [(self.plain_again or self.plain, trial) for trial in self.repeated]
        pairs += [] if self.preset is None else [(self.plain, self.preset)]
        return tuple(
            trial
            for plain, trial in pairs
            if trial.outcome is Outcome.BY_CHANCE and (plain is None or trial.held > plain.held)
        )

    @property
    def plain_results(self) -> tuple[bool, ...]:
        """Whether each plain repetition, fresh seeds included, shows the finding."""
        trials = (self.plain, self.plain_again)
        return tuple(result for trial in trials if trial is not None for result in trial.results)

    @property
    def losing(self) -> tuple[Trial, ...]:
        """The set-ups that lose, in fresh seeds too, a finding which the plain set-up shows."""
        if self.outcome is not Outcome.SHOWN:
            return ()
        return tuple(trial for trial in self.repeated if trial.outcome is not Outcome.SHOWN)

    @property
    def is_by_chance_with(self) -> bool:
        """Whether chance decides with some set-up that makes more seeds show it, and not without.

        That more seeds show it is decided over pairs of the same seed, for all set-ups together.
        """
        pairs = [(self.plain_again, trial) for trial in self.repeated]
        pairs += [] if self.preset is None else [(self.plain, self.preset)]
        tested = [(plain, trial) for plain, trial in pairs if plain is not None]
        found = significant_of([mcnemar(plain.results, trial.results) for plain, trial in tested])
        return any(
            trial.outcome is Outcome.BY_CHANCE and trial.held > plain.held
            for plain, trial in (tested[at] for at in found)
        )

    @property
    def is_plain_by_chance(self) -> bool:
        """Whether the plain repetitions, fresh seeds included, show it by chance.

        Averages do not: they are one result.
        """
        if self.plain_again is None or self.plain_again.averages is not None:
            return self.outcome is Outcome.BY_CHANCE
        return outcome_of(self.plain_results) is Outcome.BY_CHANCE

    @property
    def conclusion(self) -> Conclusion:
        """What it depends on."""
        if self.outcome is Outcome.SHOWN:
            if self.preset is not None and self.preset.outcome is Outcome.NOT_SHOWN:
                return Conclusion.LOST
            both = self.on_kernel is Outcome.SHOWN
            return Conclusion.BOTH if both else Conclusion.SIMULATED
        if self.is_plain_by_chance:
            return Conclusion.CHANCE
        if self.question is None:
            return Conclusion.NO_PART
        if self.deciding:
            return Conclusion.APPARATUS
        if self.is_by_chance_with:
            return Conclusion.CHANCE
        return Conclusion.REFUTED

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
            "base": None if self.base is None else self.base.to_dict(),
            "preset": None if self.preset is None else self.preset.to_dict(),
            "screened": [effect.to_dict() for effect in self.screened],
            "without": [effect.to_dict() for effect in self.without],
            "factorial": None if self.factorial is None else self.factorial.to_dict(),
            "plain_again": None if self.plain_again is None else self.plain_again.to_dict(),
            "repeated": [trial.to_dict() for trial in self.repeated],
        }


def describe(each: FindingAttribution) -> str:
    """Return what a finding depends on in a sentence."""
    count = f"{each.finding.count} repetitions of " if each.finding.count else ""
    plain = f"in {count}the plain set-up{again(each)}"
    match each.conclusion:
        case Conclusion.BOTH:
            return f"Shown {plain}, and on the kernel."
        case Conclusion.SIMULATED | Conclusion.LOST:
            return f"Shown {plain}{in_base(each)}{under_preset(each)}.{what_loses_it(each)}"
        case Conclusion.APPARATUS:
            return (
                f"Depends on the apparatus: shown with {listed(each, each.deciding)}; "
                f"{plain if count else f'not {plain}'}."
            )
        case Conclusion.CHANCE:
            how = "" if each.is_plain_by_chance else " with the apparatus"
            return (
                f"Chance decides{how}: shown {plain}{in_base(each)}{preset_count(each)}."
                f"{what_makes_it_certain(each)}"
            )
        case _:
            return not_shown(each)


def preset_of(each: FindingAttribution) -> str:
    """Return the name of the preset as a sentence has it."""
    return f"`{each.preset_name}`" if each.preset_name else "the preset"


def again(each: FindingAttribution) -> str:
    """Say in how many fresh seeds the plain set-up shows it."""
    if each.plain_again is None or each.plain_again.averages is not None:
        return ""
    return f" and in {each.plain_again.count} more"


def in_base(each: FindingAttribution) -> str:
    """Say how often it is shown in those plain runs to which elements are added."""
    if each.question is None or each.base is None or not each.question.base or not each.screened:
        return ""
    return f"; of those {each.question.base}, to which elements are added, in {each.base.count}"


def what_loses_it(each: FindingAttribution) -> str:
    """Say with what a shown finding is lost, if anything of the apparatus was added."""
    if not each.screened:
        return ""
    tried = len({effect.trial.setup[0].element for effect in each.screened})
    if not each.losing:
        return (
            f" None of {tried} elements loses it."
            if tried > 1
            else " The one element that was tried does not lose it."
        )
    ordered = sorted(each.losing, key=lambda trial: trial.held)
    return f" Of {tried} elements, lost with {named(each, ordered)}."


def what_makes_it_certain(each: FindingAttribution) -> str:
    """Say with what chance no longer decides, or with what it is shown most often."""
    if each.deciding:
        return f" Shown in nine of ten with {listed(each, each.deciding)}."
    if each.nearly:
        return (
            " No set-up shows it in nine of ten; most often it is shown with "
            f"{listed(each, each.nearly)}."
        )
    return ""


def listed(each: FindingAttribution, trials: Sequence[Trial]) -> str:
    """List set-ups with how often each shows a finding, the most first."""
    return named(each, sorted(trials, key=lambda trial: trial.held, reverse=True))


def named(each: FindingAttribution, trials: Sequence[Trial]) -> str:
    """List set-ups with how often each shows a finding."""
    return "; ".join(f"{setup_name(each, trial)} ({evidence(each, trial)})" for trial in trials)


def setup_name(each: FindingAttribution, trial: Trial) -> str:
    """Return the name of a set-up: the preset's own, or its elements."""
    is_preset = each.preset is not None and trial.setup == each.preset.setup
    return preset_of(each) if is_preset else name_of(trial.setup)


def evidence(each: FindingAttribution, trial: Trial) -> str:
    """Return ``9 of 10 fresh seeds``; of a rule of averages ``averages of 10 fresh seeds``."""
    seeds = "seeds" if trial is each.preset else "fresh seeds"
    if trial.averages is None:
        return f"{trial.count} {seeds}"
    return f"averages of {len(trial.results)} {seeds}"


def preset_count(each: FindingAttribution) -> str:
    """Say in how many seeds the preset shows it."""
    return f"; with {preset_of(each)} in {each.preset.count}" if each.preset else ""


def under_preset(each: FindingAttribution) -> str:
    """Say whether the preset shows a finding too."""
    if each.preset is None:
        return ""
    is_shown = each.preset.outcome is Outcome.SHOWN
    if each.preset.averages is not None:
        return f"; with {preset_of(each)} {'too' if is_shown else 'not'}"
    why = [effect.name for effect in each.without if effect.trial.outcome is Outcome.SHOWN]
    because = f", and in nine of ten or more {'; or '.join(why)}" if why else ""
    return f"{preset_count(each)}{'' if is_shown else because}"


def not_shown(each: FindingAttribution) -> str:
    """Say what was tried."""
    if each.question is None:
        return "Not shown, and no apparatus could be why: it is about a model or a list of devices."
    tried = dict.fromkeys(effect.trial.setup[0].element for effect in each.screened)
    if not tried:
        return "Not shown, and no candidate is known."
    if each.nearly:
        return (
            "Not shown, and with no candidate in nine of ten seeds; but more often with "
            f"{listed(each, each.nearly)}."
        )
    if len(tried) == 1:
        return f"Not shown, nor with the only candidate: {', '.join(tried)}."
    return f"Not shown, whichever of {len(tried)} candidates is added: {', '.join(tried)}."
