"""The congestion controls of an archive: what their source was, and proof that it was this one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell import _core
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.choice import file_of
from dumbbell.errors import ResultError
from dumbbell.isolation.source_files import source_files
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR
from dumbbell.runs import run_all
from dumbbell.scenario import Group, Scenario

__all__ = [
    "BUILT_IN",
    "DIRECTORY",
    "FILE",
    "KERNELS_OWN",
    "SourceCollection",
    "build_of",
    "builds_here",
]

#: Kinds of congestion control.
BUILT_IN, FILE, KERNELS_OWN = "built-in", "file", "kernel"
#: Where the sources are in an archive.
DIRECTORY = "sources"
#: What the built-ins' sources end in; the others are headers and what is linked.
SUFFIX = ".bpf.c"
PACKAGE = Path(__file__).parents[1]


class SourceCollection:
    """The sources of the congestion controls of some runs.

    Attributes
    ----------
    entries
        What the manifest says of each congestion control, by its name in the scenarios.
    members
        Content of each source, by its path in the archive.
    """

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, Any]] = {}
        self.members: dict[str, bytes] = {}

    def add(self, run: Run) -> None:
        """Add the congestion controls of a run; a choice is added once."""
        for group, loaded in zip(run.scenario.groups, run.groups, strict=True):
            entry = self.entries.get(group.cc.name)
            if entry is None:
                entry = self.entries[group.cc.name] = self.entry_of(group.cc)
            builds = entry["builds"].setdefault(run.engine, [])
            if loaded["build"] not in builds:
                builds.append(loaded["build"])

    def entry_of(self, cc: CongestionControlChoice) -> dict[str, Any]:
        """Collect the sources of a congestion control; return what the manifest says of it."""
        if cc.is_kernels_own:
            return {"kind": KERNELS_OWN, "main": None, "sources": [], "builds": {}}
        if cc.is_python_class:
            raise ResultError(
                f"`{cc.name}` is a class of a running program, which an archive cannot hold; "
                "put it in a file, run `./mine.py` and archive that run"
            )
        if cc.is_file:
            return self.entry_of_file(file_of(cc.name))
        texts = {
            f"{DIRECTORY}/{BUILT_IN}/{path}": text.encode()
            for path, text in _core.builtin_sources().items()
            if not path.endswith(SUFFIX) or path == cc.name + SUFFIX
        }
        self.members |= texts
        main = f"{DIRECTORY}/{BUILT_IN}/{cc.name}{SUFFIX}"
        return {"kind": BUILT_IN, "main": main, "sources": sorted(texts), "builds": {}}

    def entry_of_file(self, path: Path) -> dict[str, Any]:
        """Collect the sources of a user's file: itself and what it includes or imports."""
        if not path.is_file():
            raise ResultError(
                f"{path}: no such file; run `dumbbell archive` in the directory of the runs' "
                "command line"
            )
        files = [file for file in source_files(path) if not file.is_relative_to(PACKAGE)]
        root = Path(os.path.commonpath([file.parent for file in files]))
        number = 1 + sum(entry["kind"] == FILE for entry in self.entries.values())
        places = {
            file: f"{DIRECTORY}/{FILE}-{number}/{file.relative_to(root).as_posix()}"
            for file in files
        }
        self.members |= {place: file.read_bytes() for file, place in places.items()}
        main = places[path.resolve()]
        return {"kind": FILE, "main": main, "sources": sorted(places.values()), "builds": {}}

    def check_unchanged(self) -> None:
        """Refuse sources that are not what ran.

        Raises
        ------
        ResultError
            A congestion control was built from another source, or by another compiler.
        """
        simulated = [name for name, each in self.entries.items() if SIMULATOR in each["builds"]]
        for name, here in builds_here({name: name for name in simulated}).items():
            for build in self.entries[name]["builds"][SIMULATOR]:
                if build != here:
                    raise ResultError(
                        f"`{name}` has changed since the runs: they used build {build}, its "
                        f"build is now {here}; run them again, or restore its source"
                    )


def builds_here(names: Mapping[str, str]) -> dict[str, str]:
    """Return the digest of each congestion control's build in the simulator here.

    Parameters
    ----------
    names
        The name to run each by, by the name to return it under.
    """
    scenarios = [
        (
            key,
            Scenario([Group(CongestionControlChoice(name), jitter="0s")], time="1ms", sample="0s"),
        )
        for key, name in names.items()
    ]
    return {key: build_of(run) for key, run in run_all(scenarios, cache=False).items()}


def build_of(run: Run) -> str:
    """Return the digest of the build of a run's first group."""
    build: str = run.groups[0]["build"]
    return build
