"""The guests of the UML engine: which kernel they run, and what they do not run."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.base.errors import EngineError
from dumbbell.congestion_control.isolation.sandbox import is_confined
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.congestion_control import CongestionControlChoice
    from dumbbell.kernels import BuiltKernel

__all__ = [
    "UML",
    "check_for_guest",
    "guest_build",
    "guest_kernel",
    "guest_library",
    "is_uml",
    "placed_for_guest",
]

#: Not an algorithm, but that of sockets that choose none: `linux/default`.
DEFAULT = "default"
#: The engine's name; the name of a kernel may follow, as in ``uml:6.12``.
UML = "uml"


def is_uml(engine: str) -> bool:
    """Whether an engine is Linux in virtual time, whichever kernel that is."""
    return engine.partition(":")[0] == UML


def guest_kernel(engine: str) -> BuiltKernel:
    """Return the kernel that the UML engine runs.

    Raises
    ------
    EngineError
        None is built, or none of this name.
    """
    from dumbbell.kernels import find  # few runs need it

    return find(engine.partition(":")[2] or None)


def guest_library() -> Path:
    """Return the library that a guest's kernel loads.

    Raises
    ------
    EngineError
        It is not there.
    """
    library = Path(_core.__file__).parent / "kernels" / "driver" / "libdumbbell_guest.so"
    if not library.exists():
        raise EngineError(f"the library of guests is not in {library.parent}; run `make engine`")
    return library


def check_for_guest(kernel: BuiltKernel, scenarios: Sequence[Scenario]) -> None:
    """Refuse what a guest does not run.

    Raises
    ------
    EngineError
        A scenario has it.
    """
    for scenario in scenarios:
        for group in scenario.groups:
            if group.cc.is_python:
                raise EngineError(
                    f"`{group.cc}` is written in Python, which no kernel runs; leave out `--engine`"
                )
            if group.cc.is_file and is_confined():
                raise EngineError(
                    f"`{group.cc}` is a file, and guests have no sandbox; if you trust it, add "
                    "`--unsafe-no-sandbox`; else use `--engine simulator` or `--engine kernel`"
                )
            name = group.cc.kernel_name
            # Programs run the kernel's default unless they choose.
            is_default = group.client is not None and name == DEFAULT
            if (
                group.cc.is_kernels_own
                and not is_default
                and name not in kernel.congestion_controls
            ):
                known = ", ".join(kernel.congestion_controls)
                raise EngineError(
                    f"the kernel {kernel.name} has no congestion control `{name}`; it has {known}"
                )
        for link in scenario.links:
            option = f"NET_SCH_{link.queue.name.upper()}" if link.queue else ""
            if link.queue and link.queue.of_kernel and option in kernel.missing:
                raise EngineError(
                    f"the kernel {kernel.name}, Linux {kernel.release}, has no `{link.queue.name}` "
                    f"({option}); use a newer one, `--engine {UML}:NAME`, or leave out `kernel:`"
                )
        try:
            accurate = _core.check_for_guest(scenario.to_json())
        except _core.EngineError as error:
            raise EngineError(str(error)) from None
        if accurate and not kernel.has_accurate_ecn:
            raise EngineError(
                f"`{accurate}` needs Accurate ECN, which the kernel {kernel.name}, Linux "
                f"{kernel.release}, does not offer to dumbbell; build one of Linux 6.18 or later "
                f"with `dumbbell kernel build`, or use `--engine {UML}:NAME`"
            )


def placed_for_guest(cc: CongestionControlChoice) -> CongestionControlChoice:
    """Return an algorithm as a guest finds it, which has a working directory of its own."""
    if not cc.is_file or cc.is_python:
        return cc
    return dataclasses.replace(cc, path=cc.file.resolve())


@functools.cache
def guest_build() -> str:
    """Return a digest of the library that a guest's kernel loads, like `engine_build`."""
    return hashlib.sha256(guest_library().read_bytes()).hexdigest()[:32]
