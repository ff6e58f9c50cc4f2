"""Measurements as JSON and back: what a paper measures are dataclasses and named tuples of ours."""

from __future__ import annotations

import dataclasses
import math
from importlib import import_module
from typing import Any

__all__ = ["decode", "encode"]

#: Key of what an object is an instance of.
TYPE = "="
#: The only packages whose classes are read back.
PACKAGES = ("dumbbell.", "dumbbell_studies.")
#: The papers' package by the name that it was written with before it was one of the studies.
PAPERS, FORMER_PAPERS = "dumbbell_studies.papers.", "dumbbell.papers."


def encode(value: Any) -> Any:
    """Return a measurement for JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return {TYPE: "float", "value": str(value)}
    if dataclasses.is_dataclass(value) or hasattr(value, "_fields"):
        names = (
            [field.name for field in dataclasses.fields(value)]
            if dataclasses.is_dataclass(value)
            else value._fields
        )
        of = type(value)
        fields = {name: encode(getattr(value, name)) for name in names}
        return {TYPE: f"{of.__module__}:{of.__qualname__}", **fields}
    if isinstance(value, list | tuple):
        return [encode(each) for each in value]
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    return encode(value.tolist())  # a number or an array of NumPy's


def decode(value: Any) -> Any:
    """Return the measurement that `encode` wrote, with tuples where it had tuples or lists.

    Raises
    ------
    ValueError
        It is of another package, or its class has other fields now.
    """
    if isinstance(value, list):
        return tuple(decode(each) for each in value)
    if not isinstance(value, dict):
        return value
    of, fields = value[TYPE], {key: each for key, each in value.items() if key != TYPE}
    if of == "float":
        return float(fields["value"])
    module, _, name = of.partition(":")
    if module.startswith(FORMER_PAPERS):
        module = PAPERS + module.removeprefix(FORMER_PAPERS)
    if not module.startswith(PACKAGES):
        raise ValueError(f"`{of}` is not a measurement of dumbbell's")
    try:
        return getattr(import_module(module), name)(**{k: decode(v) for k, v in fields.items()})
    except (AttributeError, ImportError, TypeError) as error:
        raise ValueError(f"`{of}`: {error}") from None
