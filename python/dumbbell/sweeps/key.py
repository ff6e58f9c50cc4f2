"""The content address of a run: all that its result depends on."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.congestion_control import file_of, table_of
from dumbbell.engine import KERNEL, engine_build
from dumbbell.python_congestion_control import class_digest, find
from dumbbell.scenario import Scenario

__all__ = ["RunKey", "run_key"]

#: Version of what goes into a key; another one finds nothing of an older.
FORMAT = 1
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)"', re.MULTILINE)
#: As the engine looks for one, after `$CC`.
COMPILERS = ("cc", "gcc", "clang")


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
    """

    digest: str
    engine: str
    engine_version: str
    engine_build: str


def run_key(scenario: Scenario, engine: str) -> RunKey:
    """Return the key of a run.

    In it are the scenario as the engine takes it, in base units and with its seed, so that
    ``1bdp`` and ``250kB`` are the same buffer; the engine's build, built-in congestion controls
    included; of a congestion control in a file its text, the text of the files that it includes,
    and the compiler; of a class of Python's the text of its module. A run on the kernel also
    depends on the kernel and the machine. The scenario's name is not in it: it changes nothing.
    """
    resolved = scenario.resolve()
    for group, own in zip(resolved["groups"], scenario.groups, strict=True):
        if own.cc.is_file:
            # Which of its congestion controls, where a file has several.
            group["cc"]["name"] = table_of(own.cc.name)
            group["cc"]["source"] = source_digest(file_of(own.cc.name))
            group["cc"]["compiler"] = compiler(os.environ.get("CC", ""))
        elif own.cc.is_python_class:
            group["cc"]["source"] = class_digest(find(own.cc.name))
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
    return RunKey(hashlib.sha256(text.encode()).hexdigest(), engine, ENGINE_VERSION, engine_build())


def source_digest(path: Path) -> str:
    """Digest a source file and the files that it includes by ``"name"``, as far as there are any.

    An include under a condition that does not hold counts too: a change of it is a miss too many,
    never a wrong hit.
    """
    digest = hashlib.sha256()
    seen: set[Path] = set()
    waiting = [path.resolve()]
    while waiting:
        file = waiting.pop()
        if file in seen or not file.is_file():
            continue  # the headers that come with the engine are in its build
        seen.add(file)
        text = file.read_bytes()
        digest.update(len(text).to_bytes(8, "little") + text)
        waiting += [file.parent / os.fsdecode(name) for name in INCLUDE.findall(text)]
    return digest.hexdigest()


@functools.cache
def compiler(chosen: str) -> str:
    """Return which compiler builds a congestion control, in its own words.

    Parameters
    ----------
    chosen
        ``$CC``; the first one that answers when it is empty.
    """
    for words in [chosen] if chosen.strip() else COMPILERS:
        try:
            said = subprocess.run(  # noqa: S603 (the compiler that the engine is about to run)
                [*words.split(), "--version"], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return said.stdout.partition("\n")[0]
    return "ziglang"
