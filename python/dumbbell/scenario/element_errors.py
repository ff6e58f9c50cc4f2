"""What is wrong with the name of a discipline, impairment or application, or of its parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dumbbell.base.errors import nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario.parameter import listed

if TYPE_CHECKING:
    from dumbbell.scenario.element import Element

__all__ = ["a", "no_parameter", "unknown_element"]

#: What others call the discipline of a link without one.
DROP_TAIL = ("droptail", "taildrop", "fifo")


def unknown_element(noun: str, name: str, known: Mapping[str, Element]) -> str:
    """Return the message about a name that nothing has."""
    if "bfifo" in known and name.replace("-", "").replace("_", "") in DROP_TAIL:
        return f"unknown {noun} `{name}`; did you mean `bfifo`, or `pfifo` in packets?"
    near = nearest(name, known)
    return f"unknown {noun} `{excerpt(name)}`: there are {listed(known)}" + (
        near if "did you mean" in near else ""
    )


def no_parameter(element: Element, name: str) -> str:
    """Return the message about a parameter that an element does not have."""
    parameters = list(element.parameters)
    near = nearest(name, parameters)
    has = f": it has {listed(parameters)}"
    return f"`{element.name}` has no parameter `{excerpt(name)}`{has}" + (
        f"{near}" if "did you mean" in near else ""
    )


def a(noun: str) -> str:
    """Write a noun with its article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"
