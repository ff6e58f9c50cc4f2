"""A group's TCP: a release of Linux, and what is switched of it.

``4.15:undo_on_any_sack=on``. The engine has the declaration, ``crates/scenario/src/tcp.rs``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from dumbbell import _core
from dumbbell.errors import ScenarioError
from dumbbell.quantities.excerpt import excerpt
from dumbbell.scenario.distribution import from_json, parameter_from_json
from dumbbell.scenario.element import Element, ElementChoice
from dumbbell.scenario.kinds import Kind
from dumbbell.scenario.parameter import ElementParameter

__all__ = ["DEFAULT_TCP", "Ecn", "TcpChoice", "kernels"]

#: What the simulator follows.
DEFAULT_TCP = "6.18"


@functools.cache
def kernels() -> Mapping[str, Element]:
    """Return every release by name, with its switches as it has them."""
    document = json.loads(_core.tcp_kernels())
    switches = [parameter_from_json(each) for each in document["parameters"]]
    return {
        kernel["name"]: Element(
            name=kernel["name"],
            doc=kernel["doc"],
            parameters={each.name: of_kernel(each, kernel["settings"]) for each in switches},
        )
        for kernel in document["kernels"]
    }


def of_kernel(switch: ElementParameter, settings: Mapping[str, Any]) -> ElementParameter:
    """Return a switch with a release's value as its default."""
    return replace(switch, default=from_json(settings[switch.field], switch))


class TcpChoice(ElementChoice):
    """A group's TCP as a scenario names it: ``4.15:undo_on_any_sack=on``."""

    noun, word = "release of Linux", "tcp"

    @classmethod
    def known(cls) -> Mapping[str, Element]:
        """Return every release."""
        return kernels()

    def to_engine(self) -> dict[str, Any]:
        """Return every switch as the engine takes it."""
        switches = self.in_base_units()
        del switches["kind"]
        return switches


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
