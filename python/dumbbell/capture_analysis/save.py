"""Results of an analysis on disk: a document, a Parquet file for each table, and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.writing import adding
from dumbbell.figures.figure import Figure

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

    files = [f"{table}.parquet" for table in tables]
    with adding(directory) as place_for:
        for file, rows in zip(files, tables.values(), strict=True):
            with arrow_file(place_for(file), "wb") as stream:
                pq.write_table(rows, stream, compression="zstd")
        place_for(name).write_text(json_text(document) + "\n", encoding="utf-8")
    return [directory / file for file in (*files, name)] + save_all(figures, directory)
