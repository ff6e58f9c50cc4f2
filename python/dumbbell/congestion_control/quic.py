"""How algorithms over QUIC are named: ``quic/noq@1.1.0:bbr3``, ``quic/noq:./mine.bpf.c``.

A stack with or without its version, and an algorithm: one of the stack's own, or one of ours that
runs behind the stack's controller. The engine knows which there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING

from dumbbell import _core
from dumbbell.base.quantities.excerpt import excerpt

if TYPE_CHECKING:
    from dumbbell.congestion_control.description import Description

__all__ = [
    "QUIC",
    "algorithm_of",
    "is_quic",
    "names_of_stacks",
    "no_kernels_own",
    "split_params",
    "stack_of",
    "where_parameter_is",
    "with_ours",
]

#: Begins the name of an algorithm over QUIC.
QUIC = "quic/"
#: Begins an algorithm of dumbbell's of which the stack has one of the same name.
OURS = "dumbbell/"
#: The stack that runs those of dumbbell.
OUR_STACK = f"{QUIC}noq"
#: Suffixes of source files.
SOURCES = (".c", ".py")


def is_quic(name: str) -> bool:
    """Whether a name is of a QUIC stack, and not a file in a directory called ``quic``."""
    if not name.startswith(QUIC):
        return False
    return ":" in name or PurePath(name).suffix not in SOURCES


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
    if stack.partition("@")[0].rstrip(":") != OUR_STACK:
        return own
    return own + [f"{stack}{OURS if stack + name in own else ''}{name}" for name in ours]


def over_quic(ours: str) -> str:
    """Return how one of dumbbell's is named over QUIC: ``quic/noq:dumbbell/cubic``."""
    return with_ours(f"{OUR_STACK}:", [ours])[-1]


def no_kernels_own(name: str, known: Mapping[str, Description]) -> str:
    """Return why ``quic/noq:linux/cubic`` cannot be run."""
    stem = algorithm_of(name).rpartition("/")[2]
    ours = stem if stem in known and not known[stem].needs_ecn else "cubic"
    return (
        f"`{excerpt(name)}`: the running kernel's own algorithms do not run in QUIC; dumbbell's "
        f"do: `{over_quic(ours)}`"
    )


def where_parameter_is(cc: str, name: str, known: Mapping[str, Description]) -> str:
    """Return what follows ``has no parameter``, if a stack's own algorithm lacks what ours has."""
    ours = known.get(algorithm_of(cc))
    if cc not in names_of_stacks():
        return ""
    if name == "paced":
        return ", which only algorithms of dumbbell's have"
    if ours is None or all(each.name != name for each in ours.parameters):
        return ""
    return f", for it is the stack's own; dumbbell's has: `{over_quic(ours.name)}:{name}=…`"
