"""Writes the notebooks of the course, in English and Japanese, from one source for each lab.

``python tools/course_notebooks.py`` writes course/lab1/lab1.en.ipynb and so on from
course/teacher/sources/lab1.md. In a source, a text is in English, then, after ``<!-- ja -->``, in
Japanese; ``<!-- en -->`` begins the next one. Blocks that begin with ```` ```python ```` are cells
in both.

``python tools/course_notebooks.py --solved DIR`` writes them with the model answers of
course/teacher/answers instead, into a copy of the course that it makes in DIR; ``--figures`` runs
those and keeps their figures for the teacher.
"""

from __future__ import annotations

import base64
import json
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["COURSE", "LABS", "LANGUAGES", "model_answers", "notebook", "write_notebooks"]

COURSE = Path(__file__).resolve().parents[1] / "course"
LABS = tuple(f"lab{number}" for number in range(1, 7))
LANGUAGES = ("en", "ja")
CODE = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
OTHER_LANGUAGE, NEXT_TEXT = "<!-- ja -->", "<!-- en -->"
#: How a cell of answers begins.
MARK = "# answer:"
#: What a student's directory has not.
TEACHERS = ("teacher", "__pycache__", ".*", "captures", "mine")
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(lab: str, language: str, answers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a lab's notebook in a language; with answers, by cells' first lines, if given."""
    source = (COURSE / "teacher" / "sources" / f"{lab}.md").read_text(encoding="utf-8")
    cells = []
    for at, block in enumerate(CODE.split(source)):
        if at % 2:
            first = block.partition("\n")[0]
            cells.append(("code", (answers or {}).get(first, block)))
            continue
        for text in block.split(NEXT_TEXT):
            both = text.split(OTHER_LANGUAGE)
            if text.strip() and len(both) != len(LANGUAGES):
                raise ValueError(f"{lab}: a text is not in both languages: {text.strip()[:60]}")
            if text.strip():
                cells.append(("markdown", both[LANGUAGES.index(language)].strip()))
    return {
        "cells": [cell(at, kind, text) for at, (kind, text) in enumerate(cells)],
        "metadata": METADATA,
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def cell(at: int, kind: str, text: str) -> dict[str, Any]:
    """Return a cell of a notebook, which was not run."""
    found: dict[str, Any] = {"cell_type": kind, "id": f"c{at:02d}", "metadata": {}}
    if kind == "code":
        found |= {"execution_count": None, "outputs": []}
    return {**found, "source": text.splitlines(keepends=True)}


def model_answers(lab: str) -> dict[str, str]:
    """Return the cells of a lab's model answers, by their first lines."""
    text = (COURSE / "teacher" / "answers" / f"{lab}.py").read_text(encoding="utf-8")
    blocks = re.split(rf"^(?={MARK})", text, flags=re.MULTILINE)[1:]
    return {block.partition("\n")[0]: block.strip() for block in blocks}


def write_notebooks(
    course: Path = COURSE, languages: tuple[str, ...] = LANGUAGES, *, is_solved: bool = False
) -> list[Path]:
    """Write the notebooks into a course's directory, and return their paths."""
    paths = []
    for lab in LABS:
        answers = model_answers(lab) if is_solved else None
        for language in languages:
            path = course / lab / f"{lab}.{language}.ipynb"
            text = json.dumps(notebook(lab, language, answers), indent=1, ensure_ascii=False)
            path.write_text(text + "\n", encoding="utf-8")
            paths.append(path)
    return paths


def write_solved(directory: Path, language: str = "en") -> Path:
    """Write a copy of what students get, with the model answers, and return its path."""
    course = directory / "course"
    shutil.copytree(COURSE, course, ignore=shutil.ignore_patterns(*TEACHERS, "*.ipynb"))
    write_notebooks(course, (language,), is_solved=True)
    mine = course / "lab6" / "mine"
    mine.mkdir()
    shutil.copy(COURSE / "teacher" / "answers" / "mine.bpf.c", mine)
    return course


def write_figures() -> list[Path]:
    """Run the notebooks with the model answers, and return the paths of their figures."""
    import nbformat
    from nbclient import NotebookClient

    paths: list[Path] = []
    with TemporaryDirectory() as directory:
        course = write_solved(Path(directory))
        for lab in LABS:
            solved = nbformat.read(course / lab / f"{lab}.en.ipynb", as_version=4)  # type: ignore[no-untyped-call]
            place = {"metadata": {"path": course / lab}}
            NotebookClient(solved, timeout=None, kernel_name="python3", resources=place).execute()
            outputs = [output for each in solved.cells for output in each.get("outputs", [])]
            drawn = [each.get("data", {}).get("image/png") for each in outputs]
            for number, data in enumerate(filter(None, drawn), start=1):
                paths.append(COURSE / "teacher" / "figures" / f"{lab}-{number}.png")
                paths[-1].write_bytes(base64.b64decode(data))
    return paths


if __name__ == "__main__":
    if sys.argv[1:2] == ["--solved"]:
        print(write_solved(Path(sys.argv[2]), *sys.argv[3:]))
    elif sys.argv[1:] == ["--figures"]:
        print(*write_figures(), sep="\n")
    else:
        print(*write_notebooks(), sep="\n")
