"""Types of the fields of a group's hosts, which the engine declares, for type checkers.

``python tools/host_stub.py`` writes python/dumbbell/scenario/host.pyi.
"""

from __future__ import annotations

from pathlib import Path

from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.host import Host
from dumbbell.scenario.kinds import Kind, Measure

__all__ = ["host_stub"]

STUB = Path(__file__).parents[1] / "python/dumbbell/scenario/host.pyi"
HEAD = '''"""The TCP stack of a group's hosts. `python tools/host_stub.py` writes this file."""

from dataclasses import KW_ONLY

from dumbbell.base.quantities.quantity import Buffer, Size, Time
from dumbbell.scenario.fields import Field, Of, part_of_group
from dumbbell.scenario.linux_release import TcpChoice

@part_of_group
class Host:
    _: KW_ONLY
'''
#: What a field holds and takes, by its kind.
TYPES = {
    "Flag": "Field[bool, bool]",
    "Word": "Field[str, str]",
    "Ecn": "Field[bool | str, bool | str]",
    "Named": "Of[TcpChoice]",
    "Packets": "Field[Buffer | None, str | Buffer | None]",
}


def host_stub() -> str:
    """Return the text of the stub."""
    fields = fields_of(Host).items()
    return HEAD + "".join(f"    {name}: {type_of(field.kind)} = ...\n" for name, field in fields)


def type_of(kind: Kind[object]) -> str:
    """Return the type of a field with values of a kind."""
    if isinstance(kind, Measure):
        return f"Of[{kind.quantity.__name__}]"
    return TYPES[type(kind).__name__]


if __name__ == "__main__":
    STUB.write_text(host_stub(), encoding="utf-8")
