"""What a user keeps is written here, whole or not at all.

What is new is written in a scratch directory beside its place, synced, and renamed into place. An
older directory is exchanged for it, and removed once the exchange is synced too. So an interrupt,
a full disk, a killed process and a power failure leave the older one or the new one.

What a killed process left is put back or removed by the next one that writes there.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.quantities.printable import printable
from dumbbell.base.scratch import abandoned, make_locked

__all__ = ["Batch", "adding", "errors_of_writing", "replacing", "write_file"]

#: In a scratch directory: what is new, and what a new one is to replace.
NEW, OLDER = "new", "older"
#: From Linux's fcntl.h and fs.h.
AT_FDCWD, RENAME_EXCHANGE = -100, 2
#: The C library, the kernel, the file system or a sandbox does not have a call.
UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}
#: Another directory is in the place. With several processes it may come and go at any time.
OCCUPIED = {errno.EEXIST, errno.ENOTEMPTY}


def write_file(path: Path, content: str | bytes) -> Path:
    """Write a file, and return its path.

    Raises
    ------
    ResultError
        It cannot be written.
    """
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """Yield where to write a file or make a directory, which then takes its place.

    A device, a pipe, and a file behind a link (`/dev/stdout`) are written as they are.

    Raises
    ------
    ResultError
        It cannot be written.
    """
    with errors_of_writing(place):
        if place.exists() and not place.is_dir() and (place.is_symlink() or not place.is_file()):
            yield place
            return
        target = place.resolve() if place.is_symlink() else place
        with Batch(target.parent) as batch, batch.new(target.name) as new:
            yield new


@contextmanager
def adding(directory: Path) -> Iterator[Callable[[str], Path]]:
    """Yield what says where to write the file of a name; they take their places together.

    Parameters
    ----------
    directory
        Where they are put, in the order in which they were named; created if it does not exist.

    Raises
    ------
    ResultError
        They cannot be written; the directory is as it was.
    """
    with errors_of_writing(directory), Batch(directory) as batch:
        named: list[Path] = []

        def new(name: str) -> Path:
            named.append(batch.place_of(name))
            return named[-1]

        yield new
        batch.finished.extend(named)


@contextmanager
def errors_of_writing(place: Path) -> Iterator[None]:
    """Turn errors of the operating system into a ResultError that names what is written."""
    try:
        yield
    except OSError as error:
        reason = os_reason(error)
        if isinstance(error, FileExistsError):  # mkdir's error for a parent that is a file
            reason = f"`{error.filename}` is not a directory"
        raise ResultError(f"{place}: cannot be written: {reason}; choose another path") from None


class Batch:
    """New files and directories of one directory, which are synced and take their places together.

    A context manager; at its end, after an error too, what is finished is put in place.

    Parameters
    ----------
    parent
        Their directory; created if it does not exist.
    is_lasting
        Whether they survive a power failure. Otherwise nothing is synced, and the reader finds out
        whether they are damaged.
    every_s
        How often what is finished is put in place before the end, in a thread of its own.

    Raises
    ------
    OSError
        The directory cannot be written.
    """

    def __init__(
        self, parent: Path, *, is_lasting: bool = True, every_s: float | None = None
    ) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        if is_lasting:
            recover(parent)
        self.parent, self.is_lasting = parent, is_lasting
        self.finished: deque[Path] = deque()
        self.error: ResultError | None = None
        self.settling = threading.Lock()
        self.ended = threading.Event()
        self.scratch, self.lock = make_locked(parent)
        if every_s is not None:
            threading.Thread(target=self._settle_every, args=(every_s,), daemon=True).start()

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.ended.set()
            self.settle()
        finally:
            # What cannot be put back stays for the next process that writes here.
            with self.settling, suppress(OSError):
                put_back(self.scratch, self.parent)
                shutil.rmtree(self.scratch, ignore_errors=True)
            os.close(self.lock)

    def place_of(self, name: str) -> Path:
        """Return where to write the new file or directory of a name."""
        path = self.scratch / NEW / name
        path.parent.mkdir(exist_ok=True)
        return path

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """Yield where to write it; it is finished when the block ends without an error."""
        if self.error is not None:
            raise self.error
        path = self.place_of(name)
        yield path
        self.finished.append(path)

    def settle(self) -> None:
        """Put what is finished in place.

        Raises
        ------
        ResultError
            It cannot be, or could not be earlier.
        """
        with self.settling:
            if self.error is not None:
                raise self.error
            new = [self.finished.popleft() for _ in range(len(self.finished))]
            if not new:
                return
            try:
                with errors_of_writing(self.parent / new[0].name if len(new) == 1 else self.parent):
                    self._put_in_place(new)
            except ResultError as error:
                self.error = error
                raise

    def _put_in_place(self, new: Sequence[Path]) -> None:
        if self.is_lasting:
            sync(new, self.scratch)
        try:
            for path in new:
                put(path, self.parent / path.name, self.scratch / OLDER / path.name)
        finally:
            if self.is_lasting:
                sync_entry(self.parent)
        # After an exchange the older one is where the new one was.
        for older in (*new, self.scratch / OLDER):
            shutil.rmtree(older, ignore_errors=True)

    def _settle_every(self, seconds: float) -> None:
        while not self.ended.wait(seconds):
            with suppress(ResultError):  # which whoever uses the batch gets
                self.settle()


def put(new: Path, place: Path, older: Path) -> None:
    """Rename a file or directory to its place; a directory that is there is exchanged for it.

    Where there is no exchange, that directory is moved to `older` first; `put_back` undoes that.
    """
    if place.is_file():
        shutil.copymode(place, new)
    while True:
        try:
            new.rename(place)
            return
        except OSError as error:
            if error.errno not in OCCUPIED:
                raise
        failed = call(
            "renameat2", AT_FDCWD, os.fsencode(new), AT_FDCWD, os.fsencode(place), RENAME_EXCHANGE
        )
        if not failed:
            return
        if failed in UNSUPPORTED:
            shutil.rmtree(older, ignore_errors=True)  # replaced by another process since
            older.parent.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                place.rename(older)
        elif failed != errno.ENOENT:
            raise OSError(failed, os.strerror(failed), str(place))


def put_back(scratch: Path, parent: Path) -> list[Path]:
    """Put back what was moved away and has nothing in its place; return where it is."""
    away = {parent / older.name: older for older in (scratch / OLDER).glob("*")}
    return [older.rename(place) for place, older in away.items() if not os.path.lexists(place)]


# What killed processes left.


def recover(parent: Path) -> None:
    """Put back what killed processes had moved away, remove what they had begun, and say so."""
    for scratch in abandoned(parent):
        if any((scratch / "old").glob("*")):
            say(f"`{scratch / 'old'}` is a result that an earlier version was replacing when it "
                "was killed; move it, or remove it")  # fmt: skip
            continue
        with suppress(OSError):
            begun = sorted(path.name for path in (scratch / NEW).glob("*"))
            back = put_back(scratch, parent)
            shutil.rmtree(scratch, ignore_errors=True)
            for place in back:
                say(f"`{place}` is back: a command that was replacing it was killed")
            if begun and not back:
                more = f" and {len(begun) - 1} more" if len(begun) > 1 else ""
                say(f"removed `{scratch}`, left by a command that was killed while it wrote "
                    f"`{begun[0]}`{more}")  # fmt: skip


def say(line: str) -> None:
    """Print a note to stderr, unless the program that uses dumbbell logs elsewhere."""
    import logging  # seldom needed

    logging.getLogger("dumbbell").warning("note: %s", printable(line))


# The disk.


def sync(new: Sequence[Path], scratch: Path) -> None:
    """Write new files and directories to the disk: everything on their file system at once."""
    if len(new) == 1 and new[0].is_file():
        sync_entry(new[0])
        return
    number = os.open(scratch, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        failed = call("syncfs", number)
    finally:
        os.close(number)
    if failed in UNSUPPORTED:
        os.sync()
    elif failed:
        raise OSError(failed, os.strerror(failed), str(scratch))


def sync_entry(path: Path) -> None:
    """Write a file, or the names in a directory, to the disk."""
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in UNSUPPORTED:  # of directories on some file systems
            raise
    finally:
        os.close(number)


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library that Python lacks; return its error number, or 0."""
    import ctypes  # slow to import

    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None:
        return errno.ENOSYS
    return ctypes.get_errno() if function(*arguments) else 0
