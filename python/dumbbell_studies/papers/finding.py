"""A finding of a paper: the checks of its rule, and the outcome over repetitions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

__all__ = [
    "CheckSummary",
    "ClauseResult",
    "Finding",
    "Outcome",
    "Variation",
    "evaluate",
    "outcome_of",
    "summarize",
]

#: Both outcomes in more than this share of the repetitions: chance decides.
CHANCE = 0.1


class Outcome(StrEnum):
    """The outcome of an experiment's repetitions."""

    SHOWN = "shown"
    NOT_SHOWN = "not shown"
    BY_CHANCE = "undecided by chance"
    NOT_DECIDED = "not decided"


def outcome_of(results: Sequence[bool | None]) -> Outcome:
    """Return the outcome of an experiment's repetitions.

    Parameters
    ----------
    results
        For each repetition, whether it shows the finding; None if points that would decide it are
        missing.
    """
    total, failed = len(results), sum(result is False for result in results)
    if total == 0 or (None in results and total - failed > CHANCE * total):
        return Outcome.NOT_DECIDED
    held = sum(result is True for result in results)
    if min(held, failed) > CHANCE * total:
        return Outcome.BY_CHANCE
    return Outcome.SHOWN if held > failed else Outcome.NOT_SHOWN


@dataclass(frozen=True)
class ClauseResult:
    """One clause of a rule, applied to one repetition of an experiment.

    Attributes
    ----------
    expected
        What the rule expects: ``0.5 BDP: Copa's goodput above CUBIC's``.
    form, values
        What was seen: ``{:.1f} and {:.1f} Mbit/s``, and the numbers. NaN is written as `unknown`.
    holds
        Whether the numbers satisfy the clause; None if points that would decide it are missing.
    """

    expected: str
    form: str
    values: tuple[float, ...]
    holds: bool | None

    @property
    def seen(self) -> str:
        """What was seen, as text."""
        return write(self.form, self.values)


@dataclass(frozen=True)
class CheckSummary:
    """One clause of a rule over all repetitions.

    Attributes
    ----------
    expected
        What the rule expects.
    seen
        What was seen: means over the repetitions.
    results
        Of each repetition whether the clause holds; None if it cannot be decided.
    """

    expected: str
    seen: str
    results: tuple[bool | None, ...]

    @property
    def outcome(self) -> Outcome:
        """What the repetitions amount to."""
        return outcome_of(self.results)

    @property
    def held(self) -> int:
        """In how many repetitions the clause holds."""
        return sum(result is True for result in self.results)

    @property
    def text(self) -> str:
        """Return it as ``expected …, saw …``."""
        several = len(self.results) > 1 and self.outcome is not Outcome.NOT_DECIDED
        where = f" ({self.held} of {len(self.results)})" if several else ""
        return f"expected {self.expected}; saw {self.seen}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "expected": self.expected,
            "seen": self.seen,
            "outcome": str(self.outcome),
            "held_in": self.held,
            "of": len(self.results),
        }


Repetitions = Sequence[Sequence[ClauseResult]]


def evaluate(checks: Sequence[ClauseResult]) -> bool | None:
    """Return whether one repetition shows a finding: every clause must hold."""
    results = [check.holds for check in checks]
    if False in results or not results:
        return False
    return None if None in results else True


def summarize(repetitions: Repetitions) -> tuple[CheckSummary, ...]:
    """Return each clause over all repetitions of a rule."""
    return tuple(
        CheckSummary(
            same[0].expected,
            write(same[0].form, np.mean([check.values for check in same], axis=0)),
            tuple(check.holds for check in same),
        )
        for same in zip(*repetitions, strict=True)
    )


def write(form: str, values: Sequence[float] | np.ndarray) -> str:
    """Fill values into a form."""
    texts = [math.nan if value is None else float(value) for value in values]
    return form.format(*texts).replace("nan%", "unknown").replace("nan", "unknown")


@dataclass(frozen=True)
class Variation:
    """A finding's rule, applied to other conditions; it does not decide the finding.

    Attributes
    ----------
    conditions
        Which: ``all flows start within 5 s``.
    results
        Of each repetition whether it shows the finding.
    seen
        What was seen, in a line.
    """

    conditions: str
    results: tuple[bool | None, ...]
    seen: str = ""

    @property
    def outcome(self) -> Outcome:
        """What the repetitions amount to."""
        return outcome_of(self.results)

    @property
    def held(self) -> int:
        """How many repetitions show the finding."""
        return sum(result is True for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "conditions": self.conditions,
            "outcome": str(self.outcome),
            "shown_in": self.held,
            "of": len(self.results),
            "seen": self.seen,
        }


@dataclass(frozen=True)
class Finding:
    """A finding of the paper, checked.

    Attributes
    ----------
    id
        ``A1``.
    statement
        What the paper says.
    repetitions
        The rule's checks in each repetition of the experiment: as a rule, one for each seed.
    note
        A remark for the reader; it does not decide the finding.
    variations
        The same rule under other conditions; they do not decide the finding.
    """

    id: str
    statement: str
    repetitions: tuple[tuple[ClauseResult, ...], ...]
    note: str = ""
    variations: tuple[Variation, ...] = ()

    @property
    def results(self) -> tuple[bool | None, ...]:
        """Whether each repetition shows the finding."""
        return tuple(evaluate(checks) for checks in self.repetitions)

    @property
    def checks(self) -> tuple[CheckSummary, ...]:
        """The rule's clauses, each over all repetitions."""
        return summarize(self.repetitions)

    @property
    def outcome(self) -> Outcome:
        """What the repetitions amount to."""
        return outcome_of(self.results)

    @property
    def held(self) -> int:
        """How many repetitions show the finding."""
        return sum(result is True for result in self.results)

    @property
    def shown(self) -> bool:
        """Whether the finding is shown."""
        return self.outcome is Outcome.SHOWN

    @property
    def count(self) -> str:
        """Return ``9 of 10``; empty for a single repetition or where nothing can be counted."""
        if len(self.results) < 2 or self.outcome is Outcome.NOT_DECIDED:
            return ""
        return f"{self.held} of {len(self.results)}"

    @property
    def evidence(self) -> str:
        """What we see, in one line: first the clauses that do not hold."""
        failed = [check.text for check in self.checks if check.outcome is not Outcome.SHOWN]
        parts = failed or [check.text for check in self.checks]
        return "; ".join([*parts, self.note] if self.note else parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as `--json` has it."""
        return {
            "id": self.id,
            "statement": self.statement,
            "shown": self.shown,
            "outcome": str(self.outcome),
            "shown_in": self.held,
            "of": len(self.results),
            "evidence": self.evidence,
            "checks": [check.to_dict() for check in self.checks],
            "variations": [variation.to_dict() for variation in self.variations],
        }
