"""Queue disciplines and impairments: what each declares, and how a user names one.

``fq_codel:target=5ms,limit=1000pkt,ecn=off``. The engine has the declarations; each is in an
own file in ``crates/net/src/queue`` or ``crates/net/src/impair``.
"""

from __future__ import annotations

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from dumbbell import _core
from dumbbell.errors import ScenarioError, nearest
from dumbbell.quantities.excerpt import excerpt
from dumbbell.quantities.quantity import (
    MAX_DIGITS,
    Buffer,
    Loss,
    Quantity,
    Rate,
    Size,
    Time,
    is_count,
)

__all__ = [
    "Element", "ElementChoice", "ElementParameter", "ImpairmentChoice", "Impairments",
    "QueueChoice", "Value", "impairments", "queue_disciplines",
]  # fmt: skip

#: A parameter's value: a quantity, a number, a flag, or None for off.
Value = Quantity | Buffer | int | bool | None
#: The parameter that limits what may wait; a scenario's `buffer` is its shorthand.
LIMIT = "limit"
#: A largest value of so much is none: nothing that is simulated comes near it.
NO_LIMIT = 2**32 - 1
QUANTITIES: Mapping[str, type[Quantity]] = {"ns": Time, "bytes": Size, "ppb": Loss, "bps": Rate}
FLAGS = {"on": True, "off": False, "true": True, "false": False, "yes": True, "no": False}


@dataclass(frozen=True)
class ElementParameter:
    """A parameter of a discipline or an impairment.

    Attributes
    ----------
    name
        What a user calls it: ``target``.
    field
        Its place in the engine's input: ``target_ns``.
    unit
        ``ns``, ``bytes``, ``pkts``, ``ppb``, ``bps``, ``count`` or ``flag``.
    is_optional
        Whether it can be off.
    default
        Its value when it is not set, in base units; None: off.
    min, max
        The range, both ends included.
    doc
        What it is, in a sentence.
    """

    name: str
    field: str
    unit: str
    is_optional: bool
    default: int | None
    min: int
    max: int
    doc: str

    @property
    def examples(self) -> str:
        """Values that a user could write, for errors."""
        if self.name == LIMIT:
            return Buffer.examples
        if self.unit in QUANTITIES:
            return QUANTITIES[self.unit].examples
        return {"pkts": "`64pkt`", "flag": "`on` or `off`"}.get(self.unit, f"`{self.default}`")

    @property
    def must_be_set(self) -> bool:
        """Whether it has no default of its own."""
        return self.default is not None and self.default < self.min

    def parse(self, text: Any, of: str) -> Value:
        """Read a value.

        Parameters
        ----------
        text
            As it was written: ``5ms``.
        of
            The discipline, for errors.
        """
        what = f"`{self.name}` of `{of}`"
        if isinstance(text, str) and self.is_optional and text.strip() == "off":
            return None
        if self.unit == "flag":
            value = FLAGS.get(text.strip()) if isinstance(text, str) else text
            if not isinstance(value, bool):
                raise ScenarioError(f"{what} is `{excerpt(text)}`; use `on` or `off`")
            return value
        if self.name == LIMIT:
            return Buffer.parse(text, what)
        if self.unit in QUANTITIES:
            return self._in_range(QUANTITIES[self.unit].parse(text, what), what)
        if self.unit == "pkts":
            pkts = Buffer.parse(text, what) if not isinstance(text, int) else None
            if pkts is not None and pkts.unit != "pkt":
                raise ScenarioError(f"{what} `{excerpt(text)}` is not in packets; use e.g. `64pkt`")
            return self._in_range(text if pkts is None else int(pkts.amount), what)
        if isinstance(text, str) and not is_count(text.strip()):
            digits = f"at most {MAX_DIGITS} digits"
            raise ScenarioError(
                f"{what} is `{excerpt(text)}`; use a whole number with {digits}, like "
                f"{self.examples}"
            )
        return self._in_range(int(text), what)

    def _in_range(self, value: int, what: str) -> int:
        if not self.min <= value <= self.max:
            low, high = self.show(self.min), self.show(self.max)
            raise ScenarioError(
                f"{what} is `{self.show(value)}`, which is out of range; use `{low}` to `{high}`"
            )
        return value

    def show(self, value: Any) -> str:
        """Write a value as `parse` reads it; a number is in base units."""
        if value is None:
            return "off"
        if self.unit == "flag":
            return "on" if value else "off"
        if isinstance(value, Buffer):
            return str(value)
        if self.unit in QUANTITIES:
            return str(QUANTITIES[self.unit](value))
        return f"{value}pkt" if self.unit == "pkts" else str(value)

    @property
    def default_text(self) -> str:
        """The default as a user would write it."""
        if self.must_be_set:
            return "1bdp" if self.name == LIMIT else "required"
        return self.show(self.default)

    @property
    def range_text(self) -> str:
        """The range as a user would write it."""
        if self.unit == "flag":
            return "on, off"
        ends = f"{self.show(self.min)} to {self.show(self.max)}"
        if self.max >= NO_LIMIT and self.unit != "ns":
            ends = f"{self.show(self.min)} or more" if self.min else "any"
        return f"{ends}, off" if self.is_optional else ends


