"""Files that Arrow opens: of text it takes UTF-8 alone, and a file's name may have any bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["arrow_file"]


def arrow_file(path: Path, mode: Literal["rb", "wb"] = "rb") -> pa.OSFile:
    """Open a file for Arrow to read or write.

    Raises
    ------
    OSError
        It cannot be opened.
    """
    import pyarrow as pa  # slow to import

    return pa.OSFile(os.fsencode(path), mode)
