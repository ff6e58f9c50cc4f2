"""`dumbbell emulate --virtual`: the programs of a path in virtual time."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any, Self

from dumbbell.base.errors import Cancelled, ScenarioError
from dumbbell.cli.command_in_host import BY_SIGNAL, PASSED_ON
from dumbbell.cli.kept_results import Kept
from dumbbell.cli.servers import NamedLines, named, words_of
from dumbbell.emulation.virtual_path import Started, VirtualPath
from dumbbell.run import Run
from dumbbell.run.capture import Capture
from dumbbell.run.execution import Control
from dumbbell.scenario import Scenario

__all__ = ["refuse_real_time", "run_virtual"]


class Signals:
    """Passes the first signal on to the command; the second ends the run.

    Attributes
    ----------
    control
        The run's.
    first
        The signal that came first, if one did.
    """

    def __init__(self) -> None:
        self.control = Control()
        self.first: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._pass_on) for number in PASSED_ON}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _pass_on(self, number: int, _: FrameType | None) -> None:
        if self.first is None:
            self.first = number
            self.control.send_signal(number)
        else:
            self.control.cancel()


def refuse_real_time(options: Mapping[str, bool]) -> None:
    """Refuse options that need real time.

    Raises
    ------
    ScenarioError
        One is given.
    """
    for option, is_given in options.items():
        if is_given:
            raise ScenarioError(
                f"`{option}` needs real time, and cannot be combined with `--virtual`; omit one"
            )


def run_virtual(
    scenario: Scenario,
    kernel: str | None,
    capture: Capture | None,
    kept: Kept,
    *,
    words: Sequence[str],
    serve: Sequence[str],
    ready: Sequence[str],
    ready_timeout_s: float,
    output_to_stderr: bool,
) -> tuple[Run, int]:
    """Run a command and servers, and save what is to be kept; return the run and the exit code."""
    commands = [(name, words_of(text)) for name, text in named(serve)]
    path = VirtualPath(scenario, kernel, capture, keeps_packets=kept.needs_packets)
    with closing(path), Path(os.devnull).open("rb") as nothing:
        lines = [NamedLines(name, at_terminal=False) for name, _ in commands]
        servers = [
            Started(command, (nothing.fileno(), to.descriptor, to.descriptor))
            for (_, command), to in zip(commands, lines, strict=True)
        ]
        client = Started(words, (0, 2 if output_to_stderr else 1, 2))
        try:
            with Signals() as signals:
                code = path.run(
                    client, servers, ready=ready, ready_timeout_s=ready_timeout_s,
                    control=signals.control,
                )  # fmt: skip
        except Cancelled:
            raise SystemExit(BY_SIGNAL + (signals.first or 0)) from None
        finally:
            for each in lines:
                each.close()
                each.print_rest()
        kept.save(path)
        return path.result, code
