"""Quantities with units, and lists and ranges of them.

``50mbit``, ``40ms``, ``500kB``, ``2bdp``, ``64pkt``. A bare number is an error that lists
the units. Values are integers in base units: bit/s, ns, bytes, packets; only a buffer may be a
fraction of a BDP. Rates use tc's units and are decimal (RFC 6349: 1 mbit = 10^6 bit).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt

__all__ = [
    "MAX_DIGITS", "MAX_VALUES", "NUMBER", "U64_MAX", "Buffer", "LinkShare", "Load", "Loss",
    "Quantity", "Rate", "Size", "Time", "check_range", "expand", "expand_counts",
    "format_fraction", "is_count",
]  # fmt: skip

NUMBER = re.compile(
    r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2}(?!\d))?)\s*(.*?)\s*", re.ASCII
)
#: What follows the first number of a range as others write it: `1-16bdp`, `1:16bdp`.
DASHED = re.compile(r"(?:([^\W\d]*)\s*[-–…]|:)\s*(\d[^:]*)", re.ASCII)
#: A number that NUMBER does not take, because its power of ten is not of this world.
HUGE_EXPONENT = re.compile(r"\s*[+-]?[\d.]+[eE][+-]?\d{3,}.*", re.ASCII)
U64_MAX = 2**64 - 1
#: Most characters of a number with its unit.
MAX_LENGTH = 100
#: Most values of a range.
MAX_VALUES = 100_000
#: Most digits of a count; Python refuses to read thousands.
MAX_DIGITS = 30


def split(text: str, what: str, examples: str) -> tuple[Fraction, str]:
    """Split ``50mbit`` into 50 and ``mbit``; `what` and `examples` are for the error."""
    if len(text) > MAX_LENGTH:
        message = f"{what} `{excerpt(text)}` has {len(text):,} characters; use e.g. {examples}"
        raise ScenarioError(message, key=what)
    if HUGE_EXPONENT.fullmatch(text):
        message = f"{what} `{excerpt(text)}` is out of range; use an exponent from -99 to 99"
        raise ScenarioError(message, key=what)
    match = NUMBER.fullmatch(text)
    if match is None:
        message = f"{what} `{excerpt(text)}` is not a number with a unit; use e.g. {examples}"
        raise ScenarioError(message, key=what)
    check_range(text, what, has_unit=True)
    if not match[2]:
        raise ScenarioError(f"{what} `{excerpt(text)}` has no unit; use e.g. {examples}", key=what)
    return Fraction(match[1]), match[2]


def check_range(text: str, what: str, *, has_unit: bool = False) -> None:
    """Refuse `1-16bdp`, which is written `1..16bdp`; the unit may be missing where it must be."""
    match = NUMBER.fullmatch(text)
    ends = match and DASHED.fullmatch(match[2])
    if match and ends:
        written = excerpt(f"{match[1]}{ends[1] or ''}..{ends[2]}")
        lacks_unit = has_unit and not re.search(r"[^\W\d]", written)
        unit = ", with its unit" if lacks_unit else ""
        raise ScenarioError(
            f"{what} `{excerpt(text)}`: write a range as `{written}`{unit}", key=what
        )


def as_text(value: Any, what: str, examples: str) -> str:
    """Return a quantity as it was written; a number of Python's has no unit."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return excerpt(value) if isinstance(value, int) else str(value)
    message = f"{what} must be a string like {examples}, not `{excerpt(value)}`"
    raise ScenarioError(message, key=what)


