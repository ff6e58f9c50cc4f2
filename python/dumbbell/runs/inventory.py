"""The contents of the cache: counting, pruning, verifying."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell.base.cache_place import CACHE_VARIABLE
from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.scratch import abandoned, scratch_in
from dumbbell.runs import record_directory
from dumbbell.runs.cache import Cache

__all__ = ["BuildRuns", "Entry", "Inventory", "Removed", "prune", "take_inventory", "verify"]

#: A directory of entries; `v3` is this version's.
LAYOUTS = re.compile(r"v\d+")
ENTRY = re.compile(rf"[0-9a-f]{{64}}({re.escape(record_directory.FILE_SUFFIX)})?")


@dataclass(frozen=True)
class Entry:
    """One run in the cache.

    Attributes
    ----------
    path
        Its directory or file.
    size_bytes
        Of all that is in it.
    used_s
        When it was last written or found, s since 1970.
    provenance
        Its `provenance.json`; None if that cannot be read.
    """

    path: Path
    size_bytes: int
    used_s: float
    provenance: dict[str, Any] | None


@dataclass
class BuildRuns:
    """The runs of one build of the engine."""

    entries: int = 0
    with_series: int = 0
    size_bytes: int = 0


@dataclass
class Inventory:
    """What is in a cache.

    Attributes
    ----------
    place
        Its directory.
    kinds
        The runs by the engine's version and build.
    left
        How many entries are unfinished or cannot be read.
    """

    place: Path
    kinds: dict[tuple[str, str], BuildRuns] = field(default_factory=dict)
    left: int = 0

    @property
    def entries(self) -> int:
        """Number of runs."""
        return sum(kind.entries for kind in self.kinds.values())

    @property
    def size_bytes(self) -> int:
        """Size of all runs."""
        return sum(kind.size_bytes for kind in self.kinds.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the inventory as `cache --json` prints it."""
        return {
            "place": str(self.place),
            "entries": self.entries,
            "size_bytes": self.size_bytes,
            "unreadable": self.left,
            "engines": [
                {"engine_version": version, "engine_build": build, **vars(kind)}
                for (version, build), kind in sorted(self.kinds.items())
            ],
        }


@dataclass(frozen=True)
class Removed:
    """The numbers and sizes of the runs that were removed, and of those that are left."""

    entries: int
    size_bytes: int
    left: int
    left_bytes: int


def entries_of(cache: Cache) -> Iterator[Entry]:
    """Find every run; other files in the directory are ignored.

    Raises
    ------
    ResultError
        The cache is not a directory, or cannot be read.
    """
    try:
        os.scandir(cache.entries).close()
    except FileNotFoundError:
        return  # nothing has been written yet
    except OSError as error:
        hint = f"; set ${CACHE_VARIABLE} to another directory"
        raise ResultError(f"{cache.place}: cannot be read: {os_reason(error)}{hint}") from None
    for path in sorted(cache.entries.glob("*")):
        if not ENTRY.fullmatch(path.name):
            continue
        try:
            provenance = record_directory.read_provenance(path)
            used_s = (path if path.suffix else path / record_directory.PROVENANCE).stat().st_mtime
        except FileNotFoundError:
            if not path.exists():
                continue  # another process has just removed it
            provenance, used_s = None, 0.0
        except (OSError, ResultError):
            provenance, used_s = None, 0.0
        yield Entry(path, size_of(path), used_s, provenance)


def size_of(path: Path) -> int:
    """Return the size of a file, or of a directory's files."""
    total = 0
    for file in (path,) if path.suffix else path.glob("*"):
        try:
            total += file.stat().st_size
        except OSError:
            continue
    return total


def take_inventory(cache: Cache) -> Inventory:
    """Count what is in a cache."""
    inventory = Inventory(cache.place)
    for entry in entries_of(cache):
        if entry.provenance is None:
            inventory.left += 1
            continue
        said = entry.provenance
        name = (str(said.get("engine_version")), str(said.get("engine_build")))
        kind = inventory.kinds.setdefault(name, BuildRuns())
        kind.entries += 1
        kind.with_series += bool(said.get("has_series"))
        kind.size_bytes += entry.size_bytes
    inventory.left += sum(1 for _ in abandoned(cache.entries)) + sum(
        1 for _ in other_layouts(cache)
    )
    return inventory


def other_layouts(cache: Cache) -> Iterator[Path]:
    """Find the entries of other versions' layouts."""
    for path in cache.place.glob("v*"):
        if LAYOUTS.fullmatch(path.name) and path != cache.entries and path.is_dir():
            yield path


def prune(
    cache: Cache,
    *,
    older_than_s: float | None = None,
    max_bytes: int | None = None,
    everything: bool = False,
) -> Removed:
    """Remove runs, and unfinished and unreadable entries.

    Parameters
    ----------
    cache
        The cache.
    older_than_s
        Remove runs that were neither written nor found for this long.
    max_bytes
        Remove the least recently used runs until the rest fits.
    everything
        Remove all runs.

    Raises
    ------
    ResultError
        An entry cannot be removed.
    """
    entries = sorted(entries_of(cache), key=lambda entry: entry.used_s)
    left_bytes = sum(entry.size_bytes for entry in entries)
    now_s, gone, gone_bytes = time.time(), 0, 0
    for path in abandoned(cache.entries):
        shutil.rmtree(path, ignore_errors=True)
    for path in other_layouts(cache):
        remove_entry(cache, path)
    for entry in entries:
        is_old = older_than_s is not None and now_s - entry.used_s > older_than_s
        is_over = max_bytes is not None and left_bytes > max_bytes
        if everything or entry.provenance is None or is_old or is_over:
            remove_entry(cache, entry.path)
            gone, gone_bytes = gone + 1, gone_bytes + entry.size_bytes
            left_bytes -= entry.size_bytes
    return Removed(gone, gone_bytes, len(entries) - gone, left_bytes)


def remove_entry(cache: Cache, path: Path) -> None:
    """Remove an entry completely, or not at all."""
    try:
        # Moved first, to where `abandoned` finds what is left: no reader finds half an entry.
        cache.entries.mkdir(exist_ok=True)  # not there if all entries are of other layouts
        with scratch_in(cache.entries) as scratch:
            path.rename(scratch / "doomed")
    except FileNotFoundError:
        return  # another process was faster
    except OSError as error:
        raise ResultError(f"{path}: cannot be removed: {os_reason(error)}") from None


def verify(cache: Cache, *, remove: bool = False) -> tuple[int, list[str]]:
    """Compare every file with its digest.

    Returns
    -------
    int
        How many runs were checked.
    list of str
        The damage found, a line each.
    """
    checked, damaged = 0, []
    for entry in entries_of(cache):
        checked += 1
        try:
            record_directory.check_files(entry.path)
        except ResultError as error:
            damaged.append(str(error))
            if remove:
                remove_entry(cache, entry.path)
    return checked, damaged
