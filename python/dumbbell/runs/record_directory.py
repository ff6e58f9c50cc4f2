"""A record on disk: a run's directory with its content address and its metrics."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.documents import DocumentError, open_file
from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.result_file import parse_json, read_bytes, read_json
from dumbbell.run.capture import CAPTURE, link_or_copy
from dumbbell.run.directory import DOCUMENT
from dumbbell.runs.key import RunKey
from dumbbell.runs.measuring import Measures
from dumbbell.runs.record import Record

__all__ = [
    "MEASURES",
    "PROVENANCE",
    "check_files",
    "file_digest",
    "fill",
    "read",
    "read_provenance",
]

#: The content address of a run, and the digests of its files.
PROVENANCE = "provenance.json"
#: Its metrics.
MEASURES = "measures.json"
#: Most bytes of `provenance.json`, which lists a few files.
MAX_PROVENANCE_BYTES = 1 << 20
#: Version of `provenance.json`.
FORMAT = 1
#: Larger than the table of as many rows as a run may have.
MAX_TABLE_BYTES = 16 << 30


def fill(
    new: Path, record: Record, *, document: bytes | None = None, capture: Path | None = None
) -> None:
    """Make the directory of a record.

    Parameters
    ----------
    new
        The directory, which does not exist.
    record
        The record.
    document
        Text of `run.json`, if not the record's own.
    capture
        The run's capture, to be put into the directory.

    Raises
    ------
    OSError
        It cannot be written.
    """
    document = record.document if document is None else document
    new.mkdir()
    files = write_tables(new, record) | {DOCUMENT: file_digest(document)}
    (new / DOCUMENT).write_bytes(document)
    if record.measured:
        measures = compact(record.measured)
        files[MEASURES] = file_digest(measures)
        (new / MEASURES).write_bytes(measures)
    if capture is not None:
        link_or_copy(capture, new / CAPTURE)
    (new / PROVENANCE).write_bytes(compact(to_provenance(record, files)))


def write_tables(new: Path, record: Record) -> dict[str, str]:
    """Write the tables, or link existing files; return their digests."""
    for name, content in record.tables.items():
        (new / f"{name}.parquet").write_bytes(content)
    digests = {f"{name}.parquet": file_digest(content) for name, content in record.tables.items()}
    if record.place is not None and record.has_series:
        known = read_provenance(record.place)["files"]
        for name in (name for name in known if name.endswith(".parquet")):
            link_or_copy(record.place / name, new / name)
            digests[name] = known[name]
    return digests


def to_provenance(record: Record, files: Mapping[str, str]) -> dict[str, Any]:
    """Return what `provenance.json` says; docs/format-sweep.md describes it."""
    key = record.key
    return {
        "format": FORMAT,
        "key": key.digest,
        "engine": key.engine,
        "engine_version": key.engine_version,
        "engine_build": key.engine_build,
        "has_series": record.has_series,
        "files": dict(files),
    }


def compact(document: Any) -> bytes:
    """Return JSON in its shortest form."""
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def digest_of(path: Path) -> str:
    """Return the digest of a file, of up to the size that a table may have."""
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MAX_TABLE_BYTES:
                raise DocumentError(f"has {size:,} bytes; use at most {MAX_TABLE_BYTES:,}")
            return hashlib.file_digest(file, new_digest).hexdigest()
    except DocumentError as error:
        raise ResultError(f"{path}: {error}") from None


def new_digest() -> Any:
    """Return an empty digest."""
    return hashlib.blake2b(digest_size=16)


def file_digest(content: bytes) -> str:
    """Return a file's digest, which detects damage, not malice."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def read_provenance(directory: Path) -> dict[str, Any]:
    """Read `provenance.json`.

    Raises
    ------
    OSError
        It does not exist.
    ResultError
        It cannot be read, is damaged, or of another version.
    """
    path = directory / PROVENANCE
    document = read_json(path, MAX_PROVENANCE_BYTES)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{path}: is of another version")
    files, key = document.get("files"), document.get("key")
    if not isinstance(files, dict) or not isinstance(key, str):
        raise ResultError(f"{path}: is damaged")
    return document


def read(directory: Path, key: RunKey) -> Record | None:
    """Read the record of a run.

    Parameters
    ----------
    directory
        Where it may be.
    key
        The run's content address.

    Returns
    -------
    Record
        Its tables stay on disk. None if there is no record, or it is of another run.

    Raises
    ------
    ResultError
        It is damaged.
    """
    try:
        provenance = read_provenance(directory)
        if provenance["key"] != key.digest:
            return None
        document = read_bytes(directory / DOCUMENT)
        if provenance["files"].get(DOCUMENT) != file_digest(document):
            raise ResultError(f"{directory / DOCUMENT}: is damaged")
        has_series = bool(provenance.get("has_series"))
        measured = read_measures(directory, provenance["files"].get(MEASURES))
        return Record(key, document, has_series=has_series, measured=measured, place=directory)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except DocumentError as error:
        raise ResultError(f"{directory / DOCUMENT}: {error}") from None
    except OSError as error:
        raise ResultError(f"{directory}: cannot be read: {os_reason(error)}") from None


def read_measures(directory: Path, digest: str | None) -> Mapping[str, Measures]:
    """Read the metrics; they are measured again if the file is damaged."""
    try:
        content = read_bytes(directory / MEASURES)
        if file_digest(content) != digest:
            return {}
        measured: Mapping[str, Measures] = parse_json(content, str(directory / MEASURES))
    except (OSError, ResultError):
        return {}
    return measured if is_measures(measured) else {}


def is_measures(measured: object) -> bool:
    """Whether a document has the form of metrics: by how they were measured, a row per group."""
    return isinstance(measured, dict) and all(
        isinstance(rows, list) and all(isinstance(row, dict) and "group" in row for row in rows)
        for rows in measured.values()
    )


def check_files(directory: Path, names: str = "*") -> None:
    """Compare files with their digests.

    Parameters
    ----------
    directory
        A record's.
    names
        Which ones: ``*.parquet``.

    Raises
    ------
    ResultError
        One is missing or damaged; the message names it.
    """
    try:
        for name, digest in read_provenance(directory)["files"].items():
            path = directory / Path(name).name
            if path.match(names) and digest_of(path) != digest:
                raise ResultError(f"{path}: is damaged")
    except FileNotFoundError as error:
        raise ResultError(f"{error.filename}: is missing") from None
    except OSError as error:
        raise ResultError(f"{error.filename}: cannot be read: {os_reason(error)}") from None
