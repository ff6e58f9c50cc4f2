"""A command at a terminal that runs in a host: its signals, and its exit code."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType

from dumbbell.emulation.path import Host
from dumbbell.emulation.process import STDERR, Process

__all__ = ["BY_SIGNAL", "PASSED_ON", "CommandInHost"]

#: What is passed on to the command. SIGHUP: the terminal is gone.
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: How long a command may ignore a signal that asks it to end, s.
PATIENCE_S = 5.0
LOOK_EVERY_S = 0.05
#: Exit codes of what a signal ended are this and its number, as in a shell.
BY_SIGNAL = 128


class CommandInHost:
    """A command with this process's standard streams.

    Parameters
    ----------
    host
        Where it runs.
    words
        The command.
    output_to_stderr
        Its output goes to stderr.
    """

    def __init__(self, host: Host, words: Sequence[str], *, output_to_stderr: bool = False) -> None:
        self.host = host
        self.words = words
        self.stdout = STDERR if output_to_stderr else None
        self.process: Process | None = None
        self.asked_at: float | None = None

    def run(self) -> int:
        """Run it to its end, and return its exit code as a shell would."""
        before = {number: signal.signal(number, self.pass_on) for number in PASSED_ON}
        try:
            self.process = self.host.popen(self.words, stdout=self.stdout)
            while self.process.poll() is None:
                time.sleep(LOOK_EVERY_S)
                if self.asked_at is not None and time.monotonic() > self.asked_at + PATIENCE_S:
                    self.process.kill()
            code = self.process.returncode or 0
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        return code if code >= 0 else BY_SIGNAL - code

    def pass_on(self, number: int, _: FrameType | None) -> None:
        """Give a signal to the command, unless the terminal has done so."""
        if number != signal.SIGINT and self.asked_at is None:
            self.asked_at = time.monotonic()
        if self.process is not None and not (number == signal.SIGINT and has_terminal()):
            self.process.send_signal(number)


def has_terminal() -> bool:
    """Whether Ctrl-C at a terminal goes to this process and what it started."""
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
