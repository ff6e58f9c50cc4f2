"""What disqualifies a congestion control algorithm: knowledge that no sender has."""

from __future__ import annotations

import re

from dumbbell.congestion_control import CongestionControlChoice

__all__ = ["oracle_of"]

#: Parameters that tell a congestion control algorithm of the path, by the name that they are to
#: have: Copa's `rtt_min_known_us`.
KNOWN = re.compile(r"(^|_)known(_|$)")


def oracle_of(cc: CongestionControlChoice) -> str:
    """Return why a congestion control algorithm is disqualified; empty if nothing says so.

    A parameter with `known` in its name that is not 0 is an oracle. What its code reads in other
    ways cannot be seen from here.
    """
    if cc.is_kernels_own:
        return ""
    for parameter in cc.description.parameters:
        value = cc.params.get(parameter.name, parameter.default)
        if KNOWN.search(parameter.name) and value:
            return f"{parameter.name}={value} gives it what no sender knows"
    return ""
