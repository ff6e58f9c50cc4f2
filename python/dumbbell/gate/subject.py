"""The owner of a suite's value: the run, a group under test, or another group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dumbbell.base.errors import GateError, ScenarioError
from dumbbell.metrics import IN, Metric, Phase, metric_named
from dumbbell.metrics.metric import AT

__all__ = [
    "OTHERS", "QUEUE_UNDER_TEST", "RUN", "UNDER_TEST", "Measure", "ratio_subject",
    "subjects_of_groups",
]  # fmt: skip

#: Placeholder for the congestion control algorithm under test.
UNDER_TEST = "{cc}"
#: Placeholder for the queue discipline under test.
QUEUE_UNDER_TEST = "{qdisc}"
#: Prefix of a metric's name: of the groups that are not under test.
OTHERS = "others"
#: The subject of a metric of the run.
RUN = ""
#: Prefix of a metric's name: a group's index, or the two of a ratio.
INDICES = re.compile(r"(\d{1,5})(?:/(\d{1,5}))?", re.ASCII)


class Measure:
    """A metric, whose, and when.

    ``jain``; ``goodput_bps`` of the groups under test; ``others.share``; ``1.share`` of the group
    with that index; ``0/1.goodput_per_flow_bps``, the ratio of two groups'; of links the
    bottleneck's, or ``utilization@access``; ``goodput_bps in 20s..40s``, of that time alone.

    Parameters
    ----------
    text
        As a suite file has it.

    Attributes
    ----------
    of_others
        Whether it is of the groups that are not under test.
    groups
        Indices of one group, or of the two whose ratio it is; empty for all that are meant.
    phase
        The time that it is of; None for the run.

    Raises
    ------
    GateError
        There is no such metric, or groups do not have it.
    """

    def __init__(self, text: str) -> None:
        measured, during, phase = text.partition(IN)
        before, at, link = measured.strip().partition(AT)
        whose, dot, name = before.rpartition(".")
        name += at + link
        indices = INDICES.fullmatch(whose)
        if dot and whose != OTHERS and indices is None:
            raise GateError(
                f"`{text}`: unknown prefix; use `{name}`, `{OTHERS}.{name}`, or a group's index, "
                f"`1.{name}`"
            )
        metric: Metric = metric_named(name, GateError)
        self.of_others = whose == OTHERS
        self.groups = tuple(int(index) for index in indices.groups() if index) if indices else ()
        self._whose = f"{whose}." if dot else ""
        if dot and not metric.of_groups:
            raise GateError(f"`{text}`: {name} is a metric of the run, not of groups; use `{name}`")
        try:
            self.phase = Phase.parse(phase) if during else None
        except ScenarioError as error:
            raise GateError(f"`{text}`: {error}") from None
        #: Its key in rows of metrics.
        self.column = metric.name if self.phase is None else f"{metric.name}{IN}{self.phase}"
        self.source = metric
        if self.is_ratio:
            metric = replace(metric, unit="1", better=None, shown_unit="", scale=1.0)
        if self.phase is not None:
            metric = replace(metric, title=f"{metric.title}, {self.phase}")
        self.metric = metric

    def __str__(self) -> str:
        return self._whose + self.column

    @property
    def is_ratio(self) -> bool:
        """Whether it is the ratio of two groups' values."""
        return len(self.groups) == 2

    @property
    def is_plain(self) -> bool:
        """Whether it is of the whole run, and of the groups under test or of the others."""
        return self.phase is None and not self.groups


def ratio_subject(first: str, second: str) -> str:
    """Name the ratio of two groups."""
    return f"{first} : {second}"


def subjects_of_groups(ccs: Sequence[str]) -> list[str]:
    """Name the groups of a case by their CCAs: ``{cc}``, ``cubic``, ``cubic/2``."""
    seen: Counter[str] = Counter()
    subjects = []
    for cc in ccs:
        seen[cc] += 1
        subjects.append(cc if seen[cc] == 1 else f"{cc}/{seen[cc]}")
    return subjects
