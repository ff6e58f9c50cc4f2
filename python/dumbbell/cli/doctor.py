"""`dumbbell doctor`: what this machine can do, and what each missing piece costs."""

from __future__ import annotations

from rich import box
from rich.markup import escape
from rich.table import Table

from dumbbell.cli.machine import Fact, abilities, facts
from dumbbell.terminal import options
from dumbbell.terminal.console import out, print_json

__all__ = ["doctor_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell doctor", "dumbbell doctor --json")

COLORS = {"ok": "green", "limited": "yellow"}
MISSING_COLOR = "bold red"


def doctor_command(json: options.Json = False) -> int:
    """Report what this machine can do, and how to get what is missing.

    Says what each missing piece costs. Exits with 0 if the simulator can run.
    """
    found = facts()
    able = abilities(found)
    if json:
        document = {
            "facts": [vars(fact) for fact in found],
            "abilities": [
                {"name": ability.name, "is_there": ability.is_there, "reasons": ability.reasons}
                for ability in able
            ],
        }
        print_json(document)
    else:
        console = out()
        console.print(fact_table(found))
        for ability in able:
            console.print(str(ability), markup=False, soft_wrap=True)
    return 0 if able[0].is_there else 1


def fact_table(found: list[Fact]) -> Table:
    """Lay out the facts; what a missing one costs and the remedy are below its value."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("what", "status", "found"):
        grid.add_column(column, overflow="fold")
    for fact in found:
        color = COLORS.get(fact.status, MISSING_COLOR)
        lines = [fact.value]
        if fact.status != "ok":
            lines += filter(None, [fact.costs, fact.remedy and f"remedy: {fact.remedy}"])
        text = "\n".join(escape(line) for line in lines)
        grid.add_row(escape(fact.name), f"[{color}]{escape(fact.status)}[/]", text)
    return grid
