"""What a value of a suite is of: the run, the groups under test, or the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dumbbell.errors import GateError
from dumbbell.gate.metric_value import metric_named
from dumbbell.metrics import Metric

__all__ = ["OTHERS", "RUN", "UNDER_TEST", "Measure", "subjects_of_groups"]

#: In the place of a congestion control's name: the one that the gate is asked about.
UNDER_TEST = "{cc}"
#: Before a metric's name: of the groups that are not under test.
OTHERS = "others"
#: Of a metric that a run has one value of.
RUN = ""


class Measure:
    """A metric and of whom: ``jain``, ``goodput_bps`` (of what is tested), ``others.share``.

    Parameters
    ----------
    text
        As a suite writes it.

    Raises
    ------
    GateError
        There is no such metric, or it is not of groups.
    """

    def __init__(self, text: str) -> None:
        whose, dot, name = text.strip().rpartition(".")
        if dot and whose != OTHERS:
            raise GateError(f"`{text}`: before the point is `{whose}`; say `{OTHERS}.{name}`")
        self.metric: Metric = metric_named(name)
        self.of_others = bool(dot)
        if self.of_others and self.metric.per == "run":
            raise GateError(f"`{text}`: {name} is the whole run's; say `{name}`")

    def __str__(self) -> str:
        return f"{OTHERS}.{self.metric.name}" if self.of_others else self.metric.name

    def is_of(self, subject: str) -> bool:
        """Whether it is asked of a subject."""
        if self.metric.per == "run":
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
