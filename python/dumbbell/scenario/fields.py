"""Fields of a scenario, its links and groups: each is declared once, as its owner's attribute.

From the declaration come the constructor's argument and its checks, the word in files, the option
of commands, the axis of sweeps, labels, the reference in docs/scenario.md and the engine's input.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import EllipsisType
from typing import Any, Generic, Self, TypeVar, dataclass_transform, overload

from dumbbell.base.errors import nearest
from dumbbell.base.quantities.plain_value import to_plain
from dumbbell.scenario.kinds import Kind

__all__ = [
    "FLOWS", "PATH", "RUN", "Field", "Of", "Shorthand", "Tables", "documented", "field_meant",
    "fields_of", "part_of_group", "suggest", "to_engine", "to_words",
]  # fmt: skip

#: Panels of ``--help`` and the reference. What is in `RUN` does not change what is run on what.
PATH, FLOWS, RUN = "Path", "Flows", "Run"

V = TypeVar("V")
A = TypeVar("A")
T = TypeVar("T")


class Attribute(Generic[V, A]):
    """An attribute of a dataclass that holds values of type V, and takes those of type A."""

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, owner: None, of: type) -> Self: ...
    @overload
    def __get__(self, owner: object, of: type) -> V: ...
    def __get__(self, owner: object | None, of: type) -> Self | V:
        if owner is None:
            return self
        value: V = owner.__dict__[self.name]
        return value

    def __set__(self, owner: object, value: A) -> None:
        # A dataclass's constructor passes the declaration where it is given nothing.
        is_given = not isinstance(value, Attribute)
        if (value if is_given else self.default) is ...:
            raise TypeError(f"{type(owner).__name__}() needs `{self.name}`")
        owner.__dict__[self.name] = self.parse(value) if is_given else self.default_value

    def __repr__(self) -> str:
        return repr(self.default)  # as help() prints a constructor's arguments

    default: Any = ...

    @cached_property
    def default_value(self) -> V | None:
        """The default as its owner has it."""
        return self.parse(self.default)

    @abstractmethod
    def parse(self, value: Any) -> V | None:
        """Read a value."""


class Field(Attribute[V, A]):
    """A field of a scenario, a link or a group.

    Parameters
    ----------
    kind
        How its values are read and printed.
    default
        What it is when it is not set, as a user would write it; None: nothing. Left out, it must
        be set.
    doc
        What it is, in a sentence.
    panel
        Where ``--help`` and the reference list it.
    example
        A value other than the default, as a user would write it.
    engine
        Its name in the engine's input: ``link_rate_bps``; empty if it has none of its own.
    convert
        From its value, its owner and the scenario to that input.
    always
        Whether the engine's input has it at its default too.
    synonyms
        Other words for it, for ``did you mean``.
    default_note
        What the default amounts to.
    option
        Whether commands have an option for it.
    per_group
        Whether that option may list a value for each group.
    axis
        Whether a sweep can vary it.
    sparse
        Whether results leave it out at its default, as those from before there was this field.
    """

    def __init__(
        self,
        kind: Kind[V],
        default: str | int | EllipsisType | None = ...,
        *,
        doc: str,
        panel: str,
        example: str | int | tuple[str, ...],
        engine: str = "",
        convert: Callable[[Any, Any, Any], Any] | None = None,
        always: bool = False,
        synonyms: Iterable[str] = (),
        default_note: str = "",
        option: bool = True,
        per_group: bool = False,
        axis: bool = True,
        sparse: bool = False,
    ) -> None:
        self.sparse = sparse
        self.kind, self.default, self.panel, self.example = kind, default, panel, example
        self.engine, self.convert, self.always = engine, convert or base_units, always
        self.synonyms, self.default_note = tuple(synonyms), default_note
        self.has_option, self.per_group, self.is_axis = option, per_group, axis
        self.__doc__ = doc

    def parse(self, value: Any, what: str = "") -> V | None:
        """Read a value.

        Parameters
        ----------
        value
            As a file or Python has it.
        what
            What errors call the field.

        Raises
        ------
        ScenarioError
            The field cannot have the value.
        """
        if self.default is None and value in (None, ""):
            return None
        return self.kind.parse(value, what or self.name)

    @property
    def option(self) -> str:
        """Its option: ``--rate-steps``."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def takes_list(self) -> bool:
        """Whether a sweep's option may list values."""
        return self.has_option and self.is_axis and not (self.per_group or self.kind.is_flag)

    def from_option(self, value: Any) -> Any:
        """Return what the constructor takes for one value of the option."""
        is_text = isinstance(value, str) and not self.per_group
        return self.kind.from_text(value, self.name) if is_text else value

    @property
    def doc(self) -> str:
        """What it is, in a sentence."""
        return self.__doc__ or ""

    @property
    def default_text(self) -> str:
        """The default as text, with what it amounts to."""
        if self.default is ...:
            return "required"
        text = "" if self.default in (None, "") else str(to_plain(self.default))
        text = text.lower() if isinstance(self.default, bool) else text
        return ", ".join(filter(None, (text, self.default_note))) or "none"

    def is_default(self, value: Any) -> bool:
        """Whether a value is the default."""
        if self.default is ...:
            return False
        return value is self.default_value or bool(value == self.default_value)


