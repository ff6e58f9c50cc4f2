"""The content address of a run: all that its result depends on."""

from __future__ import annotations

import hashlib
import json
import platform
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION, native_compiler
from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.choice import file_of, table_of
from dumbbell.isolation.source_files import source_files
from dumbbell.run.engine import KERNEL, engine_build
from dumbbell.scenario import Scenario

__all__ = ["RunKey", "run_key"]

#: Version of the content of a key; keys of other versions do not match.
FORMAT = 1


@dataclass(frozen=True)
class RunKey:
    """What a run's result depends on, and the digest of it.

    Attributes
    ----------
    digest
        SHA-256, hexadecimal.
    engine
        ``simulator`` or ``kernel``.
    engine_version, engine_build
        Version of the engine, and digest of it, its built-in congestion controls included.
    is_lasting
        Whether the same digest means the same run. A Python class may depend on anything in its
        program, so each run of one has its own digest.
    """

    digest: str
    engine: str
    engine_version: str
    engine_build: str
    is_lasting: bool = True


def run_key(scenario: Scenario, engine: str) -> RunKey:
    """Return the key of a run.

    In it are the scenario as the engine takes it, in base units and with its seed, so that
    ``1bdp`` and ``250kB`` are the same buffer; the engine's build, built-in congestion controls
    included; of a congestion control in a file its name, its text, the text of the files that it
    includes or imports, and the compiler or Python's version. A run on the kernel also depends on
    the kernel and the machine. The scenario's name is not in it: it changes nothing.
    """
    resolved = scenario.resolve()
    for group, own in zip(resolved["groups"], scenario.groups, strict=True):
        if own.cc.is_file:
            group["cc"] |= file_parts(own.cc)
        elif own.cc.is_python_class:
            group["cc"]["run"] = uuid.uuid4().hex
    parts: dict[str, Any] = {
        "format": FORMAT,
        "engine": engine,
        "engine_version": ENGINE_VERSION,
        "engine_build": engine_build(),
        "scenario": resolved,
    }
    if engine == KERNEL:
        parts["kernel"] = [platform.release(), platform.version(), platform.node()]
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    is_lasting = not any(group.cc.is_python_class for group in scenario.groups)
    return RunKey(digest, engine, ENGINE_VERSION, engine_build(), is_lasting)


def file_parts(cc: CongestionControlChoice) -> dict[str, Any]:
    """Return what identifies a congestion control in a file, wherever the file is.

    Its name counts: a kernel module is called by its file, and one file may have several.
    """
    path = file_of(cc.name)
    built_by = platform.python_version() if cc.is_python else native_compiler()
    return {
        "name": [path.name, table_of(cc.name)],
        "source": source_digest(path),
        "compiler": built_by,
    }


def source_digest(path: Path) -> str:
    """Digest a source file and the user's files that it includes or imports."""
    digest = hashlib.sha256()
    for file in source_files(path):
        text = file.read_bytes()
        digest.update(len(text).to_bytes(8, "little") + text)
    return digest.hexdigest()
