"""The analysis of one capture: its connections, their time series, and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell._core import ENGINE_VERSION
from dumbbell.base.errors import ResultError
from dumbbell.base.result_file import read_json
from dumbbell.capture_analysis.best_point import all_views, best_views
from dumbbell.capture_analysis.columns import check_table
from dumbbell.capture_analysis.save import save
from dumbbell.capture_analysis.vantage import Note, notes_of
from dumbbell.run.directory import ParquetTables

if TYPE_CHECKING:
    from dumbbell.figures.canvas import Canvas

__all__ = ["ANALYSIS_SCHEMA_VERSION", "Analysis"]

#: Version of `Analysis.to_dict` and `analyze --json`; docs/format-analysis.md says what changes it.
ANALYSIS_SCHEMA_VERSION = 1
TABLES = ("connections", "series", "segments")
#: Connections in a notebook's table.
MAX_ROWS = 64


class Analysis:
    """What the connections in a capture did.

    Parameters
    ----------
    path
        The capture's.
    reading
        How the reading went: counts of packets read and not read, `damage`, and `interfaces`.
    tables
        ``connections``, ``series`` and, if packets were asked for, ``segments``;
        docs/analysis.md has their columns.
    congestion_controls
        Of each group, if this is the capture of a run.
    names
        What the groups are called; their algorithms, if the analysis does not say it.
    """

    def __init__(
        self,
        path: str,
        reading: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        congestion_controls: Sequence[str] = (),
        names: Sequence[str] = (),
    ) -> None:
        self.path = path
        self.reading = reading
        self.tables = tables
        self.congestion_controls = tuple(congestion_controls)
        self.names = tuple(names or congestion_controls)

    def __repr__(self) -> str:
        return f"<Analysis {self.path}, {self.connection_count} connections>"

    @property
    def connections(self) -> pa.Table:
        """A row per point, connection and direction."""
        return self.tables["connections"]

    @property
    def series(self) -> pa.Table:
        """Time series: throughput, RTT, in-flight and window of each point and direction."""
        return self.tables["series"]

    @property
    def segments(self) -> pa.Table:
        """Every packet of the connections whose segments were kept.

        Raises
        ------
        ResultError
            None were kept.
        """
        try:
            return self.tables["segments"]
        except KeyError:
            raise ResultError(
                f"{self.path}: no segments were kept; choose connections, e.g. `segments=[0]`"
            ) from None

    @property
    def connection_count(self) -> int:
        """How many connections there are."""
        return int(pc.count_distinct(self.connections["connection"]).as_py())

    @property
    def points(self) -> list[str]:
        """Names of the points that captured something, in the file's order."""
        names: list[str] = pc.unique(self.connections["point"]).to_pylist()
        return names

    @cached_property
    def best(self) -> pa.Table:
        """Both directions of each connection as its best point saw them, data first.

        The best point is the sender's if there is one. `is_data` marks the direction that carried
        more payload.
        """
        return best_views(self.connections)

    @cached_property
    def all_points(self) -> pa.Table:
        """Both directions of each connection at every point, data first, with `is_data`."""
        return all_views(self.connections)

    @property
    def data(self) -> pa.Table:
        """A row per connection: the data direction at the best point."""
        return self.best.filter(self.best["is_data"])

    @property
    def data_at_all_points(self) -> pa.Table:
        """The direction of each connection that carries the data, a row per point that saw it."""
        return self.all_points.filter(self.all_points["is_data"])

    @cached_property
    def notes(self) -> list[Note]:
        """What is unreliable because of where and when the capture was made."""
        return notes_of(self.data.select(["connection", "notes"]).to_pylist())

    @cached_property
    def largest(self) -> list[int]:
        """Numbers of the connections, most payload first."""
        table = self.data.select(["connection", "payload_bytes"])
        order = [("payload_bytes", "descending"), ("connection", "ascending")]
        numbers: list[int] = table.sort_by(order)["connection"].to_pylist()
        return numbers

    def series_of(self, connection: int) -> pa.Table:
        """Return the time series of a connection's data direction at its best point."""
        return self._rows_of(self.series, connection, is_data=True)

    def row_of(self, connection: int) -> dict[str, Any]:
        """Return the row of a connection's data direction at its best point.

        Raises
        ------
        ResultError
            There is no such connection.
        """
        rows = self.data.filter(pc.equal(self.data["connection"], connection)).to_pylist()
        if not rows:
            raise ResultError(
                f"{self.path}: there is no connection {connection}; "
                f"it has {self.connection_count}, counted from 0"
            )
        row: dict[str, Any] = rows[0]
        return row

    def segments_of(self, connection: int) -> pa.Table:
        """Return a connection's packets in both directions at its best point."""
        row = self.row_of(connection)
        table = self.segments
        return table.filter(
            pc.and_(
                pc.equal(table["connection"], connection), pc.equal(table["point"], row["point"])
            )
        )

    def _rows_of(self, table: pa.Table, connection: int, *, is_data: bool) -> pa.Table:
        row = self.row_of(connection)
        is_initiator = row["is_initiator"] == is_data
        mask = pc.and_(
            pc.equal(table["connection"], connection), pc.equal(table["point"], row["point"])
        )
        return table.filter(pc.and_(mask, pc.equal(table["is_initiator"], is_initiator)))

    def group_of(self, connection: int) -> int | None:
        """Return the group of a connection, if this is the capture of a run; else None."""
        kind, _, number = self.row_of(connection)["point"].partition("-")
        return int(number) if self.congestion_controls and kind == "sender" else None

    def plot(self) -> Canvas:
        """Draw throughput, RTT and in-flight over time, for a notebook."""
        from dumbbell.capture_analysis.figures import draw_overview
        from dumbbell.figures.frame import drawn

        return drawn(draw_overview(self))

    def _repr_html_(self) -> str:
        from dumbbell.base.quantities.html_table import html_table
        from dumbbell.capture_analysis.connection_table import COLUMNS, connection_row

        rows = [connection_row(self, self.row_of(number)) for number in self.largest[:MAX_ROWS]]
        return html_table(repr(self).strip("<>"), COLUMNS, rows)

    def to_dict(self, *, all_points: bool = False) -> dict[str, Any]:
        """Return the analysis as `--json` prints it; docs/format-analysis.md describes it.

        Parameters
        ----------
        all_points
            Whether to list every point of a connection, not only the best.
        """
        return {
            "schema_version": ANALYSIS_SCHEMA_VERSION,
            "engine_version": ENGINE_VERSION,
            "file": self.path,
            "reading": dict(self.reading),
            "points": self.points,
            "connections": (self.all_points if all_points else self.best).to_pylist(),
            "notes": [note.to_dict() for note in self.notes],
            "congestion_controls": list(self.congestion_controls),
            "names": list(self.names),
        }

    @classmethod
    def load(cls, directory: str | Path) -> Analysis:
        """Read an analysis that `save` wrote.

        Raises
        ------
        ResultError
            There is none, or it was written by another version.
        """
        directory = Path(directory)
        path = directory / "analysis.json"
        try:
            document = read_json(path)
        except (FileNotFoundError, NotADirectoryError):
            raise ResultError(
                f"{directory}: holds no analysis: analysis.json not found; `dumbbell analyze FILE "
                "--out DIR` writes one"
            ) from None
        if not isinstance(document, dict):
            raise ResultError(f"{path}: is not an analysis")
        if document.get("schema_version") != ANALYSIS_SCHEMA_VERSION:
            raise ResultError(f"{directory}: written by another version; analyze the capture again")
        tables = {
            name: check_table(directory, name, table)
            for name, table in ParquetTables(directory, TABLES).items()
        }
        file, reading = document.get("file"), document.get("reading")
        # Earlier versions wrote no names.
        ccs, names = (document.get(key, []) for key in ("congestion_controls", "names"))
        are_lists = isinstance(ccs, list) and isinstance(names, list)
        if not (isinstance(file, str) and isinstance(reading, dict) and are_lists):
            raise ResultError(f"{path}: is damaged; analyze the capture again")
        return cls(file, reading, tables, ccs, names)

    def save(self, directory: str | Path, *, figures: bool = True) -> list[Path]:
        """Write tables and figures to a directory.

        Parameters
        ----------
        directory
            Created if it does not exist; files of the same names are replaced.
        figures
            Whether to draw.

        Returns
        -------
        list of Path
            What was written.

        Raises
        ------
        ResultError
            It cannot be written.
        """
        from dumbbell.capture_analysis.figures import draw_figures

        drawn = draw_figures(self) if figures else ()
        return save(Path(directory), self.tables, "analysis.json", self.to_dict(), drawn)
