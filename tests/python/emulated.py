"""`dumbbell emulate` as the tests start it, and what it must leave alone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["EMULATE", "PATH", "PYTHON", "needs", "python", "unchanged_host"]

EMULATE = (sys.executable, "-m", "dumbbell", "emulate")
PATH = ("--rate", "10mbit", "--rtt", "40ms", "--buffer", "1bdp")
PYTHON = sys.executable


def needs(*commands: str) -> pytest.MarkDecorator:
    """Skip where programs are missing."""
    missing = [command for command in commands if shutil.which(command) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def python(code: str) -> list[str]:
    """Return a command that runs Python code."""
    return [PYTHON, "-c", code]


def traces() -> dict[str, str]:
    """Return what a run could leave on the host."""
    host = {
        "namespaces": subprocess.run(
            ["/usr/bin/env", "lsns", "-n", "-o", "NS,TYPE"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout,
        "mounts": Path("/proc/self/mountinfo").read_text(),
        "routes": Path("/proc/net/route").read_text(),
    }
    host["devices"] = " ".join(sorted(each.name for each in Path("/sys/class/net").iterdir()))
    return host


def unchanged_host() -> Iterator[None]:
    """Assert that the host is as before, and no process of the test's runs on."""
    before = traces()
    yield
    for _ in range(50):
        if traces() == before:
            return
        time.sleep(0.1)
    assert traces() == before
