"""The content address of a run: all that its result depends on."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dumbbell._core import ENGINE_VERSION
from dumbbell.congestion_control import CongestionControlChoice, RecordedCongestionControl
from dumbbell.congestion_control import python as python_congestion_control
from dumbbell.congestion_control.isolation.sandbox import is_confined
from dumbbell.congestion_control.name_kinds import table_of
from dumbbell.congestion_control.recorded import SourceReference, reference_of, sources_of
from dumbbell.congestion_control.sources import Sources
from dumbbell.run.engine import KERNEL, engine_build
from dumbbell.run.guest import UML, guest_build, guest_kernel, is_uml
from dumbbell.scenario import Scenario

__all__ = ["RunKey", "run_key"]

#: Version of the content of a key; keys of other versions do not match.
FORMAT = 2


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
        Version of the engine, and digest of it, its built-in congestion control algorithms
        included.
    is_lasting
        Whether the same digest means the same run. A Python class may depend on anything in its
        program, so each run of one has its own digest.
    sources
        The sources whose digests are in it, by these.
    """

    digest: str
    engine: str
    engine_version: str
    engine_build: str
    is_lasting: bool = True
    sources: Mapping[str, Sources] = field(default_factory=dict, compare=False, repr=False)


def run_key(scenario: Scenario, engine: str) -> RunKey:
    """Return the key of a run.

    In it are the scenario as the engine takes it, in base units and with its seed, so that ``1bdp``
    and ``250kB`` are the same buffer; the engine's build, built-in congestion control algorithms
    included; of a congestion control algorithm in a file its name, the digest of its sources, and
    the compiler or Python's version, for one that a result names as recorded there. A run on the
    kernel also depends on the kernel and the machine. The scenario's name is not in it: it changes
    nothing.
    """
    resolved = scenario.resolve()
    known: dict[str, Sources] = {}
    is_lasting = True
    for group, own in zip(resolved["groups"], scenario.groups, strict=True):
        reference = None if own.cc.is_python_class else source_of(own.cc, known)
        if own.cc.is_file and reference is not None:
            group["cc"] |= file_parts(own.cc, reference)
        elif own.cc.is_file or own.cc.is_python_class:
            group["cc"]["run"] = uuid.uuid4().hex
            is_lasting = False
    parts: dict[str, Any] = {
        "format": FORMAT,
        "engine": engine,
        "engine_version": ENGINE_VERSION,
        "engine_build": engine_build(),
        "scenario": resolved,
    }
    if engine == KERNEL:
        parts["kernel"] = [platform.release(), platform.version(), platform.node()]
    if is_uml(engine):
        kernel = guest_kernel(engine)
        parts |= {"engine": UML, "kernel": [kernel.digest, guest_build()]}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return RunKey(digest, engine, ENGINE_VERSION, engine_build(), is_lasting, known)


def source_of(cc: CongestionControlChoice, known: dict[str, Sources]) -> SourceReference | None:
    """Return which source a CCA has; add what was read of it to `known`."""
    if isinstance(cc, RecordedCongestionControl):
        return cc.source
    sources = sources_of(cc)
    if sources is None:
        return None
    known[sources.digest] = sources
    return reference_of(cc, sources)


def file_parts(cc: CongestionControlChoice, reference: SourceReference) -> dict[str, Any]:
    """Return what identifies a congestion control algorithm in a file, wherever the file is.

    Its name counts: a kernel module is called by its file, and one file may have several.
    """
    return {
        "name": [cc.file.name, table_of(cc.name)],
        "source": reference.digest,
        "compiler": reference.built_by,
        # What it may do can change what it does.
        "confined": is_confined(),
        **({"host": python_host()} if cc.is_python else {}),
    }


@functools.cache
def python_host() -> str:
    """Return a digest of what classes in Python inherit from."""
    return hashlib.sha256(Path(python_congestion_control.__file__).read_bytes()).hexdigest()
