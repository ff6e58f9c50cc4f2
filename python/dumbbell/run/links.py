"""The links of a result: their summaries, and their rows of the table `queue`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dumbbell.errors import ResultError, nearest

__all__ = [
    "BOTTLENECK", "STATISTICS", "LinkCounts", "index_of_link", "queue_rows", "with_links",
    "write_statistic",
]  # fmt: skip

#: The link of a dumbbell, and of results of versions that had one link without a name.
BOTTLENECK = "bottleneck"
#: Key of what a link's queue discipline tells of itself; only where it does.
STATISTICS = "statistics"


class LinkCounts(dict[str, Any]):
    """A link's counts, by the keys of `docs/format-run.md`."""

    @property
    def statistics(self) -> Mapping[str, int]:
        """What its queue discipline tells of itself, by the names of ``tc -s``, with units."""
        told: Mapping[str, int] = self.get(STATISTICS, {})
        return told


def with_links(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Return a summary with `links`, which a result of an earlier version does not have."""
    if "links" in summary:
        return dict(summary)
    link = {"name": BOTTLENECK, **summary["bottleneck"]}
    return {**summary, "links": [link], "bottleneck": link}


def index_of_link(links: Sequence[Mapping[str, Any]], name: str) -> int:
    """Return the place of a link in a summary's `links`.

    Raises
    ------
    ResultError
        There is no link of this name.
    """
    names = [link["name"] for link in links]
    if name not in names:
        raise ResultError(f"the run has no link `{name}`{nearest(name, names)}")
    return names.index(name)


def queue_rows(table: pa.Table, link: str) -> pa.Table:
    """Return a link's rows of the table `queue`."""
    if "link" not in table.column_names:  # of an earlier version, which had one link
        return table
    is_of_link = pc.equal(table["link"], link)
    return table if pc.all(is_of_link).as_py() in (True, None) else table.filter(is_of_link)


def write_statistic(name: str, value: int) -> str:
    """Write a statistic with its unit: ``prob_ppb`` as a percentage, times in ms."""
    for suffix, unit, scale in (("_ppb", " %", 1e-7), ("_ns", " ms", 1e-6), ("_us", " ms", 1e-3)):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix)} {value * scale:.3g}{unit}"
    for suffix, unit in (("_pkts", " packets"), ("_bytes", " bytes"), ("_bps", " bit/s")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix)} {value:,}{unit}"
    return f"{name} {value:,}"