@dataclass(frozen=True)
class Element:
    """A queue discipline or an impairment as its file declares it.

    Attributes
    ----------
    name
        What a scenario calls it: a discipline's Linux name.
    doc
        What it does, in a sentence.
    is_fifo
        Whether packets leave in the order in which they came.
    can_mark
        Whether it can mark packets.
    takes_ecn_threshold
        Whether it marks above a scenario's `ecn_threshold`.
    parameters
        By name, in the order of the declaration.
    """

    name: str
    doc: str
    parameters: Mapping[str, ElementParameter] = field(hash=False)
    is_fifo: bool = True
    can_mark: bool = False
    takes_ecn_threshold: bool = False

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Element:
        """Read the engine's declaration."""
        parameters = [ElementParameter(**each) for each in document["parameters"]]
        return cls(
            name=document["name"],
            doc=document["doc"],
            parameters={each.name: each for each in parameters},
            **document.get("facts", {}),
        )


@functools.cache
def queue_disciplines() -> Mapping[str, Element]:
    """Return every queue discipline by name."""
    documents = json.loads(_core.queue_disciplines())
    return {document["name"]: Element.from_json(document) for document in documents}


@functools.cache
def impairments() -> Mapping[str, Element]:
    """Return every impairment by name."""
    documents = json.loads(_core.impairments())
    return {document["name"]: Element.from_json(document) for document in documents}


@dataclass(frozen=True, eq=False)
class ElementChoice(ABC):
    """A discipline or impairment as a scenario names it: ``fq_codel:target=5ms,ecn=off``.

    Attributes
    ----------
    name
        Which one.
    params
        Parameters that differ from the defaults.

    Raises
    ------
    ScenarioError
        Unknown name or parameter, or a value out of its range.
    """

    name: str
    params: Mapping[str, Value] = field(default_factory=dict)

    #: What it is one of, in words, and the scenario's field.
    noun: ClassVar[str]
    word: ClassVar[str]

    @classmethod
    @abstractmethod
    def known(cls) -> Mapping[str, Element]:
        """Return all that can be named."""

    @property
    def declaration(self) -> Element:
        """What it declares."""
        return self.known()[self.name]

    @classmethod
    def parse(cls, text: str | Self, what: str = "") -> Self:
        """Read ``name`` or ``name:parameter=value,…``; `what` names the field in an error."""
        what = what or cls.word
        if isinstance(text, cls):
            return text
        known = cls.known()
        if not isinstance(text, str) or not text.strip():
            raise ScenarioError(f"{what} must be {a(cls.noun)}: {listed(known)}", key=what)
        name, _, rest = (part.strip() for part in text.partition(":"))
        if name not in known:
            raise ScenarioError(
                f"unknown {cls.noun} `{excerpt(name)}`: there are {listed(known)}", key=what
            )
        params: dict[str, Value] = {}
        given = set()
        for part in filter(None, (part.strip() for part in rest.split(","))):
            key, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals:
                raise ScenarioError(
                    f"`{excerpt(text)}`: parameter `{excerpt(key)}` has no value: "
                    f"use `{excerpt(key)}=…`",
                    key=what,
                )
            if key in given:
                raise ScenarioError(
                    f"`{excerpt(text)}` sets parameter `{excerpt(key)}` twice; remove one", key=what
                )
            given.add(key)
            parameter = known[name].parameters.get(key)
            if parameter is None:
                raise ScenarioError(no_parameter(known[name], key), key=what)
            params |= not_default(parameter, keyed(what, parameter.parse, value, name))
        return cls(name, params)

    def __str__(self) -> str:
        if not self.params:
            return self.name
        parameters = self.declaration.parameters
        shown = (f"{name}={parameters[name].show(value)}" for name, value in self.params.items())
        return f"{self.name}:{','.join(shown)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.name == other.name and dict(self.params) == dict(other.params)

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.params.items())))

    def in_base_units(self, limit: int | None = None) -> dict[str, Any]:
        """Return it as the engine takes it: every parameter in base units.

        Parameters
        ----------
        limit
            How much may wait, in what a discipline counts; None: its default.
        """
        resolved: dict[str, Any] = {"kind": self.name}
        for name, parameter in self.declaration.parameters.items():
            value = self.params.get(name, parameter.default)
            if name == LIMIT:
                value = parameter.default if limit is None else limit
            if value is None or isinstance(value, Buffer):
                continue
            resolved[parameter.field] = bool(value) if parameter.unit == "flag" else int(value)
        return resolved


