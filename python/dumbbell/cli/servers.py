"""What `--serve` starts: programs at the server, names before their lines, the wait for them."""

from __future__ import annotations

import os
import pty
import shlex
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from dumbbell.base.errors import EngineError, ScenarioError
from dumbbell.emulation.path import EmulatedPath
from dumbbell.emulation.process import DEVNULL, STDOUT, Process

__all__ = ["NamedLines", "Server", "named", "wait_until_ready", "words_of"]

#: How often servers are looked at, s.
LOOK_EVERY_S = 0.2
#: How long the rest of what ended servers printed may take, s.
REST_S = 2.0


class NamedLines:
    """What a program prints, whose lines go to stderr behind its name.

    Parameters
    ----------
    name
        What the lines begin with.
    at_terminal
        Whether the program may write to a terminal, if stderr is one: it then writes line by line.

    Attributes
    ----------
    descriptor
        Where the program writes.
    """

    def __init__(self, name: str, *, at_terminal: bool = True) -> None:
        self.name = name
        is_wanted = at_terminal and sys.stderr.isatty()
        self._source, self.descriptor = pty.openpty() if is_wanted else os.pipe()
        self._printing = Thread(target=self._print_lines, daemon=True)
        self._printing.start()

    def close(self) -> None:
        """Print only what those write that have the descriptor too."""
        os.close(self.descriptor)

    def print_rest(self) -> None:
        """Wait until everything that was printed is shown."""
        self._printing.join(REST_S)

    def _print_lines(self) -> None:
        """Copy lines to stderr until no one writes any more."""
        # A terminal ends with an error.
        with os.fdopen(self._source, "rb") as lines, suppress(OSError):
            for line in lines:
                text = line.decode(errors="replace").rstrip("\r\n")
                sys.stderr.write(f"{self.name} | {text}\n")
                sys.stderr.flush()


class Server:
    """A program at the server; each line that it prints goes to stderr behind its name.

    Parameters
    ----------
    path
        Whose server it runs at.
    text
        Its command, as in a shell.
    name
        What its lines begin with.
    """

    def __init__(self, path: EmulatedPath, text: str, name: str) -> None:
        self.lines = NamedLines(name)
        try:
            # Ctrl-C is the client's command's.
            self.process: Process = path.server.popen(
                words_of(text), stdin=DEVNULL, stdout=self.lines.descriptor, stderr=STDOUT,
                new_session=True,
            )  # fmt: skip
        finally:
            self.lines.close()

    def print_rest(self) -> None:
        """Wait until everything that it printed is shown."""
        self.lines.print_rest()

    def refuse_failed(self) -> None:
        """Report that it has failed.

        Raises
        ------
        EngineError
            It has ended with an exit code that is not 0, or by a signal.
        """
        if code := self.process.poll():
            self.print_rest()
            ended = f"exit code {code}" if code > 0 else f"signal {-code}"
            raise EngineError(f"`{shlex.join(self.process.args)}` ended with {ended}")


def named(commands: Sequence[str]) -> list[tuple[str, str]]:
    """Return commands of `--serve`, each behind the name by which its output is distinguished."""
    if len(commands) == 1:
        return [("server", commands[0])]
    return [(f"server {number}", text) for number, text in enumerate(commands, 1)]


def words_of(text: str) -> list[str]:
    """Return the words of `--serve`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        message = f"--serve `{text}`: {str(error).lower()}; quote it as in a shell"
        raise ScenarioError(message) from None
    if not words:
        raise ScenarioError("`--serve` has no command; write e.g. `--serve 'iperf3 -s'`")
    return words


def wait_until_ready(
    path: EmulatedPath, servers: Sequence[Server], ports: Sequence[str], timeout_s: float
) -> None:
    """Wait until servers listen; one that ends meanwhile is an error."""
    deadline = time.monotonic() + timeout_s
    for port in ports:
        while True:
            left_s = deadline - time.monotonic()
            try:
                path.server.wait_for(port, timeout=min(LOOK_EVERY_S, max(left_s, 0)))
                break
            except EngineError:
                for server in servers:
                    server.refuse_failed()
                if left_s <= LOOK_EVERY_S:
                    raise EngineError(
                        f"nothing listens at {port} of the server after {timeout_s:g} s; see what "
                        "it printed, or use `--ready-timeout`"
                    ) from None
    for server in servers:
        server.refuse_failed()
