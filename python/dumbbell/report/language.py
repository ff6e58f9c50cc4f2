"""Pages in two languages: each text in English and in Japanese."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from markupsafe import Markup, escape

__all__ = ["bilingual", "japanese", "marked", "page_text"]

#: Code in a text.
CODE = re.compile(r"`([^`]+)`")
#: A figure's text: what is translated, and its unit, or what it is of.
PARTS = re.compile(r"(.*?)($| \(| · |, )(.*)", re.DOTALL)


@cache
def japanese() -> Mapping[str, str]:
    """Return the Japanese of every English text that has one."""
    text = resources.files("dumbbell.report").joinpath("japanese.toml").read_text(encoding="utf-8")
    return {entry["en"]: entry["ja"] for entry in tomllib.loads(text)["text"]}


def both(text: str) -> list[tuple[str, str]]:
    """Return a text by language; under no language if it has no Japanese."""
    other = japanese().get(text)
    return [("", text)] if other is None else [("en", text), ("ja", other)]


def bilingual(text: str) -> Markup:
    """Return a text in both languages, of which the page shows one; in English if it has no other.

    Texts with measured numbers are made with the page and stay English.
    """
    return Markup("").join(
        Markup('<span lang="{}">{}</span>').format(language, marked(words))
        if language
        else marked(words)
        for language, words in both(text)
    )


def page_text(text: str) -> str | dict[str, str]:
    """Return a figure's text by language; what follows a comma or dot is not translated."""
    known = japanese()
    if text in known:
        return {"en": text, "ja": known[text]}
    parts = PARTS.fullmatch(text)
    head, mark, tail = parts.groups() if parts else (text, "", "")
    unit = tail.removesuffix(")")
    other = known.get(head, head) + mark + tail.replace(unit, known.get(unit, unit))
    return text if other == text else {"en": text, "ja": other}


def marked(text: str) -> Markup:
    """Return a text with what is between backticks as code."""
    parts = CODE.split(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(parts)
    )
