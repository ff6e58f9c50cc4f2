"""One run: execute it, read it, save it, load it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dumbbell import _core
from dumbbell._core import Control
from dumbbell.errors import Cancelled, CongestionControlError, EngineError, ResultError
from dumbbell.quantities.html_table import html_table
from dumbbell.quantities.json_text import json_text
from dumbbell.run import directory as run_directory
from dumbbell.run.capture import Capture, as_capture
from dumbbell.run.engine import KERNEL, SIMULATOR, check_engine, engine_build
from dumbbell.run.foreign_run import execute_isolated, is_foreign
from dumbbell.run.groups import group_metrics
from dumbbell.scenario import Scenario
from dumbbell.statistics import jain
from dumbbell.verdict import Verdict, evaluate

if TYPE_CHECKING:
    from dumbbell.plots.canvas import Canvas

__all__ = ["SCHEMA_VERSION", "Control", "Run", "execute", "run"]

#: Version of `Run.to_dict`, `--json` and `run.json`; docs/format-run.md describes it.
SCHEMA_VERSION = 1

#: Keys of a group in `Run.to_dict` that the engine reports about its congestion control.
OF_CONGESTION_CONTROL = ("group", "cc", "build", "params", "needs_ecn")
#: Keys of `Run.to_dict` that only a run of foreign code has.
OF_FOREIGN_CODE = ("sandbox",)
#: How often a run's progress is polled, s; also how fast Ctrl-C takes effect.
POLL_S = 0.05


class Run:
    """A run's summary and time series.

    Parameters
    ----------
    scenario
        The scenario that ran.
    summary
        The engine's counts; `docs/format-run.md` has the keys.
    tables
        Time series by name: ``flows``, ``queue`` and ``state-<group>-<cc>``.
    capture
        The pcapng file that was written, if one was.
    """

    def __init__(
        self,
        scenario: Scenario,
        summary: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        capture: Path | None = None,
    ) -> None:
        self.scenario = scenario
        self.summary = summary
        self.tables = tables
        self.capture = capture

    def __repr__(self) -> str:
        groups = " + ".join(f"{group.flows} {group.cc}" for group in self.scenario.groups)
        kernel = ", kernel" if self.engine == KERNEL else ""
        return f"<Run {groups}, {self.scenario.time}{kernel}, {self.verdict.status}>"

    @property
    def engine(self) -> str:
        """The engine that ran it: ``simulator`` or ``kernel``."""
        engine: str = self.summary["engine"]
        return engine

    @property
    def emulation(self) -> Mapping[str, Any] | None:
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
        return self._series("queue")

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
        """Time series of the congestion control's own state.

        Parameters
        ----------
        group
            Index of the group.

        Raises
        ------
        KeyError
            Its congestion control records no state.
        """
        self._check_sampled()
        for name in self.tables:
            if name.startswith(f"state-{group}-"):
                return self.tables[name]
        raise KeyError(f"group {group} has no state series")

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the results are trustworthy."""
        return evaluate(self.scenario, self.summary)

    @property
    def jain(self) -> float:
        """Jain's fairness index of all flows' goodput, each over its own time."""
        return jain([flow["goodput_bps"] for flow in self.summary["flows"]])

    @cached_property
    def groups(self) -> list[dict[str, Any]]:
        """Each group's goodput, share, RTT and counts, in the scenario's order.

        `run.groups.group_metrics` says over which time each rate is.
        """
        total_bytes = sum(flow["received_bytes"] for flow in self.summary["flows"])
        groups = []
        for loaded in self.summary["congestion_controls"]:
            flows = [f for f in self.summary["flows"] if f["group"] == loaded["group"]]
            metrics = group_metrics(flows, total_bytes)
            groups.append({**loaded, "flows": len(flows), **metrics})
        return groups

    def plot(self, *series: str, size: str = "2col") -> Canvas:
        """Draw the run over time, for a notebook.

        Parameters
        ----------
        series
            ``goodput``, ``cwnd``, ``inflight``, ``rtt``, ``queue``, ``sojourn`` or a state series
            of its congestion controls; by default goodput, cwnd, RTT and queue.
        size
            ``1col`` or ``2col``.

        Returns
        -------
        dumbbell.plots.canvas.Canvas
            A matplotlib figure.
        """
        from dumbbell.plots.paper_figure import drawn
        from dumbbell.plots.run_figures import USUAL_SERIES, draw_series

        return drawn(draw_series(self, series or USUAL_SERIES), size)

    def _repr_html_(self) -> str:
        rows = [
            (
                label,
                group["flows"],
                f"{group['goodput_bps'] / 1e6:.2f}",
                f"{100 * group['share']:.1f}",
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
            "engine": self.engine,
            "engine_version": self.summary["engine_version"],
            "engine_build": self.summary.get("engine_build"),
            "seed": self.summary["seed"],
            "duration_ns": self.summary["duration_ns"],
            "verdict": self.verdict.to_dict(),
            "groups": self.groups,
            "flows": self.summary["flows"],
            "bottleneck": self.summary["bottleneck"],
            "jain": self.jain,
            "emulation": self.emulation,
        } | {key: self.summary[key] for key in OF_FOREIGN_CODE if key in self.summary}

    def to_json(self) -> str:
        """Return `to_dict` as JSON text."""
        return json_text(self.to_dict())

    def save(self, directory: str | Path) -> Path:
        """Write the run, with its capture if it has one, to a directory, completely or not at all.

        Parameters
        ----------
        directory
            Made, or replaced if it holds a run.

        Returns
        -------
        Path
            The directory.

        Raises
        ------
        ResultError
            The directory holds something else, or cannot be written.
        """
        return run_directory.write(Path(directory), self.to_json(), self.tables, self.capture)

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
            return cls.from_dict(document, tables, capture)
        except ResultError as error:
            raise ResultError(f"{directory}: {error}") from None

    @classmethod
    def from_dict(
        cls,
        document: Mapping[str, Any],
        tables: Mapping[str, pa.Table],
        capture: Path | None = None,
    ) -> Run:
        """Read what `to_dict` wrote.

        Raises
        ------
        ResultError
            The document was written by another version.
        """
        version = document.get("schema_version")
        if version != SCHEMA_VERSION:
            raise ResultError(f"written in format {version}, this version reads {SCHEMA_VERSION}")
        loaded = [
            {key: group[key] for key in OF_CONGESTION_CONTROL if key in group}
            for group in document["groups"]
        ]
        kept = ("engine", "engine_version", "seed", "duration_ns", "flows", "bottleneck")
        summary = {**{key: document[key] for key in kept}, "congestion_controls": loaded}
        for later in ("emulation", "engine_build"):
            summary[later] = document.get(later)  # the first versions wrote none
        summary |= {key: document[key] for key in OF_FOREIGN_CODE if key in document}
        return cls(Scenario.from_dict(document["scenario"]), summary, tables, capture)


def run(
    scenario: Scenario | str | Path | Sequence[Any],
    *,
    engine: str = SIMULATOR,
    on_progress: Callable[[float], None] | None = None,
    control: Control | None = None,
    capture: Capture | str | Path | None = None,
    **fields: Any,
) -> Run:
    """Run a scenario.

    Parameters
    ----------
    scenario
        What to run: a `Scenario`, a scenario file, or a list of groups as `Scenario` takes it.
    engine
        ``simulator``, or ``kernel`` for this machine's Linux TCP, which takes the scenario's time.
    on_progress
        Called several times a second with the share of the run's time that has passed, 0 to 1.
    control
        To cancel the run from another thread.
    capture
        A pcapng file to write, or a `Capture` with its points and how much of a packet to keep.
        It does not change the result. A cancelled run leaves the packets captured so far.
    fields
        Fields of the scenario to set: ``buffer="2bdp"``.

    Returns
    -------
    Run
        Its summary and time series.

    Raises
    ------
    EngineError
        The engine refuses the scenario, the kernel engine lacks something on this machine, or the
        capture cannot be written.
    Cancelled
        The run was stopped through `control`; Ctrl-C stops it too, with KeyboardInterrupt.

    Examples
    --------
    >>> import dumbbell
    >>> run = dumbbell.run(["reno"], time="2s")
    >>> run.verdict.status
    'OK'
    """
    scenario = Scenario.of(scenario, **fields)
    check_engine(engine, scenario)
    control = control or Control()
    captured = as_capture(capture)
    # In a thread, because Python sees Ctrl-C only between two of the main thread's instructions.
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(execute, scenario, control, engine, captured)
        try:
            while True:
                try:
                    return future.result(timeout=POLL_S)
                except TimeoutError:
                    if on_progress is not None:
                        on_progress(control.progress())
        except BaseException:
            control.cancel()
            raise


def execute(
    scenario: Scenario,
    control: Control,
    engine: str = SIMULATOR,
    capture: Capture | None = None,
) -> Run:
    """Run a scenario in this thread, or in a process of its own; users call `run`."""
    path = None if capture is None else capture.path
    if engine == SIMULATOR and is_foreign(scenario):
        summary, tables = execute_isolated(scenario, control, capture)
        return Run(scenario, {**summary, "engine_build": engine_build()}, tables, path)
    try:
        output = _core.run(scenario.to_json(), control, engine, capture)
    except _core.CongestionControlFault as error:
        raise CongestionControlError(str(error)) from None
    except _core.EngineError as error:
        raise EngineError(str(error)) from None
    except _core.Cancelled:
        raise Cancelled("the run was cancelled") from None
    # Not `pa.table`, which would load pandas.
    tables = {
        name: pa.Table.from_batches([pa.record_batch(output.table(name))])
        for name in output.table_names()
    }
    summary = {**json.loads(output.summary()), "engine_build": engine_build()}
    return Run(scenario, summary, tables, path)
