"""Queue disciplines, impairments and applications: what each declares, and how a user names one.

``fq_codel:target=5ms,limit=1000pkt,ecn=off``. The engine has the declarations; each is in an
own file in ``crates/net/src/queue`` or ``crates/net/src/impair``.
"""

from __future__ import annotations

import functools
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar, Self

from dumbbell import _core
from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.base.quantities.quantity import Buffer, LinkShare
from dumbbell.scenario.distribution import first_of, parameter_from_json
from dumbbell.scenario.element_errors import a, no_parameter, unknown_element
from dumbbell.scenario.engine_message import in_user_words
from dumbbell.scenario.kinds import Named
from dumbbell.scenario.medium_check import check_medium
from dumbbell.scenario.parameter import LIMIT, ElementParameter, Value, listed

__all__ = [
    "Element", "ElementChoice", "Impair", "ImpairmentChoice", "Impairments", "QueueChoice",
    "impairments", "media", "queue_disciplines",
]  # fmt: skip


@dataclass(frozen=True)
class Element:
    """A queue discipline, an impairment or an application as its file declares it.

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
    holds_back
        Whether packets may wait while the link is idle: a shaper's.
    series
        Those of a discipline's statistics that are time series.
    takes_load
        Whether a load in a share of the link may decide its `gap`.
    has_requests
        Whether both ends of its connections write.
    sends_datagrams
        Whether it sends datagrams and opens no connection.
    is_medium
        Whether it carries a link's packets, instead of a wire.
    presets
        What it is with parameters set, by the preset's name.
    parameters
        By name, in the order of the declaration.
    """

    name: str
    doc: str
    parameters: Mapping[str, ElementParameter] = field(hash=False)
    is_fifo: bool = True
    can_mark: bool = False
    holds_back: bool = False
    series: tuple[str, ...] = ()
    takes_load: bool = False
    has_requests: bool = False
    sends_datagrams: bool = False
    is_medium: bool = False
    presets: Mapping[str, Element] = field(default_factory=dict, hash=False)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Element:
        """Read the engine's declaration."""
        parameters = [parameter_from_json(each) for each in document["parameters"]]
        return cls(
            name=document["name"],
            doc=document["doc"],
            parameters={each.name: each for each in parameters},
            **{fact: as_fact(value) for fact, value in document.get("facts", {}).items()},
        )


def as_fact(value: Any) -> Any:
    """Return a fact as an element has it: a list as a tuple."""
    return tuple(value) if isinstance(value, list) else value


#: What stands before the name of a discipline that is the guest kernel's.
KERNEL = "kernel"
#: The medium that is a link's `trace`.
TRACE = "trace"


@functools.cache
def queue_disciplines() -> Mapping[str, Element]:
    """Return every queue discipline by name; one of a kernel is named like ours."""
    documents = json.loads(_core.queue_disciplines())
    return {document["name"]: Element.from_json(document) for document in documents}


@functools.cache
def impairments() -> Mapping[str, Element]:
    """Return every impairment by name, and every medium that is named like one."""
    documents = json.loads(_core.impairments())
    found = {document["name"]: Element.from_json(document) for document in documents}
    return {**found, **media()}


@functools.cache
def media() -> Mapping[str, Element]:
    """Return every medium that is named like an impairment; a trace has a field of its own."""
    documents = json.loads(_core.media())
    elements = (Element.from_json({**each, "facts": {"is_medium": True}}) for each in documents)
    return {element.name: element for element in elements if element.name != TRACE}


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

    @classmethod
    def element_of(cls, name: str, _rest: str) -> Element:
        """Return what a name declares, before the parameters after it are read."""
        return cls.known()[name]

    @classmethod
    def preset_named(cls, _name: str) -> str:
        """Say that an unknown name is of a preset; empty if it is of none."""
        return ""

    @classmethod
    def reader(cls, parameter: ElementParameter, _text: str) -> Callable[[str, str], Value]:
        """Return what reads a parameter's value from text, and the name of what it is of."""
        return parameter.parse

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
            message = cls.preset_named(name) or unknown_element(cls.noun, name, known)
            raise ScenarioError(message, key=what)
        element = cls.element_of(name, rest)
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
            parameter = element.parameters.get(key)
            if parameter is None:
                raise ScenarioError(no_parameter(element, key), key=what)
            params |= not_default(parameter, keyed(what, cls.reader(parameter, value), value, name))
        choice = cls(name, params)
        choice.check_complete(what)
        return choice

    def check_complete(self, what: str) -> None:
        """Refuse a choice that leaves out what has no default."""
        for name, parameter in self.declaration.parameters.items():
            if parameter.must_be_set and name != LIMIT and name not in self.params:
                raise ScenarioError(
                    f"`{self.name}` needs `{name}`: use e.g. `{self.name}:{name}="
                    f"{first_of(parameter.examples)}`",
                    key=what,
                )

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

    def without_param(self, name: str) -> Self:
        """Return a copy with a parameter at its default."""
        kept = {key: value for key, value in self.params.items() if key != name}
        return replace(self, params=kept)

    def in_base_units(
        self,
        limit: int | Mapping[str, int] | None = None,
        link_rate: int = 0,
        amount: Callable[[Buffer], Mapping[str, int]] | None = None,
    ) -> dict[str, Any]:
        """Return it as the engine takes it: every parameter in base units.

        Parameters
        ----------
        limit
            How much may wait, in what a discipline counts; None: its default.
        link_rate
            The rate of its link, of which a rate may be a share, bit/s.
        amount
            Writes an amount in bytes, packets or BDP with its unit; None: there is none.
        """
        resolved: dict[str, Any] = {"kind": self.name}
        for name, parameter in self.declaration.parameters.items():
            value = self.params.get(name, parameter.default)
            if name == LIMIT:
                value = parameter.default if limit is None else limit
            if isinstance(value, Buffer):
                value = amount(value) if amount else None
            if value is None:
                if name in self.params and parameter.default is not None:
                    resolved[parameter.field] = None  # off, unlike when it is not set
                continue
            if isinstance(value, LinkShare):
                value = value.of(link_rate)
            resolved[parameter.field] = parameter.to_engine(value)
        return resolved


