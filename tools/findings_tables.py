"""Writes what findings depend on into findings.md, and the answers that dumbbell prints.

``python tools/findings_tables.py results/attribution.json`` takes what ``dumbbell reproduce
--attribute`` wrote there, keeps its outcomes in ``dumbbell_studies``' ``papers/answers.json``, and
writes the tables; several files are taken together. Papers that are not in them keep their answers,
and the page says which build each answer is of. Without a file it writes the tables again.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import kernel_elements  # next to this file
from markdown_tables import markdown_table, replace_tables

from dumbbell_studies.papers import answers as answers_module
from dumbbell_studies.papers.plain_words import PLAIN_WORDS

__all__ = ["kept", "with_tables"]

ANSWERS = Path(answers_module.__file__).with_name("answers.json")
PAGE = Path(__file__).parents[1] / "docs" / "notes" / "findings.md"
#: Heads of the page's own tables, whose outcomes the table of answers repeats.
BY_EARLIER_RULE = "| | earlier rule | rule now, seed 1 | rule now, ten seeds |"
KERNEL_NOW = "| | rule now, kernel |"
#: Of answers that were kept before builds were.
EARLIER = "of 26 November 2026 or before"
#: What an answer leaves out that its reader has to know.
REMARKS = {
    "C4": " That is in 10 of 10 seeds; on the kernel six of its 32 cells do not decide it.",
    "D3": " By the rule until 27 November it was shown with `ooo_limit` on average, and with BBR "
    "unpaced too in 10 of 10 seeds: [both readings](#d3-by-both-readings).",
}
#: When a prediction was entered, by whether something of it had been measured.
ENTERED = {True: "after", False: "before", None: "–"}


def kept(attributions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what is kept of attributions: by the finding's id, with its predictions."""
    found: dict[str, Any] = {}
    for one in attributions:
        for each in one["findings"]:
            found[each["finding"]] = {
                "conclusion": each["conclusion"],
                "sentence": each["sentence"],
                "plain": count(each),
                "preset": count(each["preset"]),
                "engine_version": one["engine_version"],
                "engine_build": one["engine_build"][:16],
                "seeds": len(one["seeds"]),
                "tried": counts(*each["screened"], name="setup"),
                "again": counts(
                    *filter(None, [each["plain_again"]]), *each["repeated"], name="setup"
                ),
                "without": counts(*each["without"], name="name"),
                "predictions": [
                    {
                        key: prediction[key]
                        for key in ("id", "text", "measured_before", "verdict", "saw")
                    }
                    for prediction in one["predictions"]
                    if prediction["id"].partition(".")[0] == each["finding"]
                ],
            }
    return found


def counts(*trials: dict[str, Any], name: str) -> dict[str, str]:
    """Return in how many seeds each trial shows a finding."""
    return {trial[name]: f"{trial['shown_in']} of {trial['of']}" for trial in trials}


def count(trial: dict[str, Any] | None) -> str:
    """Return an outcome with in how many seeds it is so."""
    if trial is None:
        return "–"
    of = f", {trial['shown_in']} of {trial['of']}" if trial["of"] > 1 else ""
    return f"{trial['outcome']}{of}"


def rows_of(page: str, head: str) -> dict[str, str]:
    """Return what each row of a table of the page says, by the finding's id."""
    rows = page.partition(f"{head}\n")[2].partition("\n\n")[0].splitlines()[1:]
    cells = [row.strip("| ").split(" | ") for row in rows]
    return {row[0]: row[1].replace("*", "") for row in cells}


def outcomes(page: str, head: str) -> dict[str, str]:
    """Return the outcome that each row of a table of the page begins with."""
    found = rows_of(page, head)
    return {name: re.split(r"[:,(;]", text)[0].strip() for name, text in found.items()}


def runs_of(page: str) -> dict[str, str]:
    """Return of how many runs each outcome on the kernel is: ``one run``, ``2 of 2 runs``."""
    found = {
        name: re.match(r"[^:,(;]*, (\d+ of \d+)", text)
        for name, text in rows_of(page, KERNEL_NOW).items()
    }
    return {name: "one run" if each is None else f"{each[1]} runs" for name, each in found.items()}


