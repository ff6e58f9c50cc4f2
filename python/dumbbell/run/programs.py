"""What became of a run's programs: their entries in a result, and the number that one printed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.records.rows import FlowRecord, ProgramRecord

__all__ = [
    "CLIENT", "PROGRAMS", "TIME_IS_MEASURED", "client_of", "has_no_tcp", "is_time_measured",
    "programs_of", "with_measured",
]  # fmt: skip

#: The key of a result that has the programs; only of a run that had any.
PROGRAMS = "programs"
#: The key that says whether the run lasted as long as a command; only where there are programs.
TIME_IS_MEASURED = "time_is_measured"
#: The side on which data arrive.
CLIENT = "client"


def programs_of(summary: Mapping[str, Any]) -> Sequence[ProgramRecord]:
    """Return the programs of a run, in the order in which they started."""
    programs: Sequence[ProgramRecord] = summary.get(PROGRAMS, ())
    return programs


def is_time_measured(scenario: Scenario, summary: Mapping[str, Any]) -> bool:
    """Whether a run lasted as long as its command, as `emulate` runs it.

    Results of earlier versions do not say. A time that was asked for has whole milliseconds.
    """
    has_program = scenario.groups[0].client is not None
    looks_so = has_program and int(scenario.time) % 1_000_000 != 0
    return bool(summary.get(TIME_IS_MEASURED, looks_so))


def has_no_tcp(scenario: Scenario, flow: FlowRecord) -> bool:
    """Whether a program's packets are of QUIC or other UDP: TCP's give samples of the RTT."""
    return scenario.groups[flow["group"]].client is not None and flow["rtt_min_us"] == 0


def client_of(summary: Mapping[str, Any], group: int) -> ProgramRecord | None:
    """Return the first client of a group, by its index; None if none was started."""
    for program in programs_of(summary):
        if program["group"] == group and program["side"] == CLIENT:
            return program
    return None


def with_measured(scenario: Scenario, summary: dict[str, Any]) -> dict[str, Any]:
    """Return an engine's summary with the number that each client printed, as `measure` says."""
    if PROGRAMS not in summary:
        return summary
    programs = []
    for program in summary[PROGRAMS]:
        pattern = scenario.groups[program["group"]].measure
        found = {}
        if pattern is not None and program["side"] == CLIENT:
            found = {"measured": last_number(pattern, program["output"] or "")}
        programs.append({**program, **found})
    return {**summary, PROGRAMS: programs, TIME_IS_MEASURED: False}


def last_number(pattern: str, text: str) -> float | None:
    r"""Return the number in the last place where a pattern matches.

    Examples
    --------
    >>> last_number(r"speed: (\S+)", "speed: 3.5\nspeed: 4e3\n")
    4000.0
    """
    found = None
    for match in re.finditer(pattern, text, re.MULTILINE):
        found = match[1]
    try:
        number = float(found) if found is not None else None
    except ValueError:
        return None
    return number if number is None or isfinite(number) else None
