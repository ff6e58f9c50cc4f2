"""A run as it is kept and sent around: its document, its series, what was measured of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from dumbbell.run import Run
from dumbbell.run import directory as run_directory
from dumbbell.runs.key import RunKey
from dumbbell.runs.measures import Measures
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
        `run.json`; its scenario in whichever words it was first asked for.
    tables
        Parquet files by the table's name.
    has_series
        Whether the tables were kept; there may be none even so.
    measured
        What was measured of it, by how it was.
    place
        The directory that `tables` can be read from instead, when it is kept in one.
    """

    key: RunKey
    document: bytes
    tables: Mapping[str, bytes] = field(default_factory=dict)
    has_series: bool = False
    measured: Mapping[str, Measures] = field(default_factory=dict)
    place: Path | None = None

    def run(self, scenario: Scenario) -> Run:
        """Return the run of a scenario that this is a record of.

        Raises
        ------
        ResultError
            The record was written by another version.
        """
        document = json.loads(self.document)
        document["scenario"] = scenario.to_dict()
        tables: Mapping[str, pa.Table] = run_directory.ParquetBytes(self.tables)
        if self.place is not None:
            tables = run_directory.ParquetTables(self.place)
        return Run.from_dict(document, tables)


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
    tables = {}
    if series:
        tables = {name: run_directory.encode(table) for name, table in run.tables.items()}
    return Record(key, text.encode(), tables, series, measured or {})