#: A field that takes its values as text too.
Of = Field[V, V | str]
#: The fields of each class whose fields were asked for.
DECLARED: dict[type, Mapping[str, Field[Any, Any]]] = {}
#: As `engine_fields` returns them.
OF_ENGINE: dict[type, Sequence[tuple[str, Field[Any, Any], Any]]] = {}


class Shorthand(Field[V, A]):
    """A link's field that a scenario may set instead, for its only link.

    Its value is None in a scenario that lists its links.

    Parameters
    ----------
    field
        The link's.
    default
        What it is when it is not set, if the link's field must be set.
    """

    def __init__(self, field: Field[V, A], default: str | EllipsisType = ...) -> None:
        super().__init__(
            field.kind,
            field.default if default is ... else default,
            doc=field.doc,
            panel=field.panel,
            example=field.example,
            synonyms=field.synonyms,
            # It is of the link's own default.
            default_note=field.default_note if default is ... else "",
            option=field.has_option,
            axis=field.is_axis,
            sparse=field.sparse,
        )

    def __set__(self, owner: object, value: A | None) -> None:
        is_set = not isinstance(value, Attribute) and value is not None
        owner.__dict__[self.name] = self.parse(value) if is_set else None

    def set_default(self, owner: object) -> None:
        """Set it to its default, unless it is set."""
        if owner.__dict__[self.name] is None:
            owner.__dict__[self.name] = self.default_value


class Tables(Attribute[tuple[T, ...], Iterable[A]]):
    """The parts of a scenario that are tables of a file: links and groups."""

    def __init__(
        self,
        word: str,
        read: Callable[[Iterable[A]], tuple[T, ...]],
        default: tuple[()] | EllipsisType = ...,
    ) -> None:
        self.word, self.read, self.default = word, read, default

    def parse(self, value: Iterable[A]) -> tuple[T, ...]:
        """Read the tables."""
        return self.read(value)


def base_units(value: Any, _owner: Any, _scenario: Any) -> Any:
    """Return a value as the engine takes it: integers in base units."""
    return value if value is None or isinstance(value, bool | str) else int(value)


def fields_of(owner: type) -> Mapping[str, Field[Any, Any]]:
    """Return the fields of a class by name, in the order of their declaration."""
    if owner not in DECLARED:
        declared = chain.from_iterable(vars(each).items() for each in reversed(owner.__mro__))
        DECLARED[owner] = {name: field for name, field in declared if isinstance(field, Field)}
    return DECLARED[owner]


def to_words(owner: object) -> dict[str, str | int | bool | list[str]]:
    """Return an owner's fields as a scenario file has them; without those that are not set."""
    values = vars(owner)  # not by `getattr`, which looks each of its declarations up
    return {
        name: field.kind.to_word(value)
        for name, field in fields_of(type(owner)).items()
        for value in [values[name]]
        if value is not None and not (field.sparse and field.is_default(value))
    }


def engine_fields(owner: type) -> Sequence[tuple[str, Field[Any, Any], Any]]:
    """Return the fields of a class that the engine takes, and at which value it does not."""
    if owner not in OF_ENGINE:
        OF_ENGINE[owner] = [
            (name, field, ... if field.always or field.default is ... else field.default_value)
            for name, field in fields_of(owner).items()
            if field.engine
        ]
    return OF_ENGINE[owner]


def to_engine(owner: object, scenario: object) -> dict[str, Any]:
    """Return an owner's fields as the engine takes them."""
    resolved: dict[str, Any] = {}
    values = vars(owner)
    for name, field, left_out in engine_fields(type(owner)):
        value = values[name]
        if value is not left_out and value != left_out:
            resolved[field.engine] = field.convert(value, owner, scenario)
    return resolved


def field_meant(word: str, owners: Iterable[type]) -> Field[Any, Any] | None:
    """Return the field that has a word as a synonym: `rate` for ``bandwidth``."""
    plain = word.strip("-").lower().replace("-", "_")
    fields = (field for owner in owners for field in fields_of(owner).values())
    return next((field for field in fields if plain in field.synonyms), None)


def suggest(
    word: str, owners: Sequence[type], others: Iterable[str] = (), *, axes_only: bool = False
) -> str:
    """Return ``; did you mean `rate`?`` for ``bandwidth``.

    Parameters
    ----------
    word
        What is not a field of any of the owners.
    owners
        Classes that declare fields.
    others
        Further words that are known there.
    axes_only
        Leave out the fields that a sweep cannot vary.
    """
    fields = [field for owner in owners for field in fields_of(owner).values()]
    meant = field_meant(word, owners)
    if meant is not None and (meant.is_axis or not axes_only):
        return f"; did you mean `{meant.name}`?"
    names = dict.fromkeys(field.name for field in fields if field.is_axis or not axes_only)
    return nearest(word, [*names, *others])


@dataclass_transform()
def part_of_group(owner: type[T]) -> type[T]:
    """Make a frozen dataclass of a class of fields that others inherit, or that inherits them.

    For type checkers it is a dataclass that is not frozen: in a frozen one mypy takes the type of
    an inherited field's argument for that of its value.
    """
    return dataclass(frozen=True)(owner)


def documented(owner: type[T]) -> type[T]:
    """Add the fields to a class's docstring."""
    entries = (
        f"{name}\n    {field.doc} Default: {field.default_text}."
        for name, field in fields_of(owner).items()
    )
    head = inspect.cleandoc(owner.__doc__ or "")
    owner.__doc__ = "\n".join([head, "", "Parameters", "----------", *entries, ""])
    return owner
