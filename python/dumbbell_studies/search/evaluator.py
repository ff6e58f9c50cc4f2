"""Runs candidates, each next to the reference on the same scenario and seeds, and scores them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from dumbbell.base.errors import ScenarioError
from dumbbell.compare import ReferencePair, Worst, compared
from dumbbell.runs import Execution
from dumbbell.scenario import Scenario
from dumbbell.scenario_space import Candidate, Plain

__all__ = ["Evaluator"]


@dataclass
class Evaluator:
    """Scores candidates: each is as bad as on the mildest of its seeds.

    Attributes
    ----------
    plain, worst
        What is searched for.
    seeds
        The same for all candidates. The first one alone decides whether the others run: a score is
        the least of all seeds', so none can be better than the first.
    how
        How runs are executed.
    """

    plain: Plain
    worst: Worst
    seeds: Sequence[int]
    how: Execution = field(default_factory=Execution)
    scores: dict[Candidate, float | None] = field(default_factory=dict)
    #: Candidates whose score is that of the first seed alone.
    begun: set[Candidate] = field(default_factory=set)
    evaluations: int = 0
    runs: int = 0
    faults: dict[str, int] = field(default_factory=dict)

    def rank(self, candidates: Iterable[Candidate], at_least: float) -> None:
        """Score candidates, as far as they have no score yet.

        Parameters
        ----------
        candidates
            What to run.
        at_least
            With less on the first seed, or not above 0, the other seeds do not run: the score is
            then that of the first, until a call asks for less.
        """
        listed = list(dict.fromkeys(candidates))
        new = [each for each in listed if each not in self.scores]
        self.evaluations += len(new)
        self.scores.update(self.on_seeds(new, self.seeds[:1]))
        if len(self.seeds) == 1:
            return
        self.begun.update(new)
        hopeful = [
            each
            for each in listed
            if each in self.begun
            and (score := self.scores[each]) is not None
            and score > 0
            and score >= at_least
        ]
        self.begun.difference_update(hopeful)
        for each, other in self.on_seeds(hopeful, self.seeds[1:]).items():
            score = self.scores[each]
            self.scores[each] = None if score is None or other is None else min(score, other)

    def on_seeds(
        self, candidates: Iterable[Candidate], seeds: Sequence[int]
    ) -> dict[Candidate, float | None]:
        """Return each candidate's least score on some seeds; None if one does not count."""
        listed = list(candidates)
        outcomes = self.outcomes(listed, seeds)
        found: dict[Candidate, float | None] = {}
        for each in listed:
            scores = [outcome.score(self.worst) for outcome in outcomes[each]]
            known = [score for score in scores if score is not None]
            found[each] = min(known) if known and len(known) == len(scores) else None
        return found

    def outcomes(
        self, candidates: Sequence[Candidate], seeds: Sequence[int]
    ) -> dict[Candidate, list[ReferencePair]]:
        """Run candidates on some seeds; one that cannot be run has no outcome."""
        pairs, owners = [], []
        for each in candidates:
            for seed in seeds:
                try:
                    pair = self.pair(each, seed)
                except ScenarioError:
                    break
                pairs.append(pair)
                owners.append(each)
        found: dict[Candidate, list[ReferencePair]] = {each: [] for each in candidates}
        self.runs += 2 * len(pairs)
        measured = compared(pairs, self.worst, **self.how)
        for each, outcome in zip(owners, measured, strict=True):
            found[each].append(outcome)
            if outcome.tested.fault:
                fault = outcome.tested.fault
                self.faults[fault] = self.faults.get(fault, 0) + 1
        return found

    def pair(self, candidate: Candidate, seed: int) -> tuple[Scenario, Scenario]:
        """Return a candidate's two scenarios."""
        return (
            candidate.scenario(self.plain, is_reference=False, seed=seed),
            candidate.scenario(self.plain, is_reference=True, seed=seed),
        )
