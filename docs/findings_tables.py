"""Writes what findings depend on into findings.md, and the answers that dumbbell prints.

``python docs/findings_tables.py results/attribution.json`` takes what ``dumbbell reproduce
--attribute`` wrote there, keeps its outcomes in ``python/dumbbell/papers/answers.json``, and writes
the tables; without a file it writes the tables again. ``make docs`` does the latter.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from dumbbell.papers import answers as answers_module
from dumbbell.papers.plain_words import PLAIN_WORDS

__all__ = ["kept", "with_tables"]

DOCS = Path(__file__).parent
ANSWERS = Path(answers_module.__file__).with_name("answers.json")
PAGES = ("findings.md",)
#: Between these lines of a page stands a table.
TABLES = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- /table -->\n)", re.DOTALL)
#: By the earlier rules, before 22 November 2026: on seed 1 in the simulator (five seeds of B, the
#: mean of ten of D), and on Linux 6.18 (`--engine kernel --quick`, one seed).
EARLIER = {
    "A1": ("not shown", "not shown"), "A2": ("shown", "not shown"), "A3": ("shown", "shown"),
    "A4": ("not shown", "not shown"), "A5": ("not shown", "not shown"),
    "A6": ("not shown", "not shown"), "A7": ("not shown", "not shown"),
    "B1": ("shown", "shown"), "B2": ("not shown", "shown"), "B3": ("not shown", "shown"),
    "C1": ("not shown", "shown"), "C2": ("not shown", "not shown"),
    "C3": ("not shown", "not shown"), "C4": ("shown", "shown"), "C5": ("no rule", "–"),
    "D1": ("shown", "shown"), "D2": ("shown", "shown"), "D3": ("not shown", "not shown"),
}  # fmt: skip


def kept(attributions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is kept of attributions: by the finding's id, and the predictions."""
    found: dict[str, Any] = {}
    for one in attributions:
        for each in one["findings"]:
            found[each["finding"]] = {
                "conclusion": each["conclusion"],
                "sentence": each["sentence"],
                "plain": count(each),
                "preset": count(each["preset"]),
                "engine_version": one["engine_version"],
                "seeds": len(one["seeds"]),
                "tried": {
                    trial["setup"]: f"{trial['shown_in']} of {trial['of']}"
                    for trial in (*each["screened"], *each["together"])
                },
                "without": {
                    effect["name"]: f"{effect['shown_in']} of {effect['of']}"
                    for effect in each["without"]
                },
                "predictions": [
                    {key: prediction[key] for key in ("id", "text", "verdict", "saw")}
                    for prediction in one["predictions"]
                    if prediction["id"].partition(".")[0] == each["finding"]
                ],
            }
    return found


def count(trial: dict[str, Any] | None) -> str:
    """Return an outcome with in how many seeds it is so."""
    if trial is None:
        return "–"
    of = f", {trial['shown_in']} of {trial['of']}" if trial["of"] > 1 else ""
    return f"{trial['outcome']}{of}"


def rows(head: list[str], body: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def answers(found: dict[str, Any]) -> str:
    """Return the table of what findings depend on."""
    return rows(
        [
            "", "in short", "earlier rule, seed 1", "rule now, simulator",
            "kernel (earlier rule, one seed)", "under the preset", "what it depends on",
        ],
        [
            [name, PLAIN_WORDS[name], EARLIER[name][0], each["plain"], EARLIER[name][1],
             each["preset"], each["sentence"]]
            for name, each in found.items()
        ],
    )  # fmt: skip


def predictions(found: dict[str, Any]) -> str:
    """Return the table of predictions."""
    return rows(
        ["prediction", "expected", "it ended", "what was seen"],
        [
            [each["id"], each["text"], f"**{each['verdict']}**", each["saw"]]
            for one in found.values()
            for each in one["predictions"]
        ],
    )


def with_tables(page: str, found: dict[str, Any]) -> str:
    """Return a page with the tables that belong between its marks."""
    tables = {"answers": answers, "predictions": predictions}
    return TABLES.sub(lambda part: f"{part[1]}{tables[part[2]](found)}{part[3]}", page)


def main(arguments: list[str]) -> None:
    """Keep new outcomes, if there are any, and write the tables."""
    if arguments:
        found = kept(json.loads(Path(arguments[0]).read_text(encoding="utf-8")))
        # Papers that were not attributed this time keep their answers.
        found = {**json.loads(ANSWERS.read_text(encoding="utf-8")), **found}
        found = {name: found[name] for name in PLAIN_WORDS if name in found}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        ANSWERS.write_text(text + "\n", encoding="utf-8")
    found = json.loads(ANSWERS.read_text(encoding="utf-8"))
    for name in PAGES:
        path = DOCS / name
        path.write_text(with_tables(path.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
