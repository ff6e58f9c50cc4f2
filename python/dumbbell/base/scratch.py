"""Directories in which files are written before they are renamed into place.

The process that writes holds a lock on a file of its directory, which ends with the process,
however that ends. So what a killed process left is known to the next one of the same machine that
writes there, which puts it back or removes it.
"""

from __future__ import annotations

import fcntl
import functools
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dumbbell.base.quantities.printable import printable

__all__ = ["NEW", "OLDER", "PREFIX", "abandoned", "recover", "say", "scratch_in"]

PREFIX = ".dumbbell-"
#: In a scratch directory: what is new, and what a new one is to replace.
NEW, OLDER = "new", "older"
#: Of ours alone: removing anything else that begins like this would be a loss.
NAME = re.compile(re.escape(PREFIX) + r"[0-9a-f]{16}(-old)?")
#: NFS gives an exclusive lock for a file that is opened for writing only, thus not for a directory.
LOCK = "lock"


@contextmanager
def scratch_in(parent: Path) -> Iterator[Path]:
    """Make a directory that no other process takes for abandoned, and remove it at the end."""
    path, lock = make_locked(parent)
    try:
        yield path
    finally:
        try:
            with suppress(OSError):  # what cannot be put back stays for the next process
                put_back(path, parent)
                shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)


def make_locked(parent: Path) -> tuple[Path, int]:
    """Make a directory with a lock that is held; it has its name only then."""
    path = parent / f"{PREFIX}{os.urandom(8).hex()}"
    made = path.with_name(f"{path.name}-new")
    made.mkdir()
    try:
        lock = os.open(made / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks, on which nothing is removed
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(lock, " ".join(host()).encode())
        return made.rename(path), lock
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def abandoned(parent: Path) -> Iterator[Path]:
    """Yield the scratch directories whose process has ended."""
    with suppress(OSError):
        names = [entry.name for entry in os.scandir(parent)
                 if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]  # fmt: skip
        for path in (parent / name for name in sorted(names)):
            lock = lock_ended(path)
            if lock is not None:
                try:
                    yield path
                finally:
                    os.close(lock)


def lock_ended(path: Path) -> int | None:
    """Lock a directory if the process that made it has ended; return the lock."""
    flags = os.O_NOFOLLOW | os.O_CLOEXEC
    is_earlier = not (path / LOCK).exists()  # of a version that locked the directory
    try:
        if is_earlier:
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | flags)
        else:
            lock = os.open(path / LOCK, os.O_RDWR | flags)
    except OSError:
        return None  # removed meanwhile, or another user's
    with suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        made_by = set() if is_earlier else {*os.read(lock, 1000).decode(errors="replace").split()}
        if not made_by or made_by & host():
            return lock
    os.close(lock)
    return None


def host() -> set[str]:
    """Return this machine's name, and the number of its start, which containers share."""
    names = {os.uname().nodename}
    with suppress(OSError):
        names.add(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    return names


def put_back(scratch: Path, parent: Path) -> list[Path]:
    """Put back what was moved away and has nothing in its place; return where it is."""
    away = {parent / older.name: older for older in (scratch / OLDER).glob("*")}
    return [older.rename(place) for place, older in away.items() if not os.path.lexists(place)]


def recover(parent: Path) -> None:
    """Put back what killed processes had moved away, remove what they had begun, and say so."""
    for scratch in abandoned(parent):
        older = scratch if scratch.name.endswith("-old") else scratch / "old"
        if any(older.glob("*")):
            say_older(older)
            continue
        with suppress(OSError):
            begun = sorted(path.name for path in (scratch / NEW).glob("*"))
            back = put_back(scratch, parent)
            shutil.rmtree(scratch, ignore_errors=True)
            for place in back:
                say(f"`{place}` is back: a command that was replacing it was killed")
            if begun and not back and not scratch.exists():
                more = f" and {len(begun) - 1} more" if len(begun) > 1 else ""
                say(f"removed `{scratch}`, left by a command that was killed while it wrote "
                    f"`{begun[0]}`{more}")  # fmt: skip


@functools.cache
def say_older(path: Path) -> None:
    """Say once what an earlier version left, which may be the only copy."""
    say(f"`{path}` is a result that an earlier version was replacing when it was killed; "
        "move it, or remove it")  # fmt: skip


def say(line: str) -> None:
    """Print a note to stderr, unless the program that uses dumbbell logs elsewhere."""
    import logging  # seldom needed

    logging.getLogger("dumbbell").warning("note: %s", printable(line))
