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
#: What is no impairment here but an option.
BY_OPTION = {
    "delay": "--rtt 40ms", "latency": "--rtt 40ms", "loss": "--loss 1%", "rate": "--rate 10mbit",
}  # fmt: skip


def unknown_element(noun: str, name: str, known: Mapping[str, Element]) -> str:
    """Return the message about a name that nothing has."""
    if "bfifo" in known and name.replace("-", "").replace("_", "") in DROP_TAIL:
        return f"unknown {noun} `{name}`; did you mean `bfifo`, or `pfifo` in packets?"
    if noun == "impairment" and (option := BY_OPTION.get(name.partition("=")[0])):
        return f"unknown {noun} `{excerpt(name)}`; use the option `{option}`"
    if corrected := with_colon(name, known):
        return f"unknown {noun} `{excerpt(name)}`; parameters follow a colon: `{corrected}`"
    near = nearest(name, known)
    return f"unknown {noun} `{excerpt(name)}`: there are {listed(known)}" + (
        near if "did you mean" in near else ""
    )


def with_colon(name: str, known: Mapping[str, Element]) -> str:
    """Return ``fq_codel:limit=100`` for tc's ``fq_codel limit 100``; nothing for other words.

    And ``jitter:PARAMETER=10ms`` for ``jitter=10ms``.
    """
    kind, *words = name.replace("=", " ").split() or [""]
    if kind not in known or not words:
        return ""
    if len(words) == 1 and words[0] not in known[kind].parameters:
        words = ["PARAMETER", *words]
    pairs = zip(words[::2], words[1::2], strict=False)
    return f"{kind}:" + ",".join(f"{key}={value}" for key, value in pairs)


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
