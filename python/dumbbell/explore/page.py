"""The page's HTML: for the server, and with its runs inside for a file."""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

from dumbbell.explore.axis_sweep import METRIC, metrics_listed
from dumbbell.report import render_template
from dumbbell.report.chart import script_json

__all__ = ["policy_of", "render_page"]

#: Scripts that are run, not data.
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def render_page(grid: dict[str, Any] | None = None, language: str = "", title: str = "") -> str:
    """Return the page.

    Parameters
    ----------
    grid
        What `export.grid_of` computed; None: the page asks a server.
    language
        ``en`` or ``ja``: what it opens in; empty leaves it to the browser.
    title
        Of the page.
    """
    return render_template(
        "explore.html.j2",
        language,
        package="dumbbell.explore",
        grid=grid and script_json(grid),
        title=title,
        metrics=script_json({"all": metrics_listed(), "usual": METRIC}),
    )


def policy_of(page: str) -> str:
    """Return the content security policy of a page: its own scripts, and no other host."""
    digests = (hashlib.sha256(script.encode()).digest() for script in SCRIPT.findall(page))
    scripts = " ".join(f"'sha256-{base64.b64encode(each).decode()}'" for each in digests)
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; connect-src 'self'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
