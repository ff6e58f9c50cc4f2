"""A finding's rule in one set-up over all seeds, and what adding an element changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell.papers.element import Setup, name_of
from dumbbell.papers.finding import Outcome, evaluate, outcome_of
from dumbbell.papers.question import Question
from dumbbell.papers.trials import Trials
from dumbbell.statistics import (
    Difference,
    Interval,
    holm,
    mcnemar,
    newcombe,
    paired_difference,
    wilson,
)

__all__ = ["SIGNIFICANT", "Effect", "Trial", "compare", "settle", "significant"]

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
    def is_certain(self) -> bool:
        """Whether at least nine of ten seeds show it, and so do their averages, if asked for."""
        return self.averages is not False and outcome_of(self.results) is Outcome.SHOWN

    @property
    def count(self) -> str:
        """Return ``9 of 10``; of a rule of averages what these show."""
        count = f"{self.held} of {len(self.results)}"
        if self.averages is None:
            return count
        return f"{count} seeds, their averages {'too' if self.averages else 'not'}"

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
        Change of the share of seeds that show the finding, with its interval.
    share_p
        Two-sided, of its being chance: McNemar's exact test over pairs of the same seed.
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

    First the runs at the points that can refute a finding, then, for the seeds in which they do
    not, those at the others. A rule of averages needs all of them.

    Returns
    -------
    dict
        By the finding's id and the set-up.
    """
    asked = list(dict.fromkeys(asked))
    trials.run((s, point, seed) for q, s in asked for point in q.first for seed in seeds)
    first = {
        (q.finding, s, seed): q.shown(trials.of_seed(s, q.first, seed))
        for q, s in asked
        for seed in seeds
    }
    trials.run(
        (s, point, seed)
        for q, s in asked
        for seed in seeds
        if first[q.finding, s, seed] is not False or q.average is not None
        for point in q.points
    )
    answers = {}
    for q, s in asked:
        results = tuple(
            first[q.finding, s, seed] is not False
            and q.shown(trials.of_seed(s, q.points, seed)) is True
            for seed in seeds
        )
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


def compare(name: str, base: Trial, trial: Trial) -> Effect:
    """Return what a trial changes against a base."""
    return Effect(
        name,
        trial,
        newcombe(base.results, trial.results),
        mcnemar(base.results, trial.results),
        tuple(
            paired_difference(before, after)
            for before, after in zip(base.values, trial.values, strict=True)
        ),
    )


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
