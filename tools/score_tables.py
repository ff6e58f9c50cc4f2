"""The tables of scores: the board's categories, and the league and drawn cells of the notes.

``python tools/score_tables.py`` writes the latter from ``docs/notes/data``. Arguments
``league=DIR/score.json`` and ``drawn=DIR/score.json`` store results of ``dumbbell score --out DIR``
there first, with today's date and without their cells. `guide_pages.py` writes the board's table.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dumbbell.gate.case import ANY_SUBJECT
from dumbbell_studies.score import Category, find_board

__all__ = ["board_table", "drawn_table", "league_table", "load", "with_table"]

NOTES = Path(__file__).parents[1] / "docs" / "notes"
#: Digits of a stored score.
DIGITS = 6


def file_of(name: str) -> Path:
    """Return where a result is stored."""
    return NOTES / "data" / f"score-{name}.json"


def load(name: str) -> dict[str, Any]:
    """Return a stored result."""
    result: dict[str, Any] = json.loads(file_of(name).read_text(encoding="utf-8"))
    return result


def store(name: str, result: Mapping[str, Any]) -> None:
    """Store a result without its cells."""
    kept = {
        "date": dt.datetime.now(tz=dt.UTC).date().isoformat(),
        **{key: result[key] for key in ("engine", "engine_version", "seeds")},
        "drawn": result["board"]["drawn"],
        "controls": [
            {
                "cc": each["cc"],
                "build": each["build"],
                "overall": rounded(each["overall"]),
                "interval": [rounded(each["interval"][end]) for end in ("low", "high")],
                "categories": {
                    category: rounded(of["score"]) for category, of in each["categories"].items()
                },
            }
            for each in result["controls"]
        ],
    }
    file_of(name).write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def rounded(value: float | None) -> float | None:
    """Round a score to what is stored; None stays."""
    return None if value is None else round(value, DIGITS)


def board_table(name: str) -> str:
    """Return a board's categories: cells, what they are, and bounds."""
    rows = ["| category | cells | drawn | what it asks | 1 at the bound, 0 at the end |"]
    rows += ["|---|---|---|---|---|", *map(category_row, find_board(name).categories)]
    return "\n".join([*rows, ""])


def category_row(category: Category) -> str:
    """Return a category's row."""
    cells = sum(len(case.cells(ANY_SUBJECT)) for case in category.cases)
    bounds = dict.fromkeys(
        f"`{bound.measure}` {bound.words}" for case in category.cases for bound in case.bounds
    )
    fields = dict.fromkeys(f"`{name}`" for draw in category.draws for name in draw.fields)
    what = f"{category.title}. {category.why}"
    return f"| `{category.name}` | {cells} | {', '.join(fields)} | {what} | {'; '.join(bounds)} |"


def with_table(page: str, name: str, table: str) -> str:
    """Return the page with a table between the lines of its name."""
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->\n)", re.DOTALL)
    return place.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


def league_table(result: Mapping[str, Any]) -> str:
    """Return a league: controls in columns, so that it is not as wide as it has categories."""
    controls, seeds = result["controls"], result["seeds"]
    intervals = "| | " + " | ".join(interval_text(*each["interval"]) for each in controls) + " |"
    head, *rows = table_of(controls)
    lines = [
        f"On {result['date']}, {result['engine']} {result['engine_version']}, seeds {seeds[0]} to "
        f"{seeds[-1]}; below the score its interval over the seeds.",
        "",
        head,
        *rows[:2],
        intervals,
        *rows[2:],
    ]
    return "\n".join(lines)


def drawn_table(result: Mapping[str, Any]) -> str:
    """Return scores on drawn cells."""
    drawn, seeds = result["drawn"], result["seeds"]
    how = f"`--draw {drawn['count']} --draw-seed {drawn['seed']} --seeds {len(seeds)}`"
    return "\n".join([f"On {result['date']}, {how}:", "", *table_of(result["controls"])])


def table_of(controls: list[dict[str, Any]]) -> list[str]:
    """Return the lines of a table of scores: names, rule, overall, categories."""
    lines = [
        "| | " + " | ".join(f"`{each['cc']}`" for each in controls) + " |",
        "|---|" + "---|" * len(controls),
        "| **overall** | " + " | ".join(f"**{each['overall']:.2f}**" for each in controls) + " |",
    ]
    lines += [
        f"| `{name}` | " + " | ".join(f"{each['categories'][name]:.2f}" for each in controls) + " |"
        for name in controls[0]["categories"]
    ]
    return lines


def interval_text(low: float | None, high: float | None) -> str:
    """Write an interval; nothing for one without ends."""
    return "" if low is None or high is None else f"{low:.2f} to {high:.2f}"


#: The note of each stored result, and its table.
TABLES: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "league": ("score.md", league_table),
    "drawn": ("nagi.md", drawn_table),
}


def main(stored: list[str]) -> None:
    """Store results, and write all tables."""
    for name, _, file in (each.partition("=") for each in stored):
        store(name, json.loads(Path(file).read_text(encoding="utf-8")))
    for name, (page, table) in TABLES.items():
        path = NOTES / page
        text = with_table(path.read_text(encoding="utf-8"), name, table(load(name)))
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
