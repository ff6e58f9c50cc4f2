"""The user guide: `make docs` builds it from the Markdown of this directory."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))

from explore_pages import EXPLORED  # noqa: E402
from guide_pages import PAGES, write_generated  # noqa: E402
from sphinx.application import Sphinx  # noqa: E402

import dumbbell  # noqa: E402

project = "dumbbell"
author = "the developers of dumbbell"
release = version = dumbbell.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
myst_enable_extensions = ["fieldlist"]
myst_heading_anchors = 4
# The notebooks are run by their test, and shown as they were committed: with their figures.
nb_execution_mode = "off"
# Pages include these tables; teachers' notes are not for students.
exclude_patterns = ["_build", "_generated/tables", "course/teacher"]
html_theme = "furo"
html_title = f"dumbbell {version}"
html_show_copyright = False
# Furo's own fonts are the system's: the guide reads without a network.
html_static_path: list[str] = []
# Pages with sliders, which `make docs` writes.
EXPLORED.mkdir(parents=True, exist_ok=True)
html_extra_path = [str(EXPLORED)]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
# Links that leave docs/, to files of the repository, are no pages.
suppress_warnings = ["myst.xref_missing"]

write_generated(HERE / "_generated")


def setup(app: Sphinx) -> None:
    """Keep the pages of elements and metrics out of the sidebar: their index leads to them."""
    app.connect("doctree-read", mark_listed_pages)


def mark_listed_pages(app: Sphinx, _doctree: object) -> None:
    """Mark a generated page as one that no table of contents has."""
    env = app.env
    if env.docname.startswith(tuple(f"_generated/{kind}/" for kind in PAGES)):
        env.metadata[env.docname]["orphan"] = "true"
