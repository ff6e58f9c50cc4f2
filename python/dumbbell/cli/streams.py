"""The standard streams: there, and able to take what is printed."""

from __future__ import annotations

import io
import os
import sys

__all__ = ["drop_unwritten", "prepare_streams"]


def prepare_streams() -> None:
    """Open what the caller closed, and escape what a stream cannot encode.

    With `>&-` the next file that is opened would become stdout, and everything printed would go
    into it.
    """
    for number, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            # Python's own files are above; stdout that cannot be written is reported as such.
            os.dup2(os.open(os.devnull, flags), number)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", buffering=1)  # noqa: SIM115
    # File names need not be UTF-8, nor need the terminal's encoding have every character.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def drop_unwritten() -> None:
    """Let go of what stdout does not take; Python would complain of it again when it leaves."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
