"""A parameter of a queue discipline, an impairment, an application or a distribution."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import (
    MAX_DIGITS,
    NUMBER,
    Buffer,
    ElementSize,
    LinkShare,
    Load,
    Probability,
    Quantity,
    Rate,
    Time,
    format_fraction,
    is_count,
)

__all__ = ["LIMIT", "ElementParameter", "Value", "listed"]

#: A parameter's value: a quantity, a number, a flag, a word, a list, what is drawn from a
#: distribution, or None for off.
Value: TypeAlias = Any
#: The parameter that limits what may wait; a scenario's `buffer` is its shorthand.
LIMIT = "limit"
#: A largest value of this size is none: nothing that is simulated comes near it.
NO_LIMIT = 2**32 - 1
QUANTITIES: Mapping[str, type[Quantity]] = {
    "ns": Time, "bytes": ElementSize, "ppb": Probability, "bps": Rate, "load": Load,
}  # fmt: skip
AMOUNTS = "`20pkt`, `30kB` or `1ms`"
FLAGS = {"on": True, "off": False, "true": True, "false": False, "yes": True, "no": False}
#: Between the values of a list.
SEPARATOR = ";"


@dataclass(frozen=True)
class ElementParameter:
    """A parameter.

    Attributes
    ----------
    name
        What a user calls it: ``target``.
    field
        Its place in the engine's input: ``target_ns``.
    unit
        ``ns``, ``bytes``, ``pkts``, ``ppb``, ``bps``, ``load``, ``amount`` (bytes, packets, BDP
        or a time), ``milli`` (a number in thousandths), ``count``, ``flag``, ``choice`` or
        ``points``; of a distribution's, ``variate``: that of what is drawn.
    is_optional
        Whether it can be off.
    default
        Its value when it is not set, in base units; None: off.
    min, max
        The range, both ends included.
    doc
        What it is, in a sentence.
    is_list
        Whether it is several values.
    choices
        The words that it can be.
    names
        Values that have a name, which may be written instead.
    default_unit
        That of an amount's default: ``pkt``, ``B`` or ``ns``.
    """

    name: str
    field: str
    unit: str
    is_optional: bool
    default: Value
    min: int
    max: int
    doc: str
    is_list: bool = False
    choices: tuple[str, ...] = ()
    names: Mapping[str, int] = dataclasses.field(default_factory=dict, hash=False)
    default_unit: str = ""

    @property
    def examples(self) -> str:
        """Values that a user could write, for errors."""
        if self.name == LIMIT:
            return Buffer.examples
        if self.unit in QUANTITIES:
            return QUANTITIES[self.unit].examples
        of_unit = {"pkts": "`64pkt`", "amount": AMOUNTS, "flag": "`on` or `off`", "milli": "`1.2`",
                   "choice": listed(self.choices)}  # fmt: skip
        return of_unit.get(self.unit, f"`{self.default or max(self.min, 1)}`")

    @property
    def must_be_set(self) -> bool:
        """Whether it has no default of its own."""
        if self.is_list:
            return not self.default and not self.is_optional
        return isinstance(self.default, int) and self.default < self.min

    def parse(self, text: Any, of: str) -> Value:
        """Read a value.

        Parameters
        ----------
        text
            As it was written: ``5ms``.
        of
            What the parameter is of, for errors.
        """
        what = f"`{self.name}` of `{of}`"
        if isinstance(text, str) and self.is_optional and text.strip() in self._words_for_none:
            return None
        if self.is_list:
            parts = text.split(SEPARATOR) if isinstance(text, str) else text
            return tuple(self.parse_one(part, what) for part in parts)
        return self.parse_one(text, what)

    @property
    def _words_for_none(self) -> tuple[str, ...]:
        return ("off", "unlimited") if self.unit == "bps" else ("off",)

    def parse_one(self, text: Any, what: str) -> Value:
        """Read one value, of a list if it is one."""
        if isinstance(text, str) and text.strip() in self.names:
            return self.names[text.strip()]
        if self.unit in ("flag", "choice"):
            return self._word(text, what)
        if self.name == LIMIT:
            return Buffer.parse(text, what)
        if self.unit == "amount":
            return amount(text, what)
        if self.unit in QUANTITIES:
            return self._in_range(QUANTITIES[self.unit].parse(text, what), what)
        if self.unit == "pkts":
            return self._in_range(text if isinstance(text, int) else packets(text, what), what)
        if self.unit == "milli":
            return self._in_range(thousandths(text, what, self.examples), what)
        if isinstance(text, str) and not is_count(text.strip()):
            digits = f"at most {MAX_DIGITS} digits"
            raise ScenarioError(
                f"{what} is `{excerpt(text)}`; use a whole number with {digits}, like "
                f"{self.examples}"
            )
        return self._in_range(int(text), what)

    def _word(self, text: Any, what: str) -> bool | str:
        """Read a flag, or one of several words."""
        word = text.strip() if isinstance(text, str) else text
        if self.unit == "flag":
            value = FLAGS.get(word) if isinstance(word, str) else word
            if not isinstance(value, bool):
                raise ScenarioError(f"{what} is `{excerpt(text)}`; use `on` or `off`")
            return value
        if isinstance(word, str):
            word = word.replace("-", "_")  # `tc` writes hyphens
        if word not in self.choices:
            near = nearest(str(word), self.choices)
            raise ScenarioError(f"{what} is `{excerpt(text)}`{near}")
        return str(word)

    def _in_range(self, value: int, what: str) -> int:
        if not self.min <= value <= self.max:
            low, high = self.show(self.min), self.show(self.max)
            raise ScenarioError(
                f"{what} is `{self.show(value)}`, which is out of range; use `{low}` to `{high}`"
            )
        return value

    def show(self, value: Value) -> str:
        """Write a value as `parse` reads it; a number is in base units."""
        if value is None:
            return "off"
        if isinstance(value, tuple):
            return SEPARATOR.join(self.show(each) for each in value) or "off"
        if self.unit == "flag":
            return "on" if value else "off"
        if isinstance(value, Buffer | LinkShare | str) or self.unit == "amount":
            return str(value)
        if self.unit in QUANTITIES:
            return str(QUANTITIES[self.unit](value))
        if self.unit == "milli":
            return format_fraction(Fraction(value, 1000))
        return f"{value}pkt" if self.unit == "pkts" else str(value)

    def to_engine(self, value: Value) -> Any:
        """Return a value as the engine takes it."""
        if isinstance(value, tuple):
            return [self.to_engine(each) for each in value]
        if isinstance(value, str | Mapping):
            return value
        if self.unit == "amount":
            return {"ns": int(value)}
        return bool(value) if self.unit == "flag" else int(value)

    @property
    def default_text(self) -> str:
        """The default as a user would write it."""
        if self.must_be_set:
            return "1bdp" if self.name == LIMIT else "required"
        return f"{self.show(self.default)}{self.default_unit}"

    @property
    def range_text(self) -> str:
        """The range as a user would write it."""
        if self.unit == "flag":
            return "on, off"
        if self.unit == "choice":
            return ", ".join(self.choices)
        if self.unit == "amount":
            return "above 0"
        ends = f"{self.show(self.min)} to {self.show(self.max)}"
        if self.max >= NO_LIMIT and self.unit != "ns":
            ends = f"{self.show(self.min)} or more" if self.min else "any"
        if self.names:
            ends += f"; {', '.join(self.names)}"
        return f"{ends}, off" if self.is_optional else ends


def amount(text: Any, what: str) -> Buffer | Time:
    """Read bytes, packets, BDP or a time, above 0."""
    try:
        time = Time.parse(text, what)
    except ScenarioError:
        return Buffer.parse(text, what)
    if not time:
        raise ScenarioError(f"{what} `{excerpt(text)}` is zero; use e.g. {AMOUNTS}")
    return time


def packets(text: Any, what: str) -> int:
    """Read a number of packets, which may be 0, unlike a buffer's."""
    if str(text).strip() in ("0pkt", "0pkts"):
        return 0
    pkts = Buffer.parse(text, what)
    if pkts.unit != "pkt":
        raise ScenarioError(f"{what} `{excerpt(text)}` is not in packets; use e.g. `64pkt`")
    return int(pkts.amount)


def thousandths(text: Any, what: str, examples: str) -> int:
    """Read a plain number, in thousandths."""
    match = NUMBER.fullmatch(str(text))
    if match is None or match[2]:
        raise ScenarioError(
            f"{what} is `{excerpt(text)}`; use a number without a unit, like {examples}"
        )
    return round(1000 * Fraction(match[1]))


def listed(names: Any) -> str:
    """Write names: `` `a`, `b` and `c` ``."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
