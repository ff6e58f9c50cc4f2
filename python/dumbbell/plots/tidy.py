"""What figures are drawn from: a tidy table of values, each of a result, cell, seed and group."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from dumbbell.base.errors import ResultError, nearest
from dumbbell.figures.figure import FloatArray
from dumbbell.plots.time_grid import mean_at_each_sample
from dumbbell.sweeps import Axis, Cell

__all__ = ["Quantity", "Source", "Values", "names_of_groups", "quantity_of", "values_of"]


@dataclass(frozen=True)
class Quantity:
    """Something that is drawn.

    Attributes
    ----------
    name
        As the user writes it: ``goodput_bps``, ``rtt``, ``fct``.
    title, unit
        As an axis is labelled.
    over_time
        Whether it is a time series; else a run has one value, or one for each transfer.
    of_transfers
        Whether each transfer has a value.
    of_links
        Whether it is a link's or the run's, not the groups'.
    """

    name: str
    title: str
    unit: str
    over_time: bool = False
    of_transfers: bool = False
    of_links: bool = False

    @property
    def label(self) -> str:
        """Return it as an axis is labelled: ``RTT (ms)``."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


@dataclass(frozen=True, eq=False)
class Values:
    """What a group has of a quantity in one run.

    Attributes
    ----------
    source
        Place of its result among those that are drawn.
    cell, seed, group
        Whose; group 0 stands for the whole run, or a link.
    values
        One of a metric; those of the samples of all its flows, or of the transfers.
    time_s
        When each sample was taken; None for what is no time series.
    ended
        Which transfers were complete; None where all were.
    """

    source: int
    cell: int
    seed: int
    group: int
    values: FloatArray
    time_s: FloatArray | None = None
    ended: npt.NDArray[np.bool_] | None = None

    @property
    def over_time(self) -> tuple[FloatArray, FloatArray]:
        """When samples were taken, s, and the mean of its flows at each such time."""
        if self.time_s is None:
            return np.zeros(0), np.zeros(0)
        return mean_at_each_sample(self.time_s, self.values)

    @property
    def sample_s(self) -> float:
        """Usual time between two samples, s; 0 for what is no time series."""
        gaps = np.diff(self.over_time[0])
        return float(np.median(gaps)) if gaps.size else 0.0

    @property
    def mean(self) -> float:
        """Mean of its values; NaN without any."""
        known = self.values[np.isfinite(self.values)]
        return float(known.mean()) if known.size else float("nan")


#: Quantities of transfers, which programs do not report.
TRANSFER_TIMES = ("fct", "slowdown", "latency", "page-load-time")


class Source(Protocol):
    """A result that is drawn: a run, a sweep or a capture."""

    name: str

    @property
    def title(self) -> str:
        """What the user calls its only group; empty without."""

    @property
    def group_count(self) -> int:
        """How many groups it has."""

    @property
    def is_repeated(self) -> bool:
        """Whether a cell has several runs."""

    @property
    def axes(self) -> Sequence[Axis]:
        """Its axes with more than one value."""

    @property
    def cells(self) -> Sequence[Cell]:
        """Return every cell that it has."""

    @property
    def duration_s(self) -> float:
        """How long its longest run is."""

    @property
    def base_rtt_s(self) -> float:
        """The longest base RTT of its flows: the least bin of a rate."""

    @property
    def link_mbps(self) -> float | None:
        """The highest rate of the payload's link; None if that is not known, or changes."""

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        """What it can be drawn by."""

    @property
    def drawn_alone(self) -> Collection[str]:
        """Names of what is no quantity of it, but drawn of its first run: states of algorithms."""

    def values(self, name: str) -> Iterator[Values]:
        """Return the values of a quantity; `source` is 0."""

    @property
    def swept(self) -> Mapping[int, Axis]:
        """The axis that changes the CCA of each group whose axis does."""

    def algorithms(self, group: int) -> Sequence[str]:
        """Return the CCAs that an axis gives a group; one without a name where none does."""

    def algorithm(self, group: int, cell: int) -> str:
        """Return the one that it has in a cell."""

    def group_label(self, group: int, cell: int | None) -> str:
        """Return a group's name in a cell, or in all of them."""

    def look(self, group: int, cell: int | None) -> tuple[str, str]:
        """Return a group's colour and marker in a cell, or in all of them."""

    def capacity_mbps(self, bins: FloatArray, cell: int | None = None) -> FloatArray | None:
        """Return what the bottleneck can carry between times, s; None where that is constant."""


def quantity_of(sources: Sequence[Source], name: str) -> Quantity:
    """Return a quantity that every result has.

    Raises
    ------
    ResultError
        One does not have it.
    """
    for source in sources:
        known = source.quantities
        if name not in known:
            is_known = any(name in each.quantities for each in sources)
            if not is_known and any(name in each.drawn_alone for each in sources):
                raise ResultError(
                    f"{source.name}: `{name}` is a series of a run by itself; draw one run, "
                    "without `--kind`"
                )
            hint = (
                of_programs(name, known) or nearest(name, known) or f"; it has {', '.join(known)}"
            )
            raise ResultError(f"{source.name}: has no `{name}`{hint}")
    return sources[0].quantities[name]


def names_of_groups(source: Source) -> list[str]:
    """Return what the groups of a result are called, right in every cell."""
    return [source.group_label(group, None) for group in range(source.group_count)]


def of_programs(name: str, known: Collection[str]) -> str:
    """Return what to draw of programs instead of times of transfers; empty if that is not it."""
    usual = [each for each in ("measured", "run_time_us") if each in known]
    if name not in TRANSFER_TIMES or not usual:
        return ""
    metrics = " or ".join(f"`{each}`" for each in usual)
    return f": what programs transfer is not known; use {metrics}"


def values_of(sources: Sequence[Source], name: str) -> list[Values]:
    """Return the values of a quantity of all results.

    Raises
    ------
    ResultError
        One does not have it.
    """
    quantity_of(sources, name)
    return [
        Values(at, v.cell, v.seed, v.group, v.values, v.time_s, v.ended)
        for at, source in enumerate(sources)
        for v in source.values(name)
    ]
