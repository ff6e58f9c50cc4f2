"""What can go wrong, for the user: one line that names the thing, the value and the remedy."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "Cancelled",
    "CaptureError",
    "CongestionControlError",
    "DumbbellError",
    "EngineError",
    "GateError",
    "KernelError",
    "MissingPackageError",
    "PrivilegeError",
    "ResultError",
    "ScenarioError",
    "check_directory",
    "nearest",
    "os_reason",
]

#: Most names that a message lists.
MAX_KNOWN = 24
#: Of more, this many are named.
MAX_SHOWN = 8


class DumbbellError(Exception):
    """Base of every error that the user can fix."""


class ScenarioError(DumbbellError, ValueError):
    """The scenario cannot be run as written.

    Parameters
    ----------
    message
        One line for the user.
    key
        Word of the scenario file that is at fault; a file's reader adds its line.
    group, link
        Index of the group or link it belongs to; None for neither, the scenario's own.
    """

    def __init__(
        self, message: str, *, key: str = "", group: int | None = None, link: int | None = None
    ) -> None:
        super().__init__(message)
        self.key = key
        self.group = group
        self.link = link


class EngineError(DumbbellError, ValueError):
    """The engine refuses: a congestion control algorithm that does not compile, for example."""


class CongestionControlError(EngineError):
    """A congestion control algorithm crashed, did not return, or did what no TCP can go on with.

    Parameters
    ----------
    message
        One line for the user: file, function and flow.
    call
        The call that did it (`isolation.crash.Call`), if one is known.
    """

    def __init__(self, message: str, call: object | None = None) -> None:
        super().__init__(message)
        self.call = call


class MissingPackageError(DumbbellError, ImportError):
    """A package is not installed that an extra of dumbbell would install."""


class KernelError(EngineError):
    """A kernel that runs in virtual time cannot be built, or there is none."""


class PrivilegeError(EngineError):
    """The engine needs a privilege that a user namespace would give."""


class ResultError(DumbbellError, ValueError):
    """A run cannot be read, written, or has not what was asked of it."""


class GateError(DumbbellError, ValueError):
    """A suite or a baseline cannot be read as written, or does not fit what is asked of it.

    Parameters
    ----------
    message
        One line for the user.
    key
        Word of the suite's file that is at fault; the file's reader adds its line.
    case, group, link
        Index of the case it belongs to, and of the group or link in it; None for none.
    category
        Of a board: index of the category that the case is in.
    """

    def __init__(
        self,
        message: str,
        *,
        key: str = "",
        case: int | None = None,
        group: int | None = None,
        link: int | None = None,
        category: int | None = None,
    ) -> None:
        super().__init__(message)
        self.key = key
        self.category = category
        self.case = case
        self.group = group
        self.link = link


class CaptureError(DumbbellError, ValueError):
    """A capture cannot be read, or has not what was asked of it."""


class Cancelled(DumbbellError):
    """The run was stopped through its `Control`."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean `cubic`?`` for ``cubik``, or the known words when none is near.

    Of many known words, those that contain this one, or are most like it.
    """
    known = list(known)
    # No word is that long, and the search takes its time with one that is.
    word = word[:100].lower()
    match = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if match:
        return f"; did you mean `{match[0]}`?"
    if not known:
        return ""
    shown = known
    if len(known) > MAX_KNOWN:
        like = difflib.get_close_matches(word, known, n=MAX_SHOWN, cutoff=0.0)
        shown = ([name for name in known if word and word in name.lower()] or like)[:MAX_SHOWN]
    more = [f"{len(known) - len(shown)} more"] if len(shown) < len(known) else []
    return "; known: " + ", ".join([*(f"`{name}`" for name in shown), *more])


def check_directory(directory: Path) -> None:
    """Refuse a directory to read from that is none, before its contents are blamed.

    Raises
    ------
    ResultError
        It does not exist, or is something else.
    """
    try:
        if stat.S_ISDIR(directory.stat().st_mode):
            return
        reason = "is not a directory"
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        reason = "does not exist" if is_missing else os_reason(error)
    raise ResultError(f"{directory}: {reason}; name one that a command wrote with --out")


def os_reason(error: OSError) -> str:
    """Return what the operating system said, in a line: ``no space left on device``."""
    # By the number, because Arrow's errors have sentences of their own around it.
    text = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    return " ".join(text.split()).lower()
