"""(mu + lambda) evolution of candidates: integers, structures, and no gradient anywhere.

Candidates differ in how many elements they have, and their numbers are integers on scales that
are not equidistant. `cmaes` adapts the covariance of a real vector of fixed length, which is not
what they are.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from dumbbell.scenario_space import Candidate, Space
from dumbbell_studies.search.evaluator import Evaluator
from dumbbell_studies.search.variation import crossed, drawn, mutated

__all__ = ["Evolution"]

#: Parents and offspring of a generation: the usual ratio is 5 to 7 (Beyer, Schwefel: "Evolution
#: strategies: a comprehensive introduction", Natural Computing 1, 2002); a batch of 24 pairs of
#: runs keeps some dozen cores busy.
PARENTS, OFFSPRING = 4, 24
#: Share of offspring of two parents, and of newly drawn ones.
CROSSED, NEW = 0.25, 0.1
#: Generations without a better candidate after which the parents are drawn again.
PATIENCE = 8
#: Scores that differ by less than this part of the least failure's count as equal: the candidate of
#: fewer elements is better then.
EQUAL = 0.08


@dataclass
class Evolution:
    """A search for the candidate with the highest score.

    Attributes
    ----------
    space
        Where.
    evaluator
        Scores candidates.
    source
        Of all choices.
    on_generation
        Called after each batch with the best candidate so far and its score.
    """

    space: Space
    evaluator: Evaluator
    source: random.Random
    on_generation: Callable[[Candidate | None, float], None] = lambda *_: None
    best: Candidate | None = None

    def run(self, is_over: Callable[[], bool]) -> None:
        """Search until it is over; that is asked between generations."""
        self.evaluator.rank([Candidate()], 0.0)
        parents = self.survivors([Candidate()])
        batch = [drawn(self.space, self.source) for _ in range(2 * OFFSPRING)]
        idle = 0
        while True:
            self.evaluator.rank(batch, self.bar(parents))
            parents = self.survivors([*parents, *batch])
            before = self.best_score
            self.keep_best(parents)
            idle = 0 if self.best_score > before + self.equal else idle + 1
            self.on_generation(self.best, self.best_score)
            if is_over():
                return
            if idle >= PATIENCE:
                parents, idle = [], 0
                batch = [drawn(self.space, self.source) for _ in range(2 * OFFSPRING)]
            else:
                batch = [self.child(parents) for _ in range(OFFSPRING)]

    @property
    def equal(self) -> float:
        """The difference below which scores count as equal."""
        return EQUAL * self.evaluator.worst.least

    @property
    def best_score(self) -> float:
        """The best candidate's; minus infinity while there is none."""
        score = None if self.best is None else self.evaluator.scores[self.best]
        return float("-inf") if score is None else score

    def score(self, candidate: Candidate) -> float:
        """Return a score; minus infinity for what does not count."""
        score = self.evaluator.scores.get(candidate)
        return float("-inf") if score is None else score

    def bar(self, parents: list[Candidate]) -> float:
        """Return the score below which a candidate will not survive."""
        return self.score(parents[-1]) if len(parents) >= PARENTS else 0.0

    def survivors(self, candidates: list[Candidate]) -> list[Candidate]:
        """Return the best, each once; of equal ones those of fewer elements."""
        counted = [each for each in dict.fromkeys(candidates) if self.score(each) > float("-inf")]
        counted.sort(key=self.rank_of)
        return counted[:PARENTS]

    def rank_of(self, candidate: Candidate) -> tuple[float, int, Candidate]:
        """Return what sorts the best first."""
        return -round(self.score(candidate) / self.equal), len(candidate.elements), candidate

    def keep_best(self, parents: list[Candidate]) -> None:
        """Remember the best of all generations."""
        known = [*parents, *([] if self.best is None else [self.best])]
        self.best = min(known, key=self.rank_of, default=None)

    def child(self, parents: list[Candidate]) -> Candidate:
        """Return a child of some parents."""
        how = self.source.random()
        if not parents or how < NEW:
            return drawn(self.space, self.source)
        one = self.source.choice(parents)
        if how < NEW + CROSSED:
            one = crossed(one, self.source.choice(parents), self.source)
        return mutated(one, self.space, self.source)
