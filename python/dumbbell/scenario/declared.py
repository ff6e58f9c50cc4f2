"""Fields of a scenario that the engine declares: ``crates/scenario/src/host.rs``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from dumbbell import _core
from dumbbell.base.quantities.quantity import Size, Time
from dumbbell.scenario.ecn import Ecn
from dumbbell.scenario.fields import FLOWS, Field
from dumbbell.scenario.kinds import Flag, Kind, Measure, Named, Packets, Word
from dumbbell.scenario.linux_release import TcpChoice

__all__ = ["declared_fields"]

#: Kinds of values by the unit that the engine counts them in.
KINDS: Mapping[str, Callable[[Mapping[str, Any]], Kind[Any]]] = {
    "bytes": lambda declared: Measure(Size, declared["min"]),
    "ns": lambda declared: Measure(Time, declared["min"], "ms"),
    "pkts": lambda _: Packets(),
    "flag": lambda _: Flag(),
    "choice": lambda declared: Word(*declared["choices"]),
}
#: Those of fields that have one of their own.
OWN_KINDS: Mapping[str, Kind[Any]] = {"ecn": Ecn(), "tcp": Named(TcpChoice.parse, "TCP")}
#: What the engine gets, where that is not a number in base units, a flag or a word.
CONVERSIONS: Mapping[str, Callable[[Any, Any, Any], Any]] = {
    "mss": lambda _, group, __: group.segment_bytes,
    "ooo_limit": lambda limit, *_: int(limit.amount),
    "tcp": lambda tcp, *_: tcp.to_engine(),
}
#: Fields that results have at their default, although the engine's input does not.
IN_RESULTS = ("ecn",)


def declared_fields(part: str) -> dict[str, Field[Any, Any]]:
    """Return the fields of a part of the engine's schema by name, in their order there."""
    return {each["name"]: field_of(each) for each in json.loads(_core.schema())[part]}


def field_of(declared: Mapping[str, Any]) -> Field[Any, Any]:
    """Return the field that the engine declares."""
    name, is_recorded = declared["name"], declared.get("is_recorded", False)
    kind = OWN_KINDS.get(name) or KINDS[declared["unit"]](declared)
    default = default_of(declared, kind)
    return Field(
        kind,
        default,
        panel=FLOWS,
        example=declared.get("example") or not default,
        engine=declared["field"],
        convert=CONVERSIONS.get(name),
        always=is_recorded,
        sparse=not is_recorded and name not in IN_RESULTS,
        synonyms=declared.get("synonyms", ()),
        default_note=declared.get("note", ""),
        doc=declared["doc"],
    )


def default_of(declared: Mapping[str, Any], kind: Kind[Any]) -> str | int | None:
    """Return a default as a user would write it."""
    number = declared["default"]
    if number is None:
        return None
    if kind.is_flag:
        return bool(number)
    if "choices" in declared:
        return str(declared["choices"][number])
    return str(kind.quantity(number)) if isinstance(kind, Measure) else str(number)
