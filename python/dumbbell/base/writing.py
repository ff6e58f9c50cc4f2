"""What a user keeps is written here, whole or not at all.

What is new is written in a scratch directory beside its place, synced, and renamed into place. An
older directory is exchanged for it, and removed once the exchange is synced too. So an interrupt,
a full disk, a killed process and a power failure leave the older one or the new one.

What a killed process left is put back or removed by the next one that writes there, if the file
system has locks. A file in a directory that cannot be written is written in place.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dumbbell.base.errors import ResultError, os_reason
from dumbbell.base.scratch import NEW, OLDER, PREFIX, recover, say, scratch_in

__all__ = [
    "Batch",
    "adding",
    "check_replacing",
    "check_writable",
    "errors_of_writing",
    "replacing",
    "write_file",
]

#: From Linux's fcntl.h and fs.h.
AT_FDCWD, RENAME_EXCHANGE = -100, 2
#: The C library, the kernel, the file system or a sandbox does not have a call.
UNSUPPORTED = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM}
#: Another directory is in the place. With several processes it may come and go at any time.
OCCUPIED = {errno.EEXIST, errno.ENOTEMPTY}
#: A file may be writable where its directory is not, or is mounted alone.
IN_PLACE = {errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY}
#: As many links as Linux follows.
MAX_LINKS = 40


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

    Links are followed. A device, a pipe and an open file (`/dev/stdout`) are written as they are.

    Raises
    ------
    ResultError
        It cannot be written.
    """
    with errors_of_writing(place):
        target = target_of(place)
        if is_written_as_it_is(target):
            yield target
            return
        try:
            batch = Batch(target.parent)
        except OSError as error:
            if error.errno not in IN_PLACE or not target.is_file():
                raise
            yield target
            sync_entry(target)
            return
        with batch, batch.new(target.name) as new:
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
        They cannot be written. Each is whole, and some may be new.
    """
    with errors_of_writing(directory), Batch(directory) as batch:
        named: list[Path] = []

        def place_for(name: str) -> Path:
            named.append(batch.place_of(name))
            return named[-1]

        yield place_for
        batch.finished.extend(named)


def check_writable(directory: Path) -> None:
    """Make a directory to write in, or refuse it, before the work.

    Raises
    ------
    ResultError
        It cannot be made or written.
    """
    with adding(directory):
        pass


def check_replacing(place: Path, *, is_file: bool = False) -> None:
    """Refuse a place that `replacing` could not write, before the work.

    Raises
    ------
    ResultError
        It cannot be written, or is a directory where a file is to be written.
    """
    with replacing(place):  # what is not written is not put in place
        if is_file:
            refuse_directory(place)


def refuse_directory(path: Path) -> None:
    """Raise what the operating system says when a directory is opened as a file."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def is_written_as_it_is(target: Path) -> bool:
    """Whether a path is a device, a pipe or an open file; a file, a directory or nothing is not.

    It is looked at once: another process may put something there between two looks.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def target_of(place: Path) -> Path:
    """Follow links to what is to be written, but not those in /proc, which are open files.

    Raises
    ------
    OSError
        The links are a loop.
    ResultError
        It is the working directory, which would be another one afterwards, or the root.
    """
    target = place
    for _ in range(MAX_LINKS):
        if not target.is_symlink():
            break
        target = Path(os.path.realpath(target.parent), target.name)
        if target.is_relative_to("/proc"):
            return target
        target = target.parent / target.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(place))
    if target.name in ("", ".."):
        target = Path(os.path.realpath(target))
    if not target.name or (target.is_dir() and target.samefile(os.curdir)):
        raise ResultError(
            f"{place}: is the working directory or the root, which cannot be replaced; "
            f"name another path, like `{place / 'result'}`"
        )
    return target


@contextmanager
def errors_of_writing(place: Path) -> Iterator[None]:
    """Turn errors of the operating system into a ResultError that names what is written.

    An error of a file elsewhere, which is read to be written to the place, names that file.
    """
    try:
        yield
    except OSError as error:
        at, reason = Path(str(error.filename or place)), os_reason(error)
        # Of two files the first is at fault only if it is gone.
        is_second = error.filename2 is not None and os.path.lexists(at)
        if not (is_second or is_of(at, place)):
            raise ResultError(f"{at}: cannot be read or written: {reason}") from None
        if isinstance(error, FileExistsError) and at.exists() and not at.is_dir():
            reason = f"`{at}` is not a directory"  # mkdir's error for a parent that is a file
        elif isinstance(error, IsADirectoryError) and at != place:
            reason = f"`{at}` is a directory"
        raise ResultError(f"{place}: cannot be written: {reason}; choose another path") from None


def is_of(path: Path, place: Path) -> bool:
    """Whether a path is a place, above or below it, or in a scratch directory."""
    one, other = Path(os.path.realpath(path)), Path(os.path.realpath(place))
    return f"/{PREFIX}" in str(one) or one.is_relative_to(other) or other.is_relative_to(one)


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
        self.error: Exception | None = None
        self.settling = threading.Lock()
        self.ended = threading.Event()
        self.every_s = every_s
        self.held = scratch_in(parent)
        self.scratch = self.held.__enter__()
        (self.scratch / NEW).mkdir()

    def __enter__(self) -> Batch:
        if self.every_s is not None:
            threading.Thread(target=self._settle_every, args=(self.every_s,), daemon=True).start()
        return self

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> None:
        try:
            self.ended.set()
            self.settle()
        except Exception as error:
            if raised is None:
                raise
            if raised is not self.error:
                say(str(error))
        finally:
            try:
                with self.settling:
                    self.finished.clear()
            finally:
                self.held.__exit__(None, None, None)

    def place_of(self, name: str) -> Path:
        """Return where to write the new file or directory of a name."""
        return self.scratch / NEW / name

    @contextmanager
    def new(self, name: str) -> Iterator[Path]:
        """Yield where to write it; it is finished when the block ends without an error."""
        if self.error is not None:
            raise self.error
        path = self.place_of(name)
        try:
            yield path
        except BaseException:
            shutil.rmtree(path, ignore_errors=True)
            raise
        if os.path.lexists(path):
            self.finished.append(path)

    def settle(self) -> None:
        """Put what is finished in place; what cannot be is tried again the next time.

        Raises
        ------
        ResultError
            It cannot be.
        """
        with self.settling:
            new = list(self.finished)
            if new:
                only = self.parent / new[0].name if len(new) == 1 else self.parent
                with errors_of_writing(only):
                    self._put_in_place(new)

    def _put_in_place(self, new: Sequence[Path]) -> None:
        for path in new:
            if path.is_file():
                refuse_directory(self.parent / path.name)
        if self.is_lasting:
            sync(new, self.scratch)
        try:
            for path in new:
                put(path, self.parent / path.name, self.scratch / OLDER / path.name)
                self.finished.popleft()
        finally:
            if self.is_lasting:
                sync_entry(self.parent)
        # After an exchange the older one is where the new one was.
        for older in filter(os.path.lexists, (*new, self.scratch / OLDER)):
            shutil.rmtree(older, ignore_errors=True)

    def _settle_every(self, seconds: float) -> None:
        while not self.ended.wait(seconds):
            try:
                self.settle()
            except Exception as error:  # noqa: BLE001 -- raised where the next one is written
                self.error = error
                return


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
            if error.errno in IN_PLACE and new.is_file() and place.is_file():
                shutil.copyfile(new, place)
                sync_entry(place)
                return
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
