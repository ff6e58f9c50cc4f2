"""How `dumbbell emulate` ends: with its command, by signals and killed; nothing is left of it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.python.emulated import EMULATE, PATH, python

pytestmark = pytest.mark.kernel


class Running:
    """A command line in a process group of its own, and what it started."""

    def __init__(self, words: Sequence[str], mark: str) -> None:
        self.mark = mark
        self.process = subprocess.Popen(
            [*EMULATE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "DUMBBELL_TEST_MARK": mark},
        )  # fmt: skip

    def descendants(self) -> list[int]:
        """Return the processes whose environment has the mark."""
        found = []
        for place in Path("/proc").iterdir():
            try:
                if place.name.isdigit() and self.mark.encode() in (place / "environ").read_bytes():
                    found.append(int(place.name))
            except OSError:
                continue
        return found

    def wait_for(self, text: str) -> None:
        """Wait until the command has printed a line."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if text in line:
                return
        raise AssertionError(self.process.communicate())

    def assert_gone(self) -> None:
        """Assert that nothing is left of it."""
        for _ in range(600):
            if not self.descendants():
                return
            time.sleep(0.1)
        assert not self.descendants()


#: Ignores what asks it to end, and leaves a daemon.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(600)
    os._exit(0)
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_stubborn_command_and_its_daemon_end_with_the_path(number, nothing_left):
    run = Running([*PATH, "--serve", "sleep 600", "--", *python(STUBBORN)], f"stubborn-{number}")
    run.wait_for("ready")
    assert len(run.descendants()) >= 4
    run.process.send_signal(number)
    run.process.communicate()
    run.assert_gone()


def test_a_daemon_of_a_command_that_ended_is_gone(nothing_left):
    code = "import os, time; os.fork() or (os.setsid(), time.sleep(600))"
    run = Running([*PATH, "--", *python(code)], "left-a-daemon")
    run.process.communicate()
    assert run.process.returncode == 0
    run.assert_gone()


def test_ctrl_c_is_the_command_s(nothing_left):
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: sys.exit(5))\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    run = Running([*PATH, "--", *python(code)], "ctrl-c")
    run.wait_for("ready")
    run.process.send_signal(signal.SIGINT)
    _, err = run.process.communicate()
    assert run.process.returncode == 5
    assert "verdict" in err
    run.assert_gone()


def test_kill_9_at_any_moment_leaves_nothing(nothing_left):
    """Twenty times, five of them at once."""
    moments = random.Random(1)  # noqa: S311 -- moments
    words = [*PATH, "--with", "cubic:2", "--serve", "sleep 600", "--", "sleep", "600"]
    for batch in range(4):
        runs = [Running(words, f"killed-{batch}-{each}") for each in range(5)]
        began = time.monotonic()
        for moment_s, run in sorted((moments.uniform(0, 5), run) for run in runs):
            time.sleep(max(0, began + moment_s - time.monotonic()))
            run.process.kill()
            run.process.communicate()
        for run in runs:
            run.assert_gone()
