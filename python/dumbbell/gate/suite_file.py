"""Suite files: TOML with the keys of scenario files and a few more."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.errors import GateError, ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_count
from dumbbell.gate.case import Case, ComparedMetric, Subject
from dumbbell.gate.case_file import find_case_file, read_case_file, shipped_in
from dumbbell.gate.criterion import Criterion
from dumbbell.gate.subject import Measure
from dumbbell.gate.suite import MAX_REPS, MIN_REPS, Suite
from dumbbell.gate.tolerance import Tolerance
from dumbbell.metrics import Warmup
from dumbbell.scenario import Group, Link, Scenario
from dumbbell.scenario.fields import field_meant, fields_of, suggest
from dumbbell.scenario.file import check_shorthand, parse_toml, read_text
from dumbbell.scenario.scenario import shorthand_fields

__all__ = ["build_suite", "find_suite", "read_suite", "shipped_suites"]

#: Where dumbbell's own suites are.
SHIPPED = Path(__file__).parent / "suites"
#: Keys of a scenario that a suite may set: the name is the case's, seeds are the repetitions'.
SCENARIO_WORDS = tuple(word for word in fields_of(Scenario) if word not in ("name", "seed"))
#: Keys that a suite sets for all its cases, and a case for itself.
SHARED = ("reps", "warmup", "axes", "reference", "judge", "require", *SCENARIO_WORDS)
#: Those that are of the only link.
OF_ONLY_LINK = frozenset(field.name for field in shorthand_fields())
OF_SUITE = ("title", "source", "seed", "case", *SHARED)
OF_CASE = ("name", "why", "needs", "scenario", "link", "group", *SHARED)
#: What a reference may have of its own.
OF_REFERENCE = (*Subject._fields, *SCENARIO_WORDS)
#: A case's name is part of a test's.
CASE_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]*", re.ASCII)


def shipped_suites() -> dict[str, Path]:
    """Return the suites that come with dumbbell, by name."""
    return shipped_in(SHIPPED)


def find_suite(name_or_path: str | Path) -> Suite:
    """Read a suite from its file, or one of dumbbell's own by its name.

    Raises
    ------
    GateError
        There is no such suite, or it cannot be read.
    """
    what = "a suite, a suite file or a baseline"
    return read_suite(find_case_file(name_or_path, shipped_suites(), what))


def read_suite(path: Path) -> Suite:
    """Read a suite's file.

    Raises
    ------
    GateError
        It is missing, not TOML, or has an invalid key or value; the message starts with the file
        and, if it is known, the line.
    """

    def build(document: Mapping[str, Any]) -> Suite:
        return build_suite(path.stem, with_scenario_files(document, path.parent))

    return read_case_file(path, build, headers_of)


def headers_of(error: GateError) -> list[tuple[str, int | None]]:
    """Return the headers under which an error's key is, with how many of each come before."""
    return [("case", error.case), ("case.link", error.link), ("case.group", error.group)]


