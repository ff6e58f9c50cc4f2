"""What a model says of flows that it has not seen, counted: confusion and reliability."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dumbbell.identify import Opinion

__all__ = ["Outcome", "outcome_of"]

#: Edges of the classes of probability in a reliability table.
EDGES = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """Counts of answers.

    Attributes
    ----------
    flows
        How many.
    right, unknown, wrong
        Named rightly, not named, named wrongly.
    best_right
        Whose most likely algorithm was the right one, whether named or not.
    confusion
        (algorithm, answer): flows.
    reliability
        For each class of the most likely algorithm's probability: its ends, flows, the mean
        probability, and the share that was right.
    """

    flows: int
    right: int
    unknown: int
    wrong: int
    best_right: int
    confusion: Counter[tuple[str, str]]
    reliability: list[tuple[float, float, int, float, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as the notes' data have it."""
        return {
            "flows": self.flows,
            "right": self.right,
            "unknown": self.unknown,
            "wrong": self.wrong,
            "best_right": self.best_right,
            "confusion": [
                {"algorithm": name, "answer": answer, "flows": count}
                for (name, answer), count in sorted(self.confusion.items())
            ],
            "reliability": [
                {"from": low, "to": high, "flows": count, "probability": mean, "right": share}
                for low, high, count, mean, share in self.reliability
            ],
        }

    def __str__(self) -> str:
        share = 100 / max(self.flows, 1)
        return (
            f"{self.flows} flows: {self.right * share:.1f} % right, {self.unknown * share:.1f} % "
            f"unknown, {self.wrong * share:.1f} % wrong; most likely is right in "
            f"{self.best_right * share:.1f} %"
        )


def outcome_of(labels: Sequence[str], opinions: Sequence[Opinion]) -> Outcome:
    """Count answers.

    Parameters
    ----------
    labels
        What each flow's algorithm is.
    opinions
        What was said of it.
    """
    answers = [opinion.algorithm or UNKNOWN for opinion in opinions]
    best = [opinion.chances[0] for opinion in opinions]
    reliability = []
    for low, high in pairwise(EDGES):
        inside = [
            (chance, name == label)
            for label, (name, chance) in zip(labels, best, strict=True)
            if low <= chance < high or (high == 1.0 and chance >= high)
        ]
        if inside:
            mean = sum(chance for chance, _ in inside) / len(inside)
            share = sum(is_right for _, is_right in inside) / len(inside)
            reliability.append((low, high, len(inside), mean, share))
    right = sum(answer == label for answer, label in zip(answers, labels, strict=True))
    unknown = answers.count(UNKNOWN)
    return Outcome(
        flows=len(labels),
        right=right,
        unknown=unknown,
        wrong=len(labels) - right - unknown,
        best_right=sum(name == label for label, (name, _) in zip(labels, best, strict=True)),
        confusion=Counter(zip(labels, answers, strict=True)),
        reliability=reliability,
    )