class Quantity(int):
    """An integer in a base unit that prints in a convenient unit."""

    units: ClassVar[Mapping[str, int]]
    examples: ClassVar[str]
    #: Units to print in, largest first.
    print_units: ClassVar[tuple[str, ...]]
    #: Largest value, in base units.
    maximum: ClassVar[int] = U64_MAX

    @classmethod
    def parse(cls, text: str | int, what: str, *, minimum: int = 0) -> Self:
        """Read a quantity.

        Parameters
        ----------
        text
            ``"50mbit"``; a value of this class is returned unchanged.
        what
            Name of the thing, for the error: ``rate``.
        minimum
            Smallest value allowed, in base units.

        Returns
        -------
        Self
            The value in base units.
        """
        if type(text) is cls and minimum <= text <= cls.maximum:
            return text
        factor = 1
        if isinstance(text, cls):
            value = Fraction(int(text))
        else:
            number, unit = split(as_text(text, what, cls.examples), what, cls.examples)
            factor = cls._factor(unit, str(text), what)
            value = number * factor
        if value < minimum or value > cls.maximum:
            bound = "negative" if value < 0 else "too small" if value < minimum else "too large"
            bound = "zero" if value == 0 else bound
            limit = (
                f"at least `{cls(minimum)}`" if value < minimum else f"at most {cls._most(factor)}"
            )
            raise ScenarioError(f"{what} `{excerpt(text)}` is {bound}; use {limit}", key=what)
        whole = cls(round(value))
        if whole == 0 and value:
            message = (
                f"{what} `{excerpt(text)}` is too small; use at least `{cls(1)}`, or `{whole}`"
            )
            raise ScenarioError(message, key=what)
        return whole

    @classmethod
    def _factor(cls, unit: str, text: str, what: str) -> int:
        factor = cls.units.get(unit)
        if factor is None:
            factor = cls.units.get(cls._fold(unit))
        if factor is None:
            raise ScenarioError(
                f"{what} `{excerpt(text)}` has the wrong unit `{excerpt(unit)}`; "
                f"use e.g. {cls.examples}",
                key=what,
            )
        return factor

    @classmethod
    def _most(cls, _factor: int) -> str:
        """Return the largest value as text, in the user's unit of this many base units."""
        return f"`{cls(cls.maximum)}`"

    @classmethod
    def _fold(cls, unit: str) -> str:
        return unit.lower().removesuffix("/s")

    def __str__(self) -> str:
        value = int(self)
        if value == 0:
            return f"0{self.print_units[0]}"
        for unit in self.print_units:
            factor = self.units[unit]
            # At most two decimals, and exact: the text reads back as the same value.
            if value >= factor and value * 100 % factor == 0:
                return f"{format_fraction(Fraction(value, factor))}{unit}"
        return f"{value}{self.print_units[-1]}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Rate(Quantity):
    """A rate, bit/s."""

    units = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
    examples = "`50mbit`, `800kbit` or `1gbit`"
    print_units = ("gbit", "mbit", "kbit", "bit")

    @classmethod
    def _fold(cls, unit: str) -> str:
        # `50M` and `50Mbps`, as iperf has them; `Mb` is bits to some and bytes to others.
        word = super()._fold(unit)
        if unit in ("k", "K", "M", "G"):
            return f"{word}bit"
        return f"{word.removesuffix('bps')}bit" if word.endswith("bps") else word

    @property
    def in_words(self) -> str:
        """The rate with four digits where it is not a round number of bits: ``6.031mbit``."""
        text = str(self)
        return text if self.bps % 1000 == 0 or self.bps < 10_000 else f"{self.bps / 1e6:.4g}mbit"

    @property
    def bps(self) -> int:
        """The rate in bit/s."""
        return int(self)


class Time(Quantity):
    """A time, ns."""

    units = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
    examples = "`40ms`, `120s` or `500us`"
    print_units = ("s", "ms", "us", "ns")
    #: 32 years: sums of a few times stay far below 2^64 ns.
    maximum = 10**18

    @classmethod
    def _fold(cls, unit: str) -> str:
        return unit  # `/s` is not a suffix of a time

    @property
    def ns(self) -> int:
        """The time in nanoseconds."""
        return int(self)

    @property
    def seconds(self) -> float:
        """The time in seconds."""
        return int(self) / 1e9


