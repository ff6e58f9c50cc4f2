"""The CCAs of an archive: what their source was, and proof that it was this one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from dumbbell import _core
from dumbbell.base.errors import ResultError
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.recorded import SourceReference, sources_here
from dumbbell.congestion_control.source_store import LISTING, listing_of, set_name
from dumbbell.congestion_control.sources import Sources, sources_of_file
from dumbbell.run import Run
from dumbbell.run.engine import SIMULATOR, engine_build
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
    "path_below_cc",
]

#: Kinds of congestion control.
BUILT_IN, FILE, KERNELS_OWN = "built-in", "file", "kernel"
#: Where the sources are in an archive.
DIRECTORY = "sources"
#: What the built-ins' sources end in; the others are headers and what is linked.
SUFFIX = ".bpf.c"


class SourceCollection:
    """The sources of the congestion control algorithms of some runs.

    They are those that the runs' directories carry. Only for runs of earlier versions, which carry
    none, the files themselves are read, and built again to prove that they are what ran.

    Parameters
    ----------
    texts
        Whether to collect the text of congestion control algorithms that are not built in.

    Attributes
    ----------
    entries
        What the manifest says of each congestion control algorithm, by its name in the scenarios.
    members
        Content of each source, by its path in the archive.
    """

    def __init__(self, *, texts: bool = True) -> None:
        self.texts = texts
        self.entries: dict[str, dict[str, Any]] = {}
        self.members: dict[str, bytes] = {}
        self.unproven: dict[str, CongestionControlChoice] = {}

    def add(self, run: Run) -> None:
        """Add the congestion control algorithms of a run; a choice is added once.

        Raises
        ------
        ResultError
            It ran from another source in another run, or its source is not known.
        """
        for group, loaded in zip(run.scenario.groups, run.groups, strict=True):
            reference = SourceReference.from_dict(loaded.get("source"))
            entry = self.entries.get(group.cc.name)
            if entry is None:
                entry = self.entries[group.cc.name] = self.entry_of(run, group.cc, reference)
            digest = None if reference is None else reference.digest
            if entry["digest"] != digest:
                raise ResultError(
                    f"`{group.cc.name}` ran from different sources (SHA-256 {entry['digest']} and "
                    f"{digest}); archive their runs separately"
                )
            builds = entry["builds"].setdefault(run.engine, [])
            if loaded["build"] not in builds:
                builds.append(loaded["build"])

    def entry_of(
        self, run: Run, cc: CongestionControlChoice, reference: SourceReference | None
    ) -> dict[str, Any]:
        """Collect the sources of a CCA; return what the manifest says of it."""
        digest = None if reference is None else reference.digest
        entry: dict[str, Any] = {"main": None, "sources": [], "builds": {}, "digest": digest}
        if cc.is_kernels_own:
            return {"kind": KERNELS_OWN, **entry}
        if cc.is_python_class:
            raise ResultError(
                f"`{cc.name}` is a class of a running program, which an archive cannot hold; "
                "put it in a file, run `./mine.py` and archive that run"
            )
        if reference is None:
            self.unproven[cc.name] = CongestionControlChoice(cc.name)
            here = None
        else:
            here = sources_here(cc, reference)
        if not cc.is_file:
            return {"kind": BUILT_IN, **entry, **self.built_in(run, cc.name, reference, here)}
        if not self.texts:
            return {"kind": FILE, **entry}
        return {"kind": FILE, **entry, **self.keep(of_file(run, cc, reference, here))}

    def built_in(
        self, run: Run, name: str, reference: SourceReference | None, here: Sources | None
    ) -> dict[str, Any]:
        """Collect the sources of a built-in, with the engine's headers if they are those here."""
        is_ours = run.summary.get("engine_build") == engine_build()
        if reference is not None and not is_ours:
            return self.keep(here or run.sources.get(reference.digest))
        texts = {
            f"{DIRECTORY}/{BUILT_IN}/{path}": text.encode()
            for path, text in _core.builtin_sources().items()
            if not path.endswith(SUFFIX) or path == name + SUFFIX
        }
        self.members |= texts
        return {"main": f"{DIRECTORY}/{BUILT_IN}/{name}{SUFFIX}", "sources": sorted(texts)}

    def keep(self, sources: Sources | None) -> dict[str, Any]:
        """Collect sources as a result's directory has them; nothing if their text was not kept."""
        if sources is None or not sources.is_whole:
            return {}
        place = f"{DIRECTORY}/{set_name(sources)}"
        members = {f"{place}/{path}": text for path, text in sources.texts.items()}
        self.members |= members
        self.members[f"{place}/{LISTING}"] = listing_of(sources)
        return {"main": f"{place}/{sources.main}", "sources": sorted(members)}

    def check_unchanged(self) -> None:
        """Refuse sources that are not what ran, of runs that do not say what that was.

        Raises
        ------
        ResultError
            A congestion control algorithm was built from another source, or by another compiler.
        """
        simulated = {
            name: cc
            for name, cc in self.unproven.items()
            if SIMULATOR in self.entries[name]["builds"]
        }
        for name, here in builds_here(simulated).items():
            for build in self.entries[name]["builds"][SIMULATOR]:
                if build != here:
                    raise ResultError(
                        f"`{name}` has changed since the runs: they used build {build}, its "
                        f"build is now {here}; run them again, or restore its source"
                    )


def of_file(
    run: Run, cc: CongestionControlChoice, reference: SourceReference | None, here: Sources | None
) -> Sources | None:
    """Return the sources of a CCA in a file; None if nothing has their text."""
    if reference is not None:
        try:
            carried = run.sources.get(reference.digest)
        except ResultError:
            if here is None:
                raise
            carried = None  # damaged; what is here has the same digest
        return carried if carried is not None and carried.is_whole else here
    if not cc.file.is_file():
        raise ResultError(
            f"{cc.file}: no such file, and the run does not carry it; run `dumbbell archive` in "
            "the directory of the runs' command line"
        )
    return sources_of_file(cc.file)


def path_below_cc(member: str) -> str:
    """Return the path below `cc/` of a member that is the source of a built-in."""
    return "/".join(PurePosixPath(member).parts[2:])


def builds_here(ccs: Mapping[str, CongestionControlChoice]) -> dict[str, str]:
    """Return the digest of each congestion control algorithm's build in the simulator here."""
    scenarios = [
        (key, Scenario([Group(cc, jitter="0s")], time="1ms", sample="0s"))
        for key, cc in ccs.items()
    ]
    return {key: build_of(run) for key, run in run_all(scenarios, cache=False).items()}


def build_of(run: Run) -> str:
    """Return the digest of the build of a run's first group."""
    build: str = run.groups[0]["build"]
    return build
