"""CCAs of results: described by what a run recorded, never by looking at a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dumbbell._core import native_compiler
from dumbbell.base.errors import ResultError, ScenarioError
from dumbbell.base.quantities.plain_value import check_printable
from dumbbell.congestion_control.choice import CongestionControlChoice
from dumbbell.congestion_control.description import (
    Description,
    Parameter,
    Series,
    congestion_controls,
)
from dumbbell.congestion_control.name_kinds import split_preset
from dumbbell.congestion_control.presets import presets_of
from dumbbell.congestion_control.quic import algorithm_of, split_params
from dumbbell.congestion_control.sources import Sources, builtin_sources, sources_of_file

__all__ = [
    "RecordedCongestionControl",
    "SourceReference",
    "declared_of",
    "reference_of",
    "sources_here",
    "sources_of",
]


@dataclass(frozen=True)
class SourceReference:
    """The source that a congestion control algorithm was built from.

    Attributes
    ----------
    digest
        SHA-256 of all its files (`Sources.digest`).
    main
        The file that was named, as `Sources.main`.
    built_by
        The compiler, or Python's version; None of a built-in.
    """

    digest: str
    main: str
    built_by: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a result has it."""
        return dict(vars(self))

    @classmethod
    def from_dict(cls, words: Any) -> SourceReference | None:
        """Read what `to_dict` returned; results of earlier versions have none."""
        if not isinstance(words, Mapping):
            return None
        digest, main, built_by = (words.get(key) for key in ("digest", "main", "built_by"))
        if not isinstance(digest, str) or not isinstance(main, str):
            return None
        if not re.fullmatch("[0-9a-f]{64}", digest):
            return None
        return cls(digest, main, built_by if isinstance(built_by, str) else None)


@dataclass(frozen=True, eq=False)
class RecordedCongestionControl(CongestionControlChoice):
    """A congestion control algorithm as a result names it.

    Nothing of it is looked up: its file need not exist, and this version need not know its name.
    `congestion_control.live` turns it into one that can run.

    Attributes
    ----------
    source
        Which source ran; None if the result does not say so.
    declared
        Parameters, series and callbacks, as the engine recorded them; None likewise.
    """

    source: SourceReference | None = None
    declared: Description | None = None

    def __post_init__(self) -> None:
        """Check no more than that it can be printed: what a result says has run."""
        check_printable(self.name, "congestion control", key="cc")

    @classmethod
    def read(
        cls, text: str, source: SourceReference | None = None, declared: Description | None = None
    ) -> RecordedCongestionControl:
        """Read the name and parameters that a result has: ``copa@paper:mode_window_rtts=5``.

        A preset that this version does not know adds nothing.

        Raises
        ------
        ScenarioError
            It is not written as results have it.
        """
        spelled, rest = split_params(text)
        name, preset = split_preset(spelled)
        known = presets_of(algorithm_of(name)).get(preset)
        try:
            parts = (part.partition("=") for part in filter(None, rest.split(",")))
            params = {key: int(value) for key, _, value in parts}
        except ValueError:
            raise ScenarioError(f"invalid congestion control `{text}`", key="cc") from None
        merged = {**known.params, **params} if known else params
        return cls(name, merged, None, source, declared, preset=preset)

    @property
    def description(self) -> Description:
        """What it declared; empty if the result does not say so."""
        return self.declared or Description(self.name, "", (), ())

    @property
    def series(self) -> tuple[Series, ...]:
        """The state series it declared."""
        if self.declared is not None:
            return self.declared.series
        known = congestion_controls().get(self.name)
        return () if known is None else known.series


def declared_of(group: Mapping[str, Any]) -> Description | None:
    """Read what a result says that a group's congestion control declared, if it says so.

    Raises
    ------
    KeyError, TypeError
        It is damaged.
    """
    words = group.get("declared")
    if words is None:
        return None
    return Description(
        str(group["cc"]),
        "",
        tuple(
            Parameter(*(entry[key] for key in ("name", "unit", "doc", "min", "max", "default")))
            for entry in words["parameters"]
        ),
        tuple(
            Series(entry["name"], entry["unit"], entry["doc"], tuple(entry["labels"]))
            for entry in words["series"]
        ),
        tuple(words["ops"]),
        tuple(words.get("notes", ())),
    )


def sources_of(cc: CongestionControlChoice) -> Sources | None:
    """Return the sources of a CCA that is to run; None if it has no file."""
    if cc.is_file:
        return sources_of_file(cc.file)
    return builtin_sources(cc.name)


def sources_here(cc: CongestionControlChoice, reference: SourceReference) -> Sources | None:
    """Return the sources that a result names, if they are on this machine, unchanged."""
    try:
        found = sources_of(cc)
    except ResultError:
        return None  # no such file
    return found if found is not None and found.digest == reference.digest else None


def reference_of(cc: CongestionControlChoice, sources: Sources) -> SourceReference:
    """Return what a result says of the sources of a congestion control algorithm."""
    return SourceReference(sources.digest, sources.main, built_by(cc))


def built_by(cc: CongestionControlChoice) -> str | None:
    """Return what builds a congestion control algorithm in a file here."""
    if not cc.is_file:
        return None
    if cc.is_python:
        import platform

        return f"Python {platform.python_version()}"
    return native_compiler()
