"""The links of a result: their summaries, and their rows of the tables of their queues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dumbbell.base.errors import ResultError, nearest
from dumbbell.base.quantities.significant import significant

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BOTTLENECK", "STATISTICS", "LinkCounts", "index_of_link", "queue_rows", "with_links",
    "write_statistic",
]  # fmt: skip

#: The link of a dumbbell, and of results of versions that had one link without a name.
BOTTLENECK = "bottleneck"
#: Key of the queue discipline's own statistics; only where it has some.
STATISTICS = "statistics"


class LinkCounts(dict[str, Any]):
    """A link's counts, by the keys of `docs/format-run.md`."""

    @property
    def statistics(self) -> Mapping[str, int]:
        """The queue discipline's own statistics, by the names of ``tc -s``, with units."""
        found: Mapping[str, int] = self.get(STATISTICS, {})
        return found


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
    """Return a link's rows of the table `queue` or `queue_by_group`."""
    if "link" not in table.column_names:  # of an earlier version, which had one link
        return table
    chunks = table["link"].chunks
    if chunks and all(has_one_label(chunk, link) for chunk in chunks):
        return table
    import pyarrow.compute as pc  # which takes longer to load than a short run takes

    is_of_link = pc.equal(table["link"], link)
    return table if pc.all(is_of_link).as_py() in (True, None) else table.filter(is_of_link)


def has_one_label(labels: pa.Array, label: str) -> bool:
    """Return whether an array can have no other label."""
    import pyarrow as pa

    return bool(pa.types.is_dictionary(labels.type) and labels.dictionary.to_pylist() == [label])


def write_statistic(name: str, value: int) -> str:
    """Write a statistic with its unit: ``prob_ppb`` as a percentage, times in µs, ms or s."""
    if name.endswith("_ppb"):
        return f"{name.removesuffix('_ppb')} {significant(value / 1e7)} %"
    for suffix, in_ns in (("_ns", 1), ("_us", 1000)):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix)} {time_in_words(value * in_ns)}"
    for suffix, unit in (("_pkts", " packets"), ("_bytes", " bytes"), ("_bps", " bit/s")):
        if name.endswith(suffix):
            return f"{name.removesuffix(suffix)} {value:,}{unit}"
    return f"{name} {value:,}"


def time_in_words(time_ns: int) -> str:
    """Write a time with three digits, in the largest of µs, ms and s of which it is one or more."""
    if time_ns == 0:
        return "0 ms"
    for unit, unit_ns in (("s", 10**9), ("ms", 10**6)):
        # What would be rounded to 1000 of the smaller unit is one of this.
        if abs(time_ns) >= 0.9995 * unit_ns:
            return f"{significant(time_ns / unit_ns, spec=',')} {unit}"
    return f"{significant(time_ns / 1000, spec=',')} µs"
