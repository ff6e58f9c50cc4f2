"""Executes a scenario: on an engine, in this process or in one of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dumbbell import _core
from dumbbell._core import Control
from dumbbell.base.errors import Cancelled, CongestionControlError, EngineError
from dumbbell.congestion_control import live
from dumbbell.congestion_control.recorded import reference_of, sources_of
from dumbbell.congestion_control.sources import Sources
from dumbbell.run.capture import Capture, as_capture
from dumbbell.run.declarations import declared_by, declared_words, read_summary
from dumbbell.run.engine import SIMULATOR, check_engine, engine_build
from dumbbell.run.engine_tables import EngineTables
from dumbbell.run.foreign_run import execute_isolated, is_foreign
from dumbbell.run.guest import guest_kernel, guest_library, is_uml, placed_for_guest
from dumbbell.run.programs import with_measured
from dumbbell.run.run import Run
from dumbbell.scenario import Scenario

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Control", "Prepared", "execute", "in_a_thread", "prepared", "run", "run_of_output"]

T = TypeVar("T")

#: How often a run's progress is polled, s; also how fast Ctrl-C takes effect.
POLL_S = 0.05


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
        ``simulator``; ``kernel`` for this machine's Linux TCP, which takes the scenario's time;
        ``uml`` or ``uml:NAME`` for a kernel of `dumbbell kernel`, in virtual time.
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
    captured = as_capture(capture)
    return in_a_thread(
        lambda control: execute(scenario, control, engine, captured), on_progress, control
    )


def in_a_thread(
    work: Callable[[Control], T],
    on_progress: Callable[[float], None] | None = None,
    control: Control | None = None,
) -> T:
    """Do work that can be cancelled, and cancel it with Ctrl-C.

    Python sees that only between two of the main thread's instructions.
    """
    control = control or Control()
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(work, control)
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


@dataclass(frozen=True)
class Prepared:
    """A scenario that an engine can run, and what its congestion control algorithms are built from.

    Attributes
    ----------
    scenario
        With congestion control algorithms that were looked up.
    sources
        By group; None for built-in ones.
    """

    scenario: Scenario
    sources: Sequence[Sources | None]


def prepared(scenario: Scenario) -> Prepared:
    """Look a scenario's congestion control algorithms up."""
    scenario = scenario.with_ccs(live)
    return Prepared(scenario, [sources_of(group.cc) for group in scenario.groups])


def execute(
    scenario: Scenario,
    control: Control,
    engine: str = SIMULATOR,
    capture: Capture | None = None,
) -> Run:
    """Run a scenario in this thread, or in a process of its own; users call `run`."""
    ready = prepared(scenario)
    summary, tables = execute_in(ready.scenario, control, engine, capture)
    run = run_of(ready, summary, tables, None if capture is None else capture.path)
    if "sandbox" in summary:
        check_numbers(run)
    return run


def run_of(
    ready: Prepared,
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    capture: Path | None,
) -> Run:
    """Return the run that an engine's summary and tables are of.

    Raises
    ------
    CongestionControlError
        The file of a congestion control algorithm was changed meanwhile.
    """
    for group, sources in zip(ready.scenario.groups, ready.sources, strict=True):
        if group.cc.is_file and sources_of(group.cc) != sources:
            raise CongestionControlError(
                f"`{group.cc.name}` was changed while it ran; run it again"
            )
    summary = with_measured(ready.scenario, recorded(ready.scenario, ready.sources, summary))
    known = {sources.digest: sources for sources in ready.sources if sources is not None}
    build = {"engine_build": engine_build()}
    return Run(ready.scenario, {**summary, **build}, tables, capture, known)


def run_of_output(ready: Prepared, output: _core.Output, capture: Path | None) -> Run:
    """Return the run that an engine's output is of."""
    return run_of(ready, json.loads(output.summary()), EngineTables(output), capture)


def check_numbers(run: Run) -> None:
    """Refuse a summary by foreign code that is of the right form but contradicts itself."""
    try:
        run.outcome()
    except (ArithmeticError, ValueError) as error:
        raise CongestionControlError(f"the run's summary cannot be: {error!r}") from None


def recorded(
    scenario: Scenario, sources: Sequence[Sources | None], summary: Mapping[str, Any]
) -> dict[str, Any]:
    """Return an engine's summary with what it and the files say of each CCA."""
    # Of another process not: it may say anything.
    is_known = [
        each is not None and not group.cc.is_file and "sandbox" not in summary
        for group, each in zip(scenario.groups, sources, strict=True)
    ]
    loaded = [
        {
            **entry,
            "declared": declared_by(entry) if known else declared_words(entry["declared"]),
            **({} if each is None else {"source": reference_of(group.cc, each).to_dict()}),
        }
        for group, each, known, entry in zip(
            scenario.groups, sources, is_known, summary["congestion_controls"], strict=True
        )
    ]
    return {**summary, "congestion_controls": loaded}


def execute_in(
    scenario: Scenario, control: Control, engine: str, capture: Capture | None
) -> tuple[dict[str, Any], Mapping[str, pa.Table]]:
    """Run a scenario on an engine; return its summary and its tables."""
    if engine == SIMULATOR and is_foreign(scenario):
        return execute_isolated(scenario, control, capture)
    try:
        if is_uml(engine):
            kernel = guest_kernel(engine)
            placed = scenario.with_ccs(placed_for_guest).to_json()
            output = _core.run_in_guest(placed, kernel.path, guest_library(), control, capture)
        else:
            output = _core.run(scenario.to_json(), control, engine, capture)
    except _core.CongestionControlFault as error:
        raise CongestionControlError(str(error)) from None
    except _core.EngineError as error:
        files = [group.cc.name for group in scenario.groups if group.cc.is_file]
        ended = "the guest's" in str(error)
        inside = f"; `{files[0]}` ran in it" if is_uml(engine) and files and ended else ""
        raise EngineError(f"{error}{inside}") from None
    except _core.Cancelled:
        raise Cancelled("the run was cancelled") from None
    summary = read_summary(output.summary(), (group.cc.name for group in scenario.groups))
    if is_uml(engine) and any(group.cc.is_file for group in scenario.groups):
        summary["sandbox"] = {"confined": False, "missing": []}
    return summary, EngineTables(output)
