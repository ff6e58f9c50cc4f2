"""A run on disk: `run.json`, one Parquet file per table, and its capture if it has one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell._core import MAX_ROWS
from dumbbell.base.arrow_file import arrow_file
from dumbbell.base.errors import ResultError, check_directory, os_reason
from dumbbell.base.result_file import check_regular, read_json
from dumbbell.base.writing import check_replacing, errors_of_writing, replacing
from dumbbell.congestion_control.source_store import DIRECTORY as SOURCES
from dumbbell.congestion_control.source_store import set_name, write_set
from dumbbell.congestion_control.sources import Sources
from dumbbell.records.check import Unexpected
from dumbbell.records.columns import Extent
from dumbbell.run.capture import CAPTURE, link_or_copy
from dumbbell.run.columns import COLUMNS, STATE, check_table, extent_of

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "DOCUMENT",
    "ParquetBytes",
    "ParquetTables",
    "capture_in",
    "check_place",
    "encode",
    "fill",
    "read",
    "write",
]

DOCUMENT = "run.json"
#: What a run's directory holds but tables, its own and what other commands make of it.
PARTS = frozenset({DOCUMENT, CAPTURE, SOURCES, "report.html", "plots", "csv"})
#: A table of ours.
TABLE = re.compile(rf"({'|'.join(COLUMNS.keys() - {STATE})}|{STATE}-\d+-[^/]+)\.parquet", re.ASCII)
#: More than any congestion control has series.
MAX_COLUMNS = 1000


class ParquetTables(Mapping[str, "pa.Table"]):
    """The tables of a saved run; each is read on access, and not kept.

    Parameters
    ----------
    directory
        Where they are.
    names
        Which of them; None for all.
    """

    def __init__(self, directory: Path, names: Iterable[str] | None = None) -> None:
        self.directory = directory
        self.names = None if names is None else frozenset(names)

    def __getitem__(self, name: str) -> pa.Table:
        path = self.directory / f"{name}.parquet"
        try:
            return read_table(path)
        except FileNotFoundError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        found = (path.stem for path in self.directory.glob("*.parquet"))
        return iter(sorted(name for name in found if self.names is None or name in self.names))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class RunTables(ParquetTables):
    """The tables of a saved run, which may be anyone's: they are those of such a run.

    Parameters
    ----------
    directory
        Where they are.
    document
        The run's; it is checked before the first table is read.
    """

    def __init__(self, directory: Path, document: Mapping[str, Any]) -> None:
        super().__init__(directory)
        self.document = document

    @cached_property
    def extent(self) -> Extent:
        """What the tables' rows may refer to."""
        return extent_of(self.document)

    def __getitem__(self, name: str) -> pa.Table:
        table = super().__getitem__(name)
        try:
            return check_table(name, table, self.extent)
        except Unexpected as unexpected:
            raise ResultError(
                f"{self.directory / name}.parquet: is damaged: {unexpected}; copy it again, or "
                "repeat the run"
            ) from None


def read_table(path: Path) -> pa.Table:
    """Read a Parquet file, which may be anyone's.

    Raises
    ------
    FileNotFoundError
        There is none.
    ResultError
        It is damaged, or larger than any table of ours.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_regular(path)
    try:
        with arrow_file(path) as opened, pq.ParquetFile(opened) as file:
            rows, columns = file.metadata.num_rows, file.metadata.num_columns
            if rows > MAX_ROWS or columns > MAX_COLUMNS:
                raise ResultError(
                    f"{path}: has {rows:,} rows of {columns:,} columns; at most {MAX_ROWS:,} of "
                    f"{MAX_COLUMNS:,} are read"
                )
            return file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        # Arrow's error for damage is an OSError too, without a number.
        reason = os_reason(error) if error.errno else ""
        raise damaged_table(path, reason) from None
    except (pa.ArrowException, ValueError, MemoryError, OverflowError):
        raise damaged_table(path, "") from None


def damaged_table(path: Path, reason: str) -> ResultError:
    """Return the error for a table that cannot be read."""
    if reason:
        return ResultError(f"{path}: cannot be read: {reason}")
    return ResultError(
        f"{path}: is damaged: not a whole Parquet file; copy it again, or repeat the run"
    )


class ParquetBytes(Mapping[str, "pa.Table"]):
    """Tables in Parquet, in memory; each is read on access, and not kept."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def __getitem__(self, name: str) -> pa.Table:
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.read_table(pa.BufferReader(self.files[name]))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.files))

    def __len__(self) -> int:
        return len(self.files)


