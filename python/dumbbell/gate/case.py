"""A case of a suite: a scenario with placeholders, and what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from dumbbell.base.errors import DumbbellError, GateError, nearest
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.subject import (
    OTHERS,
    QUEUE_UNDER_TEST,
    RUN,
    UNDER_TEST,
    Measure,
    ratio_subject,
    subjects_of_groups,
)
from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics import AllMetrics, Warmup
from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.file import build_link
from dumbbell.scenario.traffic import BULK, TrafficChoice
from dumbbell.sweeps.design import make_design

__all__ = ["ANY_SUBJECT", "Case", "ComparedMetric", "Observed", "Subject", "is_under_test"]


class Subject(NamedTuple):
    """What is put in the places of a suite's placeholders.

    Attributes
    ----------
    cc
        The congestion control algorithm under test; empty where a suite has none.
    qdisc
        The queue discipline under test; empty where a suite has none.
    """

    cc: str = ""
    qdisc: str = ""


class Observed(NamedTuple):
    """A group or the run, and a metric: ``("{cc}", "goodput_bps")``, ``("", "jain")``."""

    subject: str
    metric: str


#: The key of a group that is a program, and what its values are named after.
CLIENT, PROGRAM = "client", "program"
#: Put in the places of placeholders while a suite is read.
ANY_SUBJECT = Subject("reno", "bfifo")


@dataclass(frozen=True)
class ComparedMetric:
    """A metric that is compared with the baseline's.

    Attributes
    ----------
    measure
        Which metric, and of which groups.
    tolerance
        How much worse it may become.
    """

    measure: Measure
    tolerance: Tolerance


@dataclass(frozen=True)
class Case:
    """A scenario with placeholders for what is under test, over its axes.

    Attributes
    ----------
    name, why
        Its name, and what it is for.
    words
        The scenario's own keys, as a scenario file has them.
    groups
        The keys of each group; the cc ``{cc}`` is the one under test.
    links
        The keys of each link; none for a dumbbell.
    axes
        Values by field, as a sweep's.
    reps
        Repetitions of each cell, each with the next seed.
    warmup
        What metrics leave out of the start of a run.
    compared, criteria
        What is compared with a baseline, and what is required of anything under test.
    needs
        What the case needs that this version does not have; empty if it can be run.
    reference
        What the reference has in place of the case's own: ``cc``, ``qdisc``, or a key of the
        scenario. Empty for a case without.
    """

    name: str
    why: str
    words: Mapping[str, Any]
    groups: Sequence[Mapping[str, Any]]
    axes: Mapping[str, Any]
    reps: int
    warmup: Warmup | None
    compared: tuple[ComparedMetric, ...]
    criteria: tuple[Criterion, ...]
    needs: str = ""
    links: Sequence[Mapping[str, Any]] = ()
    reference: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tests_cc(self) -> bool:
        """Whether a congestion control algorithm is under test."""
        return any(is_under_test(group) for group in self.groups)

    @property
    def tests_queue(self) -> bool:
        """Whether a queue discipline is under test."""
        queues = [self.words.get("queue"), *(link.get("queue") for link in self.links)]
        return QUEUE_UNDER_TEST in queues

    @property
    def tests_program(self) -> bool:
        """Whether programs are under test: those of a case that tests nothing else."""
        has_program = any(CLIENT in group for group in self.groups)
        return has_program and not self.tests_cc and not self.tests_queue

    @cached_property
    def subjects(self) -> list[str]:
        """Names of the groups' values: ``{cc}``, ``cubic``; ``others`` if an axis sets them."""
        named = not any(axis.rpartition(".")[2] == "cc" for axis in self.axes)
        return subjects_of_groups(
            [name_of(group) if named or is_under_test(group) else OTHERS for group in self.groups]
        )

    @property
    def measuring(self) -> AllMetrics:
        """What is measured of each run, and its parts that are measured by themselves."""
        phases = (str(measure.phase) for measure in self.measures if measure.phase is not None)
        warmup = None if self.warmup is None else str(self.warmup)
        return AllMetrics(warmup, tuple(dict.fromkeys(phases)))

    @cached_property
    def measures(self) -> list[Measure]:
        """Every measure that is compared or required, each once."""
        return list({str(measure): measure for measure, _ in self.asked}.values())

    @property
    def asked(self) -> list[tuple[Measure, str]]:
        """Every measure, with the key of the file that asks for it."""
        return [
            *((compared.measure, str(compared.measure)) for compared in self.compared),
            *((criterion.measure, "require") for criterion in self.criteria),
        ]

    def observed_of(self, measure: Measure) -> list[Observed]:
        """Return the values that a measure asks for."""
        if not measure.metric.of_groups:
            return [Observed(RUN, measure.column)]
        named = [self.subjects[index] for index in measure.groups]
        if measure.is_ratio:
            return [Observed(ratio_subject(*named), measure.column)]
        if not named:
            named = [s for s in self.subjects if self._is_other(s) == measure.of_others]
        return [Observed(subject, measure.column) for subject in named]

    def _is_other(self, subject: str) -> bool:
        """Whether a group is not under test; all are where only a queue discipline is."""
        tested = UNDER_TEST if self.tests_cc else PROGRAM if self.tests_program else ""
        return not subject.startswith(tested)

    def cells(self, cc: str | Subject) -> list[tuple[str, Scenario]]:
        """Return each cell's label and its scenario with the first seed.

        Parameters
        ----------
        cc
            What is under test; text is a congestion control algorithm.

        Raises
        ------
        ScenarioError
            The scenario is invalid, with what is under test or at all.
        """
        points = make_design(self.scenario_of(subject_of(cc)), self.axes).points
        return [(cell.label, scenario) for cell, scenario in points]

    def reference_cells(self, cc: str | Subject) -> list[tuple[str, Scenario]]:
        """Return each cell's label and the scenario of its reference; nothing without one.

        Parameters
        ----------
        cc
            What is under test; text is a congestion control algorithm.
        """
        if not self.reference:
            return []
        subject = subject_of(cc)
        own = {key: value for key, value in self.reference.items() if key not in Subject._fields}
        case = replace(self, words={**self.words, **own}, reference={})
        placed = subject._replace(
            **{key: str(value) for key, value in self.reference.items() if key not in own}
        )
        cells = make_design(self.scenario_of(subject), self.axes).cells
        references = []
        for cell in cells:
            axes = {name: [value] for name, value in cell.values.items() if name not in own}
            ((_, scenario),) = make_design(case.scenario_of(placed), axes).points
            references.append((cell.label, scenario))
        return references

    def scenario_of(self, subject: Subject) -> Scenario:
        """Return the scenario that the axes change."""
        groups = []
        for index, words in enumerate(self.groups):
            cc = {"cc": subject.cc} if is_under_test(words) else {}
            try:
                groups.append(Group(**{**words, **cc}))
            except DumbbellError as error:
                if hasattr(error, "group"):
                    error.group = index
                raise
        links = [
            build_link(at, with_queue(link, subject.qdisc)) for at, link in enumerate(self.links)
        ]
        words = with_queue(self.words, subject.qdisc)
        return Scenario(groups, links=links, **{"name": self.name, **words})

    def check(self) -> None:
        """Check what holds for anything under test.

        Raises
        ------
        DumbbellError
            The scenario or its axes are invalid, or no group has a measure.
        """
        cells = self.cells(ANY_SUBJECT)
        check_run_count(len(cells), self.reps)
        for _, scenario in cells:
            if self.warmup is not None:
                self.warmup.check(scenario)
            for measure in self.measures:
                if measure.phase is not None:
                    measure.phase.check(scenario)
        self._check_links(cells[0][1])
        if not (self.tests_cc or self.tests_queue or self.tests_program):
            raise GateError(
                f'no group is under test; write `cc = "{UNDER_TEST}"` in one, '
                f'`queue = "{QUEUE_UNDER_TEST}"`, or a program, `{CLIENT} = "./download.sh"`'
            )
        for measure, key in self.asked:
            self._check_groups(measure, key)
        self._check_reference()

    def _check_groups(self, measure: Measure, key: str) -> None:
        """Refuse a measure of groups that the case does not have."""
        if measure.of_others and not any(map(self._is_other, self.subjects)):
            raise GateError(
                f"`{measure}`: the case has no other group; add a `[[case.group]]`", key=key
            )
        for index in measure.groups:
            if index >= len(self.groups):
                raise GateError(
                    f"`{measure}`: the case has no group {index}; its first group is 0, its last "
                    f"{len(self.groups) - 1}",
                    key=key,
                )

    def _check_reference(self) -> None:
        """Refuse a reference that changes nothing, and a bound by one that is not there."""
        for criterion in self.criteria:
            if criterion.of_reference is not None and not self.reference:
                raise GateError(
                    f"`{criterion.measure}`: the case has no reference; write "
                    '`reference = { qdisc = "bfifo" }`',
                    key="require",
                )
        for key, tests in (("cc", self.tests_cc), ("qdisc", self.tests_queue)):
            if key in self.reference and not tests:
                raise GateError(f"the reference sets `{key}`, but the case has no `{{{key}}}`",
                                key="reference")  # fmt: skip
        try:
            self.reference_cells(ANY_SUBJECT)
        except DumbbellError as error:
            raise GateError(f"reference: {error}", key="reference") from None

    def _check_links(self, scenario: Scenario) -> None:
        """Refuse measures of links that the scenario does not have."""
        names = [link.name for link in scenario.links]
        for measure in self.measures:
            if measure.metric.link and measure.metric.link not in names:
                raise GateError(
                    f"`{measure}`: the case has no link `{measure.metric.link}`"
                    f"{nearest(measure.metric.link, names)}",
                    key="require",
                )


def subject_of(cc: str | Subject) -> Subject:
    """Return what is under test; text is a congestion control algorithm."""
    return cc if isinstance(cc, Subject) else Subject(cc, ANY_SUBJECT.qdisc)


def with_queue(words: Mapping[str, Any], qdisc: str) -> dict[str, Any]:
    """Return the keys of a scenario or link with the queue discipline under test."""
    return {**words, **({"queue": qdisc} if words.get("queue") == QUEUE_UNDER_TEST else {})}


def name_of(group: Mapping[str, Any]) -> str:
    """Return what a group's values are named after: its cc, its traffic, or a program."""
    if CLIENT in group:
        return PROGRAM
    traffic = TrafficChoice.parse(group.get("traffic", BULK))
    has_none = traffic.declaration.sends_datagrams and not is_under_test(group)
    return traffic.name if has_none else str(group["cc"])


def is_under_test(group: Mapping[str, Any]) -> bool:
    """Whether a group runs the congestion control algorithm under test."""
    return str(group.get("cc")) == UNDER_TEST
