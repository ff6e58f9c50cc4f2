"""A program in a host of an emulated path, as `subprocess.Popen` has it."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from threading import Thread
from typing import IO, Any, Self

from dumbbell import _core
from dumbbell.base.errors import EngineError

__all__ = ["Args", "Process"]

#: This process's standard errors.
STDERR = 2
#: As `subprocess` names what becomes of a stream.
PIPE, STDOUT, DEVNULL = subprocess.PIPE, subprocess.STDOUT, subprocess.DEVNULL
Stream = int | IO[Any] | None
#: The words of a command; a text is a command without arguments, as for `subprocess`.
Args = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class Process:
    """A running program.

    Attributes
    ----------
    args
        Its command.
    pid
        Of the process; it has another number in its own PID namespace.
    stdin, stdout, stderr
        Ends of pipes where asked for, else None.
    returncode
        Its exit code, or minus the signal that ended it; None while it runs.
    """

    def __init__(
        self,
        emulation: _core.Emulation,
        side: str,
        args: Args,
        *,
        stdin: Stream = None,
        stdout: Stream = None,
        stderr: Stream = None,
        text: bool = False,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        new_session: bool = False,
    ) -> None:
        words = [args] if isinstance(args, str | os.PathLike) else args
        self.args = [os.fspath(word) for word in words]
        self.text = text
        self.returncode: int | None = None
        self.stdin: IO[Any] | None = None
        self.stdout: IO[Any] | None = None
        self.stderr: IO[Any] | None = None
        ours: list[int] = []
        theirs: list[int] = []
        try:
            fds = self._open_streams(stdin, stdout, stderr, ours, theirs)
            self._child = emulation.spawn(
                0, side, self.args, None if env is None else dict(env),
                None if cwd is None else str(cwd), fds, new_session,
            )  # fmt: skip
        except _core.EngineError as error:
            close_all(ours)
            raise EngineError(str(error)) from None
        except BaseException:
            close_all(ours)
            raise
        finally:
            close_all(theirs)
        self.pid = self._child.pid
        self.stdin, self.stdout, self.stderr = self._files(ours, (stdin, stdout, stderr))

    def _open_streams(
        self, stdin: Stream, stdout: Stream, stderr: Stream, ours: list[int], theirs: list[int]
    ) -> tuple[int, int, int]:
        found = []
        for number, stream in enumerate((stdin, stdout, stderr)):
            if stream is None:
                found.append(number)
            elif stream == STDOUT and number == 2:
                found.append(found[1])
            elif stream == DEVNULL:
                theirs.append(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC))
                found.append(theirs[-1])
            elif stream == PIPE:
                read, write = os.pipe2(os.O_CLOEXEC)
                ours.append(write if number == 0 else read)
                theirs.append(read if number == 0 else write)
                found.append(theirs[-1])
            else:
                found.append(stream if isinstance(stream, int) else stream.fileno())
        return found[0], found[1], found[2]

    def _files(
        self, ours: Sequence[int], streams: Sequence[Stream]
    ) -> tuple[IO[Any] | None, IO[Any] | None, IO[Any] | None]:
        left = list(ours)
        files: list[IO[Any] | None] = []
        for number, stream in enumerate(streams):
            if stream != PIPE:
                files.append(None)
                continue
            binary: IO[Any] = os.fdopen(left.pop(0), "wb" if number == 0 else "rb")
            files.append(io.TextIOWrapper(binary, write_through=True) if self.text else binary)
        return files[0], files[1], files[2]

    def __repr__(self) -> str:
        state = "running" if self.returncode is None else f"exit code {self.returncode}"
        return f"<Process {self.args[0]}, {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                with suppress(BrokenPipeError):
                    file.close()
        self.wait()

    def poll(self) -> int | None:
        """Return the exit code if it has ended."""
        if self.returncode is None:
            self.returncode = self._child.poll()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code.

        Raises
        ------
        subprocess.TimeoutExpired
            It runs longer than `timeout` s.
        """
        if self.returncode is None:
            self.returncode = self._child.wait(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def send_signal(self, signal: int | Signals) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            self._child.signal(int(signal))

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(SIGTERM)

    def kill(self) -> None:
        """End it, and all that it started."""
        self.send_signal(SIGKILL)

    def communicate(
        self,
        input: Any = None,  # noqa: A002 -- as Popen
        timeout: float | None = None,
    ) -> tuple[Any, Any]:
        """Write `input`, read both outputs to their ends, and wait.

        Raises
        ------
        subprocess.TimeoutExpired
            It runs longer than `timeout` s.
        """
        read: dict[str, Any] = {}

        def read_all(name: str, file: IO[Any]) -> None:
            with file:
                read[name] = file.read()

        def write_all(file: IO[Any]) -> None:
            with suppress(BrokenPipeError), file:
                if input:
                    file.write(input)

        threads = [
            Thread(target=read_all, args=(name, file), daemon=True)
            for name, file in (("stdout", self.stdout), ("stderr", self.stderr))
            if file is not None
        ]
        if self.stdin is not None:
            threads.append(Thread(target=write_all, args=(self.stdin,), daemon=True))
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join()
        return read.get("stdout"), read.get("stderr")


def close_all(descriptors: Sequence[int]) -> None:
    """Close file descriptors."""
    for descriptor in descriptors:
        os.close(descriptor)
