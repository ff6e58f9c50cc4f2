"""Directories in which files are written before they are renamed into place.

The process that writes holds a lock on its directory, which ends with the process, however that
ends. So what a killed process left is known to the next one that writes there.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["PREFIX", "abandoned", "make_locked"]

PREFIX = ".dumbbell-"
#: Of ours alone: removing anything else that begins like this would be a loss.
NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}(-old)?")


def make_locked(parent: Path) -> tuple[Path, int]:
    """Make a directory that no other process takes for abandoned."""
    while True:
        path = parent / f"{PREFIX}{os.urandom(8).hex()}"
        path.mkdir()
        try:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # removed by another process before it was locked
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue  # being removed
        except OSError:
            pass  # a file system without locks, on which nothing is removed
        if path.is_dir():
            return path, lock
        os.close(lock)


def abandoned(parent: Path) -> Iterator[Path]:
    """Yield the scratch directories whose process has ended."""
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(parent) if NAME.fullmatch(entry.name)]
        for path in (parent / name for name in sorted(names)):
            lock = lock_ended(path)
            if lock is not None:
                try:
                    yield path
                finally:
                    os.close(lock)


def lock_ended(path: Path) -> int | None:
    """Lock a directory if the process that made it has ended; return the lock."""
    try:
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None  # removed meanwhile, or another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock
