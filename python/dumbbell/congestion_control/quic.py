"""How algorithms over QUIC are named: ``quic/noq@1.1.0:bbr3``, ``quic/noq:./mine.bpf.c``.

A stack with or without its version, and an algorithm: one of the stack's own, or one of ours that
runs behind the stack's controller. The engine knows which there are.
"""

from __future__ import annotations

from pathlib import PurePath

from dumbbell import _core

__all__ = [
    "QUIC",
    "algorithm_of",
    "is_quic",
    "names_of_stacks",
    "over_quic",
    "split_params",
    "stack_of",
    "with_ours",
]

#: Begins the name of an algorithm over QUIC.
QUIC = "quic/"
#: Begins an algorithm of dumbbell's of which the stack has one of the same name.
OURS = "dumbbell/"
#: The stack that runs those of dumbbell.
RUNS_OURS = f"{QUIC}noq"
#: Suffixes of source files.
SOURCES = (".c", ".py")


def is_quic(name: str) -> bool:
    """Whether a name is of a QUIC stack, and not a file in a directory called ``quic``."""
    is_file = ":" not in name and PurePath(name).suffix in SOURCES
    return name.startswith(QUIC) and not is_file


def stack_of(name: str) -> str:
    """Return ``quic/noq:`` of ``quic/noq:copa``; nothing of another name."""
    stack, colon, _ = name.partition(":")
    return stack + colon if is_quic(name) else ""


def algorithm_of(name: str) -> str:
    """Return ``copa`` of ``quic/noq:copa`` or ``quic/noq:dumbbell/copa``; else the name."""
    return name.removeprefix(stack_of(name)).removeprefix(OURS) if is_quic(name) else name


def split_params(text: str) -> tuple[str, str]:
    """Split ``copa:velocity_max=4`` and ``quic/noq:copa:velocity_max=4`` before the parameters."""
    stack = stack_of(text)
    name, _, rest = text.removeprefix(stack).partition(":")
    return stack + name, rest


def names_of_stacks() -> list[str]:
    """Return the algorithms that stacks have of their own, by name."""
    return _core.quic_algorithms()


def with_ours(stack: str, ours: list[str]) -> list[str]:
    """Return what can follow ``quic/noq:``, as whole names.

    Of ours, those of which the stack has one of the same name are ``dumbbell/cubic``.
    """
    own = [name for name in names_of_stacks() if name.startswith(stack)]
    if stack.partition("@")[0].rstrip(":") != RUNS_OURS:
        return own
    return own + [f"{stack}{OURS if stack + name in own else ''}{name}" for name in ours]


def over_quic(ours: str) -> str:
    """Return how one of dumbbell's is named over QUIC: ``quic/noq:dumbbell/cubic``."""
    return with_ours(f"{RUNS_OURS}:", [ours])[-1]
