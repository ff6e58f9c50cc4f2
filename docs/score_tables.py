"""The tables of docs/score.md: the board's categories, and the league of a result.

``python docs/score_tables.py`` writes the first from the board; ``make docs`` runs it. With the
score.json of ``dumbbell score --out DIR`` it writes the league too, with today's date.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.gate.case import ANY
from dumbbell.score import Category, find_board

__all__ = ["with_league", "with_tables"]

PAGE = Path(__file__).with_name("score.md")
#: Between these lines of the page stands the table of a board's categories.
BOARD = re.compile(r"(<!-- board: (\S+) -->\n).*?(<!-- /board -->\n)", re.DOTALL)
#: And between these the league.
LEAGUE = re.compile(r"(<!-- league -->\n).*?(<!-- /league -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with the table of each board as it is now."""
    return BOARD.sub(lambda found: f"{found[1]}\n{board_table(found[2])}\n\n{found[3]}", page)


def board_table(name: str) -> str:
    """Return a board's categories: cells, what they are, and bounds."""
    rows = ["| category | cells | drawn | what it asks | 1 at the bound, 0 at the end |"]
    rows += ["|---|---|---|---|---|", *map(category_row, find_board(name).categories)]
    return "\n".join(rows)


def category_row(category: Category) -> str:
    """Return a category's row."""
    cells = sum(len(case.cells(ANY)) for case in category.cases)
    bounds = dict.fromkeys(
        f"`{bound.measure}` {bound.words}" for case in category.cases for bound in case.bounds
    )
    fields = dict.fromkeys(f"`{name}`" for draw in category.draws for name in draw.fields)
    what = f"{category.title}. {category.why}"
    return f"| `{category.name}` | {cells} | {', '.join(fields)} | {what} | {'; '.join(bounds)} |"


def with_league(page: str, result: Mapping[str, Any], date: str) -> str:
    """Return the page with the league of a result."""
    table = league_table(result, date)
    return LEAGUE.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


def league_table(result: Mapping[str, Any], date: str) -> str:
    """Return a league: controls in columns, so that it is not as wide as it has categories."""
    controls, seeds = result["controls"], result["seeds"]
    lines = [
        f"On {date}, {result['engine']} {result['engine_version']}, seeds {seeds[0]} to "
        f"{seeds[-1]}; below the score its interval over the seeds.",
        "",
        "| | " + " | ".join(f"`{each['cc']}`" for each in controls) + " |",
        "|---|" + "---|" * len(controls),
        "| **overall** | " + " | ".join(f"**{each['overall']:.2f}**" for each in controls) + " |",
        "| | " + " | ".join(interval_text(each["interval"]) for each in controls) + " |",
    ]
    lines += [
        f"| `{name}` | "
        + " | ".join(f"{each['categories'][name]['score']:.2f}" for each in controls)
        + " |"
        for name in controls[0]["categories"]
    ]
    return "\n".join(lines)


def interval_text(interval: Mapping[str, Any]) -> str:
    """Write an interval; nothing for one without ends."""
    low, high = interval["low"], interval["high"]
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"


if __name__ == "__main__":
    text = with_tables(PAGE.read_text(encoding="utf-8"))
    for name in sys.argv[1:]:
        read = json.loads(Path(name).read_text(encoding="utf-8"))
        text = with_league(text, read, dt.datetime.now(tz=dt.UTC).date().isoformat())
    PAGE.write_text(text, encoding="utf-8")
