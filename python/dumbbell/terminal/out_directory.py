"""The directory of `--out`: what has the name of a file is a mistake."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.errors import ResultError
from dumbbell.base.quantities.excerpt import excerpt

__all__ = ["out_directory"]

#: How the names of files end that commands write into such a directory.
OF_FILES = (".csv", ".html", ".json", ".parquet", ".pdf", ".png", ".svg", ".tex")


def out_directory(given: Path | None) -> Path | None:
    """Return the directory of `--out`.

    Raises
    ------
    ResultError
        It has the name of a file, and is none that there is.
    """
    if given is not None and given.suffix.lower() in OF_FILES and not given.is_dir():
        name = excerpt(str(given))
        raise ResultError(
            f"`--out {name}` names a directory, in which files have names of their own; use e.g. "
            f"`--out {excerpt(str(given.with_suffix('')))}`"
        )
    return given
