"""Packages that only an extra of dumbbell installs."""

from __future__ import annotations

import importlib
from typing import Any

from dumbbell.base.errors import MissingPackageError

__all__ = ["optional"]


def optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module that an extra installs.

    Parameters
    ----------
    module
        Its name.
    extra
        The extra, as in `pip install 'dumbbell[extra]'`.
    purpose
        What needs it: the subject of the error message.

    Raises
    ------
    MissingPackageError
        It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingPackageError(
            f"{purpose} needs the package `{package}`; run `pip install 'dumbbell[{extra}]'`"
        ) from None
