"""What was expected of an element of the apparatus, and how it ended: a record of November 2026."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from dumbbell_studies.papers.answers import answers

__all__ = ["Prediction", "Verdict", "predictions_on"]


class Verdict(StrEnum):
    """How a prediction ended."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class Prediction:
    """What was expected of an element, and how it ended.

    Attributes
    ----------
    id
        The finding's, a dot and a word: ``D3.sum``.
    text
        What was expected.
    measured_before
        Whether something of it had been measured, with the elements or with stand-ins for them,
        when it was written down. Then fresh seeds decided it.
    verdict
        How it ended.
    saw
        What was seen, or what was missing.
    """

    id: str
    text: str
    measured_before: bool
    verdict: Verdict
    saw: str

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "verdict": str(self.verdict)}


def predictions_on(finding: str) -> list[Prediction]:
    """Return the predictions on a finding, as `answers.json` has them."""
    return [
        Prediction(**{**each, "verdict": Verdict(each["verdict"])})
        for each in answers().get(finding, {}).get("predictions", ())
    ]
