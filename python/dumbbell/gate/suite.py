"""A suite: cases in which a congestion control is run, and what is expected of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dumbbell.errors import DumbbellError, GateError, nearest
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.subject import OTHERS, UNDER_TEST, Measure, subjects_of_groups
from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics import Warmup
from dumbbell.quantities.excerpt import excerpt
from dumbbell.runs.run_count import check_run_count
from dumbbell.scenario import Group, Scenario
from dumbbell.scenario.fields import Shorthand, fields_of
from dumbbell.scenario.file import build_link
from dumbbell.scenario.traffic import BULK, TrafficChoice
from dumbbell.sweeps.design import make_design

__all__ = ["MAX_REPS", "MIN_REPS", "Case", "ComparedMetric", "Suite"]

#: Most repetitions of a case.
MAX_REPS = 10_000
#: Fewer repetitions cannot distinguish a difference from chance.
MIN_REPS = 3
#: Used as the congestion control under test while a suite is read.
ANY_CC = "reno"


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
    """A scenario with a placeholder for the congestion control under test, over its axes.

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
        What is compared with a baseline, and what is required of any congestion control.
    needs
        What the case needs that this version does not have; empty if it can be run.
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

    @cached_property
    def subjects(self) -> list[str]:
        """Names of the groups' values: ``{cc}``, ``cubic``; ``others`` if an axis sets them."""
        named = not any(axis.rpartition(".")[2] == "cc" for axis in self.axes)
        return subjects_of_groups(
            [name_of(group) if named or is_under_test(group) else OTHERS for group in self.groups]
        )

    @property
    def warmup_text(self) -> str | None:
        """The warm-up as text; None without one."""
        return None if self.warmup is None else str(self.warmup)

    @cached_property
    def measures(self) -> list[Measure]:
        """Every measure that is compared or required, each once."""
        all_of_them = [
            *(compared.measure for compared in self.compared),
            *(criterion.measure for criterion in self.criteria),
        ]
        return list({str(measure): measure for measure in all_of_them}.values())

    def cells(self, cc: str) -> list[tuple[str, Scenario]]:
        """Return each cell's label and its scenario with the first seed.

        Parameters
        ----------
        cc
            The congestion control under test.

        Raises
        ------
        ScenarioError
            The scenario is invalid, with this congestion control or at all.
        """
        groups = []
        for index, words in enumerate(self.groups):
            try:
                groups.append(Group(**{**words, "cc": cc if is_under_test(words) else words["cc"]}))
            except DumbbellError as error:
                if hasattr(error, "group"):
                    error.group = index
                raise
        links = [build_link(*at) for at in enumerate(self.links)]
        scenario = Scenario(groups, links=links, **{"name": self.name, **self.words})
        points = make_design(scenario, self.axes).points
        return [(cell.label, scenario) for cell, scenario in points]

    def check(self) -> None:
        """Check what holds for any congestion control.

        Raises
        ------
        DumbbellError
            The scenario or its axes are invalid, or no group has a measure.
        """
        cells = self.cells(ANY_CC)
        check_run_count(len(cells), self.reps)
        if self.warmup is not None:
            for _, scenario in cells:
                self.warmup.check(scenario)
        self._check_links(cells[0][1])
        if not any(is_under_test(group) for group in self.groups):
            raise GateError(f'no group is under test; write `cc = "{UNDER_TEST}"` in one')
        if all(is_under_test(group) for group in self.groups):
            asked = [(compared.measure, str(compared.measure)) for compared in self.compared]
            asked += [(criterion.measure, "require") for criterion in self.criteria]
            for measure, key in asked:
                if measure.of_others:
                    raise GateError(
                        f"`{measure}`: the case has no other group; add a `[[case.group]]`",
                        key=key,
                    )

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


@dataclass(frozen=True)
class Suite:
    """Cases that belong together.

    Attributes
    ----------
    name
        Name of its file, without the extension.
    title, source
        What it is, and the source of its cases.
    cases
        In the file's order.
    seed
        Of each cell's first repetition.
    document
        The suite as read, with its scenario files: what a baseline keeps.
    """

    name: str
    title: str
    source: str
    cases: tuple[Case, ...]
    seed: int
    document: Mapping[str, Any]

    def of_cases(self, names: Sequence[str]) -> Suite:
        """Return the suite with only some of its cases.

        Raises
        ------
        GateError
            It has no such case.
        """
        known = [case.name for case in self.cases]
        for name in names:
            if name not in known:
                listed = ", ".join(f"`{case}`" for case in known)
                raise GateError(f"suite `{self.name}` has no case `{name}`; known: {listed}")
        return replace(
            self,
            cases=tuple(case for case in self.cases if case.name in names),
            document={
                **self.document,
                "case": [case for case in self.document["case"] if case["name"] in names],
            },
        )

    def with_reps(self, reps: int) -> Suite:
        """Return the suite with another number of repetitions of every cell.

        Raises
        ------
        GateError
            That is too few for a comparison.
        """
        if reps < MIN_REPS:
            raise GateError(f"reps is {reps}; a comparison needs at least {MIN_REPS}")
        if reps > MAX_REPS:
            raise GateError(f"reps is {excerpt(reps)}; use at most {MAX_REPS}")
        return replace(
            self,
            cases=tuple(replace(case, reps=reps) for case in self.cases),
            document={
                **self.document,
                "case": [{**case, "reps": reps} for case in self.document["case"]],
            },
        )

    def with_fields(self, values: Mapping[str, Any]) -> Suite:
        """Return the suite with fields of its scenarios set in every case.

        Parameters
        ----------
        values
            By field; those of groups are set in every group.

        Raises
        ------
        DumbbellError
            A case varies the field, or cannot have the value.
        """
        own = {name: value for name, value in values.items() if name in fields_of(Scenario)}
        of_link = [name for name in own if isinstance(fields_of(Scenario)[name], Shorthand)]
        of_groups = {name: value for name, value in values.items() if name not in own}
        for case in self.cases:
            if case.links and of_link:
                raise GateError(
                    f"`{of_link[0]}` cannot be set: case `{case.name}` has links of its own"
                )
            for name in values:
                if name in {axis.rpartition(".")[2] for axis in case.axes}:
                    raise GateError(f"`{name}` cannot be set: case `{case.name}` varies it")

        def changed(groups: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
            return [{**group, **of_groups} for group in groups]

        suite = replace(
            self,
            cases=tuple(
                replace(case, words={**case.words, **own}, groups=tuple(changed(case.groups)))
                for case in self.cases
            ),
            document={
                **self.document,
                "case": [
                    case | own | ({"group": changed(case["group"])} if "group" in case else {})
                    for case in self.document["case"]
                ],
            },
        )
        for case in suite.cases:
            if not case.needs:
                case.check()
        return suite


def name_of(group: Mapping[str, Any]) -> str:
    """Return what a group's values are named after: its cc, or its traffic where that has none."""
    traffic = TrafficChoice.parse(group.get("traffic", BULK))
    has_none = traffic.declaration.sends_datagrams and not is_under_test(group)
    return traffic.name if has_none else str(group["cc"])


def is_under_test(group: Mapping[str, Any]) -> bool:
    """Whether a group runs the congestion control under test."""
    return str(group.get("cc")) == UNDER_TEST
