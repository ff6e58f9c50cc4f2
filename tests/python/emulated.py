"""`dumbbell emulate` as the tests start it, and what it must leave alone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["EMULATE", "PATH", "PYTHON", "python", "traces"]

EMULATE = (sys.executable, "-m", "dumbbell", "emulate")
PATH = ("--rate", "10mbit", "--rtt", "40ms", "--buffer", "1bdp")
PYTHON = sys.executable


def python(code: str) -> list[str]:
    """Return a command that runs Python code."""
    return [PYTHON, "-c", code]


def traces(test: str) -> set[str]:
    """Return what a run could leave on the host, where other tests' runs come and go too."""
    found = {f"device {path.name}" for path in Path("/sys/class/net").iterdir()}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(place.name) != os.getpid() and test.encode() in (place / "environ").read_bytes():
                found.add(f"process {place.name}")
    for file in (
        "/etc/hosts",
        "/proc/net/route",
        "/proc/self/mountinfo",
        "/proc/sys/net/ipv4/tcp_available_congestion_control",
        "/proc/sys/net/ipv4/tcp_congestion_control",
    ):
        text = Path(file).read_text()
        found.update(text.split() if "congestion_control" in file else text.splitlines())
    return found