class LinkElementChoice(ElementChoice):
    """What belongs to a link: a rate may be a share of the link's."""

    @classmethod
    def reader(cls, parameter: ElementParameter, text: str) -> Callable[[str, str], Value]:
        """Return what reads a parameter's value from text, and the name of what it is of."""
        if parameter.unit == "bps" and text.endswith("%"):
            return lambda text, of: LinkShare.parse(
                text, f"`{parameter.name}` of `{of}`", minimum=1
            )
        return parameter.parse


@dataclass(frozen=True, eq=False, repr=False)
class QueueChoice(LinkElementChoice):
    """A queue discipline as a scenario names it: ``fq_codel:target=5ms,ecn=off``.

    Attributes
    ----------
    of_kernel
        Whether it is the guest kernel's instead of ours: ``kernel:fq_codel:target=5ms``.
    """

    of_kernel: bool = False

    noun, word = "queue discipline", "queue"

    @classmethod
    def parse(cls, text: str | Self, what: str = "") -> Self:
        """Read ``name`` or ``name:parameter=value,…``; `what` names the field in an error."""
        if isinstance(text, str) and text.strip().startswith(f"{KERNEL}:"):
            _, _, ours = text.partition(":")
            return replace(super().parse(ours, what), of_kernel=True)
        return super().parse(text, what)

    def __str__(self) -> str:
        ours = super().__str__()
        return f"{KERNEL}:{ours}" if self.of_kernel else ours

    def __eq__(self, other: object) -> bool:
        if isinstance(other, QueueChoice) and self.of_kernel != other.of_kernel:
            return False
        return super().__eq__(other)

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.of_kernel))

    def in_base_units(
        self,
        limit: int | Mapping[str, int] | None = None,
        link_rate: int = 0,
        amount: Callable[[Buffer], Mapping[str, int]] | None = None,
    ) -> dict[str, Any]:
        """Return it as the engine takes it: every parameter in base units."""
        ours = super().in_base_units(limit, link_rate, amount)
        return {"kind": KERNEL, "like": ours} if self.of_kernel else ours

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every discipline."""
        return queue_disciplines()

    @property
    def limit(self) -> Buffer | None:
        """How much may wait, if that is set."""
        limit = self.params.get(LIMIT)
        return limit if isinstance(limit, Buffer) else None


class ImpairmentChoice(LinkElementChoice):
    """An impairment as a scenario names it: ``policer:rate=8mbit,burst=15kB``."""

    noun, word = "impairment", "impair"

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every impairment."""
        return impairments()


#: A link's rate, bit/s, where impairments are checked before the link is known.
ANY_RATE = 10**9


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
        impairments = cls(ImpairmentChoice.parse(each, what) for each in value)
        impairments.check(what)
        return impairments

    @property
    def medium(self) -> ImpairmentChoice | None:
        """What carries the packets, if that is not a wire."""
        return next((each for each in self if each.declaration.is_medium), None)

    def without_medium(self, link_rate: int = 0) -> list[dict[str, Any]]:
        """Return the impairments proper as the engine takes them, on a link of a rate."""
        proper = (each for each in self if not each.declaration.is_medium)
        return [each.in_base_units(link_rate=link_rate) for each in proper]

    def check(self, what: str) -> None:
        """Refuse settings that do not fit together, as the engine does, and two media."""
        media_of = [each.name for each in self if each.declaration.is_medium]
        if len(media_of) > 1:
            raise ScenarioError(
                f"`{media_of[0]}` and `{media_of[1]}` are media, and a link has one; remove one",
                key=what,
            )
        if self.medium is not None:
            check_medium(self.medium, what)
        try:
            _core.check_impairments(json.dumps(self.without_medium(ANY_RATE)))
        except _core.EngineError as error:
            parameters = (each.declaration.parameters.values() for each in self)
            message = in_user_words(str(error), chain.from_iterable(parameters))
            raise ScenarioError(message, key=what) from None

    def __str__(self) -> str:
        return "+".join(map(str, self))


class Impair(Named[Impairments]):
    """Impairments, with ``+`` between them."""

    def __init__(self) -> None:
        super().__init__(Impairments.parse, "IMPAIRMENT+…")

    def is_parameter(self, part: str) -> bool:
        # Another impairment may follow the parameter: `place=before+corrupt:probability=1%`.
        return super().is_parameter(part.partition("+")[0])


def keyed(what: str, parse: Callable[[str, str], Value], text: str, of: str) -> Value:
    """Read a parameter's value; an error names the scenario's word."""
    try:
        return parse(text, of)
    except ScenarioError as error:
        raise ScenarioError(str(error), key=what) from None


def not_default(parameter: ElementParameter, value: Value) -> dict[str, Value]:
    """Return a parameter that differs from its default; nothing for one that does not."""
    return {} if value == parameter.default else {parameter.name: value}
