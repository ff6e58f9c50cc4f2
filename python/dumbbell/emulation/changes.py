"""Changes of a path while it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.quantity import Time
from dumbbell.base.quantities.steps import MIN_RTT_NS
from dumbbell.emulation.scenario import rate_of
from dumbbell.scenario import Link
from dumbbell.scenario.fields import fields_of
from dumbbell.scenario.link import BOTTLENECK, UP

__all__ = ["CHANGEABLE", "changes_of"]

#: What can change, and the engine's words for it: of a link, and of the whole path.
OF_LINK: Mapping[str, Callable[[str, Any], dict[str, Any]]] = {
    "rate": lambda link, rate: {"kind": "rate", "link": link, "link_rate_bps": int(rate)},
    "loss": lambda link, loss: {"kind": "loss", "link": link, "loss_ppb": int(loss)},
    "delay": lambda link, delay: {"kind": "delay", "link": link, "delay_ns": int(delay)},
}
CHANGEABLE = (*OF_LINK, "rtt", *(f"{UP}_{name}" for name in OF_LINK))


def changes_of(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the changes that fields ask for, as the engine takes them."""
    changes = []
    for name, value in fields.items():
        if name == "rtt":
            rtt = Time.parse(value, "rtt", minimum=MIN_RTT_NS)
            changes.append({"kind": "base_rtt", "group": None, "base_rtt_ns": int(rtt)})
            continue
        of_link = name.removeprefix(f"{UP}_")
        if of_link not in OF_LINK:
            raise ScenarioError(
                f"`{name}` cannot be changed while the path is there{nearest(name, CHANGEABLE)}",
                key=name,
            )
        link = UP if name.startswith(f"{UP}_") else BOTTLENECK
        given = rate_of(value) if of_link == "rate" else value
        changes.append(OF_LINK[of_link](link, fields_of(Link)[of_link].parse(given)))
    return changes
