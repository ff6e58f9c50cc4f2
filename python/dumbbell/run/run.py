"""One run: read it, save it, load it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dumbbell.base.errors import (
    ResultError,
    ScenarioError,
)
from dumbbell.base.quantities.json_text import json_text
from dumbbell.congestion_control import (
    RecordedCongestionControl,
    Series,
    congestion_controls,
)
from dumbbell.congestion_control.recorded import (
    SourceReference,
    declared_of,
)
from dumbbell.congestion_control.source_store import StoredSources, write_sources
from dumbbell.congestion_control.sources import Sources
from dumbbell.run import directory as run_directory
from dumbbell.run.columns import BY_GROUP
from dumbbell.run.connections import connections_of
from dumbbell.run.directions import has_both_ways, sent_nothing
from dumbbell.run.document import check_document, damaged
from dumbbell.run.engine import KERNEL
from dumbbell.run.groups import GroupRecord, group_metrics
from dumbbell.run.links import LinkCounts, index_of_link, queue_rows, with_links
from dumbbell.run.programs import PROGRAMS, TIME_IS_MEASURED
from dumbbell.run.transfers import has_any_transfer, transfers_of
from dumbbell.run.verdict import Verdict, evaluate
from dumbbell.scenario import Scenario
from dumbbell.scenario.group_labels import plain_labels
from dumbbell.statistics import jain

if TYPE_CHECKING:
    import pyarrow as pa

    from dumbbell.figures.canvas import Canvas
    from dumbbell.records.rows import EmulationRecord, FlowRecord

__all__ = ["SCHEMA_VERSION", "Run"]

#: Version of `Run.to_dict`, `--json` and `run.json`; docs/format-run.md describes it.
SCHEMA_VERSION = 1

#: Keys of a group in `Run.to_dict` that the engine reports about its congestion control algorithm.
OF_CONGESTION_CONTROL = (
    "group", "cc", "build", "params", "needs_ecn", "declared", "source",
)  # fmt: skip
#: Keys of `Run.to_dict` that only some runs have: those of foreign code, with a limited memory, of
#: programs.
OF_SOME = ("sandbox", "tcp_mem_pressure_count", PROGRAMS, TIME_IS_MEASURED)


class Run:
    """A run's summary and time series.

    Parameters
    ----------
    scenario
        The scenario that ran.
    summary
        The engine's counts; `docs/format-run.md` has the keys.
    tables
        Time series by name: ``flows``, ``queue``, ``queue_by_group`` and ``state-<group>-<cc>``;
        and ``transfers``.
    capture
        The pcapng file that was written, if one was.
    sources
        What its congestion control algorithms were built from, by the digest that `summary` has.
    """

    def __init__(
        self,
        scenario: Scenario,
        summary: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        capture: Path | None = None,
        sources: Mapping[str, Sources] | None = None,
    ) -> None:
        self.scenario = scenario
        self.summary = summary
        self.tables = tables
        self.capture = capture
        # Not `or`, which would read those of a directory to count them.
        self.sources: Mapping[str, Sources] = {} if sources is None else sources

    def __repr__(self) -> str:
        labels = zip(self.scenario.groups, plain_labels(self.scenario), strict=True)
        groups = " + ".join(f"{group.flows} {label}" for group, label in labels)
        kernel = ", kernel" if self.engine == KERNEL else ""
        return f"<Run {groups}, {self.scenario.time}{kernel}, {self.verdict.status}>"

    @property
    def engine(self) -> str:
        """The engine that ran it: ``simulator`` or ``kernel``."""
        engine: str = self.summary["engine"]
        return engine

    @property
    def emulation(self) -> EmulationRecord | None:
        """How well the kernel engine kept time; None in the simulator."""
        return self.summary.get("emulation")

    @property
    def flows(self) -> pa.Table:
        """Time series of every flow: cwnd, inflight, RTT, rates; one row per sample and flow.

        Raises
        ------
        ResultError
            The run recorded no time series; the same holds for `queue` and `state`.
        """
        return self._series("flows")

    @property
    def queue(self) -> pa.Table:
        """Time series of the bottleneck's queue: backlog, drops, sojourn."""
        return self.queue_of(self.summary["bottleneck"]["name"])

    @property
    def queues(self) -> pa.Table:
        """Time series of every link's queue; the column `link` names the link."""
        return self._series("queue")

    @property
    def queue_by_group(self) -> pa.Table:
        """Time series of what waits of each group in each link's queue.

        Raises
        ------
        ResultError
            The table is not there: the run has one group, recorded no time series, or is of a
            version before November 2026.
        """
        if BY_GROUP not in self.tables:
            raise ResultError(
                f"the run has no table `{BY_GROUP}`: only runs of several groups with time series"
            )
        return self.tables[BY_GROUP]

    def queue_of(self, link: str) -> pa.Table:
        """Time series of a link's queue.

        Parameters
        ----------
        link
            Its name.

        Raises
        ------
        ResultError
            There is no such link, or the run recorded no time series.
        """
        self.link(link)
        return queue_rows(self.queues, link)

    @property
    def transfers(self) -> pa.Table:
        """Every transfer that has an end: flows, requests, pages, chunks of video, bursts.

        A row each, with its group, flow, connection, kind, size, start and end; the end is null
        where the run ended before. Flows with a size are transfers too.

        Raises
        ------
        ResultError
            The table is not there.
        """
        table = transfers_of(self)
        if table is None:
            raise ResultError("the run has no table `transfers`; run its scenario again")
        return table

    @property
    def connections(self) -> pa.Table:
        """Every connection of programs, in the order of their first packets.

        A row each, with its group, protocol, addresses, packets and bytes from the server (`down`)
        and from the client (`up`), what was dropped and marked of them, and when the first and the
        last packet came.

        Raises
        ------
        ResultError
            No programs ran.
        """
        table = connections_of(self)
        if table is None:
            raise ResultError("the run has no table `connections`; only runs of programs have it")
        return table

    @cached_property
    def links(self) -> Sequence[LinkCounts]:
        """Each link's counts, in the scenario's order; `docs/format-run.md` has the keys."""
        places = {link.name: place for place, link in enumerate(self.scenario.links)}
        links = map(LinkCounts, self.summary["links"])
        return sorted(links, key=lambda link: places[link["name"]])

    @property
    def bottleneck(self) -> LinkCounts:
        """The counts of the bottleneck, the link with the largest utilisation."""
        return self.link(self.summary["bottleneck"]["name"])

    def link(self, name: str) -> LinkCounts:
        """Return a link's counts, and as `statistics` the queue discipline's own.

        Raises
        ------
        ResultError
            There is no such link.
        """
        return self.links[index_of_link(self.links, name)]

    def _series(self, name: str) -> pa.Table:
        self._check_sampled()
        try:
            return self.tables[name]
        except KeyError:
            raise ResultError(
                f"the run has no table `{name}`; run its scenario again to record it"
            ) from None

    def _check_sampled(self) -> None:
        if self.scenario.sample == 0:
            raise ResultError(
                "the run recorded no time series; run it with a sample interval, like `10ms`"
            )

    def state(self, group: int) -> pa.Table:
        """Time series of the congestion control algorithm's own state.

        Parameters
        ----------
        group
            Index of the group.

        Raises
        ------
        KeyError
            Its congestion control algorithm records no state, or the kernel let none be read.
        """
        self._check_sampled()
        for name in self.tables:
            if name.startswith(f"state-{group}-"):
                return self.tables[name]
        why = "; the kernel let none be read: see `dumbbell doctor`"
        raise KeyError(f"group {group} has no state series{why if self.lacks_state(group) else ''}")

    def lacks_state(self, group: int) -> bool:
        """Whether the kernel let nothing be read of the state that a group's algorithm declares."""
        chosen = self.scenario.groups[group]
        if self.engine != KERNEL or chosen.client is not None or chosen.cc.is_kernels_own:
            return False
        is_there = any(name.startswith(f"state-{group}-") for name in self.tables)
        return bool(self.series(group)) and not is_there

    def series(self, group: int) -> tuple[Series, ...]:
        """Return the state series that a group's congestion control declared when it ran."""
        declared = declared_of(self.summary["congestion_controls"][group])
        if declared is None:  # a result of an earlier version
            known = congestion_controls().get(self.scenario.groups[group].cc.name)
            return () if known is None else known.series
        return declared.series

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the results are trustworthy."""
        return evaluate(self.scenario, self.summary)

    @property
    def jain(self) -> float:
        """Jain's fairness index of all flows' goodput, each over its own time.

        Programs that sent nothing do not count.
        """
        flows = self.summary["flows"]
        return jain(
            [flow["goodput_bps"] for flow in flows if not sent_nothing(flow, self.scenario)]
        )

    @cached_property
    def groups(self) -> list[GroupRecord]:
        """Each group's goodput, share, RTT and counts, in the scenario's order.

        `run.groups.group_metrics` says over which time each rate is. Groups with transfers have
        these by kind.
        """
        total_bytes = sum(flow["received_bytes"] for flow in self.summary["flows"])
        both_ways = has_both_ways(self)
        groups = []
        transfers = []
        if has_any_transfer(self):  # what reads them waits for numpy and pyarrow
            from dumbbell.run.group_transfers import group_transfers, transfer_summaries

            transfers = [transfer_summaries(each) for each in group_transfers(self)]
        by_group: dict[int, list[FlowRecord]] = {}
        for flow in self.summary["flows"]:
            by_group.setdefault(flow["group"], []).append(flow)
        for loaded in self.summary["congestion_controls"]:
            flows = by_group.get(loaded["group"], [])
            is_program = self.scenario.groups[loaded["group"]].client is not None
            metrics = group_metrics(flows, total_bytes, counts_both_ways=is_program)
            summaries = transfers[loaded["group"]] if transfers else []
            with_transfers = {"transfers": summaries} if summaries else {}
            if both_ways:  # of two links, which `directions` has
                metrics["share"] = None
            groups.append({**loaded, "flows": len(flows), **metrics, **with_transfers})
        return cast("list[GroupRecord]", groups)

    def plot(self, *series: str, size: str = "2col") -> Canvas:
        """Draw the run over time, for a notebook.

        Parameters
        ----------
        series
            ``goodput``, ``cwnd``, ``inflight``, ``rtt``, ``queue``, ``sojourn`` or a state series
            of its congestion control algorithms; by default goodput, cwnd, RTT and queue, as far
            as it has them.
        size
            ``1col`` or ``2col``.

        Returns
        -------
        dumbbell.figures.canvas.Canvas
            A matplotlib figure.
        """
        from dumbbell.figures.frame import drawn
        from dumbbell.plots.run_figures import draw_series, usual_series

        return drawn(draw_series(self, series or usual_series(self)), size)

    def _repr_html_(self) -> str:
        from dumbbell.base.quantities.html_table import html_table

        rows = [
            (
                label,
                group["flows"],
                f"{group['goodput_bps'] / 1e6:.2f}",
                "–" if (share := group["share"]) is None else f"{100 * share:.1f}",
                f"{group['rtt_mean_us'] / 1e3:.1f}",
            )
            for label, group in zip(self.scenario.group_labels, self.groups, strict=True)
        ]
        columns = ("group", "flows", "goodput, Mbit/s", "share, %", "mean RTT, ms")
        return html_table(repr(self).strip("<>"), columns, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as `--json` prints it; docs/format-run.md describes it."""
        return {
            "schema_version": SCHEMA_VERSION,
            "scenario": self.scenario.to_dict(),
            **self.outcome(),
        }

    def outcome(self) -> dict[str, Any]:
        """Return `to_dict` without its first two keys: what came of the scenario."""
        return {
            "engine": self.engine,
            "engine_version": self.summary["engine_version"],
            "engine_build": self.summary.get("engine_build"),
            "seed": self.summary["seed"],
            "duration_ns": self.summary["duration_ns"],
            "verdict": self.verdict.to_dict(),
            "groups": self.groups,
            "flows": self.summary["flows"],
            "links": self.links,
            "bottleneck": self.summary["bottleneck"],
            "jain": self.jain,
            "emulation": self.emulation,
        } | {key: self.summary[key] for key in OF_SOME if key in self.summary}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json_text(self.to_dict())

    def kept_sources(self) -> list[Sources]:
        """Return the sources of its congestion control algorithms, as far as they are known."""
        groups = self.summary["congestion_controls"]
        references = (SourceReference.from_dict(group.get("source")) for group in groups)
        digests = dict.fromkeys(each.digest for each in references if each is not None)
        return [self.sources[digest] for digest in digests if digest in self.sources]

    def save(
        self, directory: str | Path, *, texts: bool = True, sources_in: Path | None = None
    ) -> Path:
        """Write the run, with its capture if it has one, to a directory, completely or not at all.

        Parameters
        ----------
        directory
            Made, or replaced if it holds a run.
        texts
            Write the source text of its congestion control algorithms too; their digests always
            are.
        sources_in
            The directory for it, that of all runs of an experiment; by default the run's own.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        ResultError
            The directory holds something else, or cannot be written.
        """
        sources = [each if texts else each.without_texts() for each in self.kept_sources()]
        if sources_in is not None:
            write_sources(sources_in, sources)
        return run_directory.write(
            Path(directory), self.to_json(), self.tables, self.capture,
            () if sources_in is not None else sources, is_managed=sources_in is not None,
        )  # fmt: skip

    @classmethod
    def load(cls, directory: str | Path) -> Run:
        """Read a run that `save` wrote; its tables are read on access.

        Raises
        ------
        ResultError
            There is no run, or it was written by another version.
        """
        document, tables = run_directory.read(Path(directory))
        capture = run_directory.capture_in(Path(directory))
        try:
            return cls.from_dict(document, tables, capture, StoredSources(Path(directory)))
        except ResultError as error:
            raise ResultError(f"{directory}: {error}") from None

    @classmethod
    def from_dict(
        cls,
        document: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        capture: Path | None = None,
        sources: Mapping[str, Sources] | None = None,
    ) -> Run:
        """Read what `to_dict` wrote.

        Nothing is looked for, compiled or executed: what the document says of a
        congestion control algorithm describes it.

        Raises
        ------
        ResultError
            The document was written by another version, or is damaged.
        """
        version = document.get("schema_version")
        if version != SCHEMA_VERSION:
            raise ResultError(
                f"written in format {version}, this version reads {SCHEMA_VERSION}; read it with "
                "the version that wrote it"
            )
        check_document(document)
        loaded = [
            {key: group[key] for key in OF_CONGESTION_CONTROL if key in group}
            for group in document["groups"]
        ]
        kept = ("engine", "engine_version", "seed", "duration_ns", "flows", "bottleneck")
        summary = {**{key: document[key] for key in kept}, "congestion_controls": loaded}
        for later in ("emulation", "engine_build"):
            summary[later] = document.get(later)  # the first versions wrote none
        summary |= {key: document[key] for key in ("links", *OF_SOME) if key in document}
        summary = with_links(summary)
        words = document["scenario"]
        try:
            ccs = [
                RecordedCongestionControl.read(
                    group["cc"], SourceReference.from_dict(entry.get("source")), declared_of(entry)
                )
                for group, entry in zip(words["group"], loaded, strict=True)
            ]
            found = cls(Scenario.from_result(words, ccs), summary, tables, capture, sources)
            # All that is computed from the document, so that damage shows here.
            _ = found.verdict, found.groups, found.jain
        except ScenarioError as error:
            raise damaged(str(error)) from None
        except KeyError as error:
            raise damaged(f"`{error.args[0]}` is missing") from None
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
            raise damaged(f"{error}") from None
        return found
