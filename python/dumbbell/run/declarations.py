"""What a congestion control algorithm declares, as a result has it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dumbbell import _core
from dumbbell.congestion_control import congestion_controls

__all__ = ["declared_by", "declared_by_builtin", "declared_words", "read_summary"]

#: The kind of algorithms that come with dumbbell; before what one declares, in a summary.
BUILT_IN, DECLARED_KEY = "built-in", '"declared":'
#: Keys of a parameter and of a series in a result.
OF_PARAMETER = ("name", "unit", "doc", "min", "max", "default")
OF_SERIES = ("name", "unit", "doc", "labels")
#: What built-in congestion control algorithms declare, by their builds.
DECLARED: dict[str, dict[str, Any]] = {}
#: What engines' summaries say of them, by their names: as text and as it is read.
SAID: dict[str, tuple[str, dict[str, Any]]] = {}


@functools.cache
def declared_by_builtin(name: str) -> dict[str, Any] | None:
    """Return what this engine's algorithm of a name declares; None if it is not built in."""
    known = name in congestion_controls()
    return declared_words(json.loads(_core.describe(name))) if known else None


def declared_by(builtin: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a built-in algorithm declares, one object for all its runs."""
    build: str = builtin["build"]
    if build not in DECLARED:
        words, known = declared_words(builtin["declared"]), declared_by_builtin(builtin["cc"])
        DECLARED[build] = known if known is not None and known == words else words
    return DECLARED[build]


def declared_words(declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a congestion control algorithm declares, as a result has it."""
    return {
        "kind": declared["kind"],
        "ops": declared["ops"],
        "parameters": [{key: each[key] for key in OF_PARAMETER} for each in declared["params"]],
        "series": [{key: each[key] for key in OF_SERIES} for each in declared["series"]],
        **({"notes": declared["notes"]} if declared.get("notes") else {}),
    }


def read_summary(text: str, names: Iterable[str]) -> dict[str, Any]:
    """Parse an engine's summary.

    Four fifths of it are what built-in algorithms declare, which is parsed once.

    Parameters
    ----------
    text
        The summary.
    names
        Of the algorithms that ran.
    """
    short = text
    for said, _ in (SAID[name] for name in dict.fromkeys(names) if name in SAID):
        short = short.replace(said, DECLARED_KEY + "null")
    summary: dict[str, Any] = json.loads(short)
    loaded = summary["congestion_controls"]
    if any(entry["declared"] is None and entry["cc"] not in SAID for entry in loaded):
        summary = json.loads(text)
    for entry in summary["congestion_controls"]:
        name, declared = entry["cc"], entry["declared"]
        if declared is None:
            entry["declared"] = SAID[name][1]
        elif declared["kind"] == BUILT_IN and name not in SAID and name in congestion_controls():
            words = json.dumps(declared, separators=(",", ":"), ensure_ascii=False)
            SAID[name] = (DECLARED_KEY + words, declared)
    return summary
