"""`dumbbell emulate enter`: a second program in a host of a running `dumbbell emulate`."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.cli.set import Pid
from dumbbell.emulation.control_socket import connect, request

__all__ = ["enter_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell emulate enter client -- ping -c 3 server", "dumbbell emulate enter server")
HOSTS = ("client", "server")
#: Exit codes of what a signal ended are this and its number, as in a shell.
BY_SIGNAL = 128


def enter_command(
    host: Annotated[str, typer.Argument(metavar="client|server", help="Where it runs.")],
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND…]", help="What runs.", show_default="a shell"),
    ] = None,
    pid: Pid = None,
) -> int:
    """Run a program, or a shell, in a host of a running `emulate`.

    It ends when the emulated path does.
    """
    if host not in HOSTS:
        raise ScenarioError(f"no host `{host}`; use `client` or `server`")
    words = list(command or [os.environ.get("SHELL") or "/bin/sh"])
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    with connect(pid) as connection, streams(is_terminal=is_terminal) as files:
        if is_terminal:
            words = in_terminal(words)
        asked = {
            "host": host, "words": words, "environment": dict(os.environ),
            "directory": str(Path.cwd()),
        }  # fmt: skip
        code = int(request(connection, asked, files)["code"])
    return code if code >= 0 else BY_SIGNAL - code


def in_terminal(words: Sequence[str]) -> list[str]:
    """Return the command in a session whose terminal is its standard input."""
    setsid = shutil.which("setsid")
    if setsid is None:
        raise EngineError("no `setsid`, which util-linux has; install it")
    return [setsid, "--ctty", "--wait", *words]


@contextmanager
def streams(*, is_terminal: bool) -> Iterator[tuple[int, int, int]]:
    """Return the files of the program's streams: ours, or a terminal that is connected to ours."""
    if not is_terminal:
        yield 0, 1, 2
        return
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(0)
    resize(ours)
    signal.signal(signal.SIGWINCH, lambda *_: resize(ours))
    tty.setraw(0, termios.TCSADRAIN)  # what was typed meanwhile is kept
    wake, ended = os.pipe()
    copying = Thread(target=copy, args=(ours, wake), daemon=True)
    copying.start()
    try:
        yield theirs, theirs, theirs
    finally:
        os.close(theirs)
        os.close(ended)
        copying.join()
        termios.tcsetattr(0, termios.TCSADRAIN, before)
        os.close(ours)


def resize(terminal: int) -> None:
    """Give a terminal the size of ours."""
    termios.tcsetwinsize(terminal, termios.tcgetwinsize(0))


def copy(terminal: int, wake: int) -> None:
    """Copy between a terminal and ours until its other end is closed."""
    while True:
        readable, _, _ = select.select([terminal, 0, wake], [], [])
        with suppress(OSError):
            if terminal in readable:
                os.write(1, os.read(terminal, 1 << 16))
                continue
        if wake in readable:
            return
        if 0 in readable:
            os.write(terminal, os.read(0, 1 << 16))
