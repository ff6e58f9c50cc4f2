"""What this version of dumbbell makes a kernel from: the driver, the fragment and the edits."""

from __future__ import annotations

import functools
import hashlib
import re
from pathlib import Path

from dumbbell.kernels import edits
from dumbbell.kernels.edits import DRIVER

__all__ = ["FRAGMENT", "driver_abi", "recipe_digest"]

FRAGMENT = Path(__file__).parent / "fragment.config"


@functools.cache
def driver_abi() -> int:
    """Return the number of the interface between the kernel and dumbbell's library."""
    header = (DRIVER / "dumbbell.h").read_text(encoding="utf-8")
    found = re.search(r"#define DUMBBELL_ABI (\d+)", header)
    assert found is not None, "dumbbell.h defines DUMBBELL_ABI"  # noqa: S101 -- a file of ours
    return int(found[1])


@functools.cache
def recipe_digest(hz: int) -> str:
    """Return a digest of all that makes a kernel except its tree.

    Parameters
    ----------
    hz
        Ticks a second.
    """
    digest = hashlib.sha256()
    for part in (*edits.parts(hz), FRAGMENT.read_text(encoding="utf-8")):
        digest.update(f"{len(part)} {part}".encode())
    # The library of guests is there too, and no part of a kernel.
    for file in sorted(DRIVER.glob("*.[ch]")):
        content = file.read_bytes()
        digest.update(f"{file.name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()
