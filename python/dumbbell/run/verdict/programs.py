"""The checks of the user's programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.run.verdict.reason import WARN, Reason
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    from dumbbell.records.rows import ProgramRecord

__all__ = ["check_programs"]

#: Share of a client's run time that its threads may wait for CPUs, as the machine is otherwise
#: evaluated: more than other processes take without a warning.
DELAYED_SHARE = 0.1
CLIENT = "client"


def check_programs(scenario: Scenario, summary: Mapping[str, Any]) -> Iterator[Reason]:
    """Programs succeeded; clients printed what is measured, and had the CPUs that they wanted."""
    for program in summary.get("programs", ()):
        if program["side"] != CLIENT:
            yield from check_end(program, f"server {program['command'][0]}")
            continue
        label = client_name(scenario, program)
        yield from check_end(program, f"client {label}")
        yield from check_measured(scenario, program, label)
        yield from check_delay(program, label)


def client_name(scenario: Scenario, program: ProgramRecord) -> str:
    """Return what a client is called: its group's label, or its own name if it entered later."""
    client = scenario.groups[program["group"]].client or ()
    own = PurePath(program["command"][0]).name
    is_its = PurePath(next(iter(client), own)).name == own
    return scenario.group_labels[program["group"]] if is_its else own


def check_end(program: ProgramRecord, who: str) -> Iterator[Reason]:
    """A program that ended by itself reported no failure."""
    code, signal = program["exit_code"], program["signal"]
    if program["was_ended"] or code == 0:
        return
    how = f"ended with exit code {code}" if code is not None else f"was ended by signal {signal}"
    yield Reason(WARN, "program", f"the {who} {how}{printed(program)}")


def check_measured(scenario: Scenario, program: ProgramRecord, label: str) -> Iterator[Reason]:
    """What a client printed has the number that is to be measured."""
    pattern = scenario.groups[program["group"]].measure
    if pattern is not None and program.get("measured") is None:
        yield Reason(
            WARN,
            "program",
            f"`{excerpt(pattern)}` found no number in what the client {label} printed"
            f"{printed(program)}",
        )


def check_delay(program: ProgramRecord, label: str) -> Iterator[Reason]:
    """A client did not wait long for CPUs."""
    lasted_us = program["end_us"] - program["start_us"]
    share = program["run_delay_us"] / max(lasted_us, 1)
    if share > DELAYED_SHARE:
        yield Reason(
            WARN,
            "cpu",
            f"the threads of the client {label} waited {share:.0%} of its run time for a CPU",
        )


def printed(program: ProgramRecord) -> str:
    """Write the last line that says something."""
    lines = [line.strip() for line in (program.get("output") or "").splitlines() if line.strip()]
    return f"; it printed last `{excerpt(lines[-1])}`" if lines else ""
