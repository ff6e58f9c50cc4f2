"""The directory in which dumbbell keeps what it can make again: runs, and kernels."""

from __future__ import annotations

import os
from pathlib import Path

from dumbbell.base.errors import ResultError

__all__ = ["CACHE_VARIABLE", "cache_place"]

#: Environment variable with another directory.
CACHE_VARIABLE = "DUMBBELL_CACHE"


def cache_place() -> Path:
    """Return where the cache is: `$DUMBBELL_CACHE`, else in the user's cache directory."""
    named = os.environ.get(CACHE_VARIABLE)
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        if named:
            return Path(named).expanduser()
        return (Path(home) if home else Path("~/.cache").expanduser()) / "dumbbell"
    except RuntimeError:  # no such user, or one without a home directory
        raise ResultError(
            f"{named or '~/.cache'}: no home directory; set ${CACHE_VARIABLE} to a directory, or "
            "use `--no-cache`"
        ) from None
