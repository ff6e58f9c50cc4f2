"""What a congestion control algorithm declares, and the built-in ones by name."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.congestion_control.name_kinds import is_file, is_kernels_own, is_python_class

__all__ = [
    "BUILT_IN",
    "Description",
    "Parameter",
    "Series",
    "congestion_controls",
    "describe",
    "described_by_engine",
]

#: Suffix of the source file of a built-in one.
BUILT_IN = ".bpf.c"


@dataclass(frozen=True)
class Parameter:
    """An integer that a congestion control algorithm lets its user set.

    Attributes
    ----------
    name, unit, doc
        As its source file declares them.
    min, max, default
        The range, both ends included, and the value when it is not set.
    """

    name: str
    unit: str
    doc: str
    min: int
    max: int
    default: int


@dataclass(frozen=True)
class Series:
    """A field of a congestion control algorithm's state that is recorded over time.

    Attributes
    ----------
    name
        Column of the `state` table, with its unit.
    unit, doc
        As its source file declares them.
    labels
        Names of the values 0, 1, … when the field is a state (``default``, ``competitive``).
    """

    name: str
    unit: str
    doc: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Description:
    """What a congestion control algorithm declares."""

    name: str
    title: str
    parameters: tuple[Parameter, ...]
    series: tuple[Series, ...]
    #: Names of its callbacks.
    ops: tuple[str, ...] = ()
    #: What distinguishes it from what a stock kernel would run: sentences without their subject.
    notes: tuple[str, ...] = ()
    #: Whether it needs ECN.
    needs_ecn: bool = False

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Description:
        """Read the engine's description."""
        params = tuple(
            Parameter(*(param[key] for key in ("name", "unit", "doc", "min", "max", "default")))
            for param in document["params"]
        )
        series = tuple(
            Series(entry["name"], entry["unit"], entry["doc"], tuple(entry["labels"]))
            for entry in document["series"]
        )
        notes = tuple(document.get("notes", ()))
        ops = tuple(document["ops"])
        needs_ecn = document.get("needs_ecn", False)
        return cls(document["name"], document["title"], params, series, ops, notes, needs_ecn)


class BuiltIns(Mapping[str, Description]):
    """The built-in congestion control algorithms by name, sorted.

    Each is loaded when its description is first used: all of them take longer than a short run.
    """

    def __init__(self) -> None:
        files = (path for path in _core.builtin_sources() if path.endswith(BUILT_IN))
        names = sorted(path.removesuffix(BUILT_IN) for path in files)
        self.known: dict[str, Description | None] = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Description:
        found = self.known[name]
        if found is None:
            found = self.known[name] = described(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.known

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


def described(name: str) -> Description:
    """Load a built-in congestion control algorithm and read what it declares."""
    try:
        return Description.from_json(json.loads(_core.describe(name)))
    except _core.EngineError:
        pass  # as it is with one, it is with all, and the first of them is reported
    try:
        documents = json.loads(_core.congestion_controls())
    except _core.EngineError as error:  # they are loaded through a file in memory
        hint = "; raise `ulimit -f`" if "File too large" in str(error) else ""
        raise EngineError(f"{error}{hint}") from None
    return next(Description.from_json(each) for each in documents if each["name"] == name)


@functools.cache
def congestion_controls() -> Mapping[str, Description]:
    """Return every built-in congestion control algorithm by name, sorted."""
    return BuiltIns()


def describe(name_or_path: str) -> Description:
    """Return a congestion control algorithm's description.

    Parameters
    ----------
    name_or_path
        The name of a built-in one, or a source file.

    Returns
    -------
    Description
        Name, title, parameters and state series.

    Raises
    ------
    EngineError
        The file does not compile, or there is no such congestion control.
    ScenarioError
        It is the running kernel's own.
    """
    if is_kernels_own(name_or_path):
        raise ScenarioError(
            f"`{name_or_path}` is the running kernel's own and has no description; "
            "`dumbbell cc list` lists those that have one",
            key="cc",
        )
    if is_python_class(name_or_path):
        from dumbbell.congestion_control.python import describe_python  # it needs this module

        return describe_python(name_or_path)
    if name_or_path in congestion_controls():
        return congestion_controls()[name_or_path]
    if is_file(name_or_path):
        from dumbbell.congestion_control.foreign_description import describe_file  # as above

        return describe_file(name_or_path)
    return described_by_engine(name_or_path)


@functools.cache
def described_by_engine(name: str) -> Description:
    """Return what the engine says of a name that is of no file."""
    try:
        return Description.from_json(json.loads(_core.describe(name)))
    except _core.EngineError as error:
        raise EngineError(str(error)) from None
