"""Files of cases, suites and boards: dumbbell's own by name, the user's by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dumbbell.base.errors import GateError, ScenarioError, nearest
from dumbbell.gate.line_of_key import line_of_key
from dumbbell.scenario.file import parse_toml, read_text

__all__ = ["find_case_file", "read_case_file", "shipped_in"]

T = TypeVar("T")


def shipped_in(folder: Path) -> dict[str, Path]:
    """Return the files that come with dumbbell, by name."""
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def find_case_file(name_or_path: str | Path, shipped: Mapping[str, Path], what: str) -> Path:
    """Return the path of a file, or that of one of dumbbell's own by its name.

    Parameters
    ----------
    name_or_path
        What the user wrote.
    shipped
        Dumbbell's own, by name.
    what
        What it is to be, for the message: ``a board or a board's file``.

    Raises
    ------
    GateError
        It is neither a name nor a file.
    """
    text = str(name_or_path)
    if text in shipped:
        return shipped[text]
    path = Path(name_or_path)
    if path.suffix == ".toml" or path.is_file():
        return path
    beside = (each.name for each in path.parent.glob("*.toml"))
    near = nearest(path.name, [*shipped, *beside])
    if path.suffix and "did you mean" in near:
        raise GateError(f"{text}: no such file{near}")
    raise GateError(f"`{text}` is not {what}{near}")


def read_case_file(
    path: Path,
    build: Callable[[Mapping[str, Any]], T],
    headers_of: Callable[[GateError], list[tuple[str, int | None]]],
) -> T:
    """Read a file and build what it describes.

    Parameters
    ----------
    path
        The file.
    build
        From its document to what it describes.
    headers_of
        The tables in which an error is, the outermost first, with how many of each come before;
        None for one that it is not in.

    Raises
    ------
    GateError
        It is missing, not TOML, or has an invalid key or value; the message starts with the file
        and, if it is known, the line.
    """
    try:
        text = read_text(path)
        document = parse_toml(path, text)
    except ScenarioError as error:
        raise GateError(str(error)) from None
    try:
        return build(document)
    except GateError as error:
        headers = [(name, index) for name, index in headers_of(error) if index is not None]
        line = line_of_key(text, error.key, headers)
        raise GateError(f"{path}:{line}: {error}" if line else f"{path}: {error}") from None
