"""A run as it is kept and sent to other processes: its document, its time series, its metrics."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from dumbbell.base.result_file import parse_json
from dumbbell.run import Run
from dumbbell.run import directory as run_directory
from dumbbell.run.declarations import declared_by_builtin
from dumbbell.run.document import damaged
from dumbbell.run.run import SCHEMA_VERSION
from dumbbell.runs.key import RunKey
from dumbbell.runs.measuring import Measures
from dumbbell.scenario import Scenario

__all__ = ["Record", "completed", "make_record"]


@dataclass(frozen=True)
class Record:
    """A run, in bytes.

    Attributes
    ----------
    key
        What it is a run of.
    document
        `run.json`, `completed` by its reader.
    tables
        Parquet files by the table's name.
    has_series
        Whether the tables were kept; there may be none even so.
    measured
        What was measured of it, by how it was.
    place
        Where it is kept; a directory has its tables.
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
        words = parse_json(self.document, f"{self.place or 'a record'}/run.json")
        document = completed(words, scenario)
        tables: Mapping[str, pa.Table] = run_directory.ParquetBytes(self.tables)
        if self.place is not None and self.has_series:
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
    document = run.outcome()
    document["groups"] = [without_declared(group) for group in document["groups"]]
    # Short, without indents: json writes those several times slower.
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    tables = EncodedTables(run.tables) if series else {}
    return Record(key, text.encode(), tables, series, measured or {}, source=run)


def without_declared(group: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a group without what its algorithm declares, if any run of this build says that."""
    declared = group.get("declared")
    is_known = declared is not None and declared is declared_by_builtin(group["cc"])
    return {**group, "declared": None} if is_known else group


def completed(document: Mapping[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Return `run.json` with what a record leaves out, and the scenario in the caller's words."""
    if not isinstance(document, dict) or not isinstance(document.get("groups"), list):
        raise damaged("it is not of a run")
    groups = [
        {**group, "declared": declared_by_builtin(str(group.get("cc")))}
        if isinstance(group, dict) and group.get("declared", ...) is None
        else group
        for group in document["groups"]
    ]
    said = {"schema_version": SCHEMA_VERSION, "scenario": scenario.to_dict()}
    return {**said, **document, "scenario": said["scenario"], "groups": groups}


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
