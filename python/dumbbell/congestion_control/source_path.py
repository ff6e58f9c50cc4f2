"""Refuses a path that can be no congestion control algorithm, and says what is meant."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from dumbbell.base.errors import ScenarioError, os_reason
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.congestion_control.name_kinds import SOURCES

__all__ = ["check_no_directory", "check_source"]

#: Files of which a result has one.
RESULTS = ("run.json", "sweep.json")
#: Most files of a directory that an error names.
MAX_FILES = 6
#: Most bytes of a source file; Linux's largest has 50 kB.
MAX_SOURCE_BYTES = 4 << 20


def check_no_directory(name: str) -> None:
    """Refuse a directory, and name what in it can be run."""
    if not os.path.isdir(name):  # noqa: PTH112 -- a name may be longer than any path
        return
    here = Path(name)
    if any((here / each).is_file() for each in RESULTS):
        remedy = f"it holds a result: `dumbbell report {name}`"
    else:
        files = sorted(each for each in here.iterdir() if each.suffix in (".toml", *SOURCES))
        shown = [f"`{each}`" for each in files[:MAX_FILES]]
        more = [f"{len(files) - len(shown)} more"] if len(files) > len(shown) else []
        named = f"use {shown[0]}" if len(files) == 1 else f"in it: {', '.join(shown + more)}"
        remedy = named if files else "no file in it can be run"
    raise ScenarioError(f"`{excerpt(name)}` is a directory; {remedy}", key="cc")


def elsewhere(path: Path) -> str:
    """Say where a file that is not there may be: in a directory of its name, with its ending."""
    here = path.parent
    with suppress(OSError):
        stem = path.name.partition(".")[0]
        places = [here, *(each for each in (here / stem, here / "cc") if each.is_dir())]
        found = sorted(
            each
            for place in places
            for each in place.iterdir()
            if each.suffix in SOURCES and each.name.partition(".")[0] == stem
        )
        if found:
            return f"; did you mean `{found[0]}`?"
    return "; use a built-in name (`dumbbell cc list`) or the path of a file"


def check_source(name: str, path: Path) -> None:
    """Refuse what is not a source file of a kind and size that can be a CCA."""
    reason = ""
    try:
        status = path.stat()
    except FileNotFoundError:
        reason = f"no such file{elsewhere(path)}"
    except OSError as error:
        reason = os_reason(error)
    else:
        check_no_directory(name)
        if not path.is_file():
            reason = "is not a regular file; name a source file"
        elif path.suffix not in SOURCES:
            reason = "its name ends in neither `.c` nor `.py`"
        elif status.st_size > MAX_SOURCE_BYTES:
            size = f"{status.st_size:,} bytes"
            reason = f"has {size}; a source file may have at most {MAX_SOURCE_BYTES:,}"
    if reason:
        raise ScenarioError(f"congestion control `{excerpt(name)}`: {reason}", key="cc")
