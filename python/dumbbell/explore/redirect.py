"""A private file that leads a browser to an address: command lines are public on a machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["redirect_page"]

#: Browsers of snaps have a /tmp of their own, and read what is not hidden in the user's home.
SNAPS = Path("/snap/bin")
PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={url}">
<title>dumbbell</title>
"""


@contextmanager
def redirect_page(url: str) -> Iterator[str]:
    """Give the address of a page that leads to `url`, which only this user can read.

    The page is removed at the end.
    """
    with TemporaryDirectory(prefix="dumbbell-", dir=place_for_browsers()) as directory:
        path = Path(directory) / "explore.html"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(PAGE.format(url=escape(url)))
        yield path.as_uri()


def place_for_browsers() -> Path | None:
    """Return where every browser may read a file of the user's; None for the usual place."""
    if not SNAPS.is_dir():
        return None
    home = Path.home()
    return home if os.access(home, os.W_OK) else None
