"""Explicit congestion notification of a group's TCP."""

from __future__ import annotations

from typing import Any, ClassVar

from dumbbell.base.errors import ScenarioError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario.kinds import Kind

__all__ = ["Ecn"]


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
