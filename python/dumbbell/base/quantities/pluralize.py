"""Counts with a noun."""

from __future__ import annotations

__all__ = ["pluralize"]


def pluralize(count: int, noun: str) -> str:
    """Write ``1 run``, ``2 runs``, ``1,100 runs``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
