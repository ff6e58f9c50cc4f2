"""Describes a file in a confined process: even a description runs a file's code.

A constructor, a kernel module's `module_init` or the top level of a Python file.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.errors import CongestionControlError
from dumbbell.base.quantities.printable import printable
from dumbbell.congestion_control.description import Description
from dumbbell.congestion_control.isolation.foreign_process import follow
from dumbbell.congestion_control.isolation.protocol import BrokenAnswer
from dumbbell.congestion_control.isolation.sandbox import is_confined
from dumbbell.congestion_control.isolation.server_link import environment_of
from dumbbell.congestion_control.isolation.source_files import find_sources
from dumbbell.congestion_control.name_kinds import file_of
from dumbbell.congestion_control.quic import algorithm_of

__all__ = ["describe_file"]

#: What a parameter and a series have, with the types.
PARAMETER = {"name": str, "unit": str, "doc": str, "min": int, "max": int, "default": int}
SERIES = {"name": str, "unit": str, "doc": str, "labels": list}
#: Most entries of a list: more than a file has.
MAX_ENTRIES = 4096

#: Descriptions by name and content of the files.
_described: dict[tuple[str, str], Mapping[str, Any]] = {}
_lock = threading.Lock()


def describe_file(name: str) -> Description:
    """Return the description of a file, which a confined process makes.

    Parameters
    ----------
    name
        The file, as a scenario names it.

    Raises
    ------
    EngineError
        It does not compile, or the engine refuses it.
    ScenarioError
        It is Python and has no class that can run.
    """
    key = (name, content_digest(name))
    with _lock:
        document = _described.get(key)
        if document is None:
            document = _described[key] = ask(name)
    return Description.from_json(document)


def content_digest(name: str) -> str:
    """Return a digest of the files that a description depends on."""
    digest = hashlib.sha256(f"{Path.cwd()} {is_confined()} ".encode())
    for _, text in find_sources(file_of(name)).values():
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()


def ask(name: str) -> Mapping[str, Any]:
    """Let a process describe the file; check and escape what it says."""
    request = environment_of() | {"describe": name, "files": [algorithm_of(name)]}
    process, word, document = follow(request, [name])
    try:
        if word != "described" or not isinstance(document, dict):
            raise BrokenAnswer("an answer to another question")
        return checked(document)
    except BrokenAnswer as broken:
        raise CongestionControlError(
            f"the process that describes {process.names} sent {broken}"
        ) from None


def checked(document: dict[str, Any]) -> Mapping[str, Any]:
    """Return a description, escaped, if it has the form of one."""
    known = {"name": str, "title": str, "ops": list, "params": list, "series": list}
    entry = of_form(document, known)
    return entry | {
        "ops": [text(op) for op in entry["ops"]],
        "params": [of_form(param, PARAMETER) for param in entry["params"]],
        "series": [of_form(series, SERIES) for series in entry["series"]],
        "kind": text(document.get("kind", "")),
        "notes": [
            text(note) for note in of_form({"notes": [], **document}, {"notes": list})["notes"]
        ],
    }


def of_form(entry: Any, form: Mapping[str, type]) -> dict[str, Any]:
    """Return the values that an entry is to have, texts escaped."""
    if not isinstance(entry, dict):
        raise BrokenAnswer("a description of another form")
    taken: dict[str, Any] = {}
    for key, kind in form.items():
        value = entry.get(key)
        if type(value) is not kind or (kind is list and len(entry[key]) > MAX_ENTRIES):
            raise BrokenAnswer(f"a description whose `{key}` is of another type")
        taken[key] = text(value) if kind is str else value
    if "labels" in taken:
        taken["labels"] = [text(label) for label in taken["labels"]]
    return taken


def text(value: Any) -> str:
    """Return a text, escaped."""
    if not isinstance(value, str):
        raise BrokenAnswer("a description with something else for a text")
    return printable(value)
