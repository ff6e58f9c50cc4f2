"""What suites found, for docs/notes/suites.md, from results of `dumbbell gate --json`.

``python tools/suite_outcomes.py RESULT.json…`` writes it, with today's date. Results of
some cases of a suite (``--case``) make one row with others of the same under test.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = ["row_of", "with_outcomes"]

PAGE = Path(__file__).parents[1] / "docs" / "notes" / "suites.md"
#: Between these lines of the page stands the table.
TABLE = re.compile(r"(<!-- outcomes -->\n).*?(<!-- end -->\n)", re.DOTALL)
#: Outcomes that are listed by case.
LISTED = ("missed", "unclear")


def with_outcomes(page: str, results: Iterable[Mapping[str, Any]], date: str) -> str:
    """Return the page with a row for each result."""
    results = list(results)
    engines = sorted({f"{result['engine']} {result['engine_version']}" for result in results})
    lines = [
        f"On {date}, engine {', '.join(engines)}; `missed` is beyond chance, `unclear` a mean "
        "beyond the bound that may be chance. In parentheses: how many of the case's criteria.",
        "",
        "| suite | under test | met | missed | unclear |",
        "|---|---|---|---|---|",
        *map(row_of, results),
    ]
    table = "\n".join(lines)
    return TABLE.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", page)


def merged(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the results with those of one suite and one thing under test put together."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for result in results:
        key = (result["suite"], result["cc"], result["qdisc"])
        whole = found.setdefault(key, {**result, "criteria": []})
        new = {identity(criterion): criterion for criterion in result["criteria"]}
        kept = [c for c in whole["criteria"] if identity(c) not in new]
        whole["criteria"] = [*kept, *result["criteria"]]
    return list(found.values())


def identity(criterion: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what distinguishes a criterion of a result from its others."""
    return criterion["cell"], criterion["criterion"], criterion["of"]


def row_of(result: Mapping[str, Any]) -> str:
    """Return a result as a row: how many criteria are met, and in which cases the others are."""
    by_outcome = {
        outcome: Counter(
            case_of(criterion)
            for criterion in result["criteria"]
            if criterion["outcome"] == outcome
        )
        for outcome in ("met", *LISTED)
    }
    counts: Counter[str] = Counter()
    for outcome in by_outcome.values():
        counts += outcome
    listed = (
        ", ".join(f"`{case}` ({count}/{counts[case]})" for case, count in of_outcome.items())
        for of_outcome in (by_outcome[outcome] for outcome in LISTED)
    )
    tested = ", ".join(f"`{name}`" for name in (result["cc"], result["qdisc"]) if name)
    met = f"{by_outcome['met'].total()} of {counts.total()}"
    return (
        " | ".join([f"| `{result['suite']}`", tested, met, *(text or "–" for text in listed)])
        + " |"
    )


def case_of(criterion: Mapping[str, Any]) -> str:
    """Return the case that a criterion's cell belongs to."""
    return str(criterion["cell"]).partition("[")[0]


if __name__ == "__main__":
    read = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]]
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    PAGE.write_text(
        with_outcomes(PAGE.read_text(encoding="utf-8"), merged(read), today), encoding="utf-8"
    )