class QueueChoice(ElementChoice):
    """A queue discipline as a scenario names it: ``fq_codel:target=5ms,ecn=off``."""

    noun, word = "queue discipline", "queue"

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every discipline."""
        return queue_disciplines()

    @property
    def limit(self) -> Buffer | None:
        """How much may wait, if that is set."""
        limit = self.params.get(LIMIT)
        return limit if isinstance(limit, Buffer) else None


class ImpairmentChoice(ElementChoice):
    """An impairment as a scenario names it: ``policer:rate=8mbit,burst=15kB``."""

    noun, word = "impairment", "impair"

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every impairment."""
        return impairments()

    @classmethod
    def parse(cls, text: str | Self, what: str = "") -> Self:
        """As the others; nothing that has no default may be left out."""
        choice = super().parse(text, what)
        for name, parameter in choice.declaration.parameters.items():
            if parameter.must_be_set and name not in choice.params:
                raise ScenarioError(
                    f"`{choice.name}` needs `{name}`: use e.g. `{choice.name}:{name}="
                    f"{parameter.examples.partition('`, ')[0].strip('`')}`",
                    key=what or cls.word,
                )
        return choice


class Impairments(tuple[ImpairmentChoice, ...]):
    """The impairments of a link, in the order in which packets pass them."""

    __slots__ = ()

    @classmethod
    def parse(cls, value: Any, what: str) -> Self:
        """Read a list, or text with ``+`` between them."""
        if isinstance(value, str):
            value = [part.strip() for part in value.split("+") if part.strip()]
        if not isinstance(value, list | tuple):
            raise ScenarioError(
                f'{what} must be a list of impairments, like ["random_loss:loss=1%"]', key=what
            )
        return cls(ImpairmentChoice.parse(each, what) for each in value)

    def __str__(self) -> str:
        return "+".join(map(str, self))


def keyed(what: str, parse: Callable[[str, str], Value], text: str, of: str) -> Value:
    """Read a parameter's value; an error names the scenario's word."""
    try:
        return parse(text, of)
    except ScenarioError as error:
        raise ScenarioError(str(error), key=what) from None


def not_default(parameter: ElementParameter, value: Value) -> dict[str, Value]:
    """Return a parameter that differs from its default; nothing for one that does not."""
    number = value if isinstance(value, Buffer) or value is None else int(value)
    return {} if number == parameter.default else {parameter.name: value}


def no_parameter(discipline: Element, name: str) -> str:
    """Return the message about a parameter that a discipline does not have."""
    parameters = list(discipline.parameters)
    near = nearest(name, parameters)
    has = f": it has {listed(parameters)}"
    return f"`{discipline.name}` has no parameter `{excerpt(name)}`{has}" + (
        f"{near}" if "did you mean" in near else ""
    )


def a(noun: str) -> str:
    """Write a noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def listed(names: Any) -> str:
    """Write names: `` `a`, `b` and `c` ``."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"
