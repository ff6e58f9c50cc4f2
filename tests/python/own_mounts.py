"""Commands that see other mounts than the test: no device, or what an ordinary user needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

__all__ = ["NOBODY", "as_nobody", "in_own_mounts"]

#: A device of everybody, and a way for everybody to what is in root's home.
FOR_EVERYBODY = """
mount -t tmpfs -o mode=755 none /dev/net
mknod -m 666 /dev/net/tun c 10 200
number=0
for place in $PLACES; do
  number=$((number + 1)); mkdir -p "$SCRATCH/$number"; mount --bind "$place" "$SCRATCH/$number"
done
for place in $HIDDEN; do mount -t tmpfs -o mode=755 none "$place"; done
number=0
for place in $PLACES; do
  number=$((number + 1)); mkdir -p "$place"; mount --bind "$SCRATCH/$number" "$place"
done
"""
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--")
OTHERS_MAY_ENTER = 0o001


def in_own_mounts(
    mounts: str, *words: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command where some mounts are others; needs root."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts something")
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("not installed: unshare, of util-linux")
    script = f'set -e\n{mounts}\nexec "$@"'
    return subprocess.run(
        [unshare, "--mount", "--propagation", "private", "sh", "-c", script, "sh", *words],
        capture_output=True, text=True, check=False, timeout=280, cwd="/", env=env,
    )  # fmt: skip


def as_nobody(
    *words: str, user: Sequence[str] = NOBODY, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments as the user `nobody`, in `/`; skips where it cannot.

    With an empty `user` it is root who does, where all else is the same.
    """
    with TemporaryDirectory(prefix="dumbbell-nobody-") as scratch:
        places = [Path(sys.base_prefix).resolve(), Path(__file__).resolve().parents[2]]
        above = {each for place in places for each in place.parents}
        hidden = [each for each in sorted(above) if not each.stat().st_mode & OTHERS_MAY_ENTER]
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "HOME": "/tmp",  # noqa: S108 -- nothing is written
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLCONFIGDIR": "/tmp/dumbbell-nobody",  # noqa: S108 -- matplotlib's
            "SCRATCH": scratch,
            "PLACES": " ".join(map(str, places)),
            "HIDDEN": " ".join(map(str, hidden)),
            **variables,
        }
        probe = ("-c", "from dumbbell.cli import rootless; rootless.probe()")
        able, done = (
            in_own_mounts(FOR_EVERYBODY, *user, sys.executable, *each, env=environment)
            for each in (probe, words)
        )
    if able.returncode:
        pytest.skip(f"an ordinary user cannot: {able.stderr.strip().splitlines()[-1]}")
    return done
