"""`dumbbell list scenarios`: the scenario files that come with dumbbell."""

from __future__ import annotations

import tomllib
from typing import Annotated

import typer

from dumbbell.cli.listed import listed
from dumbbell.guide import scenarios
from dumbbell.terminal import options
from dumbbell.terminal.completion import matching
from dumbbell.terminal.console import print_json, print_line

__all__ = ["scenarios_command"]

#: What the help ends with.
EXAMPLES = ("dumbbell list scenarios", "dumbbell list scenarios which-queue")


def complete_scenarios(incomplete: str) -> list[tuple[str, str]]:
    """Complete a scenario that comes with dumbbell."""
    return matching(incomplete, ((name, "") for name in scenarios()))


def scenarios_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="One of them, or part of names.",
            autocompletion=complete_scenarios,
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """List the scenarios that come with dumbbell, or print one."""
    known = scenarios()
    chosen = listed(name, known, "scenario")
    texts = {each: known[each].read_text(encoding="utf-8") for each in chosen}
    titles = {each: str(tomllib.loads(text).get("name", "")) for each, text in texts.items()}
    if json:
        print_json([{"name": each, "title": titles[each], "toml": texts[each]} for each in chosen])
    elif name in known:
        print_line(texts[chosen[0]].rstrip())
    else:
        width = max(map(len, chosen))
        for each, title in titles.items():
            print_line(f"{each:{width}}  {title}")
        print_line("`dumbbell run @NAME` runs one")
    return 0
