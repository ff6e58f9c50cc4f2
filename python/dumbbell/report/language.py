"""Pages in two languages: each text once in English and once in Japanese."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from markupsafe import Markup

__all__ = ["bilingual", "bilingual_svg", "japanese"]


@cache
def japanese() -> Mapping[str, str]:
    """Return the Japanese of every English text that has one."""
    text = resources.files("dumbbell.report").joinpath("japanese.toml").read_text(encoding="utf-8")
    return {entry["en"]: entry["ja"] for entry in tomllib.loads(text)["text"]}


def bilingual(text: str) -> Markup:
    """Return a text in both languages, of which the page shows one; in English if it has no other.

    Measured numbers are in texts that are made when the page is; those stay English.
    """
    return in_both(text, "span")


def bilingual_svg(text: str) -> Markup:
    """Return a text in both languages as parts of an SVG `text` element."""
    return in_both(text, "tspan")


def in_both(text: str, element: str) -> Markup:
    """Return a text in both languages, each in an element of its own."""
    other = japanese().get(text)
    if other is None:
        return Markup("{}").format(text)
    form = f'<{element} lang="en">{{}}</{element}><{element} lang="ja">{{}}</{element}>'
    return Markup(form).format(text, other)  # noqa: S704 -- the element is one of ours
