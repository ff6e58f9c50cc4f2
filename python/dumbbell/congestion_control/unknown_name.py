"""What is said about a name that no congestion control algorithm has."""

from __future__ import annotations

import re
from collections.abc import Collection

from dumbbell.base.errors import nearest
from dumbbell.congestion_control.quic import QUIC, names_of_stacks

__all__ = ["what_is_meant"]

#: A number of flows, as others write it: `cubic*4`, `x4`.
TIMES = re.compile(r"(\w*)[x×*](\d{1,6})", re.ASCII)
#: What is no congestion control algorithm, but is taken for one.
NO_ALGORITHM = {
    "quic": ", which is a transport; a QUIC flow is `quic/quinn:cubic` or `quic/noq:copa`, and "
    "`dumbbell emulate -- COMMAND` runs a QUIC program",
    "vs": "; write the algorithms one after the other: `copa cubic`",
}


def what_is_meant(name: str, known: Collection[str]) -> str:
    """Return what follows ``unknown congestion control `NAME` ``: how it is right."""
    if "," in name:
        names = " ".join(filter(None, (each.strip() for each in name.split(","))))
        return f"; separate algorithms with a space: `{names}`"
    times = TIMES.fullmatch(name)
    if times and not times[1]:
        return f"; for {times[2]} flows of each algorithm use `--flows {times[2]}`"
    if times and times[1] in known:
        return f"; for {times[2]} flows use `--set {times[1]}.flows={times[2]}`"
    if f"{QUIC}{name}:cubic" in names_of_stacks():
        return f", which is a QUIC stack; a flow of it is `{QUIC}{name}:cubic`"
    return NO_ALGORITHM.get(name) or nearest(name, known)