def with_scenario_files(document: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a suite's document with its scenario files read into the cases."""
    cases = document.get("case", [])
    if not isinstance(cases, list) or not all(isinstance(case, dict) for case in cases):
        raise GateError("write each case as `[[case]]`", key="case")
    return {**document, "case": [with_scenario_file(*at, folder) for at in enumerate(cases)]}


def with_scenario_file(index: int, case: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a case with the keys of its scenario file; its own keys win."""
    if "scenario" not in case:
        return dict(case)
    try:
        path = folder / text_of(case, "scenario")
        words = parse_toml(path, read_text(path))
    except (GateError, ScenarioError) as error:
        raise GateError(str(error), key="scenario", case=index) from None
    kept = {key: words[key] for key in words if key not in ("name", "seed")}
    return {**kept, **{key: case[key] for key in case if key != "scenario"}}


def build_suite(name: str, document: Mapping[str, Any]) -> Suite:
    """Build a suite from a parsed file into which its scenario files have been read.

    Raises
    ------
    GateError
        A key or a value is invalid.
    """
    check_words(document, OF_SUITE, "a suite")
    tables = document.get("case", [])
    if not tables:
        raise GateError("the suite has no case; write a `[[case]]`")
    # What the suite compares in all its cases is read first: a mistake in it is not a case's.
    judge = table_of(document, "judge")
    compared_of(judge, {"judge": judge})
    for text in list_of(document, "require"):
        criterion_of(text)
    cases = []
    for index, table in enumerate(tables):
        try:
            cases.append(build_case(table, document))
        except (GateError, ScenarioError) as error:
            raise in_case(error, index, table) from None
    names: set[str] = set()
    for index, case in enumerate(cases):
        if case.name in names:
            raise GateError(f"two cases are named `{case.name}`", key="name", case=index)
        names.add(case.name)
    try:
        seed = check_count(document.get("seed", 1), "seed", 2**63, minimum=0)
    except ScenarioError as error:
        raise GateError(str(error), key="seed") from None
    return Suite(
        name, text_of(document, "title"), text_of(document, "source"), tuple(cases), seed, document
    )


def in_case(error: GateError | ScenarioError, index: int, table: Mapping[str, Any]) -> GateError:
    """Add the case to an error."""
    name = table.get("name")
    where = f"case `{excerpt(name)}`: " if isinstance(name, str) else ""
    key = "axes" if error.key == "axis" and "axis" not in table else error.key
    return GateError(f"{where}{error}", key=key, case=index, group=error.group, link=error.link)


def build_case(table: Mapping[str, Any], suite: Mapping[str, Any]) -> Case:
    """Build a `[[case]]`; keys that it does not set are the suite's."""
    check_words(table, OF_CASE, "a case")
    name = table.get("name")
    if name is None:
        raise GateError('the case has no `name`; write `name = "alone"`')
    if not isinstance(name, str) or not CASE_NAME.fullmatch(name):
        raise GateError(
            f"invalid case name `{excerpt(name)}`: use lower-case letters, digits, `-`, `_` and "
            "`.`",
            key="name",
        )
    links = links_of(table)
    # A case with links has none of what the suite says of the only one.
    of_suite = [key for key in SHARED if key in suite and not (links and key in OF_ONLY_LINK)]
    shared = {key: suite[key] for key in of_suite} | dict(table)
    case = Case(
        name=name,
        why=text_of(table, "why"),
        words={key: shared[key] for key in SCENARIO_WORDS if key in shared},
        groups=tuple(groups_of(table)),
        axes=table_of(shared, "axes"),
        reps=check_count(shared.get("reps", 10), "reps", MAX_REPS),
        warmup=warmup_of(shared),
        compared=tuple(
            compared_of({**table_of(suite, "judge"), **table_of(table, "judge")}, table)
        ),
        criteria=tuple(
            criterion_of(text) for text in [*list_of(suite, "require"), *list_of(table, "require")]
        ),
        needs=text_of(table, "needs"),
        links=tuple(links),
        reference=reference_of(shared),
    )
    if case.needs:
        return case
    if not case.measures:
        raise GateError("the case compares and requires nothing; write `judge` or `require`")
    if case.compared and case.reps < MIN_REPS:
        raise GateError(f"reps is {case.reps}; a comparison needs at least {MIN_REPS}", key="reps")
    case.check()
    return case


def warmup_of(table: Mapping[str, Any]) -> Warmup | None:
    """Return a case's warm-up; `false` is none where the suite has one."""
    warmup = table.get("warmup", False)
    return None if warmup is False else Warmup.parse(warmup)


def reference_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a case's reference has of its own; an empty table is none."""
    reference = table.get("reference", {})
    if not isinstance(reference, dict):
        raise GateError(
            f'reference must be a table, e.g. `{{ qdisc = "bfifo" }}`, not `{excerpt(reference)}`',
            key="reference",
        )
    try:
        check_words(reference, OF_REFERENCE, "a reference")
    except GateError as error:
        error.key = "reference"
        raise
    return dict(reference)


def links_of(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a case's links."""
    links = table.get("link", [])
    if not isinstance(links, list) or not all(isinstance(link, dict) for link in links):
        raise GateError("write each link as `[[case.link]]`", key="link")
    for index, link in enumerate(links):
        try:
            check_words(link, tuple(fields_of(Link)), "a link")
        except GateError as error:
            error.link = index
            raise
    if links:
        check_shorthand(table)
    return links


def groups_of(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return a case's groups."""
    groups = table.get("group", [])
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        raise GateError("write each group of flows as `[[case.group]]`", key="group")
    if not groups and "needs" not in table:
        raise GateError('the case has no flows; write a `[[case.group]]` with `cc = "{cc}"`')
    for index, group in enumerate(groups):
        try:
            check_words(group, tuple(fields_of(Group)), "a group")
        except GateError as error:
            error.group = index
            raise
        if "cc" not in group and "client" not in group:
            raise GateError('the group has no `cc`; write `cc = "{cc}"`', group=index)
    return groups


def compared_of(tolerances: Mapping[str, Any], table: Mapping[str, Any]) -> list[ComparedMetric]:
    """Read the metrics to compare; `false` removes one that the suite compares in other cases."""
    alone = all(group.get("cc") == "{cc}" or "client" in group for group in table.get("group", []))
    own = table.get("judge", {})
    compared = []
    for name, text in tolerances.items():
        if text is False:
            continue
        try:
            measure = Measure(name)
            if measure.of_others and alone and name not in own:
                continue  # of the suite, for its cases with other groups
            compared.append(ComparedMetric(measure, Tolerance.parse(text, measure.metric)))
        except GateError as error:
            error.key = name
            raise
    return compared


def criterion_of(text: Any) -> Criterion:
    """Read a criterion; an error names the key."""
    try:
        return Criterion.parse(text)
    except GateError as error:
        error.key = "require"
        raise


def check_words(table: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    """Refuse an unknown key."""
    if what == "a suite" and not table.get("case") and {"group", "link"} & set(table):
        raise GateError(
            "is a scenario, not a suite; put its groups and links into a `[[case]]`, or run it "
            "with `dumbbell run`",
            key="group" if "group" in table else "link",
        )
    for key in table:
        if key not in known:
            hint = nearest(key, known)
            if what == "a group" and field_meant(key, [Group]) is not None:
                hint = suggest(key, [Group])
            if key in ("name", "seed") and what != "a link":
                hint = "; a suite is named after its file, and seeds are the repetitions'"
            raise GateError(f"unknown key `{excerpt(key)}` in {what}{hint}", key=key)


def text_of(table: Mapping[str, Any], key: str) -> str:
    """Return a string; empty if it is not set."""
    value = table.get(key, "")
    if not isinstance(value, str):
        raise GateError(f"{key} must be a string, not `{excerpt(value)}`", key=key)
    return value


def table_of(table: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a table's table, flat: ``others.share`` may be written with or without quotes."""
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise GateError(f"{key} must be a table, e.g. `[{key}]`, not `{excerpt(value)}`", key=key)
    flat: dict[str, Any] = {}
    for name, entry in value.items():
        if isinstance(entry, dict):
            flat |= {f"{name}.{inner}": value for inner, value in entry.items()}
        else:
            flat[name] = entry
    return flat


def list_of(table: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list; empty if it is not set."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise GateError(
            f'{key} must be a list, e.g. `["jain >= 0.95"]`, not `{excerpt(value)}`', key=key
        )
    return value
