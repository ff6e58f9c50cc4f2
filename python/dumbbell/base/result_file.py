"""Files of results, which may be anyone's: read as `documents` does, with errors that name them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dumbbell.base import documents
from dumbbell.base.documents import MAX_JSON_BYTES, DocumentError, open_file, read_file
from dumbbell.base.errors import ResultError, os_reason

__all__ = ["check_regular", "parse_json", "read_bytes", "read_json"]

#: What to do about a file that is not one of a result's.
REMEDY = "remove it, or copy the result again"


@contextlib.contextmanager
def errors_naming(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into a ResultError, but for that it is not there."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise ResultError(f"{path}: cannot be read: {os_reason(error)}") from None
    except DocumentError as error:
        raise ResultError(f"{path}: {error}; {REMEDY}") from None


def check_regular(path: Path) -> None:
    """Refuse what is not a regular file.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        There is no such file.
    ResultError
        It is a device, a named pipe, a directory or a socket, or cannot be read.
    """
    with errors_naming(path):
        open_file(path).close()


def read_bytes(path: Path, max_bytes: int = MAX_JSON_BYTES) -> bytes:
    """Read a regular file.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        There is no such file.
    ResultError
        It is not a regular file, too large, or cannot be read.
    """
    with errors_naming(path):
        return read_file(path, max_bytes)


def read_json(path: Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Read a JSON document.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        There is no such file.
    ResultError
        It cannot be read, or is damaged; the message names the file and the place.
    """
    return parse_json(read_bytes(path, max_bytes), str(path))


def parse_json(content: bytes, name: str) -> Any:
    """Parse a JSON document; `name` is what an error calls it.

    Raises
    ------
    ResultError
        It is damaged, or nests too deeply.
    """
    try:
        return documents.parse_json(content)
    except DocumentError as error:
        raise ResultError(f"{name}: is damaged: {error}; copy it again") from None
