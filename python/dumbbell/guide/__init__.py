"""What comes with the code: the guide's pages, example scenarios and notebooks.

In a checkout they are its `docs/`, `scenarios/` and `examples/`; `tools/ship_guide.py` puts copies
next to this file, which wheels have.
"""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.base.errors import ScenarioError, nearest

__all__ = ["place_of", "plain_page", "scenario_file", "scenarios", "topic_page", "topics"]

#: What there is, and where a checkout has it.
CHECKOUT = {"pages": "docs", "scenarios": "scenarios", "notebooks": "examples"}
#: Before the name of a scenario that comes with dumbbell.
AT = "@"
#: A directive of the guide's builder, with what follows it on its line.
DIRECTIVE = re.compile(r"^```\{(\w[\w-]*)\} ?(.*)\n(?:.*\n)*?```\n", re.MULTILINE)
HERE = Path(__file__).parent
ROOT = HERE.parents[2]


def place_of(kind: str) -> Path:
    """Return the directory of the pages, scenarios or notebooks."""
    if (ROOT / CHECKOUT["pages"] / "index.md").is_file():
        return ROOT / CHECKOUT[kind]
    return HERE / kind


def topics() -> dict[str, str]:
    """Return the titles of the guide's pages by their names, in alphabetic order."""
    titles = {}
    for page in sorted(place_of("pages").glob("*.md")):
        with page.open(encoding="utf-8") as text:
            titles[page.stem] = next(text).lstrip("# ").strip()
    return titles


def topic_page(topic: str) -> str | None:
    """Return a page or laboratory note as Markdown by its name, also in the singular.

    None if there is none.

    Raises
    ------
    ScenarioError
        It is a note, and this is an installation, which has none.
    """
    name = topic.replace("_", "-").lower()
    if not re.fullmatch(r"[\w-]+", name):
        return None
    pages = place_of("pages")
    for each in (name, f"{name}s", f"notes/{name}"):
        page = pages / f"{each}.md"
        if page.is_file():
            return plain_page(page.read_text(encoding="utf-8"), page.parent)
    note = f"notes/{name}.md"
    if any(f"({note}" in page.read_text(encoding="utf-8") for page in pages.glob("*.md")):
        raise ScenarioError(
            f"`{name}` is a laboratory note, which is not installed: it is `docs/{note}` in "
            "dumbbell's sources"
        )
    return None


def plain_page(text: str, directory: Path) -> str:
    """Return a page without the directives of the guide's builder, with the tables they include."""

    def plain(directive: re.Match[str]) -> str:
        included = directory / directive[2]
        if directive[1] == "include" and included.is_file():
            return included.read_text(encoding="utf-8")
        return ""

    return DIRECTIVE.sub(plain, text)


def scenarios() -> dict[str, Path]:
    """Return the scenario files that come with dumbbell, by name."""
    return {path.stem: path for path in sorted(place_of("scenarios").glob("*.toml"))}


def scenario_file(word: str) -> str:
    """Return the file of ``@which-queue``, and every other word as it is.

    Raises
    ------
    ScenarioError
        No scenario of that name comes with dumbbell.
    """
    if not word.startswith(AT):
        return word
    known = scenarios()
    name = word.removeprefix(AT).removesuffix(".toml")
    if name not in known:
        near = nearest(name, known)
        near = near if "did you mean" in near else "; `dumbbell list scenarios` lists them"
        raise ScenarioError(f"unknown scenario `{word}`{near}")
    return str(known[name])
