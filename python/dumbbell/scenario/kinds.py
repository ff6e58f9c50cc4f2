"""Kinds of values that a scenario's fields have: how each is read, listed, counted and printed.

A kind of what has a file of its own is there.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.plain_value import check_count, check_flag, check_text, to_plain
from dumbbell.base.quantities.quantity import (
    Buffer,
    Loss,
    Quantity,
    Rate,
    Size,
    Time,
    expand,
    expand_counts,
    is_count,
)
from dumbbell.base.quantities.steps import Steps

__all__ = [
    "Amount", "Changes", "Count", "Flag", "Kind", "Measure", "Named", "Packets", "Text", "Word",
    "is_whole",
]  # fmt: skip

V_co = TypeVar("V_co", covariant=True)
Q = TypeVar("Q", bound=Quantity)
S = TypeVar("S", bound=Steps)

#: Base units (bit/s, ns, bytes, parts per billion) in one of these.
SCALES = {"bps": 1.0, "ms": 1e6, "s": 1e9, "bytes": 1.0, "pct": 1e7}
#: Parts of a list of congestion control algorithms that are further parameters: ``delta=2``.
PARAMETER = re.compile(r"\s*\w+\s*=[^:]*")


class Kind(ABC, Generic[V_co]):
    """A kind of value.

    Attributes
    ----------
    metavar
        What ``--help`` and the reference call it.
    separator
        What is between the values of a list on the command line.
    is_flag
        Whether it is true or false.
    """

    metavar: str
    separator: ClassVar[str] = ","
    is_flag: ClassVar[bool] = False

    @abstractmethod
    def parse(self, value: Any, what: str) -> V_co:
        """Read a value; `what` names the field in an error."""

    def from_text(self, text: str, what: str) -> Any:  # noqa: ARG002 -- others name it in errors
        """Return what `parse` takes for a value written on the command line."""
        return text

    def is_list(self, text: str) -> bool:
        """Whether text written on the command line lists values."""
        return self.separator in text or ".." in text

    def split(self, text: str, what: str) -> list[Any]:  # noqa: ARG002 -- others name it in errors
        """Return the values of a list written on the command line, as `parse` takes them."""
        return [part.strip() for part in text.split(self.separator)]

    def to_word(self, value: V_co) -> str | int | bool | list[str]:  # type: ignore[misc]
        """Return a value as a scenario file has it."""
        return to_plain(value)

    def unit(self, values: Collection[Any]) -> str | None:  # noqa: ARG002 -- of some it depends on them
        """Return the unit of the values' numbers; None without one."""
        return None

    def numbers(self, values: Collection[Any]) -> tuple[float, ...] | None:  # noqa: ARG002
        """Return the values as numbers in that unit; None if they are not numbers."""
        return None


class Measure(Kind[Q]):
    """A quantity with a unit: a rate, time, size or probability."""

    NAMES: ClassVar = {Rate: ("RATE", "bps"), Time: ("TIME", "s"), Size: ("SIZE", "bytes"),
                       Loss: ("PERCENT", "pct")}  # fmt: skip

    def __init__(self, quantity: type[Q], minimum: int = 0, unit: str | None = None) -> None:
        self.quantity, self.minimum = quantity, minimum
        self.metavar, default_unit = self.NAMES[quantity]
        self.axis_unit = unit or default_unit

    def parse(self, value: Any, what: str) -> Q:
        return self.quantity.parse(value, what, minimum=self.minimum)

    def split(self, text: str, what: str) -> list[str]:
        return expand(text, what, self.quantity.examples)

    def unit(self, values: Collection[Any]) -> str:  # noqa: ARG002
        return self.axis_unit

    def numbers(self, values: Collection[Any]) -> tuple[float, ...]:
        return tuple(int(value) / SCALES[self.axis_unit] for value in values)


class Amount(Kind[Buffer]):
    """An amount of queue: in BDP, bytes or packets."""

    metavar = "BUFFER"
    UNITS: ClassVar = {"bdp": "bdp", "B": "bytes", "pkt": "pkts"}

    def parse(self, value: Any, what: str) -> Buffer:
        return Buffer.parse(value, what)

    def split(self, text: str, what: str) -> list[str]:
        return expand(text, what, Buffer.examples)

    def unit(self, values: Collection[Any]) -> str | None:
        units = {value.unit for value in values}
        return self.UNITS[units.pop()] if len(units) == 1 else None

    def numbers(self, values: Collection[Any]) -> tuple[float, ...] | None:
        return tuple(float(value.amount) for value in values) if self.unit(values) else None


