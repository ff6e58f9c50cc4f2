"""A run as it is kept and sent to other processes: its document, its time series, its metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from dumbbell.base.result_file import parse_json
from dumbbell.run import Run
from dumbbell.run import directory as run_directory
from dumbbell.runs.key import RunKey
from dumbbell.runs.measuring import Measures
from dumbbell.scenario import Scenario

__all__ = ["Record", "make_record"]


@dataclass(frozen=True)
class Record:
    """A run, in bytes.

    Attributes
    ----------
    key
        What it is a run of.
    document
        `run.json`; its scenario as it was first written.
    tables
        Parquet files by the table's name.
    has_series
        Whether the tables were kept; there may be none even so.
    measured
        What was measured of it, by how it was.
    place
        The directory that `tables` can be read from instead, when it is kept in one.
    source
        The run itself, while it is in this process.
    """

    key: RunKey
    document: bytes
    tables: Mapping[str, bytes] = field(default_factory=dict)
    has_series: bool = False
    measured: Mapping[str, Measures] = field(default_factory=dict)
    place: Path | None = None
    source: Run | None = None

    def detached(self) -> Record:
        """Return the record without its run, to be sent to another process."""
        return replace(self, tables=dict(self.tables), source=None)

    def run(self, scenario: Scenario) -> Run:
        """Return the run of a scenario that this is a record of.

        Raises
        ------
        ResultError
            The record was written by another version.
        """
        if self.source is not None:
            if isinstance(self.tables, EncodedTables) and self.tables.encoded:
                # What saves the run does not encode its tables again.
                self.source.tables = run_directory.ParquetBytes(self.tables)
            return self.source
        document = parse_json(self.document, f"{self.place or 'a record'}/run.json")
        document["scenario"] = scenario.to_dict()
        tables: Mapping[str, pa.Table] = run_directory.ParquetBytes(self.tables)
        if self.place is not None:
            tables = run_directory.ParquetTables(self.place)
        return Run.from_dict(document, tables, sources=self.key.sources)


def make_record(
    run: Run, key: RunKey, *, series: bool, measured: Mapping[str, Measures] | None = None
) -> Record:
    """Keep a run.

    Parameters
    ----------
    run
        With its tables.
    key
        Of its scenario and engine.
    series
        Keep the tables too.
    measured
        What was measured of it.
    """
    # Short, without indents: json writes those several times slower.
    text = json.dumps(run.to_dict(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    tables = EncodedTables(run.tables) if series else {}
    return Record(key, text.encode(), tables, series, measured or {}, source=run)


class EncodedTables(Mapping[str, bytes]):
    """Tables as Parquet files, each encoded when it is first asked for."""

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self.tables = tables
        self.encoded: dict[str, bytes] = {}

    def __getitem__(self, name: str) -> bytes:
        if name not in self.encoded:
            self.encoded[name] = run_directory.encode(self.tables[name])
        return self.encoded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)
