"""Directories in which files are written before they are renamed into place.

The process that writes holds a lock on its directory, which ends with the process, however that
ends. So what a killed process left is known, and removed by the next one that writes there.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["PREFIX", "abandoned", "remove_abandoned", "scratch_directory"]

PREFIX = ".dumbbell-"
#: Of ours alone: removing anything else that begins like this would be a loss.
NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}(-old)?")


@contextmanager
def scratch_directory(parent: Path) -> Iterator[Path]:
    """Make a directory, locked by this process, and remove it at the end with all that is in it.

    Parameters
    ----------
    parent
        An existing directory on the file system that the files are to be on.

    Raises
    ------
    OSError
        It cannot be made.
    """
    path, lock = make_locked(parent)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


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
        for entry in sorted(os.scandir(parent), key=lambda entry: entry.name):
            if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
                path = Path(entry.path)
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


def remove_abandoned(parent: Path) -> None:
    """Remove the scratch directories in a directory whose process has ended."""
    for path in abandoned(parent):
        shutil.rmtree(path, ignore_errors=True)
