"""Whether a program is installed, and running it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["needs", "run"]

REMEDY = "not installed; as root on Debian `make setup` installs it"


def needs(*programs: str) -> pytest.MarkDecorator:
    """Skip a test, and have it counted, where a program is missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: {REMEDY}")


def run(*command: str | Path, stdin: bytes | None = None) -> str:
    """Run a program and return what it prints; what it complains of is in the error."""
    # tshark runs as root here and warns of it on stderr; tcptrace prints times by TZ.
    result = subprocess.run(
        [str(word) for word in command], input=stdin, capture_output=True, check=False,
        env={**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert result.returncode == 0, f"{command[0]}: {result.stderr.decode(errors='replace')}"
    return result.stdout.decode(errors="replace")