class Packets(Amount):
    """A number of packets."""

    metavar = "PACKETS"
    #: More than any window has.
    MAXIMUM = 1 << 30

    def parse(self, value: Any, what: str) -> Buffer:
        amount = super().parse(value, what)
        if amount.unit != "pkt":
            message = f"{what} `{amount}` is not in packets; use e.g. `48pkt`"
            raise ScenarioError(message, key=what)
        if amount.amount > self.MAXIMUM:
            message = f"{what} `{amount}` is too large; use at most `{self.MAXIMUM}pkt`"
            raise ScenarioError(message, key=what)
        return amount


class Changes(Kind[S]):
    """Values that change at given times."""

    separator = ";"  # a comma is between two steps

    def is_list(self, text: str) -> bool:
        return self.separator in text

    def __init__(self, steps: type[S]) -> None:
        self.steps = steps
        self.metavar = f"TIME:{Measure.NAMES[steps.kind][0]},…"

    def parse(self, value: Any, what: str) -> S:  # noqa: ARG002 -- steps know their field
        return self.steps.parse(value)


@dataclass(frozen=True)
class Count(Kind[int]):
    """A whole number in a range."""

    maximum: int
    minimum: int = 1
    metavar: str = "N"

    def parse(self, value: Any, what: str) -> int:
        whole = int(value) if is_whole(value) else value
        return check_count(whole, what, self.maximum, self.minimum)

    def from_text(self, text: str, what: str) -> Any:
        if text.isascii() and text.isdecimal() and not is_count(text):
            bounds = f"use {self.minimum} to {self.maximum}"
            raise ScenarioError(f"{what} is {excerpt(text)}; {bounds}", key=what)
        return int(text) if is_count(text) else text

    def split(self, text: str, what: str) -> list[int]:
        return expand_counts(text, what)

    def numbers(self, values: Collection[Any]) -> tuple[float, ...]:
        return tuple(float(value) for value in values)


class Flag(Kind[bool]):
    """True or false."""

    metavar = "true|false"
    is_flag = True

    def parse(self, value: Any, what: str) -> bool:
        return check_flag(value, what)

    def from_text(self, text: str, what: str) -> Any:  # noqa: ARG002
        return {"true": True, "false": False}.get(text, text)


class Word(Kind[str]):
    """One of some words."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.metavar = "|".join(words)

    def parse(self, value: Any, what: str) -> str:
        if value not in self.words:
            known = " or ".join(f"`{word}`" for word in self.words)
            raise ScenarioError(f"invalid {what} `{excerpt(value)}`: use {known}", key=what)
        return str(value)


class Text(Kind[str]):
    """Text without restrictions."""

    metavar = "TEXT"

    def parse(self, value: Any, what: str) -> str:
        return check_text(value, what)

    def is_list(self, text: str) -> bool:  # noqa: ARG002
        return False

    def split(self, text: str, what: str) -> list[str]:  # noqa: ARG002
        return [text]


class Named(Kind[V_co]):
    """What has a name and parameters: ``copa:a=1,b=2``."""

    def __init__(self, read: Callable[[Any, str], V_co], metavar: str) -> None:
        self.read, self.metavar = read, metavar

    def parse(self, value: Any, what: str) -> V_co:
        return self.read(value, what)

    def is_list(self, text: str) -> bool:
        return len(self.split(text, "")) > 1

    def split(self, text: str, what: str) -> list[str]:  # noqa: ARG002
        """Split ``copa,copa:a=1,b=2,bbr`` into its three parts."""
        parts: list[str] = []
        for part in text.split(","):
            if parts and ":" in parts[-1] and self.is_parameter(part):
                parts[-1] += f",{part.strip()}"
            else:
                parts.append(part.strip())
        return parts

    def is_parameter(self, part: str) -> bool:
        """Whether text between commas belongs to the name before it."""
        return PARAMETER.fullmatch(part) is not None


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of any library's, and not a flag."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
