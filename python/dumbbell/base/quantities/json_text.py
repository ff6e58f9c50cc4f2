"""Documents as JSON text."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["json_text"]


def json_text(document: Any) -> str:
    """Return a document as JSON for people and programs; a number that is not finite is refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