def write(
    directory: Path,
    document: str,
    tables: Mapping[str, pa.Table],
    capture: Path | None = None,
    sources: Iterable[Sources] = (),
    *,
    is_managed: bool = False,
) -> Path:
    """Write a run, completely or not at all.

    Parameters
    ----------
    directory
        Made, or replaced if it holds a run.
    document
        Text of `run.json`.
    tables
        One file each.
    capture
        The run's capture, to be put into the directory too.
    sources
        What its congestion control algorithms were built from, likewise.
    is_managed
        The directory is one of many of an experiment, which only dumbbell writes to.

    Raises
    ------
    ResultError
        The directory holds something else, or cannot be written.
    """
    check_replaceable(directory, is_managed=is_managed)
    with replacing(directory) as new:
        fill(new, document, tables, capture, sources)
    return directory


def fill(
    new: Path,
    document: str,
    tables: Mapping[str, pa.Table],
    capture: Path | None = None,
    sources: Iterable[Sources] = (),
) -> None:
    """Make the directory of a run; see `write`."""
    new.mkdir()
    write_tables(new, tables)
    if capture is not None:
        link_or_copy(capture, new / CAPTURE)
    for each in sources:
        write_set(new / SOURCES / set_name(each), each)
    (new / DOCUMENT).write_text(document + "\n", encoding="utf-8")


def write_tables(new: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write tables; those already in Parquet are not converted."""
    if isinstance(tables, ParquetTables):
        for name in tables:
            link_or_copy(tables.directory / f"{name}.parquet", new / f"{name}.parquet")
        return
    if isinstance(tables, ParquetBytes):
        for name, content in tables.files.items():
            (new / f"{name}.parquet").write_bytes(content)
        return
    for name, table in tables.items():
        (new / f"{name}.parquet").write_bytes(encode(table))


def encode(table: pa.Table) -> bytes:
    """Return a table as a Parquet file; the same bytes for the same table."""
    # A dictionary for a column of numbers that never repeat costs time and saves no space.
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = [field.name for field in table.schema if not is_number(field.type)]
    stream = pa.BufferOutputStream()
    pq.write_table(table, stream, compression="zstd", use_dictionary=words or False)
    content: bytes = stream.getvalue().to_pybytes()
    return content


def is_number(kind: pa.DataType) -> bool:
    """Whether a column holds numbers."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def check_place(directory: Path) -> None:
    """Refuse a directory that a run could not be saved to, before the run starts.

    Raises
    ------
    ResultError
        The directory holds something else, or cannot be written.
    """
    check_replaceable(directory)
    check_replacing(directory)


def check_replaceable(directory: Path, *, is_managed: bool = False) -> None:
    """Refuse a directory that holds more than a run and its pages, or has a table's name."""
    if directory.suffix in (".csv", ".parquet", ".json") and not directory.is_dir():
        raise ResultError(
            f"{directory}: a run is saved as a directory; name one, like `{directory.stem}`"
            + (
                ", then use `dumbbell report export DIR --csv`"
                if directory.suffix == ".csv"
                else ""
            )
        )
    with errors_of_writing(directory):
        refused = directory.exists() and not is_replaceable(directory)
        is_looked_at = not (refused or is_managed) and directory.exists()
        strange = sorted(strangers_in(directory)) if is_looked_at else []
    if refused:
        raise ResultError(f"{directory}: exists and does not hold a run; name another directory")
    if strange:
        raise ResultError(
            f"{directory}: also holds `{strange[0]}`, which is not of a run and would be lost; "
            "move it, or name another directory"
        )


def is_replaceable(directory: Path) -> bool:
    """Whether a directory is empty or holds a run."""
    return directory.is_dir() and ((directory / DOCUMENT).is_file() or not any(directory.iterdir()))


def strangers_in(directory: Path) -> list[str]:
    """Return the names in a directory that are neither of a run nor made from one."""
    names = (path.name for path in directory.iterdir())
    # Hidden ones are what file managers and killed processes leave.
    return [name for name in names if not (name in PARTS or name[0] == "." or TABLE.match(name))]


def capture_in(directory: Path) -> Path | None:
    """Return the capture that a run's directory holds."""
    capture = directory / CAPTURE
    return capture if capture.is_file() else None


def read(directory: Path) -> tuple[dict[str, Any], Mapping[str, pa.Table]]:
    """Read a run's document; its tables are read on access.

    Raises
    ------
    ResultError
        There is none, or it is damaged.
    """
    try:
        document = read_json(directory / DOCUMENT)
    except (FileNotFoundError, NotADirectoryError):
        check_directory(directory)
        raise ResultError(f"{directory}: holds no run: {DOCUMENT} not found") from None
    if not isinstance(document, dict):
        raise ResultError(f"{directory / DOCUMENT}: is not a run")
    return document, RunTables(directory, document)
