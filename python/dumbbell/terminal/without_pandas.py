"""pyarrow without pandas, which it would load at its first conversion."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["leave_pandas_out"]


def leave_pandas_out() -> None:
    """Let pyarrow convert without pandas, whenever it is imported; `to_pandas` loads pandas."""
    if "pyarrow" in sys.modules:
        ask_for_pandas()
    else:
        sys.meta_path.insert(0, BehindPyarrow())


class BehindPyarrow:
    """An importer that lets pyarrow ask for pandas as soon as it is imported."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Find pyarrow, once; leave the rest to the other importers."""
        if fullname != "pyarrow":
            return None
        import importlib.util

        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute: Any = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                ask_for_pandas()

            vars(spec.loader)["exec_module"] = exec_module
        return spec


class NoPandas:
    """An importer that finds no pandas."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Refuse pandas; leave the rest to the other importers."""
        if fullname == "pandas":
            raise ImportError(fullname)


def ask_for_pandas() -> None:
    """Let pyarrow ask for pandas and find none; it asks once, at its first conversion."""
    import pyarrow as pa

    refusing = NoPandas()
    sys.meta_path.insert(0, refusing)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(refusing)
