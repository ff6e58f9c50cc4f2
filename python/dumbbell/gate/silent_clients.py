"""Clients that measured nothing in any repetition, of which no baseline is made."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from dumbbell.base.errors import GateError
from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.run import Run
from dumbbell.run.programs import client_of

__all__ = ["check_clients"]


def check_clients(case: str, runs: Iterable[Run]) -> None:
    """Refuse a cell whose client failed, or printed no number, in every repetition.

    Raises
    ------
    GateError
        There is such a client.
    """
    why: dict[int, list[str]] = {}
    for run in runs:
        for index in range(len(run.scenario.groups)):
            why.setdefault(index, []).append(why_silent(run, index))
    for reasons in why.values():
        if all(reasons):
            raise GateError(f"case `{case}`: {reasons[0]}")


def why_silent(run: Run, group: int) -> str:
    """Return why a group's client measured nothing; empty if it did, or there is none."""
    client, pattern = client_of(run.summary, group), run.scenario.groups[group].measure
    if client is None:
        return ""
    code, signal = client["exit_code"], client["signal"]
    if code != 0 and not client["was_ended"]:
        how = f"ended with code {code}" if code is not None else f"was ended by signal {signal}"
        said = (client["output"] or "").strip().splitlines()
        last = f": {excerpt(said[-1])}" if said else ", and printed nothing"
        return f"client `{shlex.join(client['command'])}` {how}{last}"
    if pattern is not None and client.get("measured") is None:
        return f"`measured` of group {group}: nothing the client printed matches `{pattern}`"
    return ""
