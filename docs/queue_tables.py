"""The tables of docs/queues.md and docs/impairments.md, from the declarations.

``python docs/queue_tables.py`` writes them; ``make docs`` runs it.
"""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.scenario.element import Element, impairments, queue_disciplines

__all__ = ["with_tables"]

PAGES = [Path(__file__).with_name(name) for name in ("queues.md", "impairments.md")]
#: Between these lines of the pages stand the disciplines, and the impairments.
TABLES = re.compile(r"(<!-- (disciplines|impairments) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with its tables as they are now."""
    proper = {name: each for name, each in impairments().items() if not each.is_medium}
    elements = {"disciplines": queue_disciplines(), "impairments": proper}

    def filled(found: re.Match[str]) -> str:
        is_queue = found[2] == "disciplines"
        sections = "\n".join(section(each, is_queue) for each in elements[found[2]].values())
        return f"{found[1]}\n{sections}\n{found[3]}"

    return TABLES.sub(filled, page)


def section(discipline: Element, has_facts: bool) -> str:
    """Return the section of a discipline or an impairment."""
    facts = [
        "packets leave in the order in which they came" if discipline.is_fifo else "",
        "can mark" if discipline.can_mark else "",
        "packets may wait while the link is idle" if discipline.holds_back else "",
    ]
    stated = "; ".join(filter(None, facts)) if has_facts else ""
    rows = [
        f"| `{each.name}` | `{each.default_text}` | {each.range_text} | {each.doc} |"
        for each in discipline.parameters.values()
    ]
    return "\n".join(
        [
            f"### `{discipline.name}`",
            "",
            discipline.doc + (f" Facts: {stated}." if stated else ""),
            "",
            "| parameter | default | range | what it is |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")