def answers(page: str, found: dict[str, Any]) -> str:
    """Return the table of what findings depend on."""
    earlier = outcomes(page, BY_EARLIER_RULE)
    now, runs = outcomes(page, KERNEL_NOW), runs_of(page)
    kernel = {name: f"{outcome} ({runs[name]})" for name, outcome in now.items()}
    table = markdown_table(
        [
            "", "in short", "earlier rule", "rule now, simulator", "kernel", "under the preset",
            "what it depends on",
        ],
        [
            [name, PLAIN_WORDS[name], earlier[name], each["plain"], kernel.get(name, "–"),
             each["preset"],
             depends_on(each, now.get(name, "–"), runs.get(name, "")) + REMARKS.get(name, "")]
            for name, each in found.items()
        ],
    )  # fmt: skip
    return f"{table}\n{builds(found)}\n"


def depends_on(answer: dict[str, Any], kernel: str, runs: str) -> str:
    """Return an answer's sentence, and that the kernel's runs show it by the same rule."""
    is_shown_by_both = answer["plain"].startswith("shown") and kernel == "shown"
    sentence: str = answer["sentence"]
    return f"{sentence} Shown on the kernel too, in {runs}." if is_shown_by_both else sentence


def builds(found: dict[str, Any]) -> str:
    """Say which build each answer is of."""
    by_build: dict[str, list[str]] = {}
    for name, each in found.items():
        build = each.get("engine_build")
        by_build.setdefault(f"`{build}`" if build else EARLIER, []).append(name)
    return "Engine builds: " + "; ".join(
        f"{build}: {', '.join(names)}" for build, names in by_build.items()
    )


def predictions(_page: str, found: dict[str, Any]) -> str:
    """Return the table of predictions, and how many ended in each way."""
    ended = [each for one in found.values() for each in one["predictions"]]
    rows = [
        [
            each["id"], each["text"], ENTERED[each.get("measured_before")],
            f"**{each['verdict']}**", each["saw"],
        ]
        for each in ended
    ]  # fmt: skip
    head = ["prediction", "expected", "entered", "it ended", "what was seen"]
    totals = "; ".join(
        f"{len(some)} entered {ENTERED[is_after]}: {verdicts(some)}"
        for is_after in (False, True)
        if (some := [each for each in ended if each.get("measured_before") is is_after])
    )
    return f"{markdown_table(head, rows)}\n{len(ended)} predictions. {totals}.\n"


def verdicts(ended: list[dict[str, Any]]) -> str:
    """Say how many predictions ended in each way."""
    totals = Counter(each["verdict"] for each in ended)
    return ", ".join(f"{totals[verdict]} {verdict}" for verdict in sorted(totals))


TABLES: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "answers": answers,
    "predictions": predictions,
    "kernel_elements": lambda _page, _found: kernel_elements.table(),
}


def with_tables(page: str, found: dict[str, Any]) -> str:
    """Return a page with the tables that belong between its marks."""
    return replace_tables(page, lambda name: TABLES[name](page, found))


def main(files: list[str]) -> None:
    """Keep new outcomes, if there are any, and write the tables."""
    if files:
        given = [one for file in files for one in json.loads(Path(file).read_text("utf-8"))]
        unfinished = [name for one in given for name in one["unfinished"]]
        if unfinished:
            raise SystemExit(
                f"{', '.join(files)}: interrupted, {', '.join(unfinished)} are missing; run "
                "`dumbbell reproduce --attribute` to its end"
            )
        found = {**json.loads(ANSWERS.read_text(encoding="utf-8")), **kept(given)}
        found = {name: found[name] for name in PLAIN_WORDS if name in found}
        text = json.dumps(found, indent=1, ensure_ascii=False)
        ANSWERS.write_text(text + "\n", encoding="utf-8")
    found = json.loads(ANSWERS.read_text(encoding="utf-8"))
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
