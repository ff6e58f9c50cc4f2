"""A finding of a step of a check, or why the step was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dumbbell.base.quantities.printable import printable

__all__ = ["Diagnostic", "LeftOut"]


@dataclass(frozen=True)
class Diagnostic:
    """Something that the author of the source should know.

    Attributes
    ----------
    step
        Of the check: ``native``, ``bpf``, ``storm``, ``verifier`` or ``run``.
    level
        An ``error`` fails the check, a ``warning`` does not.
    kind
        A name for programs: ``compile``, ``read_only_field``, ``cwnd_zero``, ``crash``, ….
    message
        The text, of one or more lines.
    """

    step: str
    level: Literal["error", "warning"]
    kind: str
    message: str

    def __post_init__(self) -> None:
        # Compilers and sanitizers quote the source.
        object.__setattr__(self, "message", printable(self.message, lines=True))


@dataclass(frozen=True)
class LeftOut:
    """A step that was left out.

    Attributes
    ----------
    step
        Of the check.
    why
        What is missing, and how to get it.
    """

    step: str
    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "why", printable(self.why, lines=True))
