"""What this machine can do: the facts behind `dumbbell doctor`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dumbbell import _core
from dumbbell.base.engine_compat import changed_since_build
from dumbbell.base.errors import DumbbellError
from dumbbell.run import SIMULATOR, run
from dumbbell.run.guest import UML
from dumbbell.scenario import Group, Scenario

__all__ = ["BPF", "OK", "Ability", "Fact", "abilities", "facts"]

#: A fact's status when nothing is missing; any other word says that something is.
OK = "ok"
#: What a fact may be needed for, besides the kernel engine: our congestion control algorithms in
#: the kernel.
KERNEL, BPF = "kernel", "bpf"


@dataclass(frozen=True)
class Fact:
    """One thing that a machine has or has not.

    Attributes
    ----------
    name
        What it is: ``TUN devices``.
    status
        ``ok``, ``limited`` or ``missing``.
    value
        What was found.
    costs
        What is not possible, or not as good, without it.
    remedy
        How to get it.
    needed_for
        Of ``kernel`` and ``bpf``: what does not work at all while it is missing.
    """

    name: str
    status: str
    value: str
    costs: str
    remedy: str
    needed_for: tuple[str, ...]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Fact:
        """Read the engine's fact."""
        return cls(
            name=document["name"],
            status=document["status"],
            value=document.get("value") or "",
            costs=document.get("costs") or "",
            remedy=document.get("remedy") or "",
            needed_for=tuple(document.get("needed_for") or ()),
        )


@dataclass(frozen=True)
class Ability:
    """Something a user wants of the machine.

    Attributes
    ----------
    name
        What.
    reasons
        Why not; none if it can.
    """

    name: str
    reasons: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        """Whether the machine can."""
        return not self.reasons

    def __str__(self) -> str:
        return f"{self.name}: " + ("yes" if self.is_there else f"no, {'; '.join(self.reasons)}")


def facts() -> list[Fact]:
    """Ask the engine what this machine has; first what it is itself."""
    return [engine(), *(Fact.from_json(document) for document in json.loads(_core.machine()))]


def engine() -> Fact:
    """Return the engine's version, and whether its sources changed since it was built."""
    changed = changed_since_build()
    return Fact(
        name="engine",
        status="limited" if changed else OK,
        value=f"{_core.ENGINE_VERSION}{f', older than {changed}' * bool(changed)}",
        costs="what changed since has no effect, or ends in an error",
        remedy="make build",
        needed_for=(),
    )


def abilities(found: Sequence[Fact]) -> list[Ability]:
    """Return what follows from the facts: the engines, and our own code in the kernel."""
    kernel = missing_for(found, KERNEL)
    return [
        Ability("simulator", fault_of(SIMULATOR)),
        Ability("kernel engine", kernel),
        Ability(
            "our algorithms in the kernel",
            tuple(dict.fromkeys(kernel + missing_for(found, BPF))),
        ),
        Ability("Linux in virtual time", fault_of(UML)),
    ]


def missing_for(found: Sequence[Fact], purpose: str) -> tuple[str, ...]:
    """Return what is missing for a purpose."""
    if not any(fact.needed_for for fact in found):
        return ("this build has no kernel engine",)
    return tuple(
        f"{fact.name}: {fact.value or 'missing'}"
        for fact in found
        if fact.status == "missing" and purpose in fact.needed_for
    )


def fault_of(engine: str) -> tuple[str, ...]:
    """Return why an engine cannot run; found out by running it for a moment."""
    try:
        run(Scenario([Group("reno", jitter="0s")], time="10ms", sample="0s"), engine=engine)
    except DumbbellError as error:
        return (str(error),)
    return ()
