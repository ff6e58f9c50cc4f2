"""Kernels of the UML engine: User-mode Linux with a driver that runs scenarios."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from dumbbell.base.errors import EngineError


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel that runs as a program, in virtual time."""

    name: str
    path: Path
    release: str
    digest: str
    congestion_controls: tuple[str, ...]


def find(name: str | None = None) -> BuiltKernel:
    """Find a kernel."""
    there = os.environ.get("DUMBBELL_STUB_KERNEL")
    if there is None:
        raise EngineError("no kernel is built; build one with `dumbbell kernel build 6.12`")
    path = Path(there)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    ccs = ("cubic", "bbr", "reno", "vegas", "dctcp", "westwood", "htcp", "illinois", "yeah", "veno")
    return BuiltKernel(name or "6.12", path, "6.12.117", digest, ccs)
