"""The runs of a sweep, on disk or packed in memory, each loaded on access."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell.base.errors import ResultError
from dumbbell.congestion_control.source_store import StoredSources
from dumbbell.congestion_control.sources import Sources
from dumbbell.run import Run
from dumbbell.run import directory as run_directory
from dumbbell.runs import record_directory
from dumbbell.runs.key import RunKey
from dumbbell.runs.record import Record, completed
from dumbbell.sweeps.design import Design

__all__ = ["KeptRun", "KeptRuns", "pack"]


@dataclass(frozen=True)
class KeptRun:
    """Where a run is.

    Attributes
    ----------
    key
        What it is a run of; None for a directory that does not say.
    place
        Its directory, or its file in the cache; None when it is in memory.
    packed
        Its document, compressed, then.
    """

    key: RunKey | None
    place: Path | None = None
    packed: bytes = b""


def pack(record: Record) -> KeptRun:
    """Keep a run's document in memory: a tenth of its text."""
    return KeptRun(record.key, packed=zlib.compress(record.document, 1))


class KeptRuns(Mapping[tuple[int, int], Run]):
    """Runs by cell index and repetition.

    Parameters
    ----------
    design
        Which says their scenarios.
    kept
        Where they are.
    """

    def __init__(self, design: Design, kept: Mapping[tuple[int, int], KeptRun]) -> None:
        self.design = design
        self.kept = dict(sorted(kept.items()))

    def __getitem__(self, key: tuple[int, int]) -> Run:
        kept, (cell, rep) = self.kept[key], key
        document: dict[str, Any]
        tables: Mapping[str, pa.Table] = {}
        if kept.place is None:
            document = json.loads(zlib.decompress(kept.packed))
        elif kept.place.suffix == record_directory.FILE_SUFFIX:
            document = record_directory.document_in(kept.place)
        else:
            document, tables = run_directory.read(kept.place)
        sources: Mapping[str, Sources] = {} if kept.key is None else kept.key.sources
        if not sources and kept.place is not None:
            sources = StoredSources(kept.place)
        scenario = self.design.scenario_of(self.design.cells[cell], rep)
        capture = None if kept.place is None else run_directory.capture_in(kept.place)
        try:
            return Run.from_dict(completed(document, scenario), tables, capture, sources)
        except ResultError as error:
            raise ResultError(f"{kept.place}: {error}") from None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.kept)

    def __len__(self) -> int:
        return len(self.kept)

    def place(self, key: tuple[int, int]) -> Path | None:
        """Return the directory of a run; None when it is in memory."""
        return self.kept[key].place

    def record(self, key: tuple[int, int]) -> Record | None:
        """Return a run as it is kept; None if it does not say what it is a run of."""
        kept = self.kept[key]
        if kept.key is None:
            return None
        if kept.place is None:
            return Record(kept.key, zlib.decompress(kept.packed))
        return record_directory.read(kept.place, kept.key)
