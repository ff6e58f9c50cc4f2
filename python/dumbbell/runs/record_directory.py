"""A record on disk: a run's directory with its content address and its metrics.

Without tables it can be one file, which takes a fifth of the time: `provenance.json`,
`measures.json` and `run.json`, a line each.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.base.documents import DocumentError, open_file
from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.result_file import parse_json, read_bytes
from dumbbell.run.capture import CAPTURE, link_or_copy
from dumbbell.run.directory import DOCUMENT
from dumbbell.runs.key import RunKey
from dumbbell.runs.measuring import Measures
from dumbbell.runs.record import Record

__all__ = [
    "FILE_SUFFIX",
    "MEASURES",
    "PROVENANCE",
    "check_files",
    "document_in",
    "file_digest",
    "fill",
    "read",
    "read_provenance",
    "to_file",
]

#: The content address of a run, and the digests of its files.
PROVENANCE = "provenance.json"
#: Its metrics.
MEASURES = "measures.json"
#: What the name of a record in one file ends in.
FILE_SUFFIX = ".jsonl"
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


def to_file(record: Record) -> bytes:
    """Return a record without tables as one file."""
    measures = compact(record.measured)
    files = {DOCUMENT: file_digest(record.document), MEASURES: file_digest(measures)}
    return b"\n".join((compact(to_provenance(record, files)), measures, record.document))


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


def read_provenance(place: Path) -> dict[str, Any]:
    """Read the `provenance.json` of a record.

    Raises
    ------
    OSError
        It does not exist.
    ResultError
        It cannot be read, is damaged, or of another version.
    """
    if place.suffix == FILE_SUFFIX:
        return parts_of(place)[0]
    path = place / PROVENANCE
    return checked(read_bytes(path, MAX_PROVENANCE_BYTES), path)


def checked(content: bytes, path: Path) -> dict[str, Any]:
    """Return what `provenance.json` says, if it is whole and of this version."""
    document = parse_json(content, str(path))
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ResultError(f"{path}: is of another version")
    files, key = document.get("files"), document.get("key")
    if not isinstance(files, dict) or not isinstance(key, str):
        raise ResultError(f"{path}: is damaged")
    return document


def parts_of(file: Path) -> tuple[dict[str, Any], bytes, bytes]:
    """Return the provenance, the metrics and the document of a record in one file."""
    lines = read_bytes(file).split(b"\n")
    if len(lines) != 3:
        raise ResultError(f"{file}: is damaged")
    return checked(lines[0], file), lines[1], lines[2]


def document_in(file: Path) -> dict[str, Any]:
    """Read the document of a record in one file.

    Raises
    ------
    ResultError
        It is not there, or is damaged.
    """
    try:
        _, _, content = parts_of(file)
    except OSError as error:
        raise ResultError(f"{file}: cannot be read: {os_reason(error)}") from None
    document: dict[str, Any] = parse_json(content, str(file))
    return document


def read(place: Path, key: RunKey) -> Record | None:
    """Read the record of a run.

    Parameters
    ----------
    place
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
        if place.suffix == FILE_SUFFIX:
            provenance, measures, document = parts_of(place)
        else:
            provenance = read_provenance(place)
            measures, document = measures_in(place), read_bytes(place / DOCUMENT)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ResultError(f"{place}: cannot be read: {os_reason(error)}") from None
    files = provenance["files"]
    if provenance["key"] != key.digest:
        return None
    if files.get(DOCUMENT) != file_digest(document):
        raise ResultError(f"{place / DOCUMENT}: is damaged")
    has_series = bool(provenance.get("has_series"))
    measured = to_measured(measures, files.get(MEASURES))
    return Record(key, document, has_series=has_series, measured=measured, place=place)


def measures_in(directory: Path) -> bytes:
    """Read the metrics of a directory; nothing if that cannot be done."""
    try:
        return read_bytes(directory / MEASURES)
    except (OSError, ResultError):
        return b""


def to_measured(content: bytes, digest: str | None) -> Mapping[str, Measures]:
    """Parse the metrics; they are measured again if they are damaged."""
    if file_digest(content) != digest:
        return {}
    try:
        measured: Mapping[str, Measures] = parse_json(content, MEASURES)
    except ResultError:
        return {}
    return measured if is_measures(measured) else {}


def is_measures(measured: object) -> bool:
    """Whether a document has the form of metrics: by how they were measured, a row per group."""
    return isinstance(measured, dict) and all(
        isinstance(rows, list) and all(isinstance(row, dict) and "group" in row for row in rows)
        for rows in measured.values()
    )


def check_files(place: Path, names: str = "*") -> None:
    """Compare the files of a record with their digests.

    Parameters
    ----------
    place
        The record's.
    names
        Which ones: ``*.parquet``.

    Raises
    ------
    ResultError
        One is missing or damaged; the message names it.
    """
    try:
        if place.suffix == FILE_SUFFIX:
            provenance, measures, document = parts_of(place)
            for name, content in ((MEASURES, measures), (DOCUMENT, document)):
                if provenance["files"].get(name) != file_digest(content):
                    raise ResultError(f"{place}: is damaged")
            return
        for name, digest in read_provenance(place)["files"].items():
            path = place / Path(name).name
            if path.match(names) and digest_of(path) != digest:
                raise ResultError(f"{path}: is damaged")
    except FileNotFoundError as error:
        raise ResultError(f"{error.filename}: is missing") from None
    except OSError as error:
        raise ResultError(f"{error.filename}: cannot be read: {os_reason(error)}") from None
