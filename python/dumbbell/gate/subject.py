"""Whose a value of a suite is: the run's, a group's under test, or another group's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.errors import GateError
from dumbbell.metrics import Metric, metric_named
from dumbbell.metrics.metric import AT

__all__ = ["OTHERS", "RUN", "UNDER_TEST", "Measure", "subjects_of_groups"]

#: Placeholder for the congestion control under test.
UNDER_TEST = "{cc}"
#: Prefix of a metric's name: of the groups that are not under test.
OTHERS = "others"
#: The subject of a metric of the run.
RUN = ""


class Measure:
    """A metric and whose: ``jain``, ``goodput_bps`` (of the groups under test), ``others.share``.

    One of links is the bottleneck's, or with a link that link's: ``utilization@access``.

    Parameters
    ----------
    text
        As a suite file has it.

    Raises
    ------
    GateError
        There is no such metric, or groups do not have it.
    """

    def __init__(self, text: str) -> None:
        before, at, link = text.strip().partition(AT)
        whose, dot, name = before.rpartition(".")
        name += at + link
        if dot and whose != OTHERS:
            raise GateError(f"`{text}`: unknown prefix; use `{name}` or `{OTHERS}.{name}`")
        self.metric: Metric = metric_named(name, GateError)
        self.of_others = bool(dot)
        if self.of_others and not self.metric.of_groups:
            raise GateError(f"`{text}`: {name} is a metric of the run, not of groups; use `{name}`")

    def __str__(self) -> str:
        return f"{OTHERS}.{self.metric.name}" if self.of_others else self.metric.name

    def is_of(self, subject: str) -> bool:
        """Whether it applies to a subject."""
        if not self.metric.of_groups:
            return subject == RUN
        return subject != RUN and self.of_others != subject.startswith(UNDER_TEST)


def subjects_of_groups(ccs: Sequence[str]) -> list[str]:
    """Name the groups of a case by their congestion controls: ``{cc}``, ``cubic``, ``cubic/2``."""
    seen: Counter[str] = Counter()
    subjects = []
    for cc in ccs:
        seen[cc] += 1
        subjects.append(cc if seen[cc] == 1 else f"{cc}/{seen[cc]}")
    return subjects
