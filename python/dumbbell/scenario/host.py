"""The TCP stack of a group's hosts. `host.pyi` has its fields for type checkers."""

from __future__ import annotations

from dataclasses import make_dataclass
from typing import Any

from dumbbell.scenario.declared import declared_fields
from dumbbell.scenario.fields import Field

__all__ = ["Host"]

Host = make_dataclass(
    "Host",
    [(name, Field[Any, Any], field) for name, field in declared_fields("host").items()],
    frozen=True,
    kw_only=True,
)
Host.__doc__ = "The fields of a group that are of its hosts' TCP stack."
