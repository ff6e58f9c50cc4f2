"""What of the guide is generated, in docs/_generated: pages, and tables that pages include.

docs/conf.py calls it, so that every build of the guide has what is declared now. The figures of
elements take half a minute: `make docs` draws them first, and pages show those that are there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import element_pages  # these are next to this file
import metric_pages
from element_figures import FIGURES
from explore_pages import EXPLORED
from field_tables import field_tables
from parameter_tables import parameter_tables
from record_tables import record_tables
from score_tables import board_table

__all__ = ["generated", "write_generated"]

#: Directories of pages.
PAGES = (*element_pages.KINDS, "metrics")
BOARD = "ideal"
#: What takes long is drawn before, by `make docs`.
KEPT = (FIGURES.name, EXPLORED.name)


def generated() -> dict[str, str]:
    """Return every page and table, by its path in docs/_generated."""
    tables = {
        **element_pages.tables(),
        **field_tables(),
        **parameter_tables(),
        **record_tables(),
        "metrics": metric_pages.table(),
        f"board_{BOARD}": board_table(BOARD),
    }
    return {
        **element_pages.pages(),
        **metric_pages.pages(),
        **{f"tables/{name}.md": text for name, text in tables.items()},
    }


def write_generated(directory: Path) -> None:
    """Write them, and remove all else but figures and pages with sliders."""
    files = generated()
    for old in directory.glob("*"):
        if old.is_dir() and old.name not in KEPT:
            shutil.rmtree(old)
        elif old.is_file():
            old.unlink()
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")
