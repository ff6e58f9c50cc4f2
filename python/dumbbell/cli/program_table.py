"""A run's programs in the terminal: how each ended, how long it ran and what it computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.base.quantities.excerpt import excerpt
from dumbbell.run import Run
from dumbbell.run.programs import programs_of
from dumbbell.terminal.table import print_table

if TYPE_CHECKING:
    from dumbbell.records.rows import ProgramRecord

__all__ = ["print_programs"]

#: Most characters of a command in the table.
SHOWN_CHARACTERS = 48


def print_programs(result: Run) -> None:
    """Print a row per program; nothing for a run without."""
    labels = result.scenario.group_labels
    rows = [
        (
            f"{labels[program['group']]} {program['side']}",
            command_of(program),
            ending(program),
            f"{(program['end_us'] - program['start_us']) / 1e6:.2f}",
            "–" if program["cpu_us"] is None else f"{program['cpu_us'] / 1e6:.2f}",
            f"{program['run_delay_us'] / 1e6:.2f}",
            "–" if program.get("measured") is None else f"{program['measured']:g}",
        )
        for program in programs_of(result.summary)
    ]
    columns = ("program", "command", "ended", "time\ns", "CPU\ns", "waited\ns", "measured")
    if rows:
        print_table(
            columns, rows, left=range(3), optional=("waited\ns", "command", "CPU\ns"), apart=True
        )


def command_of(program: ProgramRecord) -> str:
    """Write a command, cut."""
    text = excerpt(" ".join(program["command"]))
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def ending(program: ProgramRecord) -> str:
    """Write how a program ended."""
    if program["was_ended"]:
        return "asked to end"
    if program["exit_code"] is not None:
        return f"exit code {program['exit_code']}"
    return f"signal {program['signal']}"
