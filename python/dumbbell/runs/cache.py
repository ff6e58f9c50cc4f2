"""The cache: earlier runs, found by what they depend on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from dumbbell.base.cache_place import cache_place
from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.writing import Batch
from dumbbell.run.engine import KERNEL
from dumbbell.runs import record_directory
from dumbbell.runs.key import RunKey
from dumbbell.runs.record import Record

__all__ = ["Cache", "as_cache"]

#: Layout of the entries; each layout has its own directory.
LAYOUT = "v3"
#: Marks the directory for backup programs as one that can be recreated (bford.info/cachedir).
TAG = "CACHEDIR.TAG"
TAG_TEXT = "Signature: 8a477f597d28d172789f06886806bc55\n# Runs of dumbbell, kept for reuse.\n"


class Cache:
    """Runs by their keys, in a directory that several processes may share.

    A cache never fails a sweep: a run that cannot be read is executed again, one that cannot be
    written is not kept, and `notes` reports it once. Nothing is synced: a run that a power failure
    damaged cannot be read.

    Parameters
    ----------
    place
        The directory; created when a run is written to it.
    """

    def __init__(self, place: str | Path | None = None) -> None:
        self.place = cache_place() if place is None else Path(place)
        self.lock = threading.Lock()
        self.users, self.open = 0, ExitStack()
        self.batch: Batch | None = None
        self.damaged: set[str] = set()
        self.writing: set[str] = set()
        self.trouble: str | None = None
        self.hits = 0

    def __repr__(self) -> str:
        return f"<Cache {self.place}>"

    @cached_property
    def entries(self) -> Path:
        """The directory of the entries."""
        return self.place / LAYOUT

    def entry(self, key: RunKey, *, series: bool = False) -> Path:
        """Return where a run is kept: a directory with time series, a file without."""
        return self.entries / (key.digest if series else key.digest + record_directory.FILE_SUFFIX)

    def place_of(self, key: RunKey) -> Path:
        """Return where a run is."""
        file = self.entry(key)
        return file if file.exists() else self.entry(key, series=True)

    def get(self, key: RunKey, *, series: bool = False) -> Record | None:
        """Find a run.

        Parameters
        ----------
        key
            Of the run.
        series
            Only if its time series are there too, and whole.
        """
        if not key.is_lasting:
            return None
        try:
            record = None if series else record_directory.read(self.entry(key), key)
            if record is None:
                record = record_directory.read(self.entry(key, series=True), key)
            if record is None or record.place is None:
                return None
            if series:
                record_directory.check_files(record.place, "*.parquet")
        except ResultError:
            with self.lock:
                self.damaged.add(key.digest)
            return None
        self._touch(record.place)
        with self.lock:
            self.hits += 1
        return record

    def keeps(self, key: RunKey) -> bool:
        """Whether a run would be kept and found again."""
        return self.trouble is None and key.is_lasting

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Write all runs of a block in one scratch directory; one for each takes 1 ms a run."""
        with self.lock:
            self.users += 1
        try:
            yield
        finally:
            with self.lock, suppress(OSError, ResultError):  # `put` has noted why
                self.users -= 1
                if not self.users:
                    self.batch = None
                    self.open.close()

    def put(self, *records: Record) -> None:
        """Keep runs; an entry that has all of one stays as it is."""
        with self.lock:
            new = {
                each.key.digest: each
                for each in records
                if self.keeps(each.key) and each.key.digest not in self.writing
            }
            self.writing |= new.keys()
        entries = [self.entry(each.key, series=each.has_series) for each in new.values()]
        try:
            found = map(self._better, new.values(), entries)
            better = [(entry, each) for entry, each in zip(entries, found, strict=True) if each]
            if better:
                self._write(better)
        except (OSError, ResultError) as error:
            if not all(map(os.path.isdir, entries)):  # else another process was faster
                self.trouble = os_reason(error) if isinstance(error, OSError) else str(error)
        finally:
            self.writing -= new.keys()

    def _write(self, new: Sequence[tuple[Path, Record]]) -> None:
        with self.in_use():
            batch = self._opened()
            for entry, record in new:
                with batch.new(entry.name) as path:
                    if record.has_series:
                        record_directory.fill(path, record)
                    else:
                        path.write_bytes(record_directory.to_file(record))
            batch.settle()
        for _, record in new:
            if record.has_series:
                self.entry(record.key).unlink(missing_ok=True)

    def _opened(self) -> Batch:
        with self.lock:
            if self.batch is None:
                self._make_place()
                self.batch = self.open.enter_context(Batch(self.entries, is_lasting=False))
            return self.batch

    def _better(self, record: Record, entry: Path) -> Record | None:
        """Return what to write in place of an entry; None if it has all that the record has."""
        there, places = None, dict.fromkeys((entry, self.entry(record.key)))
        if record.key.digest not in self.damaged:
            with suppress(ResultError):
                found = (
                    record_directory.read(place, record.key) for place in places if place.exists()
                )
                there = next(filter(None, found), None)
        if there is None:
            return record
        measured = {**there.measured, **record.measured}
        if there.has_series < record.has_series:
            return replace(record, measured=measured)
        is_more = measured.keys() > there.measured.keys()
        return replace(there, measured=measured) if is_more else None

    def _make_place(self) -> None:
        if self.entries.is_dir():
            return
        self.entries.mkdir(parents=True, exist_ok=True)
        (self.place / TAG).write_text(TAG_TEXT, encoding="ascii")

    def _touch(self, entry: Path) -> None:
        """Note that an entry was used, for `prune`."""
        try:
            os.utime(entry if entry.suffix else entry / record_directory.PROVENANCE)
        except OSError:
            return  # read-only, or another user's

    @property
    def notes(self) -> list[str]:
        """Problems with the cache, a line each."""
        notes = []
        if self.trouble is not None:
            notes.append(f"{self.place}: the cache cannot be written: {self.trouble}; "
                         "continuing without it")  # fmt: skip
        if self.damaged:
            runs = "1 run" if len(self.damaged) == 1 else f"{len(self.damaged)} runs"
            notes.append(f"{self.place}: {runs} in the cache cannot be read, and ran again")
        return notes


def as_cache(
    cache: Cache | str | Path | bool | None,  # noqa: FBT001 (True is the default place)
    engine: str,
) -> Cache | None:
    """Return the cache to use.

    Parameters
    ----------
    cache
        A cache or its directory; True for the user's, False for none. None is the user's for the
        simulator and none for the kernel, whose runs are measurements.
    engine
        ``simulator`` or ``kernel``.
    """
    if cache is None:
        return None if engine == KERNEL else Cache()
    if isinstance(cache, bool):
        return Cache() if cache else None
    return cache if isinstance(cache, Cache) else Cache(cache)
