"""Kinds of values that a scenario's fields have: how each is read, listed, counted and printed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from dumbbell.congestion_control import CongestionControlChoice
from dumbbell.congestion_control.choice import parse_integer
from dumbbell.errors import ScenarioError
from dumbbell.quantities.excerpt import excerpt
from dumbbell.quantities.plain_value import check_count, check_flag, check_text, to_plain
from dumbbell.quantities.quantity import (
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
from dumbbell.quantities.steps import Steps
from dumbbell.scenario.element import Impairments, QueueChoice
from dumbbell.scenario.parameter import QUANTITIES, ElementParameter
from dumbbell.scenario.tcp import TcpChoice
from dumbbell.scenario.trace import Trace
from dumbbell.scenario.traffic import TrafficChoice

__all__ = [
    "Amount", "Cc", "Changes", "Count", "Ecn", "Flag", "Impair", "Integer", "Kind", "LinkName",
    "LinkNames", "Measure", "Queue", "Route", "Tcp", "Text", "TraceOf", "Traffic",
    "Word",
]  # fmt: skip

V_co = TypeVar("V_co", covariant=True)
Q = TypeVar("Q", bound=Quantity)
S = TypeVar("S", bound=Steps)

#: Base units (bit/s, ns, bytes, parts per billion) in one of these.
SCALES = {"bps": 1.0, "ms": 1e6, "s": 1e9, "bytes": 1.0, "pct": 1e7}
#: A link's name; results and axes (`link.access.rate`) have it.
LINK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", re.ASCII)
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


class Ecn(Kind[bool | str]):
    """Explicit congestion notification: off, on (classic), or Accurate ECN.

    Classic ECN is a flag, as it was before there was another: a scenario that has no Accurate ECN
    is the same file as before.
    """

    metavar = "off|on|accecn"
    is_flag = True
    WORDS: ClassVar[dict[str, bool | str]] = {"off": False, "on": True, "accecn": "accecn"}

    def parse(self, value: Any, what: str) -> bool | str:
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value in self.WORDS:
            return self.WORDS[value]
        of_datagrams = "; of datagrams it is a parameter of their traffic, `datagram:ecn=ect1`"
        raise ScenarioError(
            f"invalid {what} `{excerpt(value)}`: use `off`, `on` (or false, true) or `accecn`"
            + (of_datagrams if value in ("not_ect", "ect0", "ect1") else ""),
            key=what,
        )

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


class LinkName(Kind[str]):
    """A link's name."""

    metavar = "NAME"

    def parse(self, value: Any, what: str) -> str:
        name = check_text(value, what)
        if not LINK_NAME.fullmatch(name):
            raise ScenarioError(
                f"invalid link name `{excerpt(name)}`: use 1 to 32 letters, digits, `-` and `_`",
                key=what,
            )
        return name


class Route(tuple[str, ...]):
    """Names of links, in the order in which packets cross them."""

    __slots__ = ()

    def __str__(self) -> str:
        return ", ".join(self)


class LinkNames(Kind[Route]):
    """The links of a route."""

    metavar = "LINK…"

    def parse(self, value: Any, what: str) -> Route:
        names = list(value) if isinstance(value, list | tuple) else None
        if not names or not all(isinstance(name, str) for name in names):
            raise ScenarioError(
                f'{what} must list links, e.g. `["access", "core"]`, not `{excerpt(value)}`',
                key=what,
            )
        return Route(names)

    def to_word(self, value: Route) -> list[str]:
        return list(value)


class Named(Kind[V_co]):
    """What has a name and parameters: ``copa:a=1,b=2``."""

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


class Cc(Named[CongestionControlChoice]):
    """A congestion control algorithm."""

    metavar = "CC"

    def parse(self, value: Any, what: str) -> CongestionControlChoice:  # noqa: ARG002
        return CongestionControlChoice.parse(value)


class Queue(Named[QueueChoice]):
    """A queue discipline."""

    metavar = "QUEUE"

    def parse(self, value: Any, what: str) -> QueueChoice:
        return QueueChoice.parse(value, what)


class Impair(Named[Impairments]):
    """Impairments, with ``+`` between them."""

    metavar = "IMPAIRMENT+…"

    def is_parameter(self, part: str) -> bool:
        # Another impairment may follow the parameter: `place=before+corrupt:probability=1%`.
        return super().is_parameter(part.partition("+")[0])

    def parse(self, value: Any, what: str) -> Impairments:
        return Impairments.parse(value, what)


class TraceOf(Named[Trace]):
    """A delivery trace."""

    metavar = "FILE|GENERATOR"

    def parse(self, value: Any, what: str) -> Trace:
        return Trace.parse(value, what)

    def is_list(self, text: str) -> bool:  # noqa: ARG002 -- a sweep does not vary it
        return False


class Traffic(Named[TrafficChoice]):
    """An application with its parameters."""

    metavar = "TRAFFIC"

    def parse(self, value: Any, what: str) -> TrafficChoice:
        return TrafficChoice.parse(value, what)


class Tcp(Named[TcpChoice]):
    """A release of Linux, with switches."""

    metavar = "TCP"

    def parse(self, value: Any, what: str) -> TcpChoice:
        return TcpChoice.parse(value, what)


@dataclass(frozen=True)
class OfTraffic(Kind[Any]):
    """A parameter of an application."""

    application: str
    parameter: ElementParameter

    SCALES: ClassVar = {"ns": ("s", 1e9), "bytes": ("bytes", 1.0), "bps": ("bps", 1.0),
                        "ppb": ("pct", 1e7), "load": ("pct", 1e7), "milli": (None, 1e3),
                        "count": (None, 1.0)}  # fmt: skip

    @property
    def metavar(self) -> str:  # type: ignore[override]
        return self.parameter.name.upper()

    def parse(self, value: Any, what: str) -> Any:  # noqa: ARG002 -- errors name the parameter
        return self.parameter.parse(value, self.application)

    def split(self, text: str, what: str) -> list[str]:
        if ".." in text or self.parameter.unit in QUANTITIES:
            return expand(text, what, self.parameter.examples)
        return super().split(text, what)

    def unit(self, values: Collection[Any]) -> str | None:  # noqa: ARG002
        return self.SCALES.get(self.parameter.unit, (None, 1.0))[0]

    def numbers(self, values: Collection[Any]) -> tuple[float, ...] | None:
        if not all(isinstance(value, int) for value in values):
            return None
        return tuple(
            value / self.SCALES.get(self.parameter.unit, (None, 1.0))[1] for value in values
        )


@dataclass(frozen=True)
class Integer(Kind[int]):
    """A congestion control algorithm's parameter."""

    of_unit: str = ""
    metavar: str = "N"

    def parse(self, value: Any, what: str) -> int:
        return int(value) if is_whole(value) else parse_integer(str(value), what, self.of_unit)

    def split(self, text: str, what: str) -> list[int]:
        """Split ``-1,0,5`` and ``2..16``, which doubles."""
        values: list[int] = []
        for part in (part.strip() for part in text.split(",")):
            values += expand_counts(part, what) if ".." in part else [self.parse(part, what)]
        return values

    def unit(self, values: Collection[Any]) -> str | None:  # noqa: ARG002
        return self.of_unit or None

    def numbers(self, values: Collection[Any]) -> tuple[float, ...]:
        return tuple(float(value) for value in values)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of any library's, and not a flag."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
