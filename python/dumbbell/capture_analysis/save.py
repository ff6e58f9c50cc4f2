"""Results of an analysis on disk: a document, a Parquet file for each table, and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dumbbell.base.quantities.json_text import json_text
from dumbbell.figures.figure import Figure
from dumbbell.run.directory import check_parent, unwritable

__all__ = ["save"]


def save(
    directory: Path,
    tables: Mapping[str, pa.Table],
    name: str,
    document: Mapping[str, Any],
    figures: Iterable[Figure],
) -> list[Path]:
    """Write tables, a document under its name, and figures if matplotlib is installed.

    Raises
    ------
    ResultError
        The directory cannot be written.
    """
    from dumbbell.figures.frame import save_all

    check_parent(directory)
    written = []
    try:
        for table, rows in tables.items():
            written.append(directory / f"{table}.parquet")
            pq.write_table(rows, written[-1], compression="zstd")
        written.append(directory / name)
        written[-1].write_text(json_text(document) + "\n", encoding="utf-8")
        return written + save_all(figures, directory)
    except OSError as error:
        raise unwritable(directory, error) from None
