"""What a finding depends on: the conclusion from its trials, and the sentence that says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dumbbell.papers.apparatus import is_control
from dumbbell.papers.element import name_of
from dumbbell.papers.factorial_trial import Factorial
from dumbbell.papers.finding import Finding, Outcome
from dumbbell.papers.question import Question
from dumbbell.papers.trial import Effect, Trial, significant
from dumbbell.statistics import newcombe

__all__ = ["Conclusion", "FindingAttribution"]

#: Set-ups in a sentence.
MOST_NAMED = 3


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
    on_kernel
        What the kernel's runs show; None if none ran.
    preset_name
        Name of the paper's preset; empty if there is none.
    """

    finding: Finding
    question: Question[Any, Any] | None = None
    plain: Trial | None = None
    preset: Trial | None = None
    screened: tuple[Effect, ...] = ()
    without: tuple[Effect, ...] = ()
    factorial: Factorial | None = None
    together: tuple[Trial, ...] = ()
    on_kernel: Outcome | None = None
    preset_name: str = ""

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
    def losing(self) -> tuple[Trial, ...]:
        """The set-ups that lose a finding which the plain set-up shows."""
        if self.outcome is not Outcome.SHOWN:
            return ()
        trials = [effect.trial for effect in self.screened]
        return tuple(
            trial
            for trial in trials
            if trial.outcome is not Outcome.SHOWN and not is_control(trial.setup)
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
        if self.outcome is Outcome.BY_CHANCE:
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
            "preset": None if self.preset is None else self.preset.to_dict(),
            "screened": [effect.to_dict() for effect in self.screened],
            "without": [effect.to_dict() for effect in self.without],
            "factorial": None if self.factorial is None else self.factorial.to_dict(),
            "together": [trial.to_dict() for trial in self.together],
        }


def decides(trial: Trial) -> bool:
    """Whether a set-up that the paper may have had shows a finding in nine of ten seeds."""
    return trial.is_certain and not is_control(trial.setup)


def describe(each: FindingAttribution) -> str:
    """Return what a finding depends on in a sentence."""
    count = f"{each.finding.count} repetitions of " if each.finding.count else ""
    plain = f"in {count}the plain set-up"
    match each.conclusion:
        case Conclusion.BOTH:
            return f"Shown {plain}, and on the kernel."
        case Conclusion.SIMULATED | Conclusion.LOST:
            return f"Shown {plain}{under_preset(each)}.{what_loses_it(each)}"
        case Conclusion.APPARATUS:
            caveat = "" if each.question is None else each.question.caveat
            return (
                f"Depends on the apparatus: shown with {listed(each, each.deciding)}; "
                f"{plain if count else f'not {plain}'}.{caveat and f' {caveat}'}"
            )
        case Conclusion.CHANCE:
            if each.outcome is Outcome.NOT_SHOWN:
                whole = f", with {preset_of(each)} in {each.preset.count}" if each.preset else ""
                return (
                    f"Chance decides with the apparatus: shown {plain}{whole}."
                    f"{what_makes_it_certain(each)}"
                )
            return f"Chance decides: shown {plain}{in_base(each)}.{what_makes_it_certain(each)}"
        case _:
            return not_shown(each)


def preset_of(each: FindingAttribution) -> str:
    """Return the name of the preset as a sentence has it."""
    return f"`{each.preset_name}`" if each.preset_name else "the preset"


def in_base(each: FindingAttribution) -> str:
    """Say how often it is shown in those plain runs to which elements are added."""
    if each.question is None or each.plain is None or not each.question.base:
        return ""
    return f"; of those {each.question.base}, to which elements are added, in {each.plain.count}"


def what_loses_it(each: FindingAttribution) -> str:
    """Say with what a shown finding is lost, if anything of the apparatus was added."""
    if not each.screened:
        return ""
    tried = len({effect.trial.setup[0].element for effect in each.screened})
    if not each.losing:
        return f" Shown with each of {tried} elements too."
    ordered = sorted(each.losing, key=lambda trial: trial.held)
    names = "; ".join(f"{name_of(trial.setup)} ({trial.count})" for trial in ordered)
    return f" Of {tried} elements, lost with {names}."


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
    """List the set-ups that show a finding most often, with how often each does."""
    ordered = sorted(trials, key=lambda trial: trial.held, reverse=True)[:MOST_NAMED]
    whole = None if each.preset is None else each.preset.setup
    names = "; ".join(
        f"{preset_of(each) if trial.setup == whole else name_of(trial.setup)} ({trial.count})"
        for trial in ordered
    )
    others = len(trials) - len(ordered)
    return f"{names}; and {others} more" if others else names


def under_preset(each: FindingAttribution) -> str:
    """Say whether the preset shows a finding too."""
    if each.preset is None:
        return ""
    why = [effect.name for effect in each.without if effect.trial.is_certain]
    because = f", and in nine of ten or more {'; or '.join(why)}" if why else ""
    is_shown = each.preset.outcome is Outcome.SHOWN
    return f"; with {preset_of(each)} in {each.preset.count}{'' if is_shown else because}"


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
    return f"Not shown, whichever of {len(tried)} candidates is added: {', '.join(tried)}."
