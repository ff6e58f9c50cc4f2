"""Differentiated services codepoints of packets."""

from __future__ import annotations

from typing import Any, ClassVar

from dumbbell.base.errors import ScenarioError, nearest
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.scenario.kinds import Kind

__all__ = ["Codepoint", "Dscp"]

#: The registered names (IANA, "Differentiated Services Field Codepoints"): RFC 2474 (CS), RFC 2597
#: (AF), RFC 3246 (EF), RFC 5865 (VA), RFC 8622 (LE), draft-ietf-tsvwg-nqb (NQB).
CODEPOINTS = {
    **{f"cs{number}": 8 * number for number in range(8)},
    **{f"af{queue}{drop}": 8 * queue + 2 * drop for queue in range(1, 5) for drop in range(1, 4)},
    "ef": 46, "va": 44, "le": 1, "nqb": 45,
}  # fmt: skip
NAMES = {codepoint: name for name, codepoint in CODEPOINTS.items()}
LARGEST = 63


class Dscp(int):
    """A codepoint: 0 to 63."""

    __slots__ = ()

    def __str__(self) -> str:
        return NAMES.get(int(self), str(int(self)))

    def __repr__(self) -> str:
        return f"Dscp({str(self)!r})"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class Codepoint(Kind[Dscp]):
    """A differentiated services codepoint."""

    metavar = "DSCP"
    EXAMPLES: ClassVar = "`ef`, `cs1`, `le` or 0 to 63"

    def parse(self, value: Any, what: str) -> Dscp:
        """Read a name or a number; `what` names the field in an error."""
        name = value.strip().lower() if isinstance(value, str) else value
        codepoint = CODEPOINTS.get(name) if isinstance(name, str) else name
        if isinstance(name, str) and name.isascii() and name.isdecimal() and len(name) < 4:
            codepoint = int(name)
        if not isinstance(codepoint, int) or isinstance(codepoint, bool):
            near = nearest(str(name), CODEPOINTS)
            hint = near if "did you mean" in near else ""
            message = f"unknown {what} `{excerpt(value)}`: use {self.EXAMPLES}{hint}"
            raise ScenarioError(message, key=what)
        if not 0 <= codepoint <= LARGEST:
            raise ScenarioError(f"{what} is {excerpt(value)}; use 0 to {LARGEST}", key=what)
        return Dscp(codepoint)
