"""A suite: cases in which something is run, and what is expected of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dumbbell.base.errors import GateError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.gate.case import Case, Subject
from dumbbell.scenario import Scenario
from dumbbell.scenario.fields import Shorthand, fields_of

__all__ = ["MAX_REPS", "MIN_REPS", "Suite"]

#: Most repetitions of a case.
MAX_REPS = 10_000
#: Fewer repetitions cannot distinguish a difference from chance.
MIN_REPS = 3


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

    @property
    def runnable(self) -> list[Case]:
        """The cases that this version can run."""
        return [case for case in self.cases if not case.needs]

    def check_subject(self, subject: Subject) -> None:
        """Check that what is under test is what the cases have places for.

        Raises
        ------
        GateError
            One is missing, or has no place.
        """
        tests = {
            "cc": any(case.tests_cc for case in self.runnable),
            "qdisc": any(case.tests_queue for case in self.runnable),
        }
        names = {
            "cc": ("congestion control", "./mine.bpf.c"),
            "qdisc": ("queue discipline", '"pie:target=20ms"'),
        }
        for key, has_place in tests.items():
            what, example = names[key]
            given = getattr(subject, key)
            if has_place and not given:
                raise GateError(
                    f"`{self.name}` is a suite: name the {what} to test, as in `--{key} {example}`"
                )
            if given and not has_place:
                raise GateError(
                    f"suite `{self.name}` tests no {what}; omit `--{key} {excerpt(given)}`"
                )

    def of_cases(self, names: Sequence[str]) -> Suite:
        """Return the suite with only some of its cases.

        Raises
        ------
        GateError
            It has no such case, or this version can run none of them.
        """
        known = [case.name for case in self.cases]
        for name in names:
            if name not in known:
                listed = ", ".join(f"`{case}`" for case in known)
                raise GateError(f"suite `{self.name}` has no case `{name}`; known: {listed}")
        missing = [(case.name, case.needs) for case in self.cases if case.name in names]
        if missing and all(needs for _, needs in missing):
            what = "; ".join(f"case `{name}` needs {needs}" for name, needs in missing)
            raise GateError(f"{what}, which this version does not have; use another `--case`")
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
            if "queue" in own and case.tests_queue:
                raise GateError(
                    f"`queue` cannot be set: case `{case.name}` tests it; use `--qdisc`"
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