class Loss(Quantity):
    """A probability that a packet is lost, in parts per billion."""

    units = {"%": 10**7, "ppm": 10**3, "ppb": 1}
    examples = "`0.1%`, `1%` or `10ppm`"
    print_units = ("%", "ppm", "ppb")
    #: Below 100 %: otherwise no connection would open.
    maximum = 10**9 - 10**3

    @property
    def share(self) -> float:
        """The probability, 0 to 1."""
        return int(self) / 1e9

    @classmethod
    def _most(cls, factor: int) -> str:
        unit = next(unit for unit, of_unit in cls.units.items() if of_unit == factor)
        return f"`{float(Fraction(cls.maximum, factor)):.12g}{unit}`; not every packet can be lost"

    def __str__(self) -> str:
        if int(self) % 1000 == 0:  # a multiple of a ten-thousandth of a per cent
            return f"{int(self) / 10**7:.4f}".rstrip("0").rstrip(".") + "%"
        return super().__str__()


class Probability(Loss):
    """A probability, which may be 100 %, in parts per billion."""

    examples = "`0.1%`, `25%` or `100%`"
    maximum = 10**9

    @classmethod
    def _most(cls, _factor: int) -> str:
        return f"`{cls(cls.maximum)}`"


class Load(Quantity):
    """A load: a share of what a link carries, in parts per billion."""

    units = {"%": 10**7, "ppm": 10**3, "ppb": 1}
    examples = "`30%` or `0.5%`"
    print_units = ("%", "ppm", "ppb")
    #: 1000 %: anything above a load of 100 % grows without end.
    maximum = 10**10


class LinkShare(Quantity):
    """A share of a link's rate, in parts per billion."""

    units = {"%": 10**7}
    examples = "`95%`"
    print_units = ("%",)
    #: 1000 %.
    maximum = 10**10

    def of(self, rate: int) -> int:
        """Return the share of a rate, bit/s."""
        return rate * int(self) // 10**9


class Size(Quantity):
    """A size, bytes."""

    # Case matters: `Mb` is megabits to some and megabytes to others, so it is neither.
    units = {
        "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9,
        "KiB": 2**10, "MiB": 2**20, "GiB": 2**30,
    }  # fmt: skip
    examples = "`500kB`, `10MB` or `8MiB`"
    print_units = ("GiB", "MiB", "GB", "MB", "kB", "B")

    @classmethod
    def _fold(cls, unit: str) -> str:
        return unit

    def __str__(self) -> str:
        return super().__str__() if self else "0B"


class ElementSize(Size):
    """A size in the words of a queue or an impairment, which may be tc's: 1 kbit is 1024 bits."""

    units = {**Size.units, "kbit": 2**10 // 8, "mbit": 2**20 // 8, "gbit": 2**30 // 8}


@dataclass(frozen=True)
class Buffer:
    """A bottleneck's buffer.

    Attributes
    ----------
    amount
        How much.
    unit
        ``bdp`` (link_rate × base_rtt), ``B`` (wire bytes) or ``pkt``.
    """

    amount: Fraction
    unit: str

    examples: ClassVar[str] = "`2bdp`, `500kB` or `64pkt`"

    @classmethod
    def parse(cls, text: str | Buffer, what: str = "buffer") -> Buffer:
        """Read a buffer: ``2bdp``, ``500kB`` or ``64pkt``."""
        if isinstance(text, Buffer):
            return text
        written = as_text(text, what, cls.examples)
        number, unit = split(written, what, cls.examples)
        shown = excerpt(written)
        if number <= 0:
            bound = "zero" if number == 0 else "negative"
            raise ScenarioError(f"{what} `{shown}` is {bound}; use e.g. {cls.examples}", key=what)
        if unit.lower() == "bdp":
            return cls(number, "bdp")
        if unit.lower() in {"pkt", "pkts"}:
            if number.denominator != 1:
                raise ScenarioError(f"{what} `{shown}` is not a whole number of packets", key=what)
            return cls(number, "pkt")
        if unit in Size.units:
            return cls(Fraction(int(Size.parse(written, what))), "B")
        raise ScenarioError(
            f"{what} `{shown}` has the wrong unit `{excerpt(unit)}`; use e.g. {cls.examples}",
            key=what,
        )

    def limit_bytes(self, link_rate_bps: int, base_rtt_ns: int) -> int:
        """Return the limit in wire bytes; 1 BDP = link_rate × base_rtt.

        A buffer in packets has none: check its `unit` first.
        """
        if self.unit == "bdp":
            return int(self.amount * link_rate_bps * base_rtt_ns / (8 * 10**9))
        if self.unit == "B":
            return int(self.amount)
        raise ValueError("a buffer in packets has no limit in bytes")

    def __str__(self) -> str:
        if self.unit == "B":
            return str(Size(int(self.amount)))
        return f"{format_fraction(self.amount)}{self.unit}"


def format_fraction(value: Fraction) -> str:
    """Write a fraction as the shortest decimal that reads back the same, when there is one."""
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.12g}"


