"""The tables of docs/media.md, from the declarations of media and of the generators of traces.

``python docs/media_pages.py`` writes them; ``make docs`` runs it.
"""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.scenario.element import Element, media
from dumbbell.scenario.trace_generators import GENERATORS

__all__ = ["with_tables"]

PAGE = Path(__file__).with_name("media.md")
#: Between these lines of the page stand the media, and the generators.
TABLES = re.compile(r"(<!-- (media|generators) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def with_tables(page: str) -> str:
    """Return the page with its tables as they are now."""
    tables = {"media": media_sections, "generators": generator_table}
    return TABLES.sub(lambda found: f"{found[1]}\n{tables[found[2]]()}\n{found[3]}", page)


def media_sections() -> str:
    """Return a section for each medium."""
    return "\n".join(section(medium) for medium in media().values())


def section(medium: Element) -> str:
    """Return the section of a medium."""
    rows = [
        f"| `{each.name}` | `{each.default_text}` | {each.range_text} | {each.doc} |"
        for each in medium.parameters.values()
    ]
    return "\n".join(
        [
            f"### `{medium.name}`",
            "",
            medium.doc,
            "",
            f"![CUBIC and BBR over `{medium.name}`](figures/media-{medium.name}.svg)",
            "",
            "| parameter | default | range | what it is |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def generator_table() -> str:
    """Return the table of generators."""
    rows = [
        f"| `{name}` | {', '.join(f'`{key}={value}`' for key, value in each.parameters.items())} "
        f"| {each.doc} |"
        for name, each in GENERATORS.items()
    ]
    head = ["| generator | parameters with their defaults | what it makes |", "|---|---|---|"]
    return "\n".join([*head, *rows, ""])


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
