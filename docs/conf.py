"""The user guide: `make docs` builds it from the Markdown of this directory."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from metric_pages import write_metric_pages  # noqa: E402
from parameter_tables import write_parameter_tables  # noqa: E402

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
# The tables that pages include are no pages; a metric's is one.
exclude_patterns = ["_build", "_generated/*.md"]
html_theme = "furo"
html_title = f"dumbbell {version}"
html_show_copyright = False
# Furo's own fonts are the system's: the guide reads without a network.
html_static_path: list[str] = []
autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
# Links that leave docs/, to files of the repository, are no pages.
suppress_warnings = ["myst.xref_missing"]

write_parameter_tables(HERE / "_generated")
write_metric_pages(HERE / "_generated" / "metrics")