def expand(text: str, what: str, examples: str) -> list[str]:
    """Expand a list of quantities.

    ``a,b,c`` lists, ``a..b`` doubles from a to b, ``a..b/n`` is n even steps, both ends included.
    A number without a unit has that of the next one: ``1,4bdp``, ``0.5..64bdp``.

    Parameters
    ----------
    text
        The list.
    what, examples
        For the error.

    Returns
    -------
    list of str
        One quantity each, in the order written.
    """
    values: list[str] = []
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if len(part) > 3 * MAX_LENGTH:  # two ends and the number of steps
            message = f"{what} `{excerpt(part)}` has {len(part):,} characters; use e.g. {examples}"
            raise ScenarioError(message, key=what)
    for part in with_units(parts):
        values += expand_range(part, what, examples) if ".." in part else [part]
    return values


def with_units(parts: list[str]) -> list[str]:
    """Give each bare number the unit of the next part that has one."""
    unit, found = "", []
    for part in reversed(parts):
        match = NUMBER.fullmatch(part.rpartition("..")[2])
        if match is not None and not match[2]:
            part += unit
        elif match is not None:
            unit = match[2].partition("/")[0]
        found.append(part)
    return found[::-1]


def expand_range(text: str, what: str, examples: str) -> list[str]:
    """Expand ``a..b`` or ``a..b/n``."""
    first, _, rest = text.partition("..")
    last, _, steps = rest.partition("/")
    high, unit = split(last, what, examples)
    match = NUMBER.fullmatch(first)
    if match is None or match[2] not in ("", unit):
        raise ScenarioError(
            f"{what} `{excerpt(text)}`: write both ends in one unit, like `0.5..64{excerpt(unit)}`",
            key=what,
        )
    low = Fraction(match[1])
    if not 0 < low <= high:
        message = f"{what} `{excerpt(text)}`: a range must start above zero and increase"
        raise ScenarioError(message, key=what)
    return [f"{format_fraction(value)}{unit}" for value in steps_between(low, high, steps, what)]


def steps_between(low: Fraction, high: Fraction, steps: str, what: str) -> list[Fraction]:
    """List the values of a range: doubling, or `steps` even ones."""
    if steps:
        if not is_count(steps) or int(steps) < 2:
            message = f"{what}: `/{excerpt(steps)}` is not a number of steps; use `/2` or more"
            raise ScenarioError(message, key=what)
        count = int(steps)
        if count > MAX_VALUES:
            message = f"{what}: `/{steps}` is too many steps; use at most `/{MAX_VALUES}`"
            raise ScenarioError(message, key=what)
        return [low + (high - low) * step / (count - 1) for step in range(count)]
    values = []
    while low <= high:
        values.append(low)
        low *= 2
    if values[-1] != high:
        values.append(high)
    return values


def expand_counts(text: str, what: str) -> list[int]:
    """Expand a list of counts: ``1,4`` or ``16..128`` (doubling)."""
    counts: list[int] = []
    for part in text.split(","):
        check_range(part, what)
        low, dots, high = part.strip().partition("..")
        if not is_count(low) or (dots and not is_count(high)) or int(low) < 1:
            raise ScenarioError(
                f"{what} `{excerpt(text)}` is not a list of counts; use e.g. `4`, `1,4` or `1..16`",
                key=what,
            )
        ends = steps_between(Fraction(low), Fraction(high or low), "", what)
        counts += [int(value) for value in ends]
    return counts


def is_count(text: str) -> bool:
    """Whether text is a whole number in ASCII digits; Python accepts those of every script."""
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
