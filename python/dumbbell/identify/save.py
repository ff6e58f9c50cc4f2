"""What was identified, on disk: a document and the pictures."""

from __future__ import annotations

from pathlib import Path

from dumbbell.base.quantities.json_text import json_text
from dumbbell.base.writing import adding
from dumbbell.identify.identification import Identification
from dumbbell.identify.picture import draw_identification

__all__ = ["save_identification"]


def save_identification(found: Identification, directory: str | Path) -> list[Path]:
    """Write `identify.json`, and the pictures if matplotlib is installed.

    Raises
    ------
    ResultError
        The directory cannot be written.
    """
    from dumbbell.figures.frame import save_all

    directory = Path(directory)
    with adding(directory) as place_for:
        text = json_text(found.to_dict()) + "\n"
        place_for("identify.json").write_text(text, encoding="utf-8")
    return [directory / "identify.json", *save_all(draw_identification(found), directory)]
