"""Keep pandas from being loaded until a data frame is asked for: loading it takes long."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec

__all__ = ["leave_pandas_out"]


class NoPandas:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        """Refuse it; leave the others to those who find them."""
        if name == "pandas":
            raise ImportError(name)
        return None


def leave_pandas_out() -> None:
    """Let pyarrow convert without pandas.

    At its first conversion it asks, once, whether there is a pandas, and loads it. `to_pandas`
    does so all the same. Only for a process that is ours: what a program's own `pyarrow.array`
    makes of a Series would change.
    """
    import pyarrow as pa  # `dumbbell --help` does not wait for it

    sys.meta_path.insert(0, NoPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(NoPandas)
