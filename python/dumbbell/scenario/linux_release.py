"""A group's TCP: a release of Linux, and its switches. Other settings of the stack are in `host`.

``4.15:undo_on_any_sack=on``; declared in ``crates/scenario/src/linux_release.rs``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dumbbell import _core
from dumbbell.scenario.distribution import from_json, parameter_from_json
from dumbbell.scenario.element import Element, ElementChoice
from dumbbell.scenario.parameter import ElementParameter

__all__ = ["DEFAULT_TCP", "TcpChoice", "kernels"]

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
