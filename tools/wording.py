"""Count wording that prose and docs must not have, and fail where there is more of it than allowed.

``python tools/wording.py`` prints each count with its limit; ``--list NAME`` prints the places.
A limit only ever falls: lower it here when a count has fallen. CONTRIBUTING.md has the rules.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: What is checked, as git knows it. Notes are records of their day; tests quote what users write.
CHECKED = ("*.md", "cc", "crates/*.rs", "docs/*.md", "python/*.py", "tools/*.py")
EXEMPT = ("docs/notes/", "licenses/", "tests/", "tools/wording.py")

#: Wording that is found by its text, and how often it may still occur.
PATTERNS = {
    "count noun": (
        r"\bcongestion controls\b|\b(?:an?|each|every|another|one) congestion control\b(?! algo)"
    ),
    "so many": r"\bso (?:many|much)\b",
    "nobody": r"\bnobody\b",
    "tells": r"\b(?:tells|told)\b",
    "whatever": r"\b(?:what|who)ever\b",
    "anew": r"\banew\b",
    "mended": r"\bmend(?:s|ed)?\b",
    "no evidence": r"\bfor sure\b|\bis no evidence\b",
    "old command": (
        r"\bdumbbell (?:queues|metrics|traffic|tcp|set|enter|interop-sim|export|verify|ablate)\b"
    ),
}
LIMITS = {
    "count noun": 30,
    "so many": 6,
    "nobody": 3,
    "tells": 11,
    "whatever": 10,
    "anew": 1,
    "mended": 0,
    "no evidence": 0,
    "opening": 18,
    "two words": 37,
}
OPENING = re.compile(r"(?:So|As|Of|By|Which|Whose)\b")
RUST_DOC = re.compile(r"^[ \t]*(//[/!])[^/\n].*(?:\n[ \t]*\1.*)*", re.MULTILINE)

Found = Iterator[tuple[str, int, str]]


def docs(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the documentation in a source file, each with its line."""
    if path.endswith(".rs"):
        for match in RUST_DOC.finditer(text):
            doc = re.sub(r"^[ \t]*//[/!] ?", "", match[0], flags=re.MULTILINE)
            yield text.count("\n", 0, match.start()) + 1, doc
    elif path.endswith(".py"):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                described = ast.get_docstring(node)
                if described:
                    yield node.body[0].lineno, described


def problems(path: str, text: str) -> Found:
    """Yield what a file has of each wording: its name, the line and the words."""
    prose = " ".join(text.split("\n")) if path.endswith(".md") else text
    for name, pattern in PATTERNS.items():
        for match in re.finditer(pattern, prose, re.IGNORECASE):
            yield name, text.count("\n", 0, match.start()) + 1, match[0]
    for line, doc in docs(path, text):
        words = doc.split()
        if OPENING.match(doc):
            yield "opening", line, " ".join(words[:6])
        if len(words) <= 2 and "#" not in doc:
            yield "two words", line, doc


def all_problems() -> Iterator[tuple[str, str]]:
    """Yield the name of each wording that is found, and where."""
    listed = subprocess.run(  # noqa: S603
        ["git", "ls-files", "--", *CHECKED],  # noqa: S607
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    for path in listed.stdout.splitlines():
        if path.startswith(EXEMPT) or "/tests/" in path or not (ROOT / path).is_file():
            continue
        for name, line, words in problems(path, (ROOT / path).read_text(encoding="utf-8")):
            yield name, f"{path}:{line}: {words}"


def main(arguments: list[str]) -> int:
    """Print the counts, or the places of one wording; return the exit code."""
    found = list(all_problems())
    if arguments[:1] == ["--list"]:
        print("\n".join(place for name, place in found if name in arguments[1:]))
        return 0
    counts = {name: sum(each == name for each, _ in found) for name in LIMITS}
    for name, limit in LIMITS.items():
        if counts[name] != limit:
            advice = "reword" if counts[name] > limit else "lower the limit in tools/wording.py"
            print(f"{name}: {counts[name]}, allowed {limit}: {advice}")
    return int(any(counts[name] > limit for name, limit in LIMITS.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
