"""A finding's rule in one set-up over all seeds, and what adding an element changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.statistics import (
    Difference,
    Interval,
    holm,
    mcnemar,
    paired_difference,
    paired_newcombe,
    wilson,
)
from dumbbell_studies.papers.apparatus import is_control, is_part
from dumbbell_studies.papers.apparatus_element import Setup, name_of
from dumbbell_studies.papers.finding import Outcome, evaluate, outcome_of
from dumbbell_studies.papers.question import Question
from dumbbell_studies.papers.trials import Trials

__all__ = ["SIGNIFICANT", "Effect", "Trial", "compare", "settle", "significant", "significant_of"]

#: Of the test whether an element matters, over all that are tried on a finding (Holm).
SIGNIFICANT = 0.05
#: A finding's question in a set-up.
Asked = tuple[Question[Any, Any], Setup]


@dataclass(frozen=True)
class Trial:
    """A finding's rule in one set-up.

    Attributes
    ----------
    setup
        What is added to the plain set-up.
    seeds
        The seeds of the runs.
    results
        Of each seed whether its runs show the finding.
    averages
        Whether the averages over the seeds show it, if the rule is of these.
    values
        Of each of the question's quantities its value for each seed.
    """

    setup: Setup
    seeds: tuple[int, ...]
    results: tuple[bool, ...]
    averages: bool | None
    values: tuple[tuple[float, ...], ...]

    @property
    def held(self) -> int:
        """In how many seeds it is shown."""
        return sum(self.results)

    @property
    def outcome(self) -> Outcome:
        """What the seeds, or their averages, amount to."""
        if self.averages is None:
            return outcome_of(self.results)
        return Outcome.SHOWN if self.averages else Outcome.NOT_SHOWN

    @property
    def count(self) -> str:
        """Return ``9 of 10``; of a rule of averages what these show."""
        of = len(self.results)
        if self.averages is None:
            return f"{self.held} of {of}"
        return f"averages of {of} seeds: {self.outcome}"

    @property
    def share(self) -> Interval:
        """Share of seeds that show it, with its interval."""
        return wilson(self.held, len(self.results))

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        document = {
            "setup": name_of(self.setup),
            "outcome": str(self.outcome),
            "shown_in": self.held,
            "of": len(self.results),
            "values": [list(row) for row in self.values],
        }
        return document if self.averages is None else {**document, "averages": self.averages}


@dataclass(frozen=True)
class Effect:
    """What one set-up changes against another.

    Attributes
    ----------
    name
        Of what is added, or removed.
    trial
        With the change.
    share
        Change of the share of seeds that show the finding, with its interval over pairs of the
        same seed.
    share_p
        Two-sided, of its being chance: McNemar's exact test over the same pairs.
    changes
        Of each quantity its change, over pairs of the same seed.
    """

    name: str
    trial: Trial
    share: Interval
    share_p: float
    changes: tuple[Difference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "name": self.name,
            **self.trial.to_dict(),
            "share_change": self.share.to_dict(),
            "share_p": self.share_p,
            "changes": [change.to_dict() for change in self.changes],
        }


def settle(
    trials: Trials[Any, Any], asked: Iterable[Asked], seeds: Sequence[int]
) -> dict[tuple[str, Setup], Trial]:
    """Answer questions in set-ups.

    First the runs at the points that can refute a finding, then, one by one, those at the others
    for the seeds that are not refuted yet. A rule of averages needs all of them.

    Returns
    -------
    dict
        By the finding's id and the set-up.
    """
    asked = list(dict.fromkeys(asked))
    trials.run((s, point, seed) for q, s in asked for point in q.first for seed in seeds)
    averaged = [(q, s) for q, s in asked if q.average is not None]
    trials.run((s, point, seed) for q, s in averaged for point in q.points for seed in seeds)
    is_open = [(q, s, q.first, seed) for q, s in asked if q.average is None for seed in seeds]
    while is_open:
        is_open = [
            (q, s, more, seed)
            for q, s, points, seed in is_open
            if (more := next_points(q, points))
            and q.shown(trials.of_seed(s, points, seed)) is not False
        ]
        trials.run((s, points[-1], seed) for _, s, points, seed in is_open)
    answers = {}
    for q, s in asked:
        results = tuple(is_shown(trials, q, s, seed) for seed in seeds)
        averages = None
        if q.average is not None:
            seen = q.average([trials.of_seed(s, q.points, seed) for seed in seeds])
            averages = evaluate(q.rule(seen)) is True
        values = tuple(
            tuple(quantity.of(trials.of_seed(s, q.first, seed)) for seed in seeds)
            for quantity in q.quantities
        )
        answers[q.finding, s] = Trial(s, tuple(seeds), results, averages, values)
    return answers


def next_points(question: Question[Any, Any], points: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return points and the next of the question's; empty after the last."""
    rest = [point for point in question.points if point not in points]
    return (*points, rest[0]) if rest else ()


def is_shown(
    trials: Trials[Any, Any], question: Question[Any, Any], setup: Setup, seed: int
) -> bool:
    """Whether a seed shows a finding, by all points that it ran at."""
    ran = [point for point in question.points if trials.has((setup, point, seed))]
    return question.shown(trials.of_seed(setup, ran, seed)) is True


def compare(name: str, base: Trial, trial: Trial) -> Effect:
    """Return what a trial changes against a base."""
    return Effect(
        name,
        trial,
        paired_newcombe(base.results, trial.results),
        mcnemar(base.results, trial.results),
        tuple(
            paired_difference(before, after)
            for before, after in zip(base.values, trial.values, strict=True)
        ),
    )


def significant(screened: Sequence[Effect]) -> list[Effect]:
    """Return the effects that are not chance, in the share of seeds or in the main quantity.

    The tests of each kind are a family. Neither what the paper's apparatus cannot have had nor
    parts of an element are in it.
    """
    tested = [e for e in screened if not is_control(e.trial.setup) and not is_part(e.trial.setup)]
    families = (
        [effect.share_p for effect in tested],
        [effect.changes[0].p if effect.changes else None for effect in tested],
    )
    found = {at for p_values in families for at in significant_of(p_values)}
    return [effect for at, effect in enumerate(tested) if at in found]


def significant_of(p_values: Sequence[float | None]) -> list[int]:
    """Return which p values of a family are significant; None was not tested."""
    tested = [(at, p) for at, p in enumerate(p_values) if p is not None]
    adjusted = holm([p for _, p in tested])
    return [at for (at, _), p in zip(tested, adjusted, strict=True) if p < SIGNIFICANT]
