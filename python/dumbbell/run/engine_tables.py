"""The tables of an engine's output, each for pyarrow when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dumbbell import _core

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EngineTables"]


class EngineTables(Mapping[str, "pa.Table"]):
    """The tables of an engine's output, without a copy.

    Importing pyarrow takes longer than a short run, of which a summary is all that is printed.

    Parameters
    ----------
    output
        The engine's.
    """

    def __init__(self, output: _core.Output) -> None:
        self._output = output
        self._names = output.table_names()
        self._tables: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._tables:
            import pyarrow as pa

            # Not `pa.table`, which would load pandas.
            batch = pa.record_batch(self._output.table(name))
            self._tables[name] = pa.Table.from_batches([batch])
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied and pickled as tables."""
        return dict, (dict(self),)
