"""What a step of a check has found, or why it was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "LeftOut"]


@dataclass(frozen=True)
class Finding:
    """Something that its author should know.

    Attributes
    ----------
    step
        Of the check: ``native``, ``bpf``, ``storm``, ``verifier`` or ``run``.
    level
        An ``error`` fails the check, a ``warning`` does not.
    kind
        A word for programs: ``compile``, ``read_only_field``, ``cwnd_zero``, ``crash``, ….
    message
        A line or more for people.
    """

    step: str
    level: Literal["error", "warning"]
    kind: str
    message: str


@dataclass(frozen=True)
class LeftOut:
    """A step that was not made.

    Attributes
    ----------
    step
        Of the check.
    why
        What is lacking, and what would help.
    """

    step: str
    why: str
