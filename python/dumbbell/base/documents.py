"""Documents that others may have written, TOML and JSON: bounded before they are parsed.

Parsers take far more memory than the text has bytes, and recurse as deeply as it nests. So only
regular files are read, up to a size, and nesting is refused beyond a depth.
"""

from __future__ import annotations

import json
import os
import re
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, NoReturn

from dumbbell.base.errors import DumbbellError

__all__ = [
    "MAX_DEPTH", "MAX_JSON_BYTES", "MAX_TOML_BYTES", "DocumentError", "open_file", "parse_json",
    "parse_toml", "read_file", "read_json", "read_text", "read_toml",
]  # fmt: skip

#: Most bytes of a scenario or a suite: some 40,000 groups. The worst take 2 s and 250 MB.
MAX_TOML_BYTES = 1 << 20
#: Most bytes of a document of ours: `run.json` with 100,000 flows has half as many.
MAX_JSON_BYTES = 1 << 28
#: A file is read in one piece of its size, or of this if that is larger.
MIN_READ_BYTES = 1 << 16
#: How deeply tables and lists may nest, and how many parts a key may have: `a.b.c` has three.
MAX_DEPTH = 32

OPENING, CLOSING = ("[", "{"), ("]", "}")
SEPARATORS = (*OPENING, *CLOSING, ",", "=", "\n")
#: The parts of TOML that matter to its nesting; strings and comments are skipped whole. A string
#: may lack its end, so that the rest is not searched again from each quote in it.
TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?|'
    r"'''(?:[^']|'(?!''))*+(?:''')?|"
    r'"(?:[^"\\\n]|\\.)*+"?|'
    r"'[^'\n]*+'?|#[^\n]*+|[\[\]{}.,=\n]",
    re.DOTALL,
)
ERROR_LINE = re.compile(r"(.*) \(at line (\d+), column \d+\)")


class DocumentError(DumbbellError, ValueError):
    """A document cannot be read.

    Parameters
    ----------
    message
        One line for the user, which does not name the file.
    line
        Where, from 1; None for the whole document.
    """

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def open_file(path: Path) -> BufferedReader:
    """Open a regular file; a device or a named pipe could go on forever.

    Raises
    ------
    OSError
        It does not exist, or cannot be read.
    DocumentError
        It is not a regular file.
    """
    return os.fdopen(open_descriptor(path), "rb")


def open_descriptor(path: Path) -> int:
    """Open a regular file, as `open_file`."""
    # Opening a pipe would wait for its writer, and `open` refuses a directory by its number.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise DocumentError("is a directory")
        what = "a named pipe" if stat.S_ISFIFO(mode) else "a device"
        raise DocumentError(f"is not a regular file but {what}")
    return descriptor


def read_file(path: Path, max_bytes: int) -> bytes:
    """Read a regular file of a bounded size.

    Parameters
    ----------
    path
        The file.
    max_bytes
        The most it may have.

    Raises
    ------
    OSError
        It does not exist, or cannot be read.
    DocumentError
        It is not a regular file, or too large.
    """
    descriptor = open_descriptor(path)
    try:
        size = os.fstat(descriptor).st_size
        content, step = b"", max(size, MIN_READ_BYTES)
        while max(size, len(content)) <= max_bytes:  # it may be growing
            part = os.read(descriptor, min(step, max_bytes - len(content)) + 1)
            content += part
            if not part:
                break
    finally:
        os.close(descriptor)
    size = max(size, len(content))
    if size > max_bytes:
        raise DocumentError(f"has {size:,} bytes; use at most {max_bytes:,}")
    return content


def read_text(path: Path) -> str:
    """Read the text of a file of a scenario's, without a byte order mark."""
    content = read_file(path, MAX_TOML_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DocumentError("not UTF-8 text") from None


def read_toml(path: Path) -> str:
    """Read the text of a TOML file, without a byte order mark."""
    content = read_file(path, MAX_TOML_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise DocumentError("not TOML: not UTF-8 text", line) from None


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML.

    Raises
    ------
    DocumentError
        It is not TOML, or nests too deeply.
    """
    check_depth(text)
    import tomllib  # slow to import, and a run without files reads none

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = ERROR_LINE.fullmatch(str(error))
        if match is None:  # the error is at the end of the file
            raise DocumentError(f"not TOML: {error}") from None
        raise DocumentError(f"not TOML: {match[1]}", int(match[2])) from None
    except ValueError:
        # Python refuses to read a decimal number of thousands of digits.
        raise DocumentError("not TOML: a number has too many digits") from None


def check_depth(text: str) -> None:
    """Refuse TOML whose tables, lists or keys nest too deeply; what is not TOML is left alone."""
    depth = dots = 0
    for match in TOKEN.finditer(text):
        part = match[0]
        if part == ".":
            dots += 1
        elif part in SEPARATORS:
            dots = 0
            depth += (part in OPENING) - (part in CLOSING)
        if depth > MAX_DEPTH or dots >= MAX_DEPTH:
            line = text.count("\n", 0, match.start()) + 1
            raise DocumentError(f"nests too deeply; use at most {MAX_DEPTH} levels", line)


def read_json(path: Path, max_bytes: int = MAX_JSON_BYTES) -> Any:
    """Read and parse a JSON file.

    Raises
    ------
    OSError
        It does not exist, or cannot be read.
    DocumentError
        It is not JSON, nests too deeply, is too large or is not a regular file.
    """
    return parse_json(read_file(path, max_bytes))


def parse_json(content: bytes) -> Any:
    """Parse JSON.

    Raises
    ------
    DocumentError
        It is not JSON, or nests too deeply.
    """
    try:
        document = DECODER.decode(content.decode())
    except RecursionError:
        raise DocumentError("nests too deeply") from None
    except UnicodeDecodeError as error:
        raise DocumentError(f"not JSON: byte {error.start:,} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise DocumentError(f"not JSON: {where} cannot be read") from None
    except ValueError as error:
        # Python refuses to read a decimal number of thousands of digits.
        reason = "a number has too many digits" if "digits" in str(error) else str(error)
        raise DocumentError(f"not JSON: {reason}") from None
    # With fewer brackets than levels it cannot be.
    if content.count(b"{") + content.count(b"[") > MAX_DEPTH and is_deep(document):
        raise DocumentError(f"nests too deeply; use at most {MAX_DEPTH} levels")
    return document


def refuse_constant(name: str) -> NoReturn:
    """Refuse ``NaN`` and ``Infinity``, which Python's reader accepts."""
    raise ValueError(f"`{name}` is not a number")


#: Made once: `json.loads` would make one for each document.
DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def is_deep(document: Any) -> bool:
    """Whether a document nests too deeply for what walks through it."""
    level = [document]
    for _ in range(MAX_DEPTH):
        inside: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inside += value.values()
            elif isinstance(value, list):
                inside += value
        level = [value for value in inside if isinstance(value, dict | list)]
        if not level:
            return False
    return True
